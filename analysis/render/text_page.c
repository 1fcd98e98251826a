/* text_page.c - a page of text: paragraphs and tables of bounded width.
 *
 * Everything that reaches the sink goes through put(), character by character as numbers.c shows it,
 * so no line can be wider than the page and no byte of a trace can command the terminal. Colours
 * are written around text, never inside the counting.
 *
 * Left out: breaking words sensibly. A word longer than a line is cut where the line ends. */
#include "analysis/render/text_page.h"

#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PARAGRAPH_BYTES = 2048, LABEL_MIN = 24, GAP = 2 };

static const char *const styles[] = {
	[VPA_PLAIN] = "",
	[VPA_BOLD] = "\x1b[1m",
	[VPA_RED] = "\x1b[1;31m",
	[VPA_YELLOW] = "\x1b[33m",
	[VPA_GREEN] = "\x1b[32m",
};

/* A line as it grows: bytes for the sink, columns for the reader. */
struct line {
	char bytes[VPA_LINE_BYTES];
	size_t used;
	size_t columns;
};

void vpa_page_init(
	struct vpa_page *p, struct vpt_sink *sink, unsigned width, int colour, struct vpt_err *err)
{
	*p = (struct vpa_page){.sink = sink, .err = err, .width = width, .colour = colour};
	if (p->width < VPA_WIDTH_MIN)
		p->width = VPA_WIDTH_MIN;
	if (p->width > VPA_COLUMNS_MAX)
		p->width = VPA_COLUMNS_MAX;
}

/* ---- lines ---- */

static void put_style(const struct vpa_page *p, struct line *l, enum vpa_style style, int begin)
{
	const char *code = begin ? styles[style] : "\x1b[0m";

	if (!p->colour || style == VPA_PLAIN)
		return;
	memcpy(l->bytes + l->used, code, strlen(code));
	l->used += strlen(code);
}

static void put_spaces(const struct vpa_page *p, struct line *l, size_t until)
{
	if (until > p->width)
		until = p->width;
	for (; l->columns < until; l->columns++)
		l->bytes[l->used++] = ' ';
}

/* Appends as much of the next `size` bytes as fits. */
static void put(const struct vpa_page *p, struct line *l, const char *text, size_t size)
{
	const char *end = text + size;
	struct vpa_glyph g;
	size_t step;

	while (text < end && (step = vpa_glyph_next(text, &g)) &&
		l->columns + g.columns <= p->width) {
		memcpy(l->bytes + l->used, g.bytes, g.len);
		l->used += g.len;
		l->columns += g.columns;
		text += step;
	}
}

static void put_styled(const struct vpa_page *p, struct line *l, enum vpa_style style,
	const char *text, size_t size)
{
	put_style(p, l, style, 1);
	put(p, l, text, size);
	put_style(p, l, style, 0);
}

static void end_line(struct vpa_page *p, struct line *l)
{
	while (l->used && l->bytes[l->used - 1] == ' ')
		l->used--;
	l->bytes[l->used++] = '\n';
	p->line_count++;
	if (!p->rc)
		p->rc = vpt_sink_write(p->sink, l->bytes, l->used, p->err);
	l->used = l->columns = 0;
}

void vpa_page_blank(struct vpa_page *p)
{
	struct line l = {.used = 0};

	if (p->line_count && !p->form)
		end_line(p, &l);
}

/* ---- paragraphs ---- */

/* Capitals before a colon are one word: "TOO SLOW: ", "HOST-BOUND: ". */
size_t vpa_page_head(const char *text)
{
	size_t capitals = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-, ");

	return capitals && text[capitals] == ':' ? capitals : strcspn(text, " :");
}

/* Whether a line may end at this space: a number stays with its unit. */
static int is_break(const char *text, size_t at)
{
	return text[at] == ' ' &&
	       !(at && vpt_is_digit(text[at - 1]) && !vpt_is_digit(text[at + 1]));
}

/* The number of bytes of `text` for a line of `columns`: all, or up to the last space that fits, best one
 * that does not part a number from its unit, or as many characters as fit. With `groups`, prefers the last double space that fits. */
static size_t bytes_of_line(const char *text, size_t columns, int groups)
{
	struct vpa_glyph g;
	size_t at = 0, used = 0, space = 0, group = 0, any = 0, step;

	for (; (step = vpa_glyph_next(text + at, &g)); at += step) {
		if (used + g.columns > columns)
			return group ? group : space ? space : any ? any : at;
		if (is_break(text, at))
			space = at;
		if (text[at] == ' ')
			any = at;
		if (groups && at && !strncmp(text + at, "  ", 2))
			group = at;
		used += g.columns;
	}
	return at;
}

static void lay_out_words(struct vpa_page *p, const struct vpa_paragraph *paragraph)
{
	const char *section = paragraph->section, *text;
	enum vpa_style style = paragraph->style;
	char buf[PARAGRAPH_BYTES + sizeof(VPA_TOUCHED) + 2];
	struct line l = {.used = 0};

	snprintf(buf, sizeof(buf), "%s%s", paragraph->is_item ? "- " : "", paragraph->text);
	put_styled(p, &l, VPA_BOLD, section, strlen(section));
	for (text = buf; *text;) {
		size_t size = bytes_of_line(text, p->width - VPA_INDENT, 0);
		size_t first = text == buf && style ? vpa_page_head(text) : 0;

		if (first > size)
			first = size;
		put_spaces(p, &l, VPA_INDENT);
		put_styled(p, &l, style, text, first);
		put(p, &l, text + first, size - first);
		end_line(p, &l);
		text += size;
		text += strspn(text, " ");
	}
	if (l.used)
		end_line(p, &l);
}

/* The first one of a section bears the mark of figures that missing records may change. */
static void put_paragraph(struct vpa_page *p, struct vpa_paragraph paragraph)
{
	size_t mark = p->touched && *paragraph.section ? sizeof(VPA_TOUCHED) : 0;
	char buf[PARAGRAPH_BYTES + sizeof(VPA_TOUCHED)];

	if (mark) {
		snprintf(buf, sizeof(buf), VPA_TOUCHED " %s", paragraph.text);
		paragraph.text = buf;
		paragraph.style = paragraph.style ? VPA_YELLOW : paragraph.style;
		paragraph.answer_bytes += paragraph.answer_bytes ? mark : 0;
	}
	(p->form ? p->form->words : lay_out_words)(p, &paragraph);
}

static void format(char out[PARAGRAPH_BYTES], const char *fmt, va_list args)
{
	int len = vsnprintf(out, PARAGRAPH_BYTES, fmt, args);

	if (len < 0)
		out[0] = '\0';
	if (len >= PARAGRAPH_BYTES)
		memcpy(out + PARAGRAPH_BYTES - 5, " ...", 5);
}

void vpa_page_words(
	struct vpa_page *p, const char *section, enum vpa_style style, const char *fmt, ...)
{
	char text[PARAGRAPH_BYTES];
	va_list args;

	va_start(args, fmt);
	format(text, fmt, args);
	va_end(args);
	put_paragraph(p, (struct vpa_paragraph){.section = section, .style = style, .text = text});
}

void vpa_page_item(struct vpa_page *p, const char *section, const char *fmt, ...)
{
	char text[PARAGRAPH_BYTES];
	va_list args;

	va_start(args, fmt);
	format(text, fmt, args);
	va_end(args);
	put_paragraph(p, (struct vpa_paragraph){.section = section, .is_item = 1, .text = text});
}

void vpa_page_answer(struct vpa_page *p, const char *section, enum vpa_style style,
	const struct vpa_words *words)
{
	put_paragraph(p, (struct vpa_paragraph){.section = section,
				 .style = style,
				 .answer_bytes = words->sentence_bytes,
				 .text = words->text});
}

/* ---- tables ---- */

/* Unescaped: the page escapes and cuts it when it knows the room. */
static struct vpa_label label_of(const char *fmt, va_list args)
{
	struct vpa_label out = {{0}};
	int len = vsnprintf(out.text, sizeof(out.text), fmt, args);

	if (len >= (int)sizeof(out.text))
		memcpy(out.text + sizeof(out.text) - 5, " ...", 5);
	return out;
}

void vpa_table_init(struct vpa_table *t, const struct vpa_column *columns, size_t column_count,
	const char *title, ...)
{
	va_list args;

	t->columns = columns;
	t->column_count = column_count;
	t->row_count = t->slab_count = t->slab_cap = 0;
	t->slabs = NULL;
	t->failed = t->joined = 0;
	va_start(args, title);
	t->title = label_of(title, args);
	va_end(args);
}

void vpa_table_of(struct vpa_table *t, size_t shown, size_t all)
{
	size_t len = strlen(t->title.text);

	if (shown < all)
		snprintf(t->title.text + len, sizeof(t->title.text) - len, ", %zu of %zu", shown,
			all);
}

void vpa_table_more(struct vpa_table *t, size_t left_out)
{
	if (left_out)
		vpa_text_row(t, 1, "and %zu more in the JSON report", left_out);
}

struct vpa_row *vpa_table_at(const struct vpa_table *t, size_t row)
{
	const struct vpa_row *slab =
		row < VPA_TABLE_SLAB ? t->first : t->slabs[row / VPA_TABLE_SLAB - 1];

	return (struct vpa_row *)&slab[row % VPA_TABLE_SLAB];
}

static int add_slab(struct vpa_table *t)
{
	struct vpa_row *slab = vpt_alloc(VPA_TABLE_SLAB, sizeof(*slab));

	if (!slab || vpt_grow(&t->slabs, &t->slab_cap, t->slab_count + 1, sizeof(*t->slabs))) {
		vpt_free(slab);
		return VPT_ENOMEM;
	}
	t->slabs[t->slab_count++] = slab;
	return VPT_OK;
}

struct vpa_row *vpa_table_row(struct vpa_table *t, unsigned indent, const char *label, ...)
{
	struct vpa_row *row;
	va_list args;

	if (t->row_count == (t->slab_count + 1) * VPA_TABLE_SLAB && add_slab(t))
		t->failed = 1;
	else
		t->row_count++;
	row = vpa_table_at(t, t->row_count - 1);
	*row = (struct vpa_row){.indent = indent};
	va_start(args, label);
	row->label = label_of(label, args);
	va_end(args);
	return row;
}

struct vpa_row *vpa_text_row(struct vpa_table *t, unsigned indent, const char *text, ...)
{
	struct vpa_row *row = vpa_table_row(t, indent, "%s", "");
	va_list args;

	row->wide = row->wrap = 1;
	va_start(args, text);
	row->label = label_of(text, args);
	va_end(args);
	return row;
}

struct layout {
	size_t label;
	size_t columns[VPA_TABLE_COLUMNS]; /* 0: left out */
};

int vpa_table_has_values(const struct vpa_table *t, size_t column)
{
	size_t row;

	for (row = 0; row < t->row_count; row++) {
		const struct vpa_row *r = vpa_table_at(t, row);

		if (!r->wide && r->cells[column].text[0])
			return 1;
	}
	return 0;
}

static size_t column_width(const struct vpa_table *t, size_t column)
{
	size_t width = strlen(t->columns[column].head), row;

	for (row = 0; row < t->row_count; row++) {
		const struct vpa_row *r = vpa_table_at(t, row);
		size_t len = r->wide ? 0 : strlen(r->cells[column].text);

		if (len > width)
			width = len;
	}
	return width + GAP;
}

static size_t label_width(const struct vpa_table *t)
{
	size_t width = vpa_columns(t->title.text), row;

	for (row = 0; row < t->row_count; row++) {
		const struct vpa_row *r = vpa_table_at(t, row);
		size_t len = r->indent + vpa_columns(r->label.text);

		if (!r->wide && len > width)
			width = len;
	}
	return width;
}

/* Drops the least important column. Returns the columns saved; 0 if all must stay. */
static size_t drop_column(const struct vpa_table *t, struct layout *out)
{
	size_t i, worst = t->column_count, saved;

	for (i = 0; i < t->column_count; i++)
		if (out->columns[i] && t->columns[i].drop &&
			(worst == t->column_count || t->columns[i].drop > t->columns[worst].drop))
			worst = i;
	if (worst == t->column_count)
		return 0;
	saved = out->columns[worst];
	out->columns[worst] = 0;
	return saved;
}

/* Numbers are at the right edge of 80 columns; a wider page is used only for labels that need it, so
 * that numbers stay close to their labels. */
static struct layout lay_out(const struct vpa_page *p, const struct vpa_table *t)
{
	struct layout out = {.label = 0};
	size_t numbers = 0, saved = 1, usual = p->width < 80 ? p->width : 80, wanted, narrowest, i;

	for (i = 0; i < t->column_count; i++) {
		out.columns[i] = vpa_table_has_values(t, i) ? column_width(t, i) : 0;
		numbers += out.columns[i];
	}
	wanted = label_width(t);
	narrowest = wanted < LABEL_MIN ? wanted : LABEL_MIN;
	while (saved && numbers + narrowest > p->width) {
		saved = drop_column(t, &out);
		numbers -= saved;
	}
	out.label = numbers < p->width ? p->width - numbers : 0;
	if (numbers < usual && wanted < usual - numbers)
		wanted = usual - numbers;
	if (out.label > wanted)
		out.label = wanted;
	return out;
}

static void put_label(const struct vpa_page *p, struct line *l, enum vpa_style style,
	const char *text, size_t indent, size_t until)
{
	struct vpa_label label;

	put_spaces(p, l, indent);
	label = vpa_fit(text, until > indent ? until - indent : 0);
	put_styled(p, l, style, label.text, strlen(label.text));
}

static void put_cell(
	const struct vpa_page *p, struct line *l, const char *text, size_t *edge, size_t width)
{
	if (!width)
		return;
	*edge += width;
	put_spaces(p, l, *edge - strlen(text));
	put(p, l, text, strlen(text));
}

/* Puts the first line of a label that continues below; returns the rest. */
static const char *put_wrapped(
	const struct vpa_page *p, struct line *l, const struct vpa_row *r, size_t until)
{
	const char *text = r->label.text;
	size_t size = bytes_of_line(text, until > r->indent ? until - r->indent : 1, 1);

	put_spaces(p, l, r->indent);
	put_styled(p, l, r->style, text, size);
	return text + size + strspn(text + size, " ");
}

static void put_row(struct vpa_page *p, const struct vpa_table *t, const struct layout *form,
	const struct vpa_row *r)
{
	size_t edge = form->label, i;
	struct line l = {.used = 0};
	const char *rest = "";

	if (r->wrap)
		rest = put_wrapped(p, &l, r, r->wide ? p->width : edge);
	else
		put_label(p, &l, r->style, r->label.text, r->indent, r->wide ? p->width : edge);
	for (i = 0; i < t->column_count && !r->wide; i++)
		put_cell(p, &l, r->cells[i].text, &edge, form->columns[i]);
	end_line(p, &l);
	while (*rest) {
		size_t size = bytes_of_line(rest, p->width - r->indent - GAP, 1);

		put_spaces(p, &l, r->indent + GAP);
		put(p, &l, rest, size);
		end_line(p, &l);
		rest += size;
		rest += strspn(rest, " ");
	}
}

size_t vpa_page_label_columns(const struct vpa_page *p, const struct vpa_table *t)
{
	return lay_out(p, t).label;
}

/* A title without room beside the heads, which may contain figures, gets a line of its own. */
static void put_head(struct vpa_page *p, const struct vpa_table *t, const struct layout *form)
{
	size_t i, edge = form->label;
	struct line l = {.used = 0};
	int fits = vpa_columns(t->title.text) <= form->label;

	put_label(p, &l, VPA_BOLD, t->title.text, 0, fits ? form->label : p->width);
	if (!fits)
		end_line(p, &l);
	for (i = 0; i < t->column_count; i++)
		put_cell(p, &l, t->columns[i].head, &edge, form->columns[i]);
	end_line(p, &l);
}

static void lay_out_table(struct vpa_page *p, const struct vpa_table *t)
{
	struct layout form = lay_out(p, t);
	size_t row;

	put_head(p, t, &form);
	for (row = 0; row < t->row_count; row++)
		put_row(p, t, &form, vpa_table_at(t, row));
}

void vpa_page_table(struct vpa_page *p, struct vpa_table *t)
{
	size_t i, len = strlen(t->title.text);

	if (!t->row_count)
		return;
	if (!t->joined)
		vpa_page_blank(p);
	if (p->touched)
		snprintf(t->title.text + len, sizeof(t->title.text) - len, " " VPA_TOUCHED);
	(p->form ? p->form->table : lay_out_table)(p, t);
	if (t->failed && !p->rc)
		p->rc = vpt_fail(
			p->err, VPT_ENOMEM, "no memory for a table of %zu rows", t->row_count);
	for (i = 0; i < t->slab_count; i++)
		vpt_free(t->slabs[i]);
	vpt_free(t->slabs);
	t->slabs = NULL;
	t->row_count = t->slab_count = t->slab_cap = 0;
}

/* ---- sentences in parts ---- */

void vpa_words_add(struct vpa_words *w, const char *separator, const char *fmt, ...)
{
	char part[512];
	size_t before, len;
	va_list args;

	va_start(args, fmt);
	if (vsnprintf(part, sizeof(part), fmt, args) < 0)
		part[0] = '\0';
	va_end(args);
	len = strlen(part);
	before = w->used ? strlen(separator) : 0;
	if (!len || w->used + before + len >= sizeof(w->text))
		return;
	memcpy(w->text + w->used, separator, before);
	memcpy(w->text + w->used + before, part, len + 1);
	w->used += before + len;
}

void vpa_words_end(struct vpa_words *w)
{
	vpa_words_add(w, "", ".");
	if (!w->sentence_bytes)
		w->sentence_bytes = w->used;
}

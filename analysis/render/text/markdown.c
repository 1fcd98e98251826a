/* markdown.c - the report as GitHub-flavoured Markdown, for an issue, a pull request or an assistant.
 *
 * The sections are those of the text report, with its words: vpa_page_form turns paragraphs into list
 * items and tables into tables. A page has at most LINES lines. If it would have more, long tables
 * lose their smallest rows, as few as possible; if that is not enough, whole sections are left out,
 * the least important first. Both are said on the page.
 *
 * Names from a trace stay text: what Markdown, or the HTML in it, gives a meaning is escaped, and so
 * is what GitHub turns into a link or a notification of its own accord. */
#include "analysis/render/renderer.h"
#include "analysis/render/text/sections/text_sections.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
	LINES = 60,
	ROWS_MOST = 40, /* rows of a table's group */
	ROWS_LEAST = 4,
	FIRST_SCREEN = 2 /* sections of a lower rank are never left out */
};

struct markdown {
	struct vpa_page page;
	size_t rows; /* maximum of a group of rows */
	int in_list; /* the last line is an item of a list */
	size_t lines;
	size_t columns[VPA_TABLE_COLUMNS], column_count; /* those that the table shows */
};

/* ---- text ---- */

static void put(struct markdown *m, const char *text, size_t size)
{
	size_t i;

	if (!m->page.rc && size)
		m->page.rc = vpt_sink_write(m->page.sink, text, size, m->page.err);
	for (i = 0; i < size; i++)
		m->lines += text[i] == '\n';
}

static void put_plain(struct markdown *m, const char *text)
{
	put(m, text, strlen(text));
}

/* What GitHub makes a link of, or notifies people by: "@name", "#12", "https://", "www.". Returns the
 * number of bytes after which a comment, which nobody sees, ends it; 0: it is no such thing. */
static size_t bytes_to_break(const char *text)
{
	if ((*text == '@' || *text == '#') && text[1] > ' ')
		return 1;
	if (!strncmp(text, "://", 3))
		return 1;
	return strncasecmp(text, "www.", 4) ? 0 : 3;
}

static int is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether a character has a meaning in Markdown here. An underscore inside a word has none. */
static int is_special(char c, char before, char after)
{
	if (c == '_')
		return !is_word(before) || !is_word(after);
	return strchr("\\`*[]<|~&", c) != NULL;
}

/* Text that means nothing but itself. */
static void put_text(struct markdown *m, const char *text)
{
	size_t step, left = 0, at;
	struct vpa_glyph g;

	for (at = 0; (step = vpa_glyph_next(text + at, &g)); at += step) {
		if (!text[at + strspn(text + at, " ")])
			break; /* blanks at the end */
		/* The first byte also of one shown as "\x1b". */
		if (is_special(g.bytes[0], at ? text[at - 1] : ' ', text[at + step]))
			put_plain(m, "\\");
		put(m, g.bytes, g.len);
		if (!left)
			left = bytes_to_break(text + at);
		if (left && --left == 0)
			put_plain(m, "<!-- -->");
	}
}

/* Whether Markdown would take the first character of a line for a list, a heading or a quotation. */
static int is_marker(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return (*text && strchr("-+=#>", *text)) ||
	       (digits && (text[digits] == '.' || text[digits] == ')') &&
		       (text[digits + 1] == ' ' || !text[digits + 1]));
}

/* ---- paragraphs ---- */

/* An item of the list; paragraphs without a section are below the one that has it. */
static void put_words(struct vpa_page *p, const struct vpa_paragraph *paragraph)
{
	const char *section = paragraph->section, *text = paragraph->text;
	struct markdown *m = (struct markdown *)p;

	if (m->lines && !m->in_list)
		put_plain(m, "\n");
	put_plain(m, *section || !m->in_list ? "- " : "  - ");
	if (*section) {
		put_plain(m, "**");
		put_plain(m, section);
		put_plain(m, paragraph->is_item ? "** - " : "** ");
	}
	if (!*section && is_marker(text))
		put_plain(m, "\\");
	put_text(m, text);
	put_plain(m, "\n");
	m->in_list = 1;
}

/* ---- tables ---- */

static void put_head(struct markdown *m, const struct vpa_table *t)
{
	size_t i;

	if (m->lines)
		put_plain(m, "\n");
	put_plain(m, "| ");
	put_text(m, t->title.text[0] ? t->title.text : " ");
	put_plain(m, " |");
	for (i = 0; i < m->column_count; i++) {
		const struct vpa_column *column = &t->columns[m->columns[i]];

		put_plain(m, " ");
		put_text(m, column->head);
		if (column->unit) {
			put_plain(m, " ");
			put_plain(m, column->unit);
		}
		put_plain(m, " |");
	}
	put_plain(m, "\n|---|");
	for (i = 0; i < m->column_count; i++)
		put_plain(m, "--:|");
	put_plain(m, "\n");
}

static void end_row(struct markdown *m, size_t column)
{
	for (; column < m->column_count; column++)
		put_plain(m, " |");
	put_plain(m, "\n");
}

/* Wide rows say more of the row above: they continue its label. Returns the next row. */
static size_t put_row(struct markdown *m, const struct vpa_table *t, size_t at)
{
	const struct vpa_row *r = vpa_table_at(t, at), *next;
	size_t i;

	put_plain(m, "| ");
	for (i = 1; i < r->indent; i += 2)
		put_plain(m, "\xc2\xb7 "); /* a middle dot */
	if (r->style == VPA_BOLD)
		put_plain(m, "**");
	put_text(m, r->label.text);
	if (r->style == VPA_BOLD)
		put_plain(m, "**");
	for (at++;
		at < t->row_count && (next = vpa_table_at(t, at))->wide && next->indent > r->indent;
		at++) {
		put_plain(m, "<br>");
		put_text(m, next->label.text);
	}
	put_plain(m, " |");
	for (i = 0; i < m->column_count && !r->wide; i++) {
		put_plain(m, " ");
		put_text(m, r->cells[m->columns[i]].text);
		put_plain(m, " |");
	}
	end_row(m, i);
	return at;
}

/* The rows from `at` on that are no higher than it in the table's tree, up to a footnote. Returns the
 * row after them; *count: those as high as the first. */
static size_t end_of_group(const struct vpa_table *t, size_t at, size_t *count)
{
	unsigned indent = vpa_table_at(t, at)->indent;

	for (*count = 0; at < t->row_count; at++) {
		const struct vpa_row *r = vpa_table_at(t, at);

		if (r->indent < indent ||
			(r->indent == indent && (r->wide || r->style == VPA_BOLD)))
			break;
		*count += r->indent == indent;
	}
	return at;
}

/* A group of rows: the first of them, with a few of those below each, and how many more there are. */
static size_t put_group(struct markdown *m, const struct vpa_table *t, size_t at)
{
	size_t count, end = end_of_group(t, at, &count), shown = 0, below = 0;
	unsigned indent = vpa_table_at(t, at)->indent;

	while (at < end) {
		int is_below = vpa_table_at(t, at)->indent > indent;

		below = is_below ? below + 1 : 0;
		if (!is_below && shown == m->rows && count > m->rows + 1)
			break;
		shown += !is_below;
		at = below > m->rows / ROWS_LEAST ? at + 1 : put_row(m, t, at);
	}
	if (at < end) {
		put_plain(m, "| \xc2\xb7 ");
		put_plain(m, vpa_count(count - shown).text);
		put_plain(m, " more |");
		end_row(m, 0);
	}
	return end;
}

static void put_table(struct vpa_page *p, const struct vpa_table *t)
{
	struct markdown *m = (struct markdown *)p;
	size_t at = 0, i;

	m->column_count = 0;
	for (i = 0; i < t->column_count; i++)
		if (vpa_table_has_values(t, i))
			m->columns[m->column_count++] = i;
	put_head(m, t);
	while (at < t->row_count) {
		const struct vpa_row *r = vpa_table_at(t, at);

		at = r->style == VPA_BOLD || r->wide ? put_row(m, t, at) : put_group(m, t, at);
	}
	m->in_list = 0;
}

static const struct vpa_page_form form = {put_words, put_table};

int vpa_markdown_page(void (*put_page)(struct vpa_page *p, const void *ctx), const void *ctx,
	size_t rows, struct vpt_sink *sink, struct vpt_err *err)
{
	struct markdown m = {.rows = rows};

	vpa_page_init(&m.page, sink, VPA_COLUMNS_MAX, 0, err);
	m.page.form = &form;
	put_page(&m.page, ctx);
	return m.page.rc;
}

/* ---- the page ---- */

/* A section as it comes out with some maximum of rows. */
struct part {
	struct vpt_buffer text;
	size_t lines;
	int left_out;
};

static int render_part(const struct vpa_report *r, const struct vpa_digest *d,
	const struct vpa_text_section *section, size_t rows, struct part *part, struct vpt_err *err)
{
	struct markdown m = {.rows = rows};
	struct vpt_sink *sink;
	int rc = vpt_sink_memory(&part->text, &sink, err);

	if (rc)
		return rc;
	vpa_page_init(&m.page, sink, VPA_COLUMNS_MAX, 0, err);
	m.page.form = &form;
	vpa_text_put_section(&m.page, r, d, section);
	part->lines = m.lines;
	rc = sink->finish(sink, !m.page.rc, m.page.rc ? NULL : err);
	return m.page.rc ? m.page.rc : rc;
}

static void free_parts(struct part *parts)
{
	size_t i;

	for (i = 0; i < VPA_TEXT_SECTIONS; i++) {
		vpt_free(parts[i].text.data);
		parts[i] = (struct part){0};
	}
}

/* All sections that are not empty, a line between them. */
static size_t lines_of(const struct part *parts)
{
	size_t lines = 2, i; /* the last paragraph */

	for (i = 0; i < VPA_TEXT_SECTIONS; i++)
		lines += parts[i].lines && !parts[i].left_out ? parts[i].lines + 1 : 0;
	return lines;
}

static int render_parts(const struct vpa_report *r, const struct vpa_digest *d, size_t rows,
	struct part *parts, struct vpt_err *err)
{
	const struct vpa_text_sections all = vpa_text_sections();
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < all.count && !rc; i++)
		if (!vpa_text_is_asked(&all.at[i]))
			rc = render_part(r, d, &all.at[i], rows, &parts[i], err);
	return rc;
}

/* Where there are blocks, the mean block says better what the window's table says. */
static size_t rank_of(const struct vpa_text_sections *all, const struct part *parts, size_t section)
{
	size_t i;

	for (i = 0; i < all->count && all->at[section].put == vpa_text_window; i++)
		if (all->at[i].put == vpa_text_mean_block && parts[i].lines)
			return VPA_TEXT_SECTIONS;
	return all->at[section].rank;
}

/* Leaves out the section of the highest rank that has lines. Returns 0 if only the first screen is left. */
static int leave_out(struct part *parts)
{
	const struct vpa_text_sections all = vpa_text_sections();
	size_t i, worst = VPA_TEXT_SECTIONS, most = FIRST_SCREEN;

	for (i = 0; i < all.count; i++) {
		size_t rank = rank_of(&all, parts, i);

		if (parts[i].lines && !parts[i].left_out && rank >= most) {
			worst = i;
			most = rank;
		}
	}
	if (worst == VPA_TEXT_SECTIONS)
		return 0;
	parts[worst].left_out = 1;
	return 1;
}

static void put_end(struct markdown *m, const struct part *parts)
{
	const struct vpa_text_sections all = vpa_text_sections();
	struct vpa_words w = {.used = 0};
	size_t i;

	for (i = 0; i < all.count; i++)
		if (parts[i].left_out)
			vpa_words_add(&w, ", ", "%s", all.at[i].name);
	put_plain(m, "\n*");
	if (w.used) {
		put_plain(m, "Left out: ");
		put_plain(m, w.text);
		put_plain(m, ". ");
	}
	put_plain(m, "Made by vptrace-analyze; --format html writes a page with everything.*\n");
}

static int put_parts(const struct part *parts, struct vpt_sink *sink, struct vpt_err *err)
{
	struct markdown m = {.rows = 0};
	size_t i;

	vpa_page_init(&m.page, sink, VPA_COLUMNS_MAX, 0, err);
	for (i = 0; i < VPA_TEXT_SECTIONS; i++) {
		if (!parts[i].lines || parts[i].left_out)
			continue;
		if (m.lines)
			put_plain(&m, "\n");
		put(&m, parts[i].text.data, parts[i].text.size);
	}
	put_end(&m, parts);
	return m.page.rc;
}

static int render(const struct vpa_report *r, const struct vpa_text *text, struct vpt_sink *sink,
	struct vpt_err *err)
{
	struct part parts[VPA_TEXT_SECTIONS] = {{.lines = 0}};
	size_t rows = ROWS_MOST;
	struct vpa_digest d;
	int rc;

	(void)text;
	vpa_digest_of(r, &d);
	rc = render_parts(r, &d, rows, parts, err);
	while (!rc && rows > ROWS_LEAST && lines_of(parts) > LINES) {
		free_parts(parts);
		rc = render_parts(r, &d, rows -= 1 + rows / 8, parts, err);
	}
	while (!rc && lines_of(parts) > LINES && leave_out(parts))
		;
	if (!rc)
		rc = put_parts(parts, sink, err);
	free_parts(parts);
	return rc;
}

const struct vpa_renderer vpa_renderer_md = {
	.name = "md",
	.render = render,
};

/* text_line.c - the rarer parts of a line. JSON's texts and doubles go through the JSON writer. */
#include "analysis/export/text_line.h"

#include "formats/io/json_writer.h"
#include "formats/base/utf8.h"

#include <string.h>

/* A sink that appends to a line. */
struct line_sink {
	struct vpt_sink base;
	struct vpa_line *line;
};

static int line_write(struct vpt_sink *sink, const void *data, size_t size, struct vpt_err *err)
{
	struct vpa_line *l = ((struct line_sink *)sink)->line;

	vpa_line_put(l, data, size);
	return l->failed ? vpt_fail(err, VPT_ENOMEM, "no memory for text") : VPT_OK;
}

/* Whether a JSON string holds the text as it is: printable ASCII without quotes and backslashes. */
static int is_plain(const char *text, size_t len)
{
	uint64_t bad = 0;
	size_t i;

	for (i = 0; i < len; i += sizeof(bad)) {
		uint64_t word = vpa_text_word(text + i, len - i);

		bad |= vpa_bytes_equal(word, '"') | vpa_bytes_equal(word, '\\') |
		       vpa_bytes_equal(word, 0x7f) |
		       ((word | (word - 0x2020202020202020)) & 0x8080808080808080);
	}
	return !bad;
}

void vpa_line_json(struct vpa_line *l, const char *text, size_t len)
{
	struct line_sink sink = {.base.write = line_write, .line = l};
	struct vpt_json j;

	if (is_plain(text, len)) {
		vpa_line_put(l, "\"", 1);
		vpa_line_put(l, text, len);
		vpa_line_put(l, "\"", 1);
		return;
	}
	vpt_json_init(&j, &sink.base, 0);
	vpt_json_text(&j, NULL, text, len);
	vpt_json_finish(&j, NULL);
}

void vpa_line_double(struct vpa_line *l, double value)
{
	struct line_sink sink = {.base.write = line_write, .line = l};
	struct vpt_json j;

	vpt_json_init(&j, &sink.base, 0);
	vpt_json_double(&j, NULL, value);
	vpt_json_finish(&j, NULL);
}

void vpa_line_new_high(struct vpa_line *l, uint64_t high)
{
	l->high = high;
	l->high_len = 0;
	if (high >= VPA_EIGHT_DIGITS) {
		l->high_len = vpa_write_short(l->high_text, (uint32_t)(high / VPA_EIGHT_DIGITS));
		vpa_store_digits(l->high_text + l->high_len,
			vpa_eight_digits((uint32_t)(high % VPA_EIGHT_DIGITS)));
		l->high_len += 8;
	} else {
		l->high_len = vpa_write_short(l->high_text, (uint32_t)high);
	}
}

void vpa_line_micros(struct vpa_line *l, uint64_t ns)
{
	char decimals[4] = {'.'};
	uint64_t rest;

	if (ns >> 63) {
		vpa_line_put(l, "-", 1);
		ns = 0 - ns;
	}
	rest = ns % 1000;
	vpa_line_unsigned(l, ns / 1000);
	decimals[1] = (char)('0' + rest / 100);
	decimals[2] = (char)('0' + rest / 10 % 10);
	decimals[3] = (char)('0' + rest % 10);
	vpa_line_put(l, decimals, sizeof(decimals));
}

void vpa_line_hex(struct vpa_line *l, uint64_t value)
{
	char text[18], *end = text + sizeof(text), *p = end;

	do
		*--p = "0123456789abcdef"[value & 15];
	while (value >>= 4);
	*--p = 'x';
	*--p = '0';
	vpa_line_put(l, p, (size_t)(end - p));
}

/* ---- CSV ---- */

/* Whether a spreadsheet may take the text for a formula: its first character after white space, which
 * some trim, is one of =+-@; or it begins with a tab or a return, which can end the previous cell. */
static int is_formula(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && memchr(" \t\r\n\v\f", text[i], 6))
		i++;
	return i < len && (memchr("=+-@", text[i], 4) || text[0] == '\t' || text[0] == '\r');
}

enum { QUOTE = 1, SEPARATOR = 2 };

/* Which bytes the text has that CSV reads as its own. */
static unsigned csv_marks(const char *text, size_t len)
{
	uint64_t quotes = 0, separators = 0;
	size_t i;

	for (i = 0; i < len; i += sizeof(quotes)) {
		uint64_t word = vpa_text_word(text + i, len - i);

		quotes |= vpa_bytes_equal(word, '"');
		separators |= vpa_bytes_equal(word, ',') | vpa_bytes_equal(word, '\n') |
			      vpa_bytes_equal(word, '\r');
	}
	return (quotes ? QUOTE : 0) | (separators ? SEPARATOR : 0);
}

void vpa_line_csv(struct vpa_line *l, const char *text, size_t len, struct vpa_csv form)
{
	int formula = form.is_safe && is_formula(text, len);
	unsigned marks = csv_marks(text, len);
	struct vpt_shown shown;
	size_t i, n;

	if (!form.is_clean && !formula && !marks) {
		vpa_line_put(l, text, len);
		return;
	}
	vpa_line_put(l, formula ? "\"'" : "\"", formula ? 2 : 1);
	if (!(marks & QUOTE) && !form.is_clean) {
		vpa_line_put(l, text, len);
		len = 0;
	}
	for (i = 0; i < len; i += n) {
		if (text[i] == '"')
			vpa_line_put(l, "\"", 1);
		n = form.is_clean ? vpt_utf8_show(text + i, len - i, &shown) : 1;
		vpa_line_put(
			l, form.is_clean ? shown.bytes : text + i, form.is_clean ? shown.len : 1);
	}
	vpa_line_put(l, "\"", 1);
}

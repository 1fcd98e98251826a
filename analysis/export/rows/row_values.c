/* row_values.c - values from the JSON that cell_text.c writes: numbers, texts and null. */
#include "analysis/export/rows/row_values.h"

#include "formats/base/utf8.h"

#include <stdlib.h>

/* Appends the character of "\\uXXXX". The writer has only single ones so, never half of a pair. */
static void put_character(struct vpa_line *to, const char *digits)
{
	char number[5] = {digits[0], digits[1], digits[2], digits[3], '\0'};
	char bytes[4];
	size_t len = vpt_utf8_put(bytes, (uint32_t)strtoul(number, NULL, 16));

	vpa_line_put(to, bytes, len);
}

static void unescape(struct vpt_text *text, struct vpa_line *scratch)
{
	static const char marks[] = "bfnrt", values[] = "\b\f\n\r\t";
	const char *at = text->text, *end = at + text->len, *mark;

	scratch->size = 0;
	while (at < end) {
		const char *slash = memchr(at, '\\', (size_t)(end - at));
		size_t len = slash ? (size_t)(slash - at) : (size_t)(end - at);
		char c;

		vpa_line_put(scratch, at, len);
		at += len;
		if (!slash)
			break;
		c = at[1];
		mark = c ? strchr(marks, c) : NULL;
		if (c == 'u') {
			put_character(scratch, at + 2);
			at += 6;
			continue;
		}
		if (mark)
			c = values[mark - marks];
		vpa_line_put(scratch, &c, 1);
		at += 2;
	}
	*text = (struct vpt_text){scratch->size ? scratch->data : "", scratch->size};
}

/* Digits with a sign; a fraction, an exponent, or more digits than fit make a NUMBER. */
static void read_number(const char *at, const char *end, struct vpa_row_value *out)
{
	int negative = *at == '-';
	uint64_t value = 0, most = (uint64_t)INT64_MAX + (uint64_t)negative;
	const char *digit = at + negative;

	for (; digit < end && vpt_is_digit(*digit); digit++) {
		unsigned next = (unsigned)(*digit - '0');

		if (value > (most - next) / 10)
			break;
		value = value * 10 + next;
	}
	if (digit < end) {
		out->kind = VPA_ROW_NUMBER;
		out->number = strtod(at, NULL); /* a tab or line end stops it */
		return;
	}
	out->kind = VPA_ROW_INTEGER;
	out->integer = negative ? (int64_t)(0 - value) : (int64_t)value;
	out->number = (double)out->integer;
}

void vpa_row_value_read(
	const char **at, const char *end, struct vpa_line *scratch, struct vpa_row_value *out)
{
	const char *begin = *at, *stop = begin;

	while (stop < end && *stop != '\t' && *stop != '\n')
		stop++;
	*at = stop < end ? stop + 1 : end;
	*out = (struct vpa_row_value){.kind = VPA_ROW_NULL, .number = 0};
	if (*begin == '"') {
		out->kind = VPA_ROW_TEXT;
		out->text = (struct vpt_text){begin + 1, (size_t)(stop - begin) - 2};
		if (memchr(out->text.text, '\\', out->text.len))
			unescape(&out->text, scratch);
	} else if (*begin != 'n') {
		read_number(begin, stop, out);
	}
}

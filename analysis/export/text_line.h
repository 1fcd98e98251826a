/* text_line.h - fast formatting of text rows, for `cat` and for exports of rows and JSON.
 *
 * A line grows as needed. It is sticky: once memory runs out `failed` is set and every put does
 * nothing. All zeros is an empty line; vpt_free(line.data) frees it. */
#ifndef VPA_ANALYSIS_EXPORT_TEXT_LINE_H
#define VPA_ANALYSIS_EXPORT_TEXT_LINE_H

#include "formats/base/memory.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct vpa_line {
	char *data;
	size_t size, cap;
	int failed;
};

/* Room for `size` bytes at the end; the caller adds to line->size. NULL: no memory. */
static inline char *vpa_line_room(struct vpa_line *l, size_t size)
{
	if (l->cap - l->size < size) {
		if (l->failed || size > SIZE_MAX - l->size ||
			vpt_grow(&l->data, &l->cap, l->size + size, 1)) {
			l->failed = 1;
			return NULL;
		}
	}
	return l->data + l->size;
}

static inline void vpa_line_put(struct vpa_line *l, const char *data, size_t size)
{
	char *to = size ? vpa_line_room(l, size) : NULL;

	if (!to)
		return;
	memcpy(to, data, size);
	l->size += size;
}

static inline void vpa_line_words(struct vpa_line *l, const char *words)
{
	vpa_line_put(l, words, strlen(words));
}

extern const char vpa_digit_pairs[]; /* "00" to "99" */

/* Numbers are short: copying a fixed size and adding the real one takes a third of the time of a copy
 * of unknown length. */
static inline void vpa_line_unsigned(struct vpa_line *l, uint64_t value)
{
	enum { DIGITS = 20 };
	char digits[2 * DIGITS], *end = digits + DIGITS, *p = end;
	char *to = vpa_line_room(l, DIGITS);

	if (!to)
		return;
	memset(end, 0, DIGITS);
	for (; value >= 100; value /= 100)
		memcpy(p -= 2, vpa_digit_pairs + 2 * (value % 100), 2);
	memcpy(p -= 2, vpa_digit_pairs + 2 * value, 2);
	p += value < 10;
	memcpy(to, p, DIGITS);
	l->size += (size_t)(end - p);
}

/* `value` is in two's complement. */
static inline void vpa_line_signed(struct vpa_line *l, uint64_t value)
{
	if (value >> 63) {
		vpa_line_put(l, "-", 1);
		value = 0 - value;
	}
	vpa_line_unsigned(l, value);
}

/* Nanoseconds, in two's complement, as microseconds with all three decimals: 1500 is "1.500". */
void vpa_line_micros(struct vpa_line *l, uint64_t ns);

/* The shortest decimal that reads back as the same double; null for NaN and infinities. */
void vpa_line_double(struct vpa_line *l, double value);

/* "0x2a". */
void vpa_line_hex(struct vpa_line *l, uint64_t value);

/* A JSON string with its quotes, valid UTF-8 whatever the bytes. */
void vpa_line_json(struct vpa_line *l, const char *text, size_t len);

#endif

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
	/* The digits before the last eight of the last long number: times have them in common. */
	uint64_t high; /* 0: none yet */
	size_t high_len;
	char high_text[16];
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

enum { VPA_LINE_SLACK = 32 };

/* The same for data that is mostly short, with VPA_LINE_SLACK readable bytes after it: copying a fixed size
 * takes a third of the time of a copy of unknown length. */
static inline void vpa_line_put_short(struct vpa_line *l, const char *data, size_t size)
{
	char *to = vpa_line_room(l, size + VPA_LINE_SLACK);
	size_t i;

	if (!to)
		return;
	for (i = 0; i < size; i += VPA_LINE_SLACK)
		memcpy(to + i, data + i, VPA_LINE_SLACK);
	l->size += size;
}

static inline void vpa_line_words(struct vpa_line *l, const char *words)
{
	vpa_line_put(l, words, strlen(words));
}

/* Eight decimal digits of a number below 10^8, as values from 0 to 9, the first in the lowest byte: halves,
 * then quarters, then eighths are divided side by side in one word. */
static inline uint64_t vpa_eight_digits(uint32_t value)
{
	uint64_t high = value / 10000, four = high | (uint64_t)(value - high * 10000) << 32;
	uint64_t two = ((four * 10486) >> 20) & 0x0000007f0000007f, one;

	two |= (four - two * 100) << 16;
	one = ((two * 103) >> 10) & 0x000f000f000f000f;
	return one | (two - one * 10) << 8;
}

/* Stores the digits from the first, in the lowest byte, on. */
static inline void vpa_store_digits(char to[8], uint64_t digits)
{
	digits |= 0x3030303030303030;
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		digits = __builtin_bswap64(digits);
	memcpy(to, &digits, sizeof(digits));
}

/* Sets the line's long number. */
void vpa_line_new_high(struct vpa_line *l, uint64_t high);

/* Writes a number below 10^8 without leading zeros; returns its length. There is room for 8 bytes. */
static inline size_t vpa_write_short(char *to, uint32_t value)
{
	uint64_t digits = vpa_eight_digits(value);
	unsigned zeros = (unsigned)__builtin_ctzll(digits | (uint64_t)1 << 56) / 8;

	vpa_store_digits(to, digits >> 8 * zeros);
	return 8 - zeros;
}

enum { VPA_DIGITS = 24, VPA_EIGHT_DIGITS = 100000000 }; /* room for a number; 10^8 */

/* Writes a number to room for VPA_DIGITS bytes at the line's end; returns its length. */
static inline size_t vpa_line_digits(struct vpa_line *l, char *to, uint64_t value)
{
	uint64_t high = value / VPA_EIGHT_DIGITS;

	if (value < 10) {
		*to = (char)('0' + value);
		return 1;
	}
	if (!high)
		return vpa_write_short(to, (uint32_t)value);
	if (high != l->high)
		vpa_line_new_high(l, high);
	memcpy(to, l->high_text, sizeof(l->high_text));
	vpa_store_digits(to + l->high_len, vpa_eight_digits((uint32_t)(value % VPA_EIGHT_DIGITS)));
	return l->high_len + 8;
}

static inline void vpa_line_unsigned(struct vpa_line *l, uint64_t value)
{
	char *to = vpa_line_room(l, VPA_DIGITS);

	if (to)
		l->size += vpa_line_digits(l, to, value);
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

/* Eight bytes of text, or the `len` < 8 that are left and spaces. */
static inline uint64_t vpa_text_word(const char *text, size_t len)
{
	uint64_t word = 0x2020202020202020;

	if (len >= sizeof(word))
		memcpy(&word, text, sizeof(word));
	else
		memcpy(&word, text, len);
	return word;
}

/* Marks bytes of the word that equal `c`; the lowest mark is exact, others may be of larger bytes after it. */
static inline uint64_t vpa_bytes_equal(uint64_t word, char c)
{
	uint64_t differs = word ^ 0x0101010101010101 * (unsigned char)c;

	return (differs - 0x0101010101010101) & ~differs & 0x8080808080808080;
}

/* A JSON string with its quotes, valid UTF-8 whatever the bytes. */
void vpa_line_json(struct vpa_line *l, const char *text, size_t len);

struct vpa_csv {
	int is_safe;  /* an apostrophe disables what a spreadsheet would take for a formula */
	int is_clean; /* what a terminal would obey is shown instead */
};

/* A field as RFC 4180 has it: in quotes only where it must be, and its own quotes doubled. */
void vpa_line_csv(struct vpa_line *l, const char *text, size_t len, struct vpa_csv form);

#endif

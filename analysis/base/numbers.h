/* numbers.h - formats numbers and untrusted text for a terminal, and reads decimals.
 *
 * Numbers are built from integers, so they look the same in every locale. They are returned by value:
 * vpa_count(n).text is valid until the end of the full expression. A missing number is "-". Any
 * thread. */
#ifndef VPA_ANALYSIS_BASE_NUMBERS_H
#define VPA_ANALYSIS_BASE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

struct vpa_num {
	char text[40];
};

/* The number of what is not known, "-", and whether one is that. */
struct vpa_num vpa_missing(void);
int vpa_is_missing(const struct vpa_num *n);

struct vpa_num vpa_count(uint64_t n); /* "12,345" */

struct vpa_num vpa_ordinal(uint64_t n); /* "1st", "12th" */

/* The end of a noun after a number: "s" of "2 blocks", "es" of "2 passes". */
static inline const char *vpa_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static inline const char *vpa_plural_es(uint64_t n)
{
	return n == 1 ? "" : "es";
}

/* `value / unit`, rounded half up, with up to six decimals: vpa_scaled(ns, 1000000, 1) is ms. */
struct vpa_num vpa_scaled(uint64_t value, uint64_t unit, unsigned decimals);

/* Text with its numbers as vpa_count() writes them: "12202 gaps" gives "12,202 gaps". A number has a
 * blank or parenthesis before it, or nothing; others may be parts of names. What exceeds the label is
 * cut. NULL gives "". */
struct vpa_sentence {
	char text[1024];
};
struct vpa_sentence vpa_grouped(const char *text);

struct vpa_label; /* below */

/* Three digits and the unit that fits: "374 ns", "22.0 us", "1.23 s". Seconds may have more. */
struct vpa_num vpa_duration(uint64_t ns);
/* "68.8-131 ms", "980 us-1.20 ms"; without a `from_ns` below `to_ns` only that. */
struct vpa_label vpa_duration_range(uint64_t from_ns, uint64_t to_ns);
struct vpa_num vpa_bytes(uint64_t bytes); /* powers of 1000: "8 B", "58.0 MB" */

/* 100 * part / whole with one decimal and no sign: "79.9". A nonzero part that would round to 0 is
 * "<0.1"; a whole of 0 is "-". */
struct vpa_num vpa_percent(uint64_t part, uint64_t whole);
/* The same in words, where a number would be one too many. All: the rest rounds to no tenth of a per cent. */
enum vpa_amount {
	VPA_AMOUNT_ALL,
	VPA_AMOUNT_NEARLY_ALL, /* from 95 % */
	VPA_AMOUNT_MOST,       /* from 60 % */
	VPA_AMOUNT_HALF,       /* from 40 %: "about half" */
	VPA_AMOUNT_THIRD,      /* from 28 %: "about a third" */
	VPA_AMOUNT_SOME
};
enum vpa_amount vpa_amount_of(uint64_t part, uint64_t whole);
const char *vpa_part_word(uint64_t part, uint64_t whole);
struct vpa_num vpa_share(double share); /* vpa_percent() of a fraction; "-" for negatives and NaN */

/* Up to six decimals; "-" for NaN, infinities and numbers of more than 15 digits. */
struct vpa_num vpa_fixed(double value, unsigned decimals);

/* Reads "16", "0.5": without a sign or an exponent, and with no more digits than a double holds. Returns where it ends;
 * NULL: no number. */
const char *vpa_decimal_read(const char *text, double *value);

/* ---- text from a trace ----
 *
 * Printable characters are shown as they are. Control characters (also U+0080..9F), bytes that are
 * not UTF-8 and characters that change the direction of text become "\x1b" and "\u202e". Widths are
 * terminal columns, never fewer than the terminal uses: wide characters take 2, all others 1. */

enum { VPA_COLUMNS_MAX = 120 };

struct vpa_label {
	char text[512]; /* VPA_COLUMNS_MAX columns of up to 4 bytes, and a NUL */
};

struct vpa_glyph {
	char bytes[8]; /* NUL-terminated */
	unsigned len, columns;
};

/* The next character as shown. Returns the number of bytes of `text` it represents; 0 at the NUL. */
size_t vpa_glyph_next(const char *text, struct vpa_glyph *out);

size_t vpa_columns(const char *text); /* width of the whole text; NULL: 0 */

/* The text in at most `columns` (and VPA_COLUMNS_MAX) columns; "..." replaces its middle if it is too
 * long. NULL gives "". */
struct vpa_label vpa_fit(const char *text, size_t columns);

/* The same for the first `len` bytes of a longer text, which are cut between characters. */
struct vpa_label vpa_fit_part(const char *text, size_t len, size_t columns);

#endif

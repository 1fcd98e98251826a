/* units.h - numbers and foreign text made fit for a terminal.
 *
 * Numbers are built from integers, so they look the same in every locale. They come back by value:
 * vpa_count(n).text is good until the end of the full expression. A number that does not exist is
 * "-". Any thread. */
#ifndef VPA_ANALYSIS_RENDER_UNITS_H
#define VPA_ANALYSIS_RENDER_UNITS_H

#include <stddef.h>
#include <stdint.h>

struct vpa_num {
	char text[40];
};

struct vpa_num vpa_count(uint64_t n); /* "12,345" */

/* `value / unit`, rounded half up, with up to six decimals: vpa_scaled(ns, 1000000, 1) is ms. */
struct vpa_num vpa_scaled(uint64_t value, uint64_t unit, unsigned decimals);

/* Three digits and the unit that fits: "374 ns", "22.0 us", "1.23 s". Seconds may have more. */
struct vpa_num vpa_duration(uint64_t ns);
struct vpa_num vpa_bytes(uint64_t bytes); /* powers of 1000: "8 B", "58.0 MB" */

/* 100 * part / whole with one decimal and no sign: "79.9". Something that would round to nothing is
 * "<0.1", a whole of 0 is "-". */
struct vpa_num vpa_percent(uint64_t part, uint64_t whole);
struct vpa_num vpa_share(double share); /* the same for a fraction; "-" for negatives and NaN */

/* Up to six decimals; "-" for NaN, infinities and what does not fit 15 digits. */
struct vpa_num vpa_fixed(double value, unsigned decimals);

/* ---- text from a trace ----
 *
 * Shown are printable characters; control characters (also U+0080..9F), bytes that are no UTF-8 and
 * characters that turn the direction of text become "\x1b" and "\u202e". Widths are columns of a
 * terminal, never fewer than it takes: wide characters take 2, all others 1. */

enum { VPA_COLUMNS_MAX = 120 };

struct vpa_label {
	char text[512]; /* VPA_COLUMNS_MAX columns of up to 4 bytes, and a NUL */
};

struct vpa_glyph {
	char bytes[8]; /* NUL-terminated */
	unsigned len, columns;
};

/* The next character as it is shown. Returns how many bytes of `text` it stands for; 0 at its NUL.
 */
size_t vpa_glyph_next(const char *text, struct vpa_glyph *out);

size_t vpa_columns(const char *text); /* of all of it; NULL: 0 */

/* The text in at most `columns` (and VPA_COLUMNS_MAX) columns, "..." in its middle where something
 * had to go. NULL is "". */
struct vpa_label vpa_fit(const char *text, size_t columns);

/* The same for the first `len` bytes of a longer text, which are cut between characters. */
struct vpa_label vpa_fit_part(const char *text, size_t len, size_t columns);

#endif

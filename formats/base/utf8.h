/* utf8.h - reads text that may hold any bytes, character by character, and writes characters. */
#ifndef VPT_FORMATS_BASE_UTF8_H
#define VPT_FORMATS_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The length of the well-formed sequence at `text`, which has `left` > 0 bytes; 1 for ASCII. 0: not
 * well-formed; then *bad (may be NULL) is how many bytes one U+FFFD replaces, at least 1. */
size_t vpt_utf8_length(const char *text, size_t left, size_t *bad);

/* The code point of a well-formed sequence of this length. */
uint32_t vpt_utf8_code(const char *text, size_t length);

/* Writes a code point as UTF-8, not NUL-terminated; U+FFFD for a number that is none: a surrogate, or past U+10FFFF. Returns how
 * many bytes it wrote, 1 to 4. */
size_t vpt_utf8_put(char out[4], uint32_t code);

/* Whether a terminal obeys or hides this character instead of showing it: control characters, marks
 * that change the direction of text, characters without width. */
int vpt_utf8_is_unseen(uint32_t code);

/* A character, safe to show on a terminal. */
struct vpt_shown {
	char bytes[8]; /* NUL-terminated */
	unsigned len;
	int escaped; /* 1: "\x1b" or "\u202e", for an unseen character or a byte that is not UTF-8 */
};

/* Shows the next character of `text`, which has `left` > 0 bytes. Returns how many bytes it
 * consumed. */
size_t vpt_utf8_show(const char *text, size_t left, struct vpt_shown *out);

#endif

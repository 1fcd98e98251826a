/* utf8.h - text of any bytes, a character at a time. */
#ifndef VPT_FORMATS_UTF8_H
#define VPT_FORMATS_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The length of the well-formed sequence at `text`, of which `left` > 0 bytes are there; 1 for ASCII. 0: there is none;
 * then *bad (NULL: not asked) is how many bytes one U+FFFD stands for, at least 1. */
size_t vpt_utf8_length(const char *text, size_t left, size_t *bad);

/* The code of a well-formed sequence of that length. */
uint32_t vpt_utf8_code(const char *text, size_t length);

/* Whether a terminal obeys or hides this character instead of showing it: control characters, marks that turn the direction
 * of text, characters without width. */
int vpt_utf8_is_unseen(uint32_t code);

/* A character as it may be shown on a terminal. */
struct vpt_shown {
	char bytes[8]; /* NUL-terminated */
	unsigned len;
	int escaped; /* "\x1b" or "\u202e" in place of what is not to be seen or no UTF-8 */
};

/* The next character of `text`, of which `left` > 0 bytes are there. Returns how many bytes it stands for. */
size_t vpt_utf8_show(const char *text, size_t left, struct vpt_shown *out);

#endif

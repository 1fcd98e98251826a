/* amounts.h - whole numbers with a unit, as variables have them: 256M, 500ms, 7. */
#ifndef VPTRACE_TRACER_SETTINGS_AMOUNTS_H
#define VPTRACE_TRACER_SETTINGS_AMOUNTS_H

#include <stdint.h>

struct vtr_word {
	const char *text; /* NULL ends a list */
	int64_t value;
};

/* Units. Error messages use the first one in which a limit is a whole number. */
extern const struct vtr_word vtr_sizes[], vtr_milliseconds[], vtr_numbers[];

/* NULL: no word of the list equals `text`, whatever the case of its letters. */
const struct vtr_word *vtr_word_find(const struct vtr_word *words, const char *text);

/* A whole number, then perhaps a blank, then a unit. Milliseconds are also given in other units of time. 0, or -1: it is
 * none, or has no room in *out. */
int vtr_amount_read(const struct vtr_word *units, const char *text, int64_t *out);

/* Words for -1, besides a number; error messages use the first. */
extern const struct vtr_word vtr_never[];

#endif

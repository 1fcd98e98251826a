/* baseline.h - a report read back from its JSON, to be compared with. */
#ifndef VPA_ANALYSIS_COMPARE_BASELINE_H
#define VPA_ANALYSIS_COMPARE_BASELINE_H

#include "analysis/base/arena.h"
#include "analysis/report/report.h"

#include <stdint.h>

/* Reads a report of `analyze --format json`. It has what its keys hold: no overview, no parts of single blocks or steps,
 * and only the kernels that are listed. `text` may hold any bytes, and is copied; `path` is the name in messages and
 * in the report. The caller frees *out. VPT_EDATA with a sentence if it is no such report; VPT_ENOMEM. */
int vpa_baseline_read(const char *text, size_t len, const char *path, struct vpa_report **out,
	struct vpt_err *err);

/* ---- json_text.c: reads JSON text from its start to its end, value by value.
 *
 * Nothing is trusted: a reader never goes past the end, nests at most VPA_JSON_DEPTH_MAX deep, and stops at the
 * first fault. It is sticky: after a fault every call returns 0 and changes nothing. */

enum { VPA_JSON_DEPTH_MAX = 64 };

struct vpa_json_text {
	const char *at, *end;
	const char *fault; /* what is wrong at `at`; NULL: nothing so far */
	unsigned depth;
};

struct vpa_json_number {
	double real;    /* at most 2^64 either way */
	uint64_t whole; /* what is before the point, without the sign; at most UINT64_MAX */
	int minus;
};

/* The first character of the next value: one of { [ " t f n - 0..9; 0: the end, or a fault. */
char vpa_json_next(struct vpa_json_text *t);

/* Enters an array or object. Returns 0 on a fault. */
int vpa_json_enter(struct vpa_json_text *t, char bracket);
/* Moves to the next member of the array or object entered last; `first` is set by the caller to 1 before the first
 * call. Returns 0 at its end, which leaves it, or on a fault. */
int vpa_json_member(struct vpa_json_text *t, char bracket, int *first);
/* Reads a member's key, and the colon after it. */
const char *vpa_json_key(struct vpa_json_text *t, struct vpa_arena *arena);

/* A text with its escapes resolved, in the arena. NULL: a fault, or no memory. */
const char *vpa_json_string(struct vpa_json_text *t, struct vpa_arena *arena);
/* Returns 0 on a fault. */
int vpa_json_number(struct vpa_json_text *t, struct vpa_json_number *out);
/* true, false or null: 1, 0 or -1; -2: a fault. */
int vpa_json_word(struct vpa_json_text *t);
void vpa_json_skip(struct vpa_json_text *t); /* the next value, whatever it is */

#endif

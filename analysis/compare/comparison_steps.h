/* comparison_steps.h - the steps of a comparison, each filling some tables of it, and what they share. Private to comparison.c and
 * the files that it calls. All steps return 0 or VPT_ENOMEM. */
#ifndef VPA_ANALYSIS_COMPARE_COMPARISON_STEPS_H
#define VPA_ANALYSIS_COMPARE_COMPARISON_STEPS_H

#include "analysis/compare/comparison.h"
#include "formats/base/map.h"
#include "formats/base/saturate.h"

#include <string.h>

/* The units of the runs, a's before b's. */
struct vpa_compared_units {
	struct vpa_units *all;
	size_t count, a_count;
};

enum { VPA_COMPARE_NOTES_MAX = 16 };

/* Adds a note, once, if there is room; a NULL text is no memory. */
static inline void vpa_compare_note(struct vpa_comparison *c, const char *text)
{
	size_t i;

	for (i = 0; text && i < c->note_count; i++)
		if (!strcmp(c->notes[i], text))
			return;
	if (text && c->note_count < VPA_COMPARE_NOTES_MAX)
		c->notes[c->note_count++] = text;
}

/* The report of a run; a's come first. */
static inline const struct vpa_report *vpa_compare_run(const struct vpa_comparison *c, size_t run)
{
	return run < c->a.count ? c->a.reports[run] : c->b.reports[run - c->a.count];
}

/* Chooses unit and rate, pairs the units, and notes why not others: unit_choice.c. `options`: its kinds, and whether the
 * first request is left out. */
int vpa_compare_choose(struct vpa_comparison *c, struct vpa_compared_units *u,
	const struct vpa_compare_options *options);
/* Appends the facts of the set-up that differ: setup_changes.c. */
int vpa_compare_facts(struct vpa_comparison *c);
/* The account of the mean unit, and that of the window: unit_accounts.c. */
int vpa_compare_parts(struct vpa_comparison *c, const struct vpa_compared_units *units);
int vpa_compare_rows(struct vpa_comparison *c, const struct vpa_compared_units *units);
/* What the host did in time that counts to an earlier wait: instead_changes.c. Takes it out of the sums of the causes, if both sides
 * know it; else out of the sums. */
void vpa_compare_take_instead(uint64_t *a, uint64_t *b, int lacks_instead);
/* Where a part's host did what it did, on the side with more of it. */
void vpa_compare_place_instead(const struct vpa_comparison *c, struct vpa_compared_part *part);
/* A part of the mean unit, as it explains the change. Where parts in which the host did the same cancel by a quarter or more,
 * since it counts to a wait on one side only, and where the number of waits changed, one part stands for the sum of several,
 * which is then *out, and 0 says that a part is not to be shown. */
int vpa_compare_whole_instead(
	const struct vpa_comparison *c, size_t part, struct vpa_compared_part *out);
/* Takes what the host did out of a device's idle rows, which are `count` from `rows` on, and appends rows of it. Returns
 * the new count. */
size_t vpa_compare_divide_rows(
	const struct vpa_device *d, struct vpa_compared_row *rows, size_t count, int in_b);
/* Idle time by line: line_changes.c. After the rows, whose units it uses. */
int vpa_compare_lines(struct vpa_comparison *c);
/* Stages, counts, counters, findings: other_changes.c. */
int vpa_compare_tables(struct vpa_comparison *c);

/* Adds times of the same part. */
static inline void vpa_compare_add_times(
	struct vpa_account_part *to, const struct vpa_account_part *times)
{
	vpt_sat_add_to(&to->a_ns, times->a_ns);
	vpt_sat_add_to(&to->b_ns, times->b_ns);
	to->delta_ns = vpt_sat_add_i64(to->delta_ns, times->delta_ns);
}

/* The mean of A's units. */
static inline uint64_t vpa_compare_mean_a(const struct vpa_comparison *c)
{
	return c->a_over ? c->a_total_ns / c->a_over : 0;
}

/* 0 over nothing. */
static inline uint64_t vpa_rounded_mean(uint64_t ns, uint64_t over)
{
	return over ? (uint64_t)(((unsigned __int128)ns + over / 2) / over) : 0;
}

static inline uint64_t vpa_magnitude(int64_t n)
{
	return n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
}

/* ---- row_names.c: finds rows of a table by their names, and perhaps a device.
 *
 * A comparison matches tables of many reports, whose length a file decides. */

/* What tells rows apart. A text may be NULL, which equals NULL alone. */
struct vpa_row_name {
	const char *name, *kind;
	int64_t device;
};

/* The name of the row `i` of a table. */
typedef struct vpa_row_name vpa_row_name_of(const void *rows, size_t i);

/* All zeros, but for `rows` and `name_of`, is empty. Free with vpt_map_free(&names->map). */
struct vpa_row_names {
	const void *rows; /* the caller's, who may append to them */
	vpa_row_name_of *name_of;
	struct vpt_map map;
};

/* The first row of that name that was put; SIZE_MAX: none. */
size_t vpa_row_names_find(const struct vpa_row_names *names, const struct vpa_row_name *name);

/* Puts the row `i`, if none of its name is there. Returns 1: it was put; 0: there is one; VPT_ENOMEM. */
int vpa_row_names_put(struct vpa_row_names *names, size_t i);

#endif

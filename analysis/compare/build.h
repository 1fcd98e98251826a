/* build.h - the steps of a comparison, each filling some tables of it, and its arithmetic. Private to compare.c and
 * the files that it calls. All functions return 0 or VPT_ENOMEM. */
#ifndef VPA_ANALYSIS_COMPARE_BUILD_H
#define VPA_ANALYSIS_COMPARE_BUILD_H

#include "analysis/compare/compare.h"

/* The units of the runs, a's before b's. */
struct vpa_compared_units {
	struct vpa_units *all;
	size_t count, a_count;
};

/* Adds a note if there is room; a NULL text is no memory. */
void vpa_compare_note(struct vpa_comparison *c, const char *text);

/* Appends the facts of the set-up that differ: facts.c. */
int vpa_compare_facts(struct vpa_comparison *c);
/* The account of the mean unit, and that of the window: accounts.c. */
int vpa_compare_parts(struct vpa_comparison *c, const struct vpa_compared_units *units);
int vpa_compare_rows(struct vpa_comparison *c, const struct vpa_compared_units *units);
/* Stages, counts, counters, findings: tables.c. */
int vpa_compare_tables(struct vpa_comparison *c);

/* 0 over nothing. */
static inline uint64_t vpa_rounded_mean(uint64_t ns, uint64_t over)
{
	return over ? (ns + over / 2) / over : 0;
}

static inline uint64_t vpa_magnitude(int64_t n)
{
	return n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
}

#endif

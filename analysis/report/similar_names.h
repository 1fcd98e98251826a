/* similar_names.h - places that differ only in their numbers, "step 0" and "step 12", are one place in words: the
 * first of them "and 11 similar". */
#ifndef VPA_ANALYSIS_REPORT_SIMILAR_NAMES_H
#define VPA_ANALYSIS_REPORT_SIMILAR_NAMES_H

#include "analysis/report/report.h"

/* Orders names by all but the digits; 0: they differ at most in their numbers. NULL is before every name. */
int vpa_compare_alike(const char *a, const char *b);

/* Places of one cause and call, on all devices. */
struct vpa_similar {
	uint64_t ns;
	size_t count;            /* different ranges */
	struct vpa_top_line top; /* of their time, see main_line.h; its file is NULL: none */
};

/* The places like `place`, itself included: of ranges that differ at most in their numbers. `takes`: only places for
 * which this returns 1, NULL: all; `ctx` is passed to it. */
struct vpa_similar vpa_similar_places(const struct vpa_report *r, const struct vpa_idle_part *place,
	int (*takes)(const struct vpa_report *r, unsigned ctx, const struct vpa_place *place),
	unsigned ctx);
/* The same place only. */
struct vpa_similar vpa_same_places(const struct vpa_report *r, const struct vpa_idle_part *place,
	int (*takes)(const struct vpa_report *r, unsigned ctx, const struct vpa_place *place),
	unsigned ctx);

#endif

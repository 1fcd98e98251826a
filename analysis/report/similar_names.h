/* similar_names.h - places that differ only in their numbers, "step 0" to "step 11", are one place in words: "step 0..11". */
#ifndef VPA_ANALYSIS_REPORT_SIMILAR_NAMES_H
#define VPA_ANALYSIS_REPORT_SIMILAR_NAMES_H

#include "analysis/base/numbers.h"
#include "analysis/report/report.h"

/* Orders names by all but the digits; 0: they differ at most in their numbers. NULL is before every name. */
int vpa_compare_alike(const char *a, const char *b);

enum {
	VPA_ALIKE_NUMBERS =
		4 /* of a name, from its start; others stay as they are in one of the names */
};

/* The numbers in names that are alike. Zeros: of no name yet. */
struct vpa_alike {
	size_t count; /* of names */
	struct {
		uint64_t least, most;
	} numbers[VPA_ALIKE_NUMBERS];
};

/* Adds the numbers of a name that no call before had; it is alike all names before. */
void vpa_alike_add(struct vpa_alike *all, const char *name);
/* One name for all of them, of any one: "section 0..11"; "section 0..11 (3 of them)" where not all between are among them. Of none:
 * the name itself. */
struct vpa_label vpa_alike_label(const struct vpa_alike *all, const char *name);

/* Places of one cause and call, on all devices. */
struct vpa_similar {
	uint64_t ns;
	struct vpa_alike ranges; /* the different ones */
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

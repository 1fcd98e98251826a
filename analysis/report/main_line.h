/* main_line.h - the line with most of the time of several places: of one place on all devices, of "step 0" and
 * "step 1".
 *
 *	struct vpa_main_line m = {.ns = 0};
 *
 *	do
 *		for (each place)
 *			vpa_main_line_add(&m, place->top, place->ns);
 *	while (vpa_main_line_again(&m));
 *	top = vpa_main_line_of(&m);
 *
 * The places are read twice: the first time for the lines that may have a quarter of the time, the second time
 * for what these have. Time without a line is part of all time. */
#ifndef VPA_ANALYSIS_REPORT_MAIN_LINE_H
#define VPA_ANALYSIS_REPORT_MAIN_LINE_H

#include "analysis/report/rows/code_line.h"

/* A line with a smaller share says nothing about the time. From VPA_LINE_MOST on, it is most of it. */
#define VPA_LINE_LEAST 0.25
#define VPA_LINE_MOST  0.5

/* A line with more than 1 / (VPA_LINE_RIVALS + 1) of the time is found. */
enum { VPA_LINE_RIVALS = 4 };

/* All zeros is empty. Members are private. */
struct vpa_main_line {
	struct {
		struct vpa_code_line line;
		uint64_t ns; /* first what no other line outweighs, then all */
	} rivals[VPA_LINE_RIVALS];
	uint64_t ns;
	double samples;
	int is_second;
};

/* Adds `ns` of a place, with what is known of the place; NULL: nothing. */
void vpa_main_line_add(struct vpa_main_line *m, const struct vpa_top_line *top, uint64_t ns);
/* Returns 1 if all places have to be added again. */
int vpa_main_line_again(struct vpa_main_line *m);
/* The line with most of the time; its file is NULL if none has VPA_LINE_LEAST. */
struct vpa_top_line vpa_main_line_of(const struct vpa_main_line *m);
/* The same if the places are a part of `all_ns`, of which the share is then. */
struct vpa_top_line vpa_main_line_among(struct vpa_top_line top, uint64_t ns, uint64_t all_ns);

/* What vpa_top_line_text() says, after `most` if the line has VPA_LINE_MOST, else after "the largest part "; "" below
 * VPA_LINE_LEAST. At most cap - 1 bytes; returns text. */
const char *vpa_main_line_text(
	char *text, size_t cap, const struct vpa_top_line *top, const char *most);

#endif

/* loop_match.h - aligns a stretch of a sequence with a pattern, a stretch of the same sequence.
 *
 * Greedy, in linear time but for binary searches: equal ops match; where they differ, the nearest
 * continuation with three equal ops is taken, an op or a few inserted, missing or replaced; going
 * forwards also a jump ahead in the pattern, over what a step cache leaves out. */
#ifndef VPA_ANALYSIS_STEPS_LOOP_MATCH_H
#define VPA_ANALYSIS_STEPS_LOOP_MATCH_H

#include "analysis/steps/loop_groups.h"

/* The pattern is ops [begin, begin + ops) of the text, read as a circle. */
struct vpa_loop_pattern {
	const struct vpa_loop_text *text;
	uint32_t begin, ops;
};

struct vpa_loop_match {
	uint32_t matched;    /* ops of the stretch */
	uint32_t begin, end; /* from the first matched op to after the last; equal: none */
	/* The place in the pattern of the first matched op, and after the last one's. */
	uint32_t from, to;
};

/* Aligns [i, end) with the pattern from its place `from` to before `to`. */
void vpa_loop_match_on(const struct vpa_loop_pattern *p, uint32_t i, uint32_t end, uint32_t from,
	uint32_t to, struct vpa_loop_match *out);

/* Ops inserted, missing or replaced at once that are skipped when going backwards. */
enum { VPA_LOOP_BACK = 6 };

/* Aligns backwards, from op `i` - 1 down to `begin`, and from the pattern's last place down to `to`; ends
 * where no continuation is near. Skips at most `inserted` ops at once that the pattern lacks. */
void vpa_loop_match_back(const struct vpa_loop_pattern *p, uint32_t i, uint32_t begin, uint32_t to,
	uint32_t inserted, struct vpa_loop_match *out);

#endif

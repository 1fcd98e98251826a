/* loop_passes.h - the passes of a model through a sequence, and the steps that they make. */
#ifndef VPA_ANALYSIS_STEPS_LOOP_PASSES_H
#define VPA_ANALYSIS_STEPS_LOOP_PASSES_H

#include "analysis/steps/loop_groups.h"

/* ---- loop_match.c: aligns a stretch of a sequence with a pattern, a stretch of the same sequence.
 *
 * Greedy, in linear time but for binary searches: equal ops match; where they differ, the nearest
 * continuation with three equal ops is taken, an op or a few inserted, missing or replaced; going
 * forwards also a jump ahead in the pattern, over what a step cache leaves out. */

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

struct vpa_loop_pass {
	uint32_t anchor;     /* where the group's token occurs */
	uint32_t begin, end; /* from its first to after its last op that the pattern has */
	uint32_t matched;    /* ops that the pattern has */
	uint32_t to;         /* after the place of its last op, counted from the pass's begin */
	uint32_t layers;     /* rounds of the inner group */
	uint8_t is_full;     /* as many layers as most */
	uint8_t is_cut;      /* by an edge of the sequence */
	uint8_t closes;      /* the ops that end a step follow it, or are its last */
	uint8_t followed;    /* the next pass follows, with next to nothing between */
};

struct vpa_loop_passes {
	const struct vpa_loop_text *text;
	struct vpa_loop_pass *at;
	size_t count;
	struct vpa_loop_pattern pattern;
	uint32_t phase;  /* the place in the pattern where passes begin */
	uint32_t layers; /* of full passes; 0: they have none */
	uint32_t
		model_layers; /* of `layers` those that are layers of the model; the caller sets it */
	uint32_t layer_ops;   /* of one layer */
	uint64_t matched, ops; /* inside passes */
};

/* Cuts the text at the turns of `group`, finds the pattern and where passes begin in it, and aligns all
 * turns with it. `layers` is how often the inner group occurs in each turn, group->count of them, NULL:
 * there is none; `most` and `layer_ops` are of full passes. Free *out in all cases. 0 or VPT_ENOMEM. */
int vpa_loop_passes_make(const struct vpa_loop_text *text, const struct vpa_loop_group *group,
	const uint32_t *layers, uint32_t most, uint32_t layer_ops, struct vpa_loop_passes *out);
void vpa_loop_passes_free(struct vpa_loop_passes *p);

/* Makes steps of the passes. Leaves step_count 0 if they are no loop. 0 or VPT_ENOMEM. */
int vpa_loop_steps_make(struct vpa_loop_passes *p, struct vpa_loop *out);

#endif

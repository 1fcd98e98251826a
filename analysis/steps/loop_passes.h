/* loop_passes.h - the passes of a model through a sequence, and the steps that they make. */
#ifndef VPA_ANALYSIS_STEPS_LOOP_PASSES_H
#define VPA_ANALYSIS_STEPS_LOOP_PASSES_H

#include "analysis/steps/loop_groups.h"
#include "analysis/steps/loop_match.h"

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

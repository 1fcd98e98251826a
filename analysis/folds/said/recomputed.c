/* recomputed.c - what activation checkpointing computes again in backward passes, by the ranges around launches, see
 * ../../model/recomputation.h.
 *
 * Of a stream, ops come in the order of their launches. So what a thread launches in such a range is computed again until it first
 * launches something of a gradient there. */
#include "analysis/folds/fold.h"

#include "analysis/model/recomputation.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

enum name_kind { NAME_OTHER, NAME_RECOMPUTES, NAME_GRADIENTS };

/* The newest range of a thread that recomputes. */
struct lane {
	uint64_t start_ns, gradients_ns; /* when gradients began in it; ~0: not yet */
	int is_known;
};

struct state {
	uint8_t *names; /* by id: enum name_kind */
	size_t name_count, name_cap;
	int may_recompute;  /* some name does */
	struct lane *lanes; /* by thread */
	size_t lane_cap;
	uint64_t count, ops, total_ns;
};

static int read_names(struct state *s, const struct vpa_model *m)
{
	size_t count = m->names.count;

	if (vpt_grow(&s->names, &s->name_cap, count, sizeof(*s->names)))
		return VPT_ENOMEM;
	for (; s->name_count < count; s->name_count++) {
		struct vpt_text name = vpa_name(m, (uint32_t)s->name_count);

		s->names[s->name_count] = (uint8_t)(vpa_recomputes(name)        ? NAME_RECOMPUTES
						    : vpa_is_of_gradients(name) ? NAME_GRADIENTS
										: NAME_OTHER);
		s->may_recompute |= s->names[s->name_count] == NAME_RECOMPUTES;
	}
	return VPT_OK;
}

/* The innermost range around a launch that recomputes, and the outermost range of gradients in it. NULL: none. */
static const struct vpa_range *find_range(const struct state *s, const struct vpa_range *range,
	uint64_t at_ns, const struct vpa_range **gradients)
{
	*gradients = NULL;
	range = vpa_range_open_at((struct vpa_range *)range, at_ns);
	for (; range; range = vpa_range_around(range, at_ns)) {
		if (s->names[range->name] == NAME_RECOMPUTES)
			return range;
		if (s->names[range->name] == NAME_GRADIENTS)
			*gradients = range;
	}
	return NULL;
}

/* Whether a launch in such a range computes something again. */
static int is_again(struct lane *lane, const struct vpa_range *range,
	const struct vpa_range *gradients, uint64_t at_ns, uint64_t *count)
{
	if (!lane->is_known || lane->start_ns != range->start_ns) {
		*lane = (struct lane){range->start_ns, UINT64_MAX, 1};
		*count += !gradients;
	}
	if (gradients && gradients->start_ns < lane->gradients_ns)
		lane->gradients_ns = gradients->start_ns;
	return at_ns < lane->gradients_ns;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	size_t i, k = 0;

	if (s->name_count < c->model->names.count && read_names(s, c->model))
		return VPT_ENOMEM;
	for (i = 0; s->may_recompute && i < ops->count; i++) {
		const struct vpa_op_stretch *stretch = vpa_ops_stretch(ops, i, &k);
		uint64_t at_ns = ops->launch_start_ns[i];
		const struct vpa_range *gradients,
			*range = find_range(s, stretch->range, at_ns, &gradients);

		if (!range || stretch->thread == VPA_NONE)
			continue;
		if (vpt_grow_zeroed(&s->lanes, &s->lane_cap, (size_t)stretch->thread + 1,
			    sizeof(*s->lanes)))
			return VPT_ENOMEM;
		if (!is_again(&s->lanes[stretch->thread], range, gradients, at_ns, &s->count))
			continue;
		s->ops++;
		vpt_sat_add_to(&s->total_ns, ops->end_ns[i] - ops->start_ns[i]);
	}
	return VPT_OK;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	const struct state *s = state;

	(void)c;
	out->recomputed = (struct vpa_recomputed){s->count, s->ops, s->total_ns};
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpt_free(s->names);
	vpt_free(s->lanes);
}

const struct vpa_fold vpa_fold_recomputed = {
	.name = "recomputed",
	.help = "what activation checkpointing computes again",
	.state_bytes = sizeof(struct state),
	.ops = fold_ops,
	.finish = finish,
	.free = free_state,
};

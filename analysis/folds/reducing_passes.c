/* reducing_passes.c - how many backward passes of an optimizer step sum the gradients, see ../model/reductions.h. */
#include "analysis/folds/fold.h"

#include "analysis/model/reductions.h"
#include "analysis/names/collective_kinds.h"
#include "formats/base/memory.h"

struct state {
	struct vpa_training *gpus; /* by device */
	size_t count;
	/* The kernel whose name was read last, plus 1: few kernels are most of them. 0: none. */
	uint32_t last;
	enum vpa_collective_kind last_kind;
};

static enum vpa_collective_kind kind_of(struct state *s, const struct vpa_model *m, uint32_t kernel)
{
	struct vpt_text name;

	if (s->last == kernel + 1)
		return s->last_kind;
	name = vpa_name(m, m->kernels[kernel].name);
	s->last = kernel + 1;
	s->last_kind = vpa_collective_kind_of(name.text, name.len);
	return s->last_kind;
}

/* Most traces have no all-reduces: nothing is looked at before the first one. */
static int begins(struct state *s, const struct vpa_model *m, const struct vpa_ops *ops)
{
	size_t k;

	for (k = 0; k < ops->other_count; k++)
		if (ops->is_comm[ops->others[k]] &&
			kind_of(s, m, ops->kernel[ops->others[k]]) == VPA_COLLECTIVE_ALL_REDUCE)
			return 1;
	return 0;
}

static void take(struct state *s, const struct vpa_model *m, const struct vpa_ops *ops, size_t i,
	uint32_t thread)
{
	struct vpa_training_op op = {
		.kind = (uint64_t)ops->blocks[i] << 32 | ops->kernel[i], .thread = thread};

	if (ops->family[i] == VPA_FAMILY_OPTIMIZER)
		op.part = VPA_TRAINING_OPTIMIZER;
	if (ops->is_comm[i]) {
		enum vpa_collective_kind kind = kind_of(s, m, ops->kernel[i]);

		if (kind != VPA_COLLECTIVE_ALL_REDUCE && kind != VPA_COLLECTIVE_REDUCE_SCATTER)
			return;
		op.part = kind == VPA_COLLECTIVE_ALL_REDUCE ? VPA_TRAINING_ALL_REDUCE
							    : VPA_TRAINING_SCATTER;
	}
	vpa_training_take(&s->gpus[ops->device[i]], &op);
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	size_t devices = c->model->device_count, k, i = 0;
	struct state *s = state;

	if (!s->gpus && !begins(s, c->model, ops))
		return VPT_OK;
	if (vpt_grow_zeroed(&s->gpus, &s->count, devices, sizeof(*s->gpus)))
		return VPT_ENOMEM;
	for (k = 0; k < ops->stretch_count; k++)
		for (; i < ops->stretches[k].end; i++)
			if (ops->kind[i] == VPA_KERNEL && ops->stretches[k].thread != VPA_NONE)
				take(s, c->model, ops, i, ops->stretches[k].thread);
	return VPT_OK;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;

	(void)c;
	out->reducing = vpa_training_says(s->gpus, s->count);
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpt_free(s->gpus);
}

const struct vpa_fold vpa_fold_reductions = {
	.name = "reductions",
	.help = "backward passes of an optimizer step that all sum the gradients over ranks",
	.state_bytes = sizeof(struct state),
	.aside = fold_ops,
	.finish = finish,
	.free = free_state,
};

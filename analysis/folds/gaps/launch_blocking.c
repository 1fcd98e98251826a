/* launch_blocking.c - whether launches return only when their kernels have ended. */
#include "analysis/folds/fold.h"

#include "analysis/model/blocking_launches.h"

struct state {
	uint64_t kernels, after;
};

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	uint64_t kernels = 0, after = 0;
	size_t i;

	(void)c;
	for (i = 0; i < ops->count; i++) {
		uint64_t counts = ops->end_ns[i] - ops->start_ns[i] >= VPA_BLOCKING_NS;

		counts &= ops->launch_end_ns[i] != UINT64_MAX;
		counts &= ops->kind[i] == VPA_KERNEL;
		kernels += counts;
		after += counts & (ops->launch_end_ns[i] >= ops->end_ns[i]);
	}
	s->kernels += kernels;
	s->after += after;
	return VPT_OK;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	const struct state *s = state;

	(void)c;
	out->launches_block = vpa_launches_block(s->kernels, s->after);
	return VPT_OK;
}

const struct vpa_fold vpa_fold_launch_blocking = {
	.name = "launch_blocking",
	.help = "whether launches return only when their kernels have ended",
	.state_bytes = sizeof(struct state),
	.ops = fold_ops,
	.finish = finish,
};

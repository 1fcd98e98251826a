/* launch_blocking.c - whether launches return only when their kernels have ended. */
#include "analysis/folds/fold.h"

#include "analysis/model/blocking_launches.h"
#include "formats/base/vectorise.h"

struct state {
	uint64_t kernels, after;
};

VPT_VECTORISE
static void count(const struct vpa_ops *ops, struct state *s)
{
	uint64_t kernels = 0, after = 0;
	size_t i, n = ops->count;

	for (i = 0; i < n; i++) {
		uint64_t end = ops->launch_end_ns[i];
		uint64_t counts = (ops->end_ns[i] - ops->start_ns[i] >= VPA_BLOCKING_NS) &
				  (end != UINT64_MAX) & (ops->kind[i] == VPA_KERNEL);

		kernels += counts;
		after += counts & (end >= ops->end_ns[i]);
	}
	s->kernels += kernels;
	s->after += after;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	(void)c;
	count(ops, state);
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

/* said_label.c - what a range is, with or without work on a GPU. */
#include "analysis/folds/said/said_label.h"

int vpa_said_label(const struct vpa_fold_context *c, const struct vpa_range *range,
	struct vpa_scope_label *out)
{
	*out = vpa_no_scope();
	if (range->unmatched || range->cut || range->end_ns < range->start_ns ||
		range->end_ns == UINT64_MAX)
		return VPT_OK;
	if (range->scope >= VPA_FIRST_SCOPE && vpa_pipeline_kind(range)) {
		*out = c->pipeline->scopes[range->scope - VPA_FIRST_SCOPE].label;
		return VPT_OK;
	}
	if (range->gpu.ops || !range->payload || range->level == VPA_LEVEL_OPERATOR)
		return VPT_OK;
	return vpa_pipeline_label(c->pipeline, range, out);
}

uint64_t vpa_said_gpu_ns(const struct vpa_range *range)
{
	const struct vpa_projection *gpu;
	uint64_t first_ns = UINT64_MAX, last_ns = 0;

	for (gpu = &range->gpu; gpu; gpu = gpu->next) {
		if (gpu->device == VPA_NONE || !gpu->ops)
			continue;
		first_ns = gpu->first_ns < first_ns ? gpu->first_ns : first_ns;
		last_ns = gpu->last_ns > last_ns ? gpu->last_ns : last_ns;
	}
	return last_ns > first_ns ? last_ns - first_ns : 0;
}

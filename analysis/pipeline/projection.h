/* projection.h - adds ops to the projection of a range's instance, or of a marked span, on a device. */
#ifndef VPA_ANALYSIS_PIPELINE_PROJECTION_H
#define VPA_ANALYSIS_PIPELINE_PROJECTION_H

#include "analysis/model/model.h"
#include "formats/base/memory.h"

/* The sums of ops of one run. */
struct vpa_share {
	uint64_t first_ns, last_ns, busy_ns, idle_first_ns, idle_last_ns, ops;
	uint32_t device;
};

/* Adds up ops [begin, end) of one run. They run one after the other, so all time between the first
 * and the last that is not idle is theirs. */
static inline void vpa_share_of(
	const struct vpa_ops *ops, size_t begin, size_t end, struct vpa_share *share)
{
	share->first_ns = ops->start_ns[begin];
	share->last_ns = ops->end_ns[end - 1];
	share->idle_first_ns = ops->idle_ns[begin];
	share->idle_last_ns = ops->idle_ns[end - 1];
	share->busy_ns =
		share->last_ns - share->first_ns - (share->idle_last_ns - share->idle_first_ns);
	share->ops = end - begin;
	share->device = ops->device[begin];
}

/* The projection on another device than the first, made on first use; NULL: no memory. */
VPA_RARE static struct vpa_projection *vpa_other_projection(
	struct vpa_projection *p, uint32_t device)
{
	for (; p->device != device; p = p->next)
		if (!p->next) {
			p->next = vpt_calloc(1, sizeof(*p));
			if (!p->next)
				return NULL;
			p->next->device = device;
		}
	return p;
}

/* Adds a share. Ops come in order of start, so busy time is a moving edge. An op may begin under
 * earlier ones that belong to some ranges only, so the time it adds differs from range to range. 0 or
 * VPT_ENOMEM. */
static inline int vpa_project(struct vpa_projection *p, const struct vpa_share *share)
{
	if (!p->ops)
		p->device = share->device;
	if (p->device != share->device && !(p = vpa_other_projection(p, share->device)))
		return VPT_ENOMEM;
	if (!p->ops) {
		p->first_ns = p->last_ns = share->first_ns;
		p->idle_first_ns = share->idle_first_ns;
	}
	if (p->last_ns <= share->first_ns)
		p->busy_ns += share->busy_ns;
	else if (share->last_ns > p->last_ns)
		p->busy_ns += share->last_ns - p->last_ns;
	if (share->last_ns > p->last_ns)
		p->last_ns = share->last_ns;
	p->idle_last_ns = share->idle_last_ns;
	p->ops += share->ops;
	return VPT_OK;
}

#endif

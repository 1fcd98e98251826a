/* refused.c - a ring of calls, sorted once at the end, and ids with counts. */
#include "tracer/write/recorder_state.h"

#include "formats/base/memory.h"
#include "formats/base/search.h"

#include <stdlib.h>

void vtr_refused_call(struct vtr_refused *r, uint64_t id, uint64_t start_ns)
{
	if (!r->calls)
		r->calls = vpt_alloc(VTR_REFUSED_CALLS, sizeof(*r->calls));
	if (r->calls && !r->is_sorted)
		r->calls[r->call_count++ % VTR_REFUSED_CALLS] =
			(struct vtr_refused_call){id, start_ns};
}

void vtr_refused_op(struct vtr_refused *r, uint64_t id)
{
	if (r->op_count && r->ops[r->op_count - 1].id == id) {
		r->ops[r->op_count - 1].count++;
		return;
	}
	if (r->op_count == VTR_REFUSED_OPS_MAX ||
		vpt_grow(&r->ops, &r->op_cap, r->op_count + 1, sizeof(*r->ops))) {
		r->more_ops++;
		return;
	}
	r->ops[r->op_count++] = (struct vtr_refused_ops){id, 1};
}

void vtr_refused_range(struct vtr_refused *r, uint64_t start_ns)
{
	if (!r->ranges++ || start_ns < r->from_ns)
		r->from_ns = start_ns;
}

static int compare_ids(const void *pa, const void *pb)
{
	const struct vtr_refused_call *a = pa, *b = pb;

	return a->id < b->id ? -1 : a->id > b->id;
}

static size_t calls_kept(const struct vtr_refused *r)
{
	return r->call_count < VTR_REFUSED_CALLS ? (size_t)r->call_count : VTR_REFUSED_CALLS;
}

/* Ids grow in the order of the calls. So an op whose call is not kept was launched about when the call of the next
 * smaller id was; if no id is smaller, before all kept calls. */
int vtr_refused_is_before(struct vtr_refused *r, uint64_t id, uint64_t end_ns)
{
	size_t low = 0, high = calls_kept(r);

	if (!high)
		return 0;
	if (!r->is_sorted)
		qsort(r->calls, high, sizeof(*r->calls), compare_ids);
	r->is_sorted = 1;
	VPT_SEARCH(low, high, middle, r->calls[middle].id <= id);
	return !low || r->calls[low - 1].start_ns < end_ns;
}

uint64_t vtr_refused_ops_before(struct vtr_refused *r, uint64_t end_ns)
{
	uint64_t count = r->more_ops;
	size_t i;

	for (i = 0; i < r->op_count; i++)
		if (vtr_refused_is_before(r, r->ops[i].id, end_ns))
			count += r->ops[i].count;
	return count;
}

void vtr_refused_free(struct vtr_refused *r)
{
	vpt_free(r->calls);
	vpt_free(r->ops);
	*r = (struct vtr_refused){0};
}

/* overhead.c - whether a moment is in one of the times that the profiler or the loader took of the thread, or of all threads. */
#include "analysis/idle/overhead.h"

struct vpa_overheads vpa_overheads_of(const struct vpa_resolver *r, uint32_t thread, int shares)
{
	return (struct vpa_overheads){
		{&r->overhead, shares ? &r->processes[r->model->threads[thread].process].overhead
				      : &r->pasts[thread].overhead}};
}

int vpa_overhead_at(
	const struct vpa_overheads *o, uint64_t t, uint64_t *until_ns, enum vpa_cause *cause)
{
	const struct vpa_intervals *sets[] = {
		&o->of[0]->profiler, &o->of[1]->profiler, &o->of[0]->loading, &o->of[1]->loading};
	int found = 0;
	size_t k;

	for (k = 0; k < 4; k++) {
		struct vpa_intervals_at next;
		const struct vpa_interval *at = vpa_intervals_after(sets[k], t, &next);

		if (!at)
			continue;
		if (at->start_ns > t) {
			*until_ns = at->start_ns < *until_ns ? at->start_ns : *until_ns;
			continue;
		}
		*until_ns = at->end_ns < *until_ns ? at->end_ns : *until_ns;
		if (!found)
			*cause = k < 2 ? VPA_CAUSE_PROFILER : VPA_CAUSE_MODULE_LOAD;
		found = 1;
	}
	return found;
}

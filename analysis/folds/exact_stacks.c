/* exact_stacks.c - walks the exact stacks in force during a piece of a gap. */
#include "analysis/folds/exact_stacks.h"

void vpa_exact_stacks_begin(struct vpa_exact_stacks *w, const struct vpa_stack_samples *samples,
	const struct vpa_cause_piece *piece)
{
	int is_call = piece->call_end_ns != 0;

	*w = (struct vpa_exact_stacks){
		.at = is_call ? vpa_stack_samples_at(samples, piece->call_start_ns)
			      : vpa_stack_samples_next(samples, piece->start_ns),
		.end = samples->items + samples->count,
		.from_ns = piece->start_ns,
		.to_ns = piece->end_ns,
		.is_call = is_call};
}

int vpa_exact_stacks_next(struct vpa_exact_stacks *w)
{
	while (w->at && w->at < w->end && w->at->is_exact && w->from_ns < w->to_ns) {
		const struct vpa_stack_sample *at = w->at++;
		uint64_t from = vpa_later(w->from_ns, at->time_ns), until = w->to_ns;

		/* A call has one stack, whatever follows inside it. */
		if (w->is_call)
			from = w->from_ns;
		else if (w->at < w->end)
			until = vpa_earlier(w->at->time_ns, w->to_ns);
		if (until <= from)
			continue;
		w->stack = at->stack;
		w->ns = until - from;
		w->from_ns = until;
		return 1;
	}
	return 0;
}

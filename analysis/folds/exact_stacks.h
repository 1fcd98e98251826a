/* exact_stacks.h - the stacks of a piece of a gap, where a profiler recorded every call.
 *
 *	vpa_exact_stacks_begin(&w, samples, piece);
 *	while (vpa_exact_stacks_next(&w))
 *		use(w.stack, w.ns); */
#ifndef VPA_ANALYSIS_FOLDS_EXACT_STACKS_H
#define VPA_ANALYSIS_FOLDS_EXACT_STACKS_H

#include "analysis/folds/fold.h"

struct vpa_exact_stacks {
	/* What next() found: a stack, 0 for no Python code, and how long of the piece it has. */
	uint32_t stack;
	uint64_t ns;
	/* Private. */
	const struct vpa_stack_sample *at, *end; /* at: of the next stack; NULL: there is none */
	uint64_t from_ns, to_ns;
	int is_call;
};

/* `samples` are borrowed until the last next(). */
void vpa_exact_stacks_begin(struct vpa_exact_stacks *w, const struct vpa_stack_samples *samples,
	const struct vpa_cause_piece *piece);
/* The next stack, in order of time: the one at the start of the call that held the host, else those in
 * force during the piece. Returns 0 if no more is known. */
int vpa_exact_stacks_next(struct vpa_exact_stacks *w);

#endif

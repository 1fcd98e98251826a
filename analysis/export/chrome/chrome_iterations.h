/* chrome_iterations.h - the iterations that PyTorch's profiler would have marked. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_CHROME_CHROME_ITERATIONS_H
#define VPA_ANALYSIS_EXPORT_CHROME_CHROME_ITERATIONS_H

#include "analysis/export/chrome/chrome_event.h"

/* All zeros is an empty list. */
struct vpa_chrome_iterations {
	struct vpa_chrome_iteration {
		uint64_t start_ns, end_ns;
		uint32_t thread; /* of the model */
		uint32_t is_block;
	} * all;
	size_t count, cap, blocks;
	int has_own; /* the trace has such ranges itself */
};

/* Takes a range if it is an iteration. 0 or VPT_ENOMEM. */
int vpa_chrome_iterations_take(struct vpa_chrome_iterations *i, const struct vpa_export_context *c,
	const struct vpa_range *range);
/* Writes them: the blocks, or without blocks the steps. */
void vpa_chrome_iterations_put(struct vpa_chrome_iterations *i, struct vpa_chrome *x);
void vpa_chrome_iterations_free(struct vpa_chrome_iterations *i);

#endif

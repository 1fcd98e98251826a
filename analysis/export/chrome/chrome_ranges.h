/* chrome_ranges.h - ranges and marks as annotations and operators of PyTorch's profiler. Private to this
 * folder. */
#ifndef VPA_ANALYSIS_EXPORT_CHROME_CHROME_RANGES_H
#define VPA_ANALYSIS_EXPORT_CHROME_CHROME_RANGES_H

#include "analysis/export/chrome/chrome_event.h"

/* Replaces the contents of `open` with the events of the ranges that are open when a chunk closes
 * (NULL: none). */
void vpa_chrome_keep_open(struct vpa_chrome *x, struct vpa_line *open, const struct vpt_section *s);
/* Writes those events when the end of the trace is known. */
void vpa_chrome_open(struct vpa_chrome *x, const struct vpa_line *open, uint64_t end_ns);

/* ---- gpu_ranges.c: ranges as spans on the streams where their ops ran. Private to this folder. ---- */

struct vpa_chrome_gpu;

struct vpa_chrome_gpu *vpa_chrome_gpu_new(struct vpa_chrome *x); /* NULL: no memory */
void vpa_chrome_gpu_free(struct vpa_chrome_gpu *g);              /* accepts NULL */

/* Both return 0 or VPT_ENOMEM. */
int vpa_chrome_gpu_ops(struct vpa_chrome_gpu *g, const struct vpa_ops *ops);
/* Writes the spans of a range that nothing refers to any more. */
int vpa_chrome_gpu_range(struct vpa_chrome_gpu *g, const struct vpa_range *range);

/* ---- chrome_iterations.c: the iterations that PyTorch's profiler would have marked. Private to this folder. ---- */

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

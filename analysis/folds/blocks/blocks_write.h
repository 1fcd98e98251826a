/* blocks_write.h - requests, blocks, steps and stages as tables of the report, at the end of the trace. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_WRITE_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_WRITE_H

#include "analysis/folds/blocks/blocks_groups.h"

/* Each returns 0 or VPT_ENOMEM. */

/* Writes the tables. */
int vpa_blocks_write(
	struct vpa_blocks_table *s, const struct vpa_fold_context *c, struct vpa_report *out);

/* Fills group->request from its blocks, which are in order of their ends. */
int vpa_group_measure(struct vpa_blocks_writer *w, struct vpa_blocks_group *g);

/* Compares the measured blocks with the duration of their frames at the target, if there is one. `rows`: of the series, the
 * measured ones in order. */
int vpa_block_deadlines(
	const struct vpa_blocks_writer *w, const struct vpa_blocks_group *g, const size_t *rows);

/* Fills group->request->steps. Call it after vpa_group_measure(). */
int vpa_group_steps(struct vpa_blocks_writer *w, struct vpa_blocks_group *g);

/* Fills vpa_request.gpu of the requests that are written: what the devices did from one without blocks to the next. */
int vpa_blocks_request_gpu(struct vpa_blocks_writer *w);

/* Writes report.step_parts: what the devices did from each marked step to the next. */
int vpa_blocks_step_parts(struct vpa_blocks_writer *w);

#endif

/* blocks_write.h - requests, blocks and stages as tables of the report. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_WRITE_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_WRITE_H

#include "analysis/folds/blocks/blocks_table.h"

/* Writes the tables at the end of the trace. 0 or VPT_ENOMEM. */
int vpa_blocks_write(
	struct vpa_blocks_table *s, const struct vpa_fold_context *c, struct vpa_report *out);

#endif

/* blocks_step_parts.h - what the devices did from each marked step to the next. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_STEP_PARTS_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_STEP_PARTS_H

#include "analysis/folds/blocks/blocks_groups.h"

/* Writes report.step_parts. 0 or VPT_ENOMEM. */
int vpa_blocks_step_parts(struct vpa_blocks_writer *w);

#endif

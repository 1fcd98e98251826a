/* blocks_steps.h - the denoising steps of one request. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_STEPS_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_STEPS_H

#include "analysis/folds/blocks/blocks_groups.h"

/* Fills group->request->steps. Call it after vpa_group_measure(). 0 or VPT_ENOMEM. */
int vpa_group_steps(struct vpa_blocks_writer *w, struct vpa_blocks_group *g);

#endif

/* blocks_measure.h - the numbers of one request. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_MEASURE_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_MEASURE_H

#include "analysis/folds/blocks/blocks_groups.h"

/* Fills group->request from its blocks, which are in order of their ends. 0 or VPT_ENOMEM. */
int vpa_group_measure(struct vpa_blocks_writer *w, struct vpa_blocks_group *g);

#endif

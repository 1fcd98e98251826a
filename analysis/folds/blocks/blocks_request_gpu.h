/* blocks_request_gpu.h - what the devices did from a request without blocks to the next one. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_REQUEST_GPU_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_REQUEST_GPU_H

#include "analysis/folds/blocks/blocks_groups.h"

/* Fills vpa_request.gpu of the requests that are written. 0 or VPT_ENOMEM. */
int vpa_blocks_request_gpu(struct vpa_blocks_writer *w);

#endif

/* reduction_ops.h - which ops of a tape sum gradients that a later pass of the same optimizer step sums again. */
#ifndef VPA_ANALYSIS_RETIME_REPLAY_REDUCTION_OPS_H
#define VPA_ANALYSIS_RETIME_REPLAY_REDUCTION_OPS_H

#include "analysis/retime/tape/tape.h"

/* Sets a bit of `marks`, which has a byte for each op, for those that do, where ../../model/reductions.h says that passes are repeated.
 * After the last optimizer step it is not known which pass is the last: none of them do. 0 or VPT_ENOMEM. */
int vpa_reduction_ops_find(const struct vpa_tape *t, uint8_t *marks, uint8_t bit);

#endif

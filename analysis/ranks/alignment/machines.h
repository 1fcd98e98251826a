/* machines.h - which ranks with one host name ran on one machine, where no boot id says it: two nodes may both be
 * "localhost", and then their clocks have nothing in common. */
#ifndef VPA_ANALYSIS_RANKS_ALIGNMENT_MACHINES_H
#define VPA_ANALYSIS_RANKS_ALIGNMENT_MACHINES_H

#include "analysis/ranks/rank/rank_summary.h"

/* Sets `machine` of all ranks. Two are apart if they recorded one communicator in the same time, by their clocks, and its
 * collectives do not end together by these, but by clocks with an offset. What cannot be told stays one machine. 0 or
 * VPT_ENOMEM. */
int vpa_machines_tell(struct vpa_rank_list *list);

#endif

/* rank_unit.h - what a rank counts in, as a line of text: for files in which a rank's report cannot be made again. */
#ifndef VPA_ANALYSIS_RANKS_RANK_RANK_UNIT_H
#define VPA_ANALYSIS_RANKS_RANK_RANK_UNIT_H

#include "analysis/ranks/rank/rank_summary.h"

enum { VPA_RANK_UNIT_SIZE = 200 };

/* "COUNT MEAN_NS FROM_NS TO_NS FPS KIND": times from the rank's first op on, which may be below 0; FPS 0: not known. Returns 0, and
 * writes nothing, for a rank that counts in nothing. */
int vpa_rank_unit_write(const struct vpa_rank *rank, char out[VPA_RANK_UNIT_SIZE]);
/* Sets the unit of a rank whose first_ns is set. Returns 0, and sets nothing, if the text is none. */
int vpa_rank_unit_read(struct vpa_rank *rank, const char *text);

#endif

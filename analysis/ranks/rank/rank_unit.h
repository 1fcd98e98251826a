/* rank_unit.h - what a rank counts in, and its stages, as texts: for files in which a rank's report cannot be made again. */
#ifndef VPA_ANALYSIS_RANKS_RANK_RANK_UNIT_H
#define VPA_ANALYSIS_RANKS_RANK_RANK_UNIT_H

#include "analysis/ranks/rank/rank_summary.h"

enum { VPA_RANK_UNIT_SIZE = 200 };

/* "COUNT MEAN_NS FROM_NS TO_NS FPS BLOCKS_PER_1E9S KIND": times from the rank's first op on, which may be below 0; rates 0: not known.
 * Returns 0, and writes nothing, for a rank that counts in nothing. */
int vpa_rank_unit_write(const struct vpa_rank *rank, char out[VPA_RANK_UNIT_SIZE]);
/* Sets the unit of a rank whose first_ns is set. Returns 0, and sets nothing, if the text is none. */
int vpa_rank_unit_read(struct vpa_rank *rank, const char *text);

/* A line each: "COUNT TIME_NS IN_BLOCKS NAME". Returns a text of the arena; NULL: there are none, or no memory. */
const char *vpa_rank_stages_write(const struct vpa_rank *rank, struct vpa_arena *a);
/* Sets the stages of a rank that has none, up to a line that is none. 0 or VPT_ENOMEM. */
int vpa_rank_stages_read(struct vpa_rank *rank, const char *text);

#endif

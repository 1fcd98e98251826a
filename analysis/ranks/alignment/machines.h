/* machines.h - which ranks with one host name ran on one machine, where no boot id says it: two nodes may both be
 * "localhost", and then their clocks have nothing in common. */
#ifndef VPA_ANALYSIS_RANKS_ALIGNMENT_MACHINES_H
#define VPA_ANALYSIS_RANKS_ALIGNMENT_MACHINES_H

#include "analysis/ranks/rank/rank_summary.h"

/* Sets `machine` of all ranks. Two are apart if they recorded one communicator in the same time, by their clocks, and its
 * collectives do not end together by these, but by clocks with an offset; or if they recorded it at other times, and count from
 * elsewhere. What cannot be told stays one machine. A rank whose capture lost the
 * names of its machine gets those of the others, if these tell: texts are theirs. 0 or VPT_ENOMEM. */
int vpa_machines_tell(struct vpa_rank_list *list);
/* Whether the times of two ranks count from other moments, as the time of day in their files says: exports of two sessions do, on
 * one machine too. */
int vpa_count_from_elsewhere(const struct vpa_rank *a, const struct vpa_rank *b);

/* ---- runs.c: of which run of a job a capture is: a folder may have captures of several, whose collectives are not to be matched.
 *
 * Two ranks are of different runs if their jobs have different ids or sizes, or if one ended before the other one began. On one
 * machine that is certain. Clocks of several machines may differ: there it takes that a rank has a capture twice. */

struct vpa_run {
	const struct vpa_rank *of; /* of this rank's; NULL: all may be of one run */
	int is_twice;              /* a rank has two captures */
};

/* The run with the most ranks, of several that of the first rank. The list is in order of rank, and borrowed. */
struct vpa_run vpa_run_find(const struct vpa_rank_list *list);
/* Whether a rank may be of that run. */
int vpa_is_of_run(const struct vpa_run *run, const struct vpa_rank *rank);
/* Whether one ended a minute or more before the other one began, by the clocks of their machines. */
int vpa_are_minutes_apart(const struct vpa_rank *a, const struct vpa_rank *b);

#endif

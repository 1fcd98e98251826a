/* teams.h - sets of ranks that meet: two groups with the same ranks are one *team*, whose rows are in order of their ends. */
#ifndef VPA_ANALYSIS_RANKS_WAITS_TEAMS_H
#define VPA_ANALYSIS_RANKS_WAITS_TEAMS_H

#include "analysis/ranks/job_rows.h"

/* A row of a group, in the order of its team. */
struct vpa_team_row {
	uint32_t group;
	uint32_t row;
	uint16_t is_waited_for; /* its last rank, by anybody */
	uint16_t is_pairs; /* it is of sends and receives: ranks wait for some of the others only */
	uint32_t waits;    /* for its last rank, by ranks that met it in the row before */
};

struct vpa_team {
	uint32_t group;     /* the first one with these ranks */
	size_t first, last; /* its rows */
};

/* All zeros is empty. */
struct vpa_teams {
	struct vpa_team *items;
	size_t count, cap;
	struct vpa_team_row *rows; /* team by team */
	size_t row_count;
};

/* Finds the teams of a job into an empty one, in `threads` threads. The caller frees it, whatever this returns: 0 or VPT_ENOMEM. */
int vpa_teams_find(const struct vpa_job *job, const struct vpa_job_rows *rows, unsigned threads,
	struct vpa_teams *out);
void vpa_teams_free(struct vpa_teams *t);

#endif

/* waits_state.h - what waits.c, row_waits.c and wait_blame.c share: the waits of a job while they are found. Private to them.
 *
 * First each thread takes tasks, rows of a team, from times alone: who waited for whom, and how long. Then the ranks are read once
 * more, each in one thread: what those who waited and those who were last did since the row before. Each thread adds to a tally of
 * its own; the tallies are sums, so their order does not matter. */
#ifndef VPA_ANALYSIS_RANKS_WAITS_WAITS_STATE_H
#define VPA_ANALYSIS_RANKS_WAITS_WAITS_STATE_H

#include "analysis/base/index.h"
#include "analysis/ranks/job_parts.h"
#include "analysis/ranks/waits/teams.h"
#include "formats/base/saturate.h"
#include "formats/chunk/strings.h"

enum {
	VPA_WAIT_ROWS_BACK = 1024, /* that are looked at for one that two members were both in */
	VPA_WAIT_TASK_ROWS = 128
};

/* Waits for a rank, since another row than the one before. */
struct vpa_odd_wait {
	uint32_t rank, member;
	size_t before, at; /* rows of the team */
};

/* Rows of a team that one thread looks at. */
struct vpa_wait_task {
	size_t team, first, last;
};

/* A row of a task: what all members ask of it. */
struct vpa_wait_place {
	const struct vpa_job_row *row;
	uint32_t *const *columns; /* of its group */
	size_t in_group;          /* its row there */
	/* Of the last one, if it was in the row before as well: when it left that on the clock of the job, and how much later it
	 * came on its own. */
	int64_t last_end_ns, last_did_ns;
	uint32_t last_rank;
	uint32_t is_plain : 1; /* it was, and partners need not be found */
	uint32_t lacks : 1;    /* some rank is not in the row, or may have no capture */
	/* Of members that wait for it since the row before: how many, how long, by how much it left that later, and what is the
	 * clocks'. */
	uint32_t waits;
	uint64_t wait_ns;
	int64_t ended_ns, clock_ns;
};

/* What a thread has found. */
struct vpa_wait_tally {
	struct vpa_job_rank *ranks; /* sums of waits */
	struct vpa_group_tally {
		uint64_t wait_ns, transfer_ns;
	} * groups;
	uint64_t rows, at_least, negative, uncertainty_ns; /* as in the job */
	int64_t *blame;                                    /* by rank, then part of the job */
	struct vpa_odd_wait *odd;
	size_t odd_count, odd_cap;
	struct vpa_blame_walk {
		const struct vpa_team *team;
		size_t member, at;        /* the next row that its stretches are of */
		uint32_t before;          /* its collective in the row before that */
		const unsigned char *how; /* of the member */
	} * walks;                        /* of the rank whose stretches are taken */
	size_t walk_count, walk_cap;
	struct vpa_wait_place
		places[VPA_WAIT_TASK_ROWS + 1]; /* of its task, after the row before that */
};

struct vpa_job_waits {
	struct vpa_job *job;
	const struct vpa_job_rows *job_rows;
	struct vpt_strings places;
	struct vpa_index parts; /* class and kind, place: parts of the job */
	uint32_t **of_rank;     /* by rank and its part name */
	struct vpa_teams teams;
	struct vpa_odd_wait *odd; /* by rank */
	size_t odd_count, odd_cap;
	unsigned char **waits; /* by team: of a member and a row two bits, see enum vpa_how */
	unsigned char *is_odd; /* by rank: it waits oddly, or is waited for */
	struct vpa_wait_task *tasks;
	size_t task_count, task_cap;
	unsigned threads;
	struct vpa_wait_tally *tallies; /* by thread */
};

/* How a member waits in a row: for its last one since the row before, nearly always; or in a way that is looked up again. */
enum vpa_how { VPA_WAITS_NOT, VPA_WAITS_PLAINLY, VPA_WAITS_ODDLY };
enum { VPA_HOW_BITS = 2, VPA_HOW_IN_BYTE = 4 };

/* What the rows of a team take, of one member. */
static inline size_t vpa_how_bytes(const struct vpa_team *t)
{
	return (t->last - t->first) / VPA_HOW_IN_BYTE + 1;
}

static inline unsigned vpa_how_at(const unsigned char *of_member, size_t i)
{
	return of_member[i / VPA_HOW_IN_BYTE] >> VPA_HOW_BITS * (i % VPA_HOW_IN_BYTE) & 3;
}

static inline const struct vpa_job_row *vpa_row_of(
	const struct vpa_job_waits *w, const struct vpa_team_row *r)
{
	return &w->job_rows->items[w->job_rows->firsts[r->group] + r->row];
}

static inline const struct vpa_group *vpa_group_of(
	const struct vpa_job_waits *w, const struct vpa_team_row *r)
{
	return &w->job->matching.groups[r->group];
}

static inline uint32_t vpa_cell_of(
	const struct vpa_job_waits *w, const struct vpa_team_row *r, size_t member)
{
	return vpa_group_cell(vpa_group_of(w, r), r->row, member);
}

/* By part of the job: what a rank is to blame for. */
static inline int64_t *vpa_blame_of(
	const struct vpa_job_waits *w, const struct vpa_wait_tally *t, size_t rank)
{
	return &t->blame[rank * w->parts.count];
}

static inline void vpa_blame_class(const struct vpa_job_waits *w, struct vpa_wait_tally *t,
	uint32_t rank, enum vpa_late_class klass, int64_t ns)
{
	int64_t *part = &vpa_blame_of(w, t, rank)[(uint32_t)klass - VPA_LATE_BEGAN];

	*part = vpt_sat_add_i64(*part, ns);
}

/* ---- row_waits.c ---- */

/* A member of a team, and where its collectives of the team's groups are. */
struct vpa_seat {
	const struct vpa_team *team;
	size_t member;
	uint32_t rank;
	const struct vpa_rank *of;
	const struct vpa_clock *clock;
};

struct vpa_seat vpa_seat_of(const struct vpa_job_waits *w, const struct vpa_team *t, size_t member);

/* A wait that counts: of one member for the last one, in a row of their team. */
struct vpa_wait {
	size_t at,
		before; /* before: the latest row before `at` that both were in; SIZE_MAX: none is near */
	size_t member, last;
	uint32_t cell, cell_before; /* of the member */
	int64_t last_ns, ns;
};

/* Of a member that has the row, on a clock that is placed. 0: it did not wait, or that is not certain. */
int vpa_wait_of(const struct vpa_job_waits *w, const struct vpa_seat *s, size_t at,
	const struct vpa_job_row *row, uint32_t cell, struct vpa_wait *out);

/* Takes a task, for vpa_in_threads(): `ctx` are the waits. 0 or VPT_ENOMEM. */
int vpa_wait_task_take(void *ctx, unsigned thread, size_t i);

/* ---- wait_blame.c ---- */

/* Gives each rank's names of parts their numbers in the job. 0 or VPT_ENOMEM. */
int vpa_name_parts(struct vpa_job_waits *w);

#endif

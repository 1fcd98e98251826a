/* ranks_rig.h - ranks made by hand: what each does between its collectives, and what is true of all of them. */
#ifndef VPT_TESTS_SUPPORT_RANKS_RIG_H
#define VPT_TESTS_SUPPORT_RANKS_RIG_H

#include "analysis/ranks/rank/rank_summary.h"
#include "tests/support/random.h"

enum { RIG_RANKS = 12, RIG_ROWS = 200, RIG_PARTS = 4, RIG_GROUPS = 4 };

/* A job as it really was, on one clock. Parts are gemm kernels, copies to the device, host code and launch rate. */
struct rig_job {
	unsigned ranks, rows;
	int64_t shift_ns[RIG_RANKS], ppb[RIG_RANKS]; /* of each rank's clock */
	const char *host[RIG_RANKS];
	unsigned groups;
	uint32_t members[RIG_GROUPS]; /* a bit for each rank */
	struct rig_row {
		unsigned group;
		uint32_t lacks; /* a bit for each rank whose capture does not have it */
		uint64_t part_ns[RIG_RANKS][RIG_PARTS]; /* before it, since the one before */
		uint64_t start_ns[RIG_RANKS], end_ns[RIG_RANKS];
	} row[RIG_ROWS];
	uint64_t skew_ns;              /* ends differ by less than this */
	uint64_t bias_ns[RIG_RANKS];   /* and by this, always the same */
	uint64_t link_ns[RIG_GROUPS];  /* what transfers of a group take longer than 50 us */
	int has_names;                 /* communicators have names */
	int is_one_lane;               /* those without a name are on one stream */
	const char *text[RIG_RANKS];   /* what its collectives are called; NULL: allreduce */
	enum vpa_collective_kind kind; /* OTHER: all-reduce */
};

/* Sets starts and ends of all rows from the parts; each collective takes 50 us after the last arrival, and link_ns. */
void rig_run(struct rig_job *job, struct vpt_random *random);
/* The job's ranks as their captures show them. */
void rig_ranks(const struct rig_job *job, struct vpa_rank_list *out);
/* Gives a rank terms: each collective starts so much after the one before, or after the rank's start. */
void rig_terms(struct vpa_rank *r);
/* Gives a rank with terms paces, a term each: half of the time between collectives is host code. */
void rig_paces(struct vpa_rank *r);
/* A job of three ranks on two hosts and two communicators, already run. */
void rig_small(struct rig_job *job, unsigned rows, struct vpt_random *random);
/* A time of the job on a rank's clock. */
uint64_t rig_clock(const struct rig_job *job, unsigned rank, uint64_t t_ns);

#endif

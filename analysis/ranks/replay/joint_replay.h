/* joint_replay.h - all ranks of a job replayed together, with several changes at once.
 *
 *	arrival of rank r at a collective = max over its terms, see rank_parts.h
 *	end on rank r                     = latest arrival of all + what r took from the last arrival to its end
 *
 * A *lane* is one replay. In each lane a rank has no change or one of its *cuts*: the common one, which all ranks have, its own, which
 * makes it like the median, and what a user asks about. */
#ifndef VPA_ANALYSIS_RANKS_REPLAY_JOINT_REPLAY_H
#define VPA_ANALYSIS_RANKS_REPLAY_JOINT_REPLAY_H

#include "analysis/ranks/job_change.h"
#include "analysis/ranks/job_rows.h"

/* In the first lane nothing changes, in the second one all ranks have the common cut; in the others it is what the caller says. */
enum { VPA_LANE_UNCHANGED, VPA_LANE_COMMON, VPA_LANE_OTHERS, VPA_LANES = 8 };

enum vpa_cut {
	VPA_CUT_NONE,
	VPA_CUT_COMMON,
	VPA_CUT_OWN,  /* like the median, and late: also what it hides while it waits for others */
	VPA_CUT_EVEN, /* like the median, as all ranks are */
	VPA_CUT_ASKED,
	VPA_CUTS
};

/* The changes of a rank. */
struct vpa_rank_cuts {
	struct vpa_cut_sums sums[VPA_CUTS]; /* less_idle_ns NULL: it has no such cut */
	enum vpa_cut of_lane[VPA_LANES];
};

struct vpa_replay;

/* Memory for putting ranks, of one thread. All zeros is empty. */
struct vpa_replay_room {
	/* By collective of a rank, and of what comes after the last one: its event; the latest arrival there as recorded, and what
	 * passes from that to the rank's end. */
	uint32_t *events;
	struct vpa_replay_item {
		int64_t at_ns, rest_ns;
	} * items;
	size_t event_cap, item_cap;
	uint64_t
		transfers_ns; /* by how much transfers are scaled, of all its ranks: longer or shorter */
};

/* Begins a replay of a job whose ranks all have terms; job and rows are borrowed. 0 or VPT_ENOMEM; the caller frees it after
 * either. */
int vpa_replay_new(const struct vpa_job *job, const struct vpa_job_rows *rows, unsigned lanes,
	unsigned threads, struct vpa_replay **out);
/* In all lanes, transfers of collectives of this kind take `factor` times as long; before ranks are put. */
void vpa_replay_scale_transfers(struct vpa_replay *p, enum vpa_collective_kind kind, double factor);
/* Puts a rank, each once. Several threads may, each with its room. 0 or VPT_ENOMEM. */
int vpa_replay_put(struct vpa_replay *p, struct vpa_replay_room *room, size_t rank,
	const struct vpa_rank_detail *d, const struct vpa_rank_cuts *cuts);
void vpa_replay_room_free(struct vpa_replay_room *room);

/* A stretch of time on the clock of the job; to_ns no later than from_ns: none. */
struct vpa_replay_stretch {
	int64_t from_ns, to_ns;
	int64_t least_ns,
		most_ns; /* as long it is between those collectives, or it is not the one that is meant */
};

struct vpa_replayed {
	int64_t ns[VPA_LANES]; /* how long each lane takes */
	int is_of_stretch; /* from the last collective before the stretch begins to the last one before it ends; 0: there is none, and
			    * it is as long as the job takes */
	uint64_t
		error_ns; /* by how much a collective of lane 0 ends at another time than recorded, at most */
};

/* Runs all lanes, once. */
void vpa_replay_run(struct vpa_replay *p, struct vpa_replay_stretch of, struct vpa_replayed *out);
void vpa_replay_free(struct vpa_replay *p); /* accepts NULL */

#endif

/* replay.h - runs a tape again, in several worlds at once: one pass over its calls and ops in recorded order.
 *
 * Every edge leads forward in recorded time, so each time is known when something asks for it. */
#ifndef VPA_ANALYSIS_RETIME_REPLAY_REPLAY_H
#define VPA_ANALYSIS_RETIME_REPLAY_REPLAY_H

#include "analysis/retime/replay/effects.h"
#include "analysis/retime/tape/tape.h"

/* ---- recorded_moments.c: recorded moments, and when they are in each world of a replay.
 *
 * If an op ends at a moment, it is the latest of the ends of all ops that had ended by then; else, if one starts then,
 * the earliest start of all ops that start from then on. Else it is the host's, as the start of a range is: the same part
 * of the way from the call before it to the one after it, but no sooner than the ops end that had ended by then; after the
 * last call, as long after that or the last op as it was. */

struct vpa_moments {
	const uint64_t *ns;   /* recorded, ascending, each once; the caller's */
	size_t count, worlds; /* worlds: of a row; a multiple of VPA_CLOCKS */
	uint64_t start_ns;    /* of the tape: all other times are relative to it */
	int64_t *times_ns;    /* by moment, then world: the answer */
	/* By moment, then world: the end of the last call before it; the start of the first one from then on; the latest end
	 * of the ops that had ended by then; the earliest start of those that started from then on. One row more takes what
	 * counts for no moment. */
	int64_t *host_ns, *calls_ns, *ends_ns, *starts_ns;
	uint8_t *kinds;
	size_t next_call; /* the first moment that no call has passed */
	size_t next_start; /* the first moment that no start of a call has passed; what lies from there on has no call */
	size_t next_op; /* the first moment after the start of the last op */
};

/* The caller calls vpa_moments_free(), whatever this returns. 0 or VPT_ENOMEM. */
int vpa_moments_new(
	struct vpa_moments *m, const uint64_t *ns, size_t count, size_t worlds, uint64_t start_ns);
void vpa_moments_free(struct vpa_moments *m);

/* A call ends at `until_ns`, or the tape (~0): of the moments before, `host_ns` is where each world's host is. Calls
 * come in order. */
void vpa_moments_pass(struct vpa_moments *m, uint64_t until_ns, const int64_t *host_ns);

/* A call starts at `start_ns`, and in each world at `call_ns`. Calls come in order. */
void vpa_moments_start(struct vpa_moments *m, uint64_t start_ns, const int64_t *call_ns);

/* The rows, by world, that the ends and starts of an op count for: `ends` takes the latest, `starts` the earliest. Ops come in
 * order of start. */
struct vpa_moment_rows {
	int64_t *ends_ns, *starts_ns;
};
struct vpa_moment_rows vpa_moments_of(struct vpa_moments *m, const struct vpa_tape_op *o);

/* Fills in the answer. */
void vpa_moments_end(struct vpa_moments *m);

/* Fills in the moments. Worlds in which launches disappear, see vpa_world_deletes(), come last. *error_ns: by how much
 * the time of any call or op of the first world differs from the recorded one. 0 or VPT_ENOMEM. */
int vpa_replay(const struct vpa_tape *t, const struct vpa_edges *e, struct vpa_effects *x,
	const struct vpa_world *worlds, size_t world_count, struct vpa_moments *moments,
	uint64_t *error_ns);

#endif

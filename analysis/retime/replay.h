/* replay.h - runs a tape again, in several worlds at once: one pass over its calls and ops in recorded order.
 *
 * Every edge leads forward in recorded time, so each time is known when something asks for it. */
#ifndef VPA_ANALYSIS_RETIME_REPLAY_H
#define VPA_ANALYSIS_RETIME_REPLAY_H

#include "analysis/retime/effects.h"

/* A recorded moment of which a replay says when it is in each world. If an op ends then, it is the latest of the ends
 * of all ops that had ended by then; else, if one starts then, the earliest start of all ops that start from then on;
 * else it is as long after the last call or op before it as it was. */
struct vpa_moment {
	uint64_t ns;
	/* Filled in, by world; relative to the start of the tape. */
	int64_t times_ns[VPA_WORLDS_MOST];
};

/* Fills in the moments, which are in order. *error_ns: by how much the time of any call or op of the first world
 * differs from the recorded one. 0 or VPT_ENOMEM. */
int vpa_replay(const struct vpa_tape *t, const struct vpa_edges *e, const struct vpa_effects *x,
	const struct vpa_world *worlds, size_t world_count, struct vpa_moment *moments,
	size_t moment_count, uint64_t *error_ns);

#endif

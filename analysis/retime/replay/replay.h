/* replay.h - runs a tape again, in several worlds at once: one pass over its calls and ops in recorded order.
 *
 * Every edge leads forward in recorded time, so each time is known when something asks for it. */
#ifndef VPA_ANALYSIS_RETIME_REPLAY_REPLAY_H
#define VPA_ANALYSIS_RETIME_REPLAY_REPLAY_H

#include "analysis/retime/replay/effects.h"
#include "analysis/retime/replay/moments.h"

/* Fills in the moments. Worlds in which launches disappear, see vpa_world_deletes(), come last. *error_ns: by how much
 * the time of any call or op of the first world differs from the recorded one. 0 or VPT_ENOMEM. */
int vpa_replay(const struct vpa_tape *t, const struct vpa_edges *e, struct vpa_effects *x,
	const struct vpa_world *worlds, size_t world_count, struct vpa_moments *moments,
	uint64_t *error_ns);

#endif

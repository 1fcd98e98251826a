/* effects.h - what changes do to calls and ops.
 *
 * A world is a list of changes, of which later ones see what earlier ones did. Nothing is kept for a call or op: who
 * goes through the calls in order asks what each change makes of one, and of its ops when they run. Each change of each
 * world is a rule with a number, in the order in which they apply. */
#ifndef VPA_ANALYSIS_RETIME_REPLAY_EFFECTS_H
#define VPA_ANALYSIS_RETIME_REPLAY_EFFECTS_H

#include "analysis/retime/replay/change.h"
#include "analysis/retime/edges/edges.h"

enum { VPA_WORLDS_MOST = 32 };

struct vpa_world {
	const struct vpa_change *changes;
	size_t change_count;
	uint64_t *hits; /* by change: counted here how many calls or ops it is about */
	double *rates; /* by change: bytes per ns of a `pin`, kept once a part of the trace shows it; 0: none has */
	size_t number; /* of the caller */
	/* These worlds measure how fast one side would be alone. 1: ops take no time; host code and calls take
	 * none, and nothing waits for an op. */
	int no_ops, no_host;
};

/* Whether some change of a world may make a launch disappear. */
int vpa_world_deletes(const struct vpa_world *w);

struct vpa_call_effect {
	uint64_t gap_ns, cost_ns;
	int64_t after_ns; /* from the end of what it waits for to its own */
	uint8_t is_gone, no_wait;
};

/* What is different of a call, by world. Worlds are bits. */
struct vpa_call_effects {
	uint32_t worlds;        /* that differ at all */
	uint32_t gone;          /* the call is gone */
	uint32_t ops_gone;      /* its ops too */
	uint32_t in_graph;      /* its ops are of a new graph */
	const uint64_t *inside; /* rules in whose places the call is, until the next call */
	struct vpa_call_effect at[VPA_WORLDS_MOST];
	uint32_t heads[VPA_WORLDS_MOST]; /* the call that launches the new graph */
};

struct vpa_op_effect {
	int64_t duration_ns;
	uint32_t aside; /* number of the stream aside, from 1; 0: its own stream */
};

struct vpa_effects;
struct vpa_walk;

/* The caller calls vpa_effects_free(), whatever this returns. 0 or
 * VPT_ENOMEM. */
int vpa_effects_new(const struct vpa_tape *t, const struct vpa_edges *e,
	const struct vpa_world *worlds, size_t world_count, struct vpa_effects **out);
void vpa_effects_free(struct vpa_effects *x); /* accepts NULL */

uint32_t vpa_effects_asides(const struct vpa_effects *x); /* streams aside, of all worlds */
int vpa_effects_make_graphs(const struct vpa_effects *x); /* whether `heads` may be used */
size_t vpa_effects_words(const struct vpa_effects *x);    /* of `inside` */
int vpa_effects_failed(const struct vpa_effects *x); /* whether memory was missing on the way */

/* A walk through all calls, in order. NULL: no memory. */
struct vpa_walk *vpa_walk_new(struct vpa_effects *x);
void vpa_walk_free(struct vpa_walk *w); /* accepts NULL */

/* The next call of the walk. */
void vpa_walk_call(struct vpa_walk *w, uint32_t call, struct vpa_call_effects *out);

/* The worlds whose changes are about the op itself, a bit each, and what they do to it. What they do to its call is not
 * among it. `inside`: the call's, as above; NULL: the op has no call. */
uint32_t vpa_effects_on_op(struct vpa_effects *x, const struct vpa_tape_op *o,
	const uint64_t *inside, struct vpa_op_effect out[VPA_WORLDS_MOST]);

#endif

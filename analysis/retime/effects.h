/* effects.h - what changes do to the calls and ops of a tape.
 *
 * A world is a list of changes, of which later ones see what earlier ones did. Each call and op has a list of what
 * is different in some world; most have none. */
#ifndef VPA_ANALYSIS_RETIME_EFFECTS_H
#define VPA_ANALYSIS_RETIME_EFFECTS_H

#include "analysis/retime/change.h"
#include "analysis/retime/edges.h"

enum { VPA_WORLDS_MOST = 32 };

struct vpa_world {
	const struct vpa_change *changes;
	size_t change_count;
	/* Of the paces: 1: no op takes time; no host code or call takes time and nothing waits for an op. */
	int no_ops, no_host;
};

struct vpa_call_effect {
	uint32_t next; /* of the same call; 0: none */
	uint8_t world, is_gone, no_wait;
	uint64_t gap_ns, cost_ns;
};

struct vpa_op_effect {
	uint32_t next;
	uint32_t
		call; /* that launches it; in a graph, the graph's launch, which is not its own call */
	uint32_t aside; /* number of the stream aside, from 1; 0: its own stream */
	uint8_t world, is_gone, in_graph;
	int64_t duration_ns;
};

struct vpa_effects {
	struct vpa_call_effect *calls; /* from 1 */
	size_t call_count, call_cap;
	struct vpa_op_effect *ops; /* from 1 */
	size_t op_count, op_cap;
	uint32_t asides; /* streams aside, of all worlds */
};

/* Fills in `mods` of calls and ops, and counts the ops of new graphs as `uses` of their launches. The caller calls vpa_effects_free(), whatever this returns. *hits: by world and
 * change, one after the other, how many calls or ops the change is about. 0, VPT_ENOMEM, or VPT_EINVAL: a change
 * lacks something, such as a pinned copy that shows the rate. */
int vpa_effects_find(struct vpa_tape *t, const struct vpa_edges *e, const struct vpa_world *worlds,
	size_t world_count, struct vpa_effects *out, uint64_t *hits, struct vpt_err *err);
void vpa_effects_free(struct vpa_effects *x);

/* What is different in a world; NULL: nothing. */
static inline const struct vpa_call_effect *vpa_effect_on_call(
	const struct vpa_effects *x, const struct vpa_tape_call *c, size_t world)
{
	uint32_t at;

	for (at = c->mods; at; at = x->calls[at].next)
		if (x->calls[at].world == world)
			return &x->calls[at];
	return NULL;
}

static inline const struct vpa_op_effect *vpa_effect_on_op(
	const struct vpa_effects *x, const struct vpa_tape_op *o, size_t world)
{
	uint32_t at;

	for (at = o->mods; at; at = x->ops[at].next)
		if (x->ops[at].world == world)
			return &x->ops[at];
	return NULL;
}

#endif

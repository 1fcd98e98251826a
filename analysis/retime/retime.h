/* retime.h - what changes of a program would bring: its capture, replayed with the changes.
 *
 *	trace -> tape -> edges -> effects -> replay -> lengths of spans, world by world
 *
 * Worlds come in this order: VPA_WORLD_RECORDED, the two paces, then those that are asked for. */
#ifndef VPA_ANALYSIS_RETIME_RETIME_H
#define VPA_ANALYSIS_RETIME_RETIME_H

#include "analysis/retime/replay/change.h"
#include "formats/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct vpt_trace;

enum {
	VPA_WORLD_RECORDED,
	VPA_WORLD_HOST, /* the host's pace: no op takes time */
	VPA_WORLD_GPU,  /* the GPUs' pace: the host takes no time and waits for nothing */
	VPA_WORLD_FIRST /* of those that are asked for */
};

/* One world: a list of changes; later ones see what earlier ones did. */
struct vpa_change_list {
	const struct vpa_change *changes;
	size_t count;
};

enum { VPA_CHANGE_LISTS_MOST = 24 };

/* Calls and ops of a trace that a report replays, and that somebody who asks for it does; and how many of them are in
 * memory at a time. */
enum {
	VPA_REPLAYED_BY_REPORT = 1500000,
	VPA_REPLAYED_MOST = INT32_MAX,
	VPA_REPLAYED_AT_ONCE = 150000
};

/* A stretch of the trace, from one moment to a later one: a block, a step, all units. */
struct vpa_span {
	uint64_t from_ns, to_ns;
};

struct vpa_retiming {
	size_t world_count, span_count;
	uint64_t *span_ns; /* by world, then span: how long it is there */
	uint64_t *
		hits; /* by list and change, one after the other: how many calls or ops it is about */
	/* How much of the recording the replay explains: of all time for which ops waited after what they waited for,
	 * that for which no reason is known; that with an inferred reason; host code after a hand-over. */
	uint64_t unexplained_ns, inferred_ns, handed_over_ns;
	uint64_t ops, ops_without_call;
	/* The parts of the trace that were replayed, and what share of its chunks they are: of a trace that is too large
	 * to replay all of it, the lengths of spans are those of their parts there. */
	size_t parts;
	double share;
};

/* Replays a trace, of a large one about `most` calls and ops, in parts that are spread evenly. The caller calls
 * vpa_retiming_free(), whatever this returns. 0; VPT_EUNSUPPORTED: the trace cannot be replayed, the error says why;
 * VPT_EINVAL: a change cannot be made; VPT_ENOMEM; VPT_EIO. */
int vpa_retime(const struct vpt_trace *trace, unsigned jobs, uint64_t most,
	const struct vpa_change_list *lists, size_t list_count, const struct vpa_span *spans,
	size_t span_count, struct vpa_retiming *out, struct vpt_err *err);
/* The same with about `at_once` calls and ops in memory instead of VPA_REPLAYED_AT_ONCE. */
int vpa_retime_in_parts(const struct vpt_trace *trace, unsigned jobs, uint64_t most,
	uint64_t at_once, const struct vpa_change_list *lists, size_t list_count,
	const struct vpa_span *spans, size_t span_count, struct vpa_retiming *out,
	struct vpt_err *err);
void vpa_retiming_free(struct vpa_retiming *r);

static inline uint64_t vpa_retimed_ns(const struct vpa_retiming *r, size_t world, size_t span)
{
	return r->span_ns[world * r->span_count + span];
}

#endif

/* cause.h - why a gap is there. Two questions, each answered so that the parts sum to the gap exactly:
 *
 *   opened by  one answer a gap: what to mend
 *   spent in   the gap cut at the edges of what the launching thread did
 *
 * With g0 the gap's start, K the op that ends it and L the call that launched K, on thread T, the first rule
 * that holds opens the gap:
 *
 *   head, tail                         before first work, after last work
 *   loss overlaps · no launch record   unknown (...)
 *   K and the op before it came from one graph launch          inside graph
 *   L begins at or after g0: the host was late. T was, at g0,
 *     in a synchronising call · a copy that blocks · an allocation · loading code · building a graph ·
 *     another call                                             sync drain ... other CUDA call
 *     in none, and its last call ended < 100 us before L · or longer ago     launch rate · host stall
 *   L ends later than 10 us before g0                          launch latency
 *   K's stream was told to wait since its previous op          dependency
 *   K begins a graph                                           graph start
 *   the gap is at most 10 us                                   scheduling
 *   otherwise                                                  queued, reason not recorded */
#ifndef VPA_ANALYSIS_CAUSE_H
#define VPA_ANALYSIS_CAUSE_H

#include "analysis/idle.h"

/* Fills opened_by, call, range and thread; adds what the gap was spent in to spent_ns[VPA_CAUSES]. */
void vpa_cause_answer(struct vpa_idle *s, struct vpa_gap *gap, uint64_t *spent_ns);

/* So much later than its launch returned an op was no longer on its way to the device; and a gap no longer than this
 * may be the device's own time to begin. */
enum { VPA_NEAR_NS = 10000 };

/* Whether the rule "scheduling" holds for a gap [from, from + ns) unless one before it does that asks for more. */
static inline int vpa_cause_is_scheduling(uint64_t from_ns, uint64_t ns, uint64_t launch_end_ns)
{
	return launch_end_ns <= from_ns && from_ns - launch_end_ns >= VPA_NEAR_NS &&
	       ns - 1 < VPA_NEAR_NS;
}

/* What opened a gap whose op was queued before it began, by the rules after "the host was late". `correlation` is
 * the op's, `previous` that of the op before on its stream. */
static inline enum vpa_cause vpa_cause_queued(struct vpa_resolver *r, uint64_t start_ns,
	uint64_t end_ns, const struct vpa_call *launch, uint32_t stream, uint64_t previous,
	uint64_t correlation)
{
	if (vpa_call_end(launch) > start_ns || start_ns - vpa_call_end(launch) < VPA_NEAR_NS)
		return VPA_CAUSE_LAUNCH_LATENCY;
	if (vpa_resolver_waited(r, stream, previous, correlation))
		return VPA_CAUSE_DEPENDENCY;
	if (launch->klass == VPT_CALL_GRAPH_LAUNCH)
		return VPA_CAUSE_GRAPH_START;
	return end_ns - start_ns <= VPA_NEAR_NS ? VPA_CAUSE_SCHEDULING : VPA_CAUSE_QUEUED;
}

/* The same of the gap before op `i`, which was queued in time with nothing recorded that could have a part in the
 * gap: all of it was spent in what opened it. 0: that is not so, ask vpa_cause_answer(). */
static inline enum vpa_cause vpa_cause_of_queued(
	struct vpa_idle *s, const struct vpa_ops *ops, size_t i, uint64_t previous)
{
	struct vpa_resolver *r = s->resolver;
	const struct vpa_idle_device *d = &s->devices[ops->device[i]];
	uint64_t end = ops->start_ns[i], start = end - ops->gap_ns[i];
	uint64_t correlation = ops->correlation[i];

	/* Without a launch record both its times are beyond everything. */
	if (ops->launch_end_ns[i] > start || ops->launch_start_ns[i] == start ||
		r->quiet_ns > start || s->paused_until_ns > start)
		return VPA_CAUSE_UNKNOWN;
	if (ops->gap_before[i] != VPA_NO_OP ? ops->correlation[ops->gap_before[i]] == correlation
					    : !d->has_last || d->last.correlation == correlation)
		return VPA_CAUSE_UNKNOWN;
	return vpa_cause_queued(
		r, start, end, ops->launch[i], ops->stream[i], previous, correlation);
}

struct vpa_cause_piece {
	enum vpa_cause cause;
	uint32_t range; /* name of T's innermost range; 0: none */
	uint64_t ns;
};

/* The pieces of an answered gap in order of time, cut at T's ranges too; at most `max`, of which the last takes
 * what does not fit. Must be asked before anything is trimmed. Returns how many. */
size_t vpa_cause_pieces(
	struct vpa_idle *s, const struct vpa_gap *gap, struct vpa_cause_piece *pieces, size_t max);

#endif

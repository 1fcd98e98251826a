/* resolver_past.c - how long the resolver keeps the past: an idle device may ask what its host has
 * done since its last op, and an op for its launch and the ranges around it. Entries that nothing
 * can ask for are dropped, chunk by chunk. */
#include "analysis/join/resolver_parts.h"

enum {
	/* A thread's calls are kept for the gaps that may still ask for them; there are more than
	 * this only if a device is idle for long, and then the oldest are dropped. */
	CALLS_KEPT_MAX = 1 << 20,
	/* The same for the changes of a thread's or a process's ranges: without device work they
	 * would all be kept. */
	CHANGES_KEPT_MAX = 1 << 20,
	/* How many of the changes are kept that only a future call may ask for. */
	CHANGES_KEPT_LATE = 1024,
	/* Calls kept of a thread that puts no work on any device: they may still have held back its
	 * first launch. */
	SILENT_CALLS_KEPT = 1 << 16
};

/* A slab of calls may be dropped when no gap can ask for them and none still waits for its op. How
 * many ops a graph launch has is unknown, so it waits its full time. */
static int may_forget(
	const struct vpa_resolver *r, const struct vpa_thread_past *past, uint64_t frontier_ns)
{
	const struct vpa_calls *calls = &past->calls;
	const struct vpa_call_slab *slab = vpa_calls_slab(calls, calls->begin);
	uint64_t end_ns = slab->ends_ns[VPA_CALL_SLAB - 1];

	if (end_ns >= frontier_ns ||
		(past->submitted == VPA_NOWHERE ? calls->end - calls->begin <= SILENT_CALLS_KEPT
						: past->submitted < slab->first + VPA_CALL_SLAB))
		return 0;
	return !slab->waiting ||
	       (r->released_ns > end_ns && r->released_ns - end_ns >= VPA_LAUNCH_WAIT_NS);
}

/* Whether the call must have launched ops, but none has come. */
static int lacks_op(const struct vpa_call *call)
{
	return (call->state & (VPA_CALL_MISSED | VPA_CALL_MET)) == VPA_CALL_MISSED;
}

static int is_crowd(const struct vpa_range_changes *s)
{
	return s->count - s->dropped > CHANGES_KEPT_MAX;
}

/* Whether too many changes wait for a thread's launches without op, which may never come, so that
 * they stop waiting. */
static int waits_no_longer(const struct vpa_resolver *r, const struct vpa_thread_past *past)
{
	size_t i;

	for (i = 0; i < r->process_count; i++)
		if (is_crowd(&r->processes[i].ranges.changes))
			return 1;
	return is_crowd(&past->ranges.changes);
}

/* Finds the first of a thread's calls whose ranges may still be asked for. Calls that ended before
 * `until_ns` are not asked for, unless they lack their op. Calls are in order of their ends. */
static void find_asked(
	const struct vpa_resolver *r, struct vpa_thread_past *past, uint64_t until_ns)
{
	const struct vpa_calls *calls = &past->calls;
	uint64_t at = past->asked.position,
		 last = until_ns ? vpa_calls_after(calls, until_ns - 1, at) : 0;
	int no_longer = waits_no_longer(r, past);

	at = calls->begin > at ? calls->begin : at;
	while (at < last && (no_longer || !lacks_op(vpa_calls_at(calls, at))))
		at++;
	past->asked.position = at;
	past->asked.end = calls->end;
	past->asked.ended_ns = at < calls->end ? vpa_calls_end_at(calls, at) : UINT64_MAX;
	past->asked.earliest_ns = vpa_calls_earliest(calls, at);
}

/* The earliest start of a thread's calls whose ranges may still be asked for; ~0: none. The last
 * calls of a thread that makes no more are never dropped, and most threads do nothing in most
 * chunks. */
static uint64_t earliest_asked(
	const struct vpa_resolver *r, struct vpa_thread_past *past, uint64_t frontier_ns)
{
	uint64_t until_ns =
		r->released_ns > VPA_LAUNCH_WAIT_NS ? r->released_ns - VPA_LAUNCH_WAIT_NS : 0;

	until_ns = frontier_ns < until_ns ? frontier_ns : until_ns;
	if (past->asked.end != past->calls.end || past->asked.ended_ns < until_ns)
		find_asked(r, past, until_ns);
	return past->calls.end ? past->asked.earliest_ns : UINT64_MAX;
}

/* Finds the thread's last outermost call that put work on a device and began before `frontier_ns`:
 * what held the host back since then may still count in future gaps. */
static void find_submitted(struct vpa_thread_past *past, uint64_t frontier_ns)
{
	const struct vpa_calls *calls = &past->calls;
	uint64_t p = vpa_calls_last_submit(calls, vpa_calls_begun(calls, frontier_ns));

	if (p != VPA_NOWHERE && (past->submitted == VPA_NOWHERE || p > past->submitted))
		past->submitted = p;
}

/* When the thread's newest call ended; 0: no calls. */
static uint64_t newest_end(const struct vpa_calls *c)
{
	return c->end ? vpa_calls_end_at(c, c->end - 1) : 0;
}

/* Drops ranges that nothing can ask for: no future gap begins before `frontier_ns`, and no op was
 * launched before `earliest_ns`. A wait of the host is recorded when it ends, and its start does
 * not hold a reader back: it may have begun at `ended_ns`, when the last call ended, and needs its
 * place. */
static void trim_ranges(struct vpa_resolver *r, struct vpa_timeline *t, uint64_t earliest_ns,
	uint64_t ended_ns, uint64_t frontier_ns)
{
	frontier_ns =
		vpa_later(frontier_ns, vpa_range_changes_newest_ns(&t->changes, CHANGES_KEPT_MAX));
	ended_ns = vpa_later(ended_ns, vpa_range_changes_newest_ns(&t->changes, CHANGES_KEPT_LATE));
	/* Future calls may begin before known ops end. */
	frontier_ns = vpa_earlier(vpa_earlier(frontier_ns, r->released_ns), ended_ns);
	vpa_timeline_trim(t, &r->pool, vpa_earlier(earliest_ns, frontier_ns));
}

static void trim_overhead(struct vpa_overhead *o, uint64_t frontier_ns)
{
	vpa_intervals_trim(&o->profiler, frontier_ns);
	vpa_intervals_trim(&o->loading, frontier_ns);
}

/* No future launch looks for waits before this time. */
static uint64_t waits_asked(const struct vpa_resolver *r, uint64_t frontier_ns)
{
	uint64_t from_ns = frontier_ns < r->released_ns ? frontier_ns : r->released_ns;

	return from_ns > VPA_LAUNCH_WAIT_NS ? from_ns - VPA_LAUNCH_WAIT_NS : 0;
}

static uint64_t trim_thread(struct vpa_resolver *r, uint32_t thread, uint64_t frontier_ns)
{
	struct vpa_thread_past *past = &r->pasts[thread];
	struct vpa_calls *calls = &past->calls;
	uint64_t earliest;

	find_submitted(past, frontier_ns);
	/* The last slab is always kept, so the end of the previous call is known. */
	while (calls->end - calls->begin > 2 * VPA_CALL_SLAB &&
		(calls->end - calls->begin > CALLS_KEPT_MAX || may_forget(r, past, frontier_ns))) {
		past->forgotten_ns =
			vpa_calls_slab(calls, calls->begin)->ends_ns[VPA_CALL_SLAB - 1];
		vpa_resolver_count_lost(r, thread, calls->begin + VPA_CALL_SLAB);
		vpa_calls_drop(calls, calls->begin + VPA_CALL_SLAB);
	}
	trim_overhead(&past->overhead, frontier_ns);
	vpa_waits_trim(&past->waits, waits_asked(r, frontier_ns));
	earliest = earliest_asked(r, past, frontier_ns);
	vpa_stack_samples_trim(&past->samples, vpa_earlier(earliest, waits_asked(r, frontier_ns)));
	trim_ranges(r, &past->ranges, earliest, newest_end(calls), frontier_ns);
	return earliest;
}

int vpa_resolver_trim(struct vpa_resolver *r, uint64_t frontier_ns)
{
	uint64_t oldest = UINT64_MAX, ended_ns = UINT64_MAX;
	uint32_t i;

	/* This visits all lanes: it must not cost more than the rows since the last time. */
	if (r->rows_since_trim < r->model->thread_count + r->model->stream_count)
		return r->failed;
	r->rows_since_trim = 0;
	for (i = 0; i < r->model->thread_count; i++) {
		oldest = vpa_earlier(trim_thread(r, i, frontier_ns), oldest);
		ended_ns = vpa_earlier(newest_end(&r->pasts[i].calls), ended_ns);
	}
	for (i = 0; i < r->process_count; i++) {
		trim_ranges(r, &r->processes[i].ranges, oldest, ended_ns, frontier_ns);
		trim_overhead(&r->processes[i].overhead, frontier_ns);
	}
	for (i = 0; i < r->model->stream_count; i++)
		vpa_waits_trim(&r->waits[i], waits_asked(r, frontier_ns));
	trim_overhead(&r->overhead, frontier_ns);
	vpa_intervals_trim(&r->tracing, frontier_ns);
	vpa_intervals_trim(&r->lost, frontier_ns);
	for (i = 0; i < r->fault_cap; i++)
		vpa_intervals_trim(&r->faults[i], vpa_earlier(frontier_ns, r->released_ns));
	return r->failed;
}

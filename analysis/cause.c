/* cause.c - the rules of cause.h. Most gaps are a few microseconds between two queued kernels and are answered
 * from the launch alone; only where the host was late is the thread's past looked at. */
#include "analysis/cause.h"

#include <string.h>

enum { STALL_NS = 100000 };

static const struct {
	const char *text, *help;
} causes[VPA_CAUSES] = {
#define VPA_CAUSE(NAME, text, help) {text, help},
#include "analysis/causes.def"
};

const char *vpa_cause_text(enum vpa_cause cause)
{
	return causes[cause].text;
}

const char *vpa_cause_help(enum vpa_cause cause)
{
	return causes[cause].help;
}

int vpa_cause_is_answer(enum vpa_cause cause)
{
	return cause != VPA_CAUSE_UNKNOWN && cause != VPA_CAUSE_RECORDS_LOST &&
	       cause != VPA_CAUSE_NO_LAUNCH && cause != VPA_CAUSE_QUEUED;
}

/* What a call in which the thread stood opens, and what time in it counts as. */
static const struct {
	enum vpa_cause opens, piece;
} by_class[] = {
	[VPT_CALL_OTHER] = {VPA_CAUSE_OTHER_CALL, VPA_CAUSE_OTHER_CALL},
	[VPT_CALL_LAUNCH] = {VPA_CAUSE_OTHER_CALL, VPA_CAUSE_OTHER_CALL},
	[VPT_CALL_GRAPH_LAUNCH] = {VPA_CAUSE_OTHER_CALL, VPA_CAUSE_OTHER_CALL},
	[VPT_CALL_COPY] = {VPA_CAUSE_OTHER_CALL, VPA_CAUSE_OTHER_CALL},
	[VPT_CALL_BLOCKING_COPY] = {VPA_CAUSE_BLOCKING_COPY, VPA_CAUSE_BLOCKING_COPY},
	[VPT_CALL_MEMSET] = {VPA_CAUSE_OTHER_CALL, VPA_CAUSE_OTHER_CALL},
	[VPT_CALL_SYNC] = {VPA_CAUSE_SYNC_DRAIN, VPA_CAUSE_SYNC},
	[VPT_CALL_STREAM_WAIT] = {VPA_CAUSE_OTHER_CALL, VPA_CAUSE_OTHER_CALL},
	[VPT_CALL_EVENT_RECORD] = {VPA_CAUSE_OTHER_CALL, VPA_CAUSE_OTHER_CALL},
	[VPT_CALL_ALLOCATION] = {VPA_CAUSE_ALLOCATION, VPA_CAUSE_ALLOCATION},
	[VPT_CALL_MODULE_LOAD] = {VPA_CAUSE_MODULE_LOAD, VPA_CAUSE_MODULE_LOAD},
	[VPT_CALL_GRAPH_BUILD] = {VPA_CAUSE_GRAPH_BUILD, VPA_CAUSE_GRAPH_BUILD},
	[VPT_CALL_QUERY] = {VPA_CAUSE_OTHER_CALL, VPA_CAUSE_OTHER_CALL},
	[VPT_CALL_BEGIN_CAPTURE] = {VPA_CAUSE_OTHER_CALL, VPA_CAUSE_OTHER_CALL},
	[VPT_CALL_END_CAPTURE] = {VPA_CAUSE_OTHER_CALL, VPA_CAUSE_OTHER_CALL},
};

/* The outermost call of the thread that contains `t` (start <= t < end), other than `except`; NULL: none. */
static const struct vpa_call *call_at(
	const struct vpa_calls *calls, uint64_t t, const struct vpa_call *except)
{
	uint64_t p = vpa_calls_after(calls, t);

	for (; p < calls->end; p++) {
		const struct vpa_call *call = vpa_calls_at(calls, p);

		if (call->state & VPA_CALL_NESTED) {
			p += *vpa_call_encloses(call) - 1; /* on to the call around it */
			continue;
		}
		return vpa_call_start(call) <= t && call != except ? call : NULL;
	}
	return NULL;
}

static uint32_t range_name_at(struct vpa_resolver *r, uint32_t thread, uint64_t t)
{
	const struct vpa_range *range = vpa_resolver_range_at(r, thread, t);

	return range ? range->name : 0;
}

/* When the thread's last call before its call `launch` ended; 0: none known. */
static uint64_t previous_call_end(const struct vpa_calls *calls, const struct vpa_call *launch)
{
	uint64_t p = vpa_calls_after(calls, vpa_call_start(launch));

	/* Position p is the first that ends after the launch begins, so p - 1 ended before or at it; an empty launch
	 * is not before itself. */
	p -= p > calls->begin && vpa_calls_at(calls, p - 1) == launch;
	return p > calls->begin ? vpa_calls_end_at(calls, p - 1) : 0;
}

VPA_RARE static void answer_late_host(
	struct vpa_idle *s, struct vpa_gap *gap, const struct vpa_call *launch)
{
	struct vpa_resolver *r = s->resolver;
	const struct vpa_thread_past *past = &r->pasts[vpa_call_thread(launch)];
	const struct vpa_call *in = call_at(&past->calls, gap->start_ns, launch);
	uint64_t previous;

	gap->range = range_name_at(r, vpa_call_thread(launch), gap->start_ns);
	if (in) {
		gap->opened_by = by_class[vpa_call_effect(in)].opens;
		gap->call = in->name;
		return;
	}
	if (past->forgotten_ns > gap->start_ns) {
		gap->opened_by = VPA_CAUSE_UNKNOWN;
		return;
	}
	previous = previous_call_end(&past->calls, launch);
	if (previous && vpa_call_start(launch) - previous < STALL_NS) {
		gap->opened_by = VPA_CAUSE_LAUNCH_RATE;
		gap->call = launch->name;
	} else {
		gap->opened_by = VPA_CAUSE_HOST_STALL;
	}
}

static int same_graph_launch(
	const struct vpa_op *before, const struct vpa_op *op, const struct vpa_call *launch)
{
	if (!before || !op->correlation || before->correlation != op->correlation)
		return 0;
	return (launch && launch->klass == VPT_CALL_GRAPH_LAUNCH) ||
	       (before->graph_node && op->graph_node);
}

static void answer_queued(
	struct vpa_resolver *r, struct vpa_gap *gap, const struct vpa_call *launch)
{
	const struct vpa_op *op = gap->gating;
	const struct vpa_range *range = vpa_op_range(op);

	gap->range = range ? range->name : 0;
	gap->call = launch->name;
	gap->opened_by = vpa_cause_queued(
		r, gap->start_ns, gap->end_ns, launch, op->stream, gap->previous, op->correlation);
}

static void choose_opener(struct vpa_idle *s, struct vpa_gap *gap)
{
	struct vpa_resolver *r = s->resolver;
	const struct vpa_call *launch = gap->gating ? gap->gating->launch : NULL;

	gap->call = gap->range = 0;
	gap->thread = launch ? vpa_call_thread(launch) : VPA_NONE;
	if (!gap->before || !gap->gating) {
		gap->opened_by =
			gap->gating ? VPA_CAUSE_BEFORE_FIRST_WORK : VPA_CAUSE_AFTER_LAST_WORK;
		return;
	}
	if (vpa_intervals_touch(&r->lost, gap->start_ns, gap->end_ns)) {
		gap->opened_by = VPA_CAUSE_RECORDS_LOST;
	} else if (!launch) {
		gap->opened_by = VPA_CAUSE_NO_LAUNCH;
	} else if (same_graph_launch(gap->before, gap->gating, launch)) {
		const struct vpa_range *range = vpa_op_range(gap->gating);

		gap->opened_by = VPA_CAUSE_INSIDE_GRAPH;
		gap->call = launch->name;
		gap->range = range ? range->name : 0;
	} else if (vpa_call_start(launch) >= gap->start_ns) {
		answer_late_host(s, gap, launch);
	} else {
		answer_queued(r, gap, launch);
	}
}

/* ---- spent in ---- */

/* A walk over a gap: pieces are asked for in order and summed, or listed. */
struct walk {
	struct vpa_idle *idle;
	const struct vpa_gap *gap;
	uint64_t at_ns;
	uint64_t *sums;
	struct vpa_cause_piece *pieces;
	size_t count, max;
};

static void put_piece(struct walk *w, enum vpa_cause cause, uint32_t range, uint64_t ns)
{
	struct vpa_cause_piece *last = w->count ? &w->pieces[w->count - 1] : NULL;

	if (last && (w->count == w->max || (last->cause == cause && last->range == range))) {
		last->ns += ns;
		return;
	}
	w->pieces[w->count++] = (struct vpa_cause_piece){cause, range, ns};
}

/* When the innermost range of a timeline changes next after `at`; at most `end`. */
static uint64_t next_step(struct vpa_steps *steps, uint64_t at, uint64_t end)
{
	size_t i = vpa_steps_index(steps, at), next = i == SIZE_MAX ? steps->dropped : i + 1;

	return next < steps->count && steps->items[next].time_ns < end ? steps->items[next].time_ns
								       : end;
}

/* One cause from w->at_ns to `end`, cut at the thread's ranges when pieces are listed. */
static void put_ranges(struct walk *w, uint64_t end, enum vpa_cause cause)
{
	struct vpa_resolver *r = w->idle->resolver;
	uint32_t thread = w->gap->thread, process;
	uint64_t at = w->at_ns, next = end;

	if (end <= at)
		return;
	w->at_ns = end;
	if (w->sums) {
		w->sums[cause] += end - at;
		return;
	}
	for (; at < end; at = next) {
		if (thread != VPA_NONE) {
			process = r->model->threads[thread].process;
			next = next_step(&r->pasts[thread].ranges.steps, at, end);
			next = next_step(&r->processes[process].ranges.steps, at, next);
		}
		put_piece(
			w, cause, thread != VPA_NONE ? range_name_at(r, thread, at) : 0, next - at);
	}
}

/* Goes on to `end` with `cause`, except where records were lost or the profiling library was at work. */
static void go_on(struct walk *w, uint64_t end, enum vpa_cause cause)
{
	struct vpa_resolver *r = w->idle->resolver;
	const struct {
		const struct vpa_intervals *set;
		enum vpa_cause cause;
	} over[] = {{&r->lost, VPA_CAUSE_UNKNOWN}, {&r->profiler, VPA_CAUSE_PROFILER},
		{&r->loading, VPA_CAUSE_MODULE_LOAD}};

	while (w->at_ns < end) {
		uint64_t until = end;
		enum vpa_cause now = cause;
		int covered = 0;
		size_t k;

		for (k = 0; k < 3 && !covered; k++) {
			const struct vpa_intervals *set = over[k].set;
			size_t i = set->count ? vpa_intervals_after(set, w->at_ns) : 0;

			if (i == set->count)
				continue;
			if (set->items[i].start_ns <= w->at_ns) {
				covered = 1;
				now = over[k].cause;
				until = set->items[i].end_ns < until ? set->items[i].end_ns : until;
			} else if (set->items[i].start_ns < until) {
				until = set->items[i].start_ns;
			}
		}
		put_ranges(w, until, now);
	}
}

/* What the thread did from w->at_ns until `end`: calls, and host code between them. */
static void walk_thread(struct walk *w, uint32_t thread, uint64_t end)
{
	const struct vpa_thread_past *past = &w->idle->resolver->pasts[thread];
	const struct vpa_calls *calls = &past->calls;
	uint64_t p;

	if (past->forgotten_ns > w->at_ns)
		go_on(w, past->forgotten_ns < end ? past->forgotten_ns : end,
			w->gap->before ? VPA_CAUSE_UNKNOWN : w->gap->opened_by);
	for (p = vpa_calls_after(calls, w->at_ns); p < calls->end && w->at_ns < end; p++) {
		const struct vpa_call *call = vpa_calls_at(calls, p);

		if (call->state & VPA_CALL_NESTED) {
			p += *vpa_call_encloses(call) - 1; /* on to the call around it */
			continue;
		}
		if (vpa_call_start(call) >= end)
			break;
		go_on(w, vpa_call_start(call), VPA_CAUSE_HOST_CODE);
		go_on(w, vpa_call_end(call) < end ? vpa_call_end(call) : end,
			by_class[vpa_call_effect(call)].piece);
	}
	go_on(w, end, VPA_CAUSE_HOST_CODE);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What fills the time after the launch has returned: work that was queued in time waited for what opened the
 * gap, all other work was on its way. */
static enum vpa_cause cause_after_launch(const struct vpa_gap *gap)
{
	return gap->opened_by >= VPA_CAUSE_DEPENDENCY && gap->opened_by <= VPA_CAUSE_QUEUED
		       ? gap->opened_by
		       : VPA_CAUSE_LAUNCH_LATENCY;
}

static void walk_gap(struct walk *w)
{
	const struct vpa_gap *gap = w->gap;
	const struct vpa_call *launch = gap->gating ? gap->gating->launch : NULL;

	if (gap->opened_by == VPA_CAUSE_AFTER_LAST_WORK ||
		gap->opened_by == VPA_CAUSE_INSIDE_GRAPH) {
		go_on(w, gap->end_ns, gap->opened_by);
		return;
	}
	if (!launch) {
		go_on(w, gap->end_ns,
			gap->opened_by == VPA_CAUSE_BEFORE_FIRST_WORK ? gap->opened_by
								      : VPA_CAUSE_UNKNOWN);
		return;
	}
	if (vpa_call_start(launch) > w->at_ns)
		walk_thread(
			w, vpa_call_thread(launch), earlier(vpa_call_start(launch), gap->end_ns));
	go_on(w, earlier(vpa_call_end(launch), gap->end_ns), VPA_CAUSE_LAUNCH_CALL);
	go_on(w, gap->end_ns, cause_after_launch(gap));
}

/* Most gaps by far: the launch began before the gap, and nothing else happened in it. */
static int spent_simply(const struct vpa_idle *s, const struct vpa_gap *gap, uint64_t *spent_ns)
{
	const struct vpa_resolver *r = s->resolver;
	const struct vpa_call *launch = gap->gating ? gap->gating->launch : NULL;
	uint64_t returned;

	if (!launch || vpa_call_start(launch) > gap->start_ns ||
		gap->opened_by == VPA_CAUSE_INSIDE_GRAPH ||
		vpa_intervals_touch(&r->lost, gap->start_ns, gap->end_ns) ||
		vpa_intervals_touch(&r->profiler, gap->start_ns, gap->end_ns) ||
		vpa_intervals_touch(&r->loading, gap->start_ns, gap->end_ns))
		return 0;
	returned =
		earlier(vpa_call_end(launch) > gap->start_ns ? vpa_call_end(launch) : gap->start_ns,
			gap->end_ns);
	spent_ns[VPA_CAUSE_LAUNCH_CALL] += returned - gap->start_ns;
	spent_ns[cause_after_launch(gap)] += gap->end_ns - returned;
	return 1;
}

void vpa_cause_answer(struct vpa_idle *s, struct vpa_gap *gap, uint64_t *spent_ns)
{
	struct walk w = {.idle = s, .gap = gap, .at_ns = gap->start_ns, .sums = spent_ns};

	choose_opener(s, gap);
	if (!spent_simply(s, gap, spent_ns))
		walk_gap(&w);
}

size_t vpa_cause_pieces(
	struct vpa_idle *s, const struct vpa_gap *gap, struct vpa_cause_piece *pieces, size_t max)
{
	struct walk w = {
		.idle = s, .gap = gap, .at_ns = gap->start_ns, .pieces = pieces, .max = max};

	walk_gap(&w);
	return w.count;
}

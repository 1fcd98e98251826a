/* resolver.c - taking chunks apart and joining what belongs together.
 *
 *	resolver_maps.c     numbers of lanes, names and configurations
 *	resolver_ranges.c   ranges come in
 *	resolver_calls.c    calls come in
 *	resolver_ops.c      ops go out, joined with their launches */
#include "analysis/resolver.h"

#include "analysis/resolver_maps.h"
#include "analysis/resolver_parts.h"
#include "formats/chunk.h"
#include "formats/memory.h"

#include <string.h>

enum {
	/* A thread's calls are kept for the gaps that may still ask; more than this only when a device is left
	 * idle for long, and then the oldest go. */
	CALLS_KEPT_MAX = 1 << 20,
	/* The same of the steps of a thread's ranges, or a process's: where nothing ever runs on a device, they would
	 * all be kept. */
	STEPS_KEPT_MAX = 1 << 20,
	/* So many waits of a stream are kept for the gaps before its ops. It need not have any. */
	WAITS_KEPT_MAX = 1 << 17
};

static void range_finished(void *ctx, struct vpa_range *range)
{
	struct vpa_resolver *r = ctx;
	const struct vpa_model *m = r->model;

	if (range->unmatched && range->start_ns <= m->window_end_ns &&
		range->end_ns >= m->window_start_ns)
		r->unmatched_ranges++;
	if (range->start_ns < m->window_start_ns || range->start_ns > m->window_end_ns)
		return;
	if (r->sink.range && r->sink.range(r->sink.ctx, range))
		r->failed = VPT_ENOMEM;
}

int vpa_resolver_init(struct vpa_resolver *r, struct vpa_model *model,
	const struct vpa_rules *rules, const struct vpa_resolver_sink *sink)
{
	memset(r, 0, sizeof(*r));
	r->model = model;
	r->rules = rules;
	r->sink = *sink;
	r->pool.finished = range_finished;
	r->pool.ctx = r;
	r->maps = vpa_maps_new();
	return r->maps ? VPT_OK : VPT_ENOMEM;
}

void vpa_resolver_free(struct vpa_resolver *r)
{
	size_t i;

	if (!r->model)
		return;
	for (i = 0; i < r->model->thread_count && i < r->past_cap; i++) {
		vpa_calls_free(&r->pasts[i].calls);
		vpa_timeline_free(&r->pasts[i].ranges);
	}
	for (i = 0; i < r->process_count; i++) {
		vpa_timeline_free(&r->processes[i].ranges);
		vpa_launches_free(&r->processes[i].launches);
	}
	for (i = 0; i < r->model->stream_count && i < r->waits_cap; i++)
		vpt_free(r->waits[i].ids);
	vpt_free(r->pasts);
	vpt_free(r->processes);
	vpt_free(r->waits);
	vpa_range_pool_free(&r->pool);
	vpa_laps_free(&r->laps);
	vpa_intervals_free(&r->lost);
	vpa_intervals_free(&r->profiler);
	vpa_intervals_free(&r->loading);
	vpa_intervals_free(&r->paused);
	vpa_maps_free(r->maps);
	vpa_op_queue_free(&r->queue);
	memset(r, 0, sizeof(*r));
}

/* ---- what marks time: synchronisation, overhead, loss ---- */

static int add_waits(struct vpa_resolver *r, const struct vpt_section *s)
{
	struct vpa_waits *w;
	uint32_t stream, row;
	int rc = VPT_OK;

	if (!s->lane)
		return VPT_OK;
	for (row = 0; row < s->row_count; row++) {
		uint64_t id = s->col[VPT_SYNC_CORRELATION][row];
		size_t at;

		if (s->col[VPT_SYNC_SYNC_KIND][row] != VPT_SYNCKIND_STREAM_WAIT || !id)
			continue;
		rc = vpa_maps_stream(r, s->lane, &stream);
		if (rc)
			break;
		w = &r->waits[stream];
		if (w->count - w->taken > WAITS_KEPT_MAX)
			w->taken = w->count - WAITS_KEPT_MAX;
		if (w->taken > 1024 && w->taken > w->count / 2) {
			w->count -= w->taken;
			memmove(w->ids, w->ids + w->taken, w->count * sizeof(*w->ids));
			w->taken = 0;
		}
		if (vpt_grow(&w->ids, &w->cap, w->count + 1, sizeof(*w->ids)))
			return VPT_ENOMEM;
		/* Ids rise as calls are made; one out of order is put where it belongs, if that is near. */
		for (at = w->count; at > w->taken && w->count - at < 64 && w->ids[at - 1] > id;
			at--)
			w->ids[at] = w->ids[at - 1];
		w->ids[at] = id;
		w->count++;
	}
	return rc;
}

static struct vpa_intervals *overhead_set(struct vpa_resolver *r, uint64_t kind)
{
	switch (kind) {
	case VPT_OVERHEADKIND_FLUSH:
	case VPT_OVERHEADKIND_INSTRUMENTATION:
	case VPT_OVERHEADKIND_RESOURCE:
	case VPT_OVERHEADKIND_BUFFER_REQUEST:
		return &r->profiler;
	case VPT_OVERHEADKIND_COMPILER:
	case VPT_OVERHEADKIND_MODULE_LOADING:
	case VPT_OVERHEADKIND_LAZY_LOADING:
		return &r->loading;
	default:
		/* A full command buffer means that the queue is full, which is healthy. */
		return NULL;
	}
}

static int add_spans(struct vpa_resolver *r, const struct vpt_section *s)
{
	uint32_t row;

	for (row = 0; row < s->row_count; row++) {
		uint64_t start = s->col[0][row], end = start + s->col[1][row];
		struct vpa_intervals *set = &r->lost;

		if (s->kind == VPT_OVERHEAD)
			set = overhead_set(r, s->col[VPT_OVERHEAD_OVERHEAD_KIND][row]);
		else if (s->col[VPT_LOSS_LOSS_KIND][row] == VPT_LOSSKIND_PAUSED)
			set = &r->paused;
		else if (s->col[VPT_LOSS_LOSS_KIND][row] == VPT_LOSSKIND_CAP) {
			r->names_lost += s->col[VPT_LOSS_COUNT][row];
			continue;
		} else {
			r->losses++;
			r->lost_events += s->col[VPT_LOSS_COUNT][row];
		}
		if (start < r->model->window_start_ns)
			start = r->model->window_start_ns;
		if (set && vpa_intervals_add(set, start, end))
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

/* ---- ops ---- */

/* Counts what a chunk brings though it should have come with an earlier one. */
VPA_RARE static void count_late(struct vpa_resolver *r, const struct vpt_section *s)
{
	const uint64_t *starts = s->col[0], *durations = s->col[1];
	uint32_t row;

	for (row = 0; row < s->row_count; row++)
		if (starts[row] < r->released_ns)
			r->late_ops += starts[row] && starts[row] + durations[row] > starts[row];
}

/* The same of a packed section. */
VPA_RARE static void count_late_packed(struct vpa_resolver *r, const struct vpt_section *s)
{
	uint64_t starts[VPT_ROWS_AT_ONCE], ids[VPT_ROWS_AT_ONCE];
	uint32_t left = s->row_count, count, i;
	struct vpt_rows rows;

	vpt_rows_begin(&rows, s);
	for (; left; left -= count) {
		count = left < VPT_ROWS_AT_ONCE ? left : VPT_ROWS_AT_ONCE;
		vpt_rows_next(&rows, count, 0, starts, ids);
		for (i = 0; i < count; i++)
			r->late_ops += starts[i] && starts[i] < r->released_ns;
	}
}

static int add_ops(struct vpa_resolver *r, const struct vpt_section *s)
{
	uint32_t stream;
	int rc = vpa_maps_stream(r, s->lane, &stream);

	if (!rc)
		rc = vpa_op_queue_add(&r->queue, s, stream, r->model->streams[stream].device);
	if (!rc && s->row_count && vpa_op_queue_newest_ns(&r->queue) < r->released_ns)
		(s->is_packed ? count_late_packed : count_late)(r, s);
	return rc;
}

static void count_others(struct vpa_resolver *r, const struct vpt_section *s)
{
	if (s->kind == VPT_MARK)
		r->counts.marks += s->row_count;
	else if (s->kind == VPT_SYNC)
		r->counts.syncs += s->row_count;
	else if (s->kind == VPT_COUNTER)
		r->counts.counters += s->row_count;
	else if (vpt_kind_desc(s->kind)->flags & VPT_KIND_EVENT && s->kind > VPT_RANGE)
		r->counts.other += s->row_count;
}

static int add_marks(struct vpa_resolver *r, const struct vpt_batch *b, const struct vpt_section *s)
{
	uint32_t thread, row, domain;
	int rc = vpa_maps_thread(r, s->lane, &thread);

	for (row = 0; !rc && row < s->row_count; row++) {
		struct vpa_mark mark = {.time_ns = s->col[VPT_MARK_TIME][row], .thread = thread};

		if (s->col[VPT_MARK_PAYLOAD][row] != VPT_PAYLOAD_JSON ||
			!vpa_in_window(r->model, mark.time_ns))
			continue;
		rc = vpa_maps_name(r, b, s->col[VPT_MARK_DOMAIN][row], &domain);
		if (!rc)
			rc = vpa_resolver_annotation(r, b, domain, s->col[VPT_MARK_PAYLOAD][row],
				s->col[VPT_MARK_VALUE][row], &mark.payload);
		if (!rc && mark.payload)
			rc = vpa_maps_name(r, b, s->col[VPT_MARK_NAME][row], &mark.name);
		if (!rc && mark.payload)
			rc = r->sink.mark(r->sink.ctx, &mark);
	}
	return rc;
}

static int add_section(
	struct vpa_resolver *r, const struct vpt_batch *b, const struct vpt_section *s)
{
	count_others(r, s);
	switch (s->kind) {
	case VPT_KERNEL:
	case VPT_COPY:
		return add_ops(r, s);
	case VPT_CALL:
		return vpa_resolver_add_calls(r, b, s);
	case VPT_SYNC:
		return add_waits(r, s);
	case VPT_MARK:
		return r->sink.mark ? add_marks(r, b, s) : VPT_OK;
	case VPT_OVERHEAD:
	case VPT_LOSS:
		return add_spans(r, s);
	default:
		return VPT_OK;
	}
}

static void note_quiet(struct vpa_resolver *r)
{
	const struct vpa_intervals *sets[] = {&r->lost, &r->profiler, &r->loading};
	size_t i;

	for (i = 0; i < 3; i++)
		if (sets[i]->count && sets[i]->items[sets[i]->count - 1].end_ns > r->quiet_ns)
			r->quiet_ns = sets[i]->items[sets[i]->count - 1].end_ns;
}

int vpa_resolver_add(struct vpa_resolver *r, const struct vpt_batch *b)
{
	size_t i;
	int rc = vpa_maps_begin_chunk(r, b);

	/* Ranges first: calls want to know theirs. */
	if (!rc)
		rc = vpa_resolver_add_ranges(r, b);
	for (i = 0; !rc && i < b->section_count; i++)
		rc = add_section(r, b, &b->sections[i]);
	vpa_intervals_settle(&r->lost);
	vpa_intervals_settle(&r->profiler);
	vpa_intervals_settle(&r->loading);
	vpa_intervals_settle(&r->paused);
	note_quiet(r);
	return rc ? rc : r->failed;
}

/* ---- forgetting ---- */

/* A block of calls may go when no gap can ask for them and none still waits for its op. A graph launch waits for
 * all of its ops, and how many there will be is not known, so those wait their full time. */
static int may_forget(
	const struct vpa_resolver *r, const struct vpa_calls *calls, uint64_t frontier_ns)
{
	const struct vpa_call_block *block = vpa_calls_block(calls, calls->begin);
	uint64_t end_ns = block->ends_ns[VPA_CALL_BLOCK - 1];

	if (end_ns >= frontier_ns)
		return 0;
	return !block->waiting ||
	       (r->released_ns > end_ns && r->released_ns - end_ns >= VPA_LAUNCH_WAIT_NS);
}

/* Whether none of the ops that the call must have launched has come. */
static int lacks_op(const struct vpa_call *call)
{
	return (call->state & (VPA_CALL_MISSED | VPA_CALL_MET)) == VPA_CALL_MISSED;
}

static int is_crowd(const struct vpa_steps *s)
{
	return s->count - s->dropped > STEPS_KEPT_MAX;
}

/* Whether so many steps wait for a thread's launches without op, which may never come, that they wait no longer. */
static int waits_no_longer(const struct vpa_resolver *r, const struct vpa_thread_past *past)
{
	size_t i;

	for (i = 0; i < r->process_count; i++)
		if (is_crowd(&r->processes[i].ranges.steps))
			return 1;
	return is_crowd(&past->ranges.steps);
}

/* Finds out from which of a thread's calls on ranges may still be asked for, `until_ns` being when those ended that are
 * not any more, unless they lack their op. Calls stand in order of their ends. */
static void find_asked(
	const struct vpa_resolver *r, struct vpa_thread_past *past, uint64_t until_ns)
{
	const struct vpa_calls *calls = &past->calls;
	uint64_t at = past->asked.position,
		 last = until_ns ? vpa_calls_after(calls, until_ns - 1) : 0;
	int no_longer = waits_no_longer(r, past);

	at = calls->begin > at ? calls->begin : at;
	while (at < last && (no_longer || !lacks_op(vpa_calls_at(calls, at))))
		at++;
	past->asked.position = at;
	past->asked.end = calls->end;
	past->asked.ended_ns = at < calls->end ? vpa_calls_end_at(calls, at) : UINT64_MAX;
	past->asked.earliest_ns = vpa_calls_earliest(calls, at);
}

/* When the first of a thread's calls began whose ranges may still be asked for; ~0: none of them. The last calls of a
 * thread that makes no more are kept for good, and most threads do nothing in most chunks. */
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

/* Gives up the ranges that nothing asks for any more: no gap will begin before `frontier_ns`, and no op has been
 * launched before `earliest_ns`. */
static void trim_ranges(
	struct vpa_resolver *r, struct vpa_timeline *t, uint64_t earliest_ns, uint64_t frontier_ns)
{
	const struct vpa_steps *s = &t->steps;

	if (is_crowd(s) && s->items[s->count - STEPS_KEPT_MAX].time_ns > frontier_ns)
		frontier_ns = s->items[s->count - STEPS_KEPT_MAX].time_ns;
	/* Calls that are still to come may begin before ops end that are known. */
	if (r->released_ns < frontier_ns)
		frontier_ns = r->released_ns;
	vpa_timeline_trim(t, &r->pool, earliest_ns < frontier_ns ? earliest_ns : frontier_ns);
}

static uint64_t trim_thread(struct vpa_resolver *r, uint32_t thread, uint64_t frontier_ns)
{
	struct vpa_thread_past *past = &r->pasts[thread];
	struct vpa_calls *calls = &past->calls;
	uint64_t earliest;

	/* The last block always stays, so that "its previous call ended ..." can be answered. */
	while (calls->end - calls->begin > 2 * VPA_CALL_BLOCK &&
		(calls->end - calls->begin > CALLS_KEPT_MAX || may_forget(r, calls, frontier_ns))) {
		past->forgotten_ns =
			vpa_calls_block(calls, calls->begin)->ends_ns[VPA_CALL_BLOCK - 1];
		vpa_calls_drop(calls, calls->begin + VPA_CALL_BLOCK);
	}
	earliest = earliest_asked(r, past, frontier_ns);
	trim_ranges(r, &past->ranges, earliest, frontier_ns);
	return earliest;
}

int vpa_resolver_trim(struct vpa_resolver *r, uint64_t frontier_ns)
{
	uint64_t oldest = UINT64_MAX;
	uint32_t i;

	for (i = 0; i < r->model->thread_count; i++) {
		uint64_t earliest = trim_thread(r, i, frontier_ns);

		oldest = earliest < oldest ? earliest : oldest;
	}
	for (i = 0; i < r->process_count; i++)
		trim_ranges(r, &r->processes[i].ranges, oldest, frontier_ns);
	vpa_intervals_trim(&r->lost, frontier_ns);
	vpa_intervals_trim(&r->profiler, frontier_ns);
	vpa_intervals_trim(&r->loading, frontier_ns);
	return r->failed;
}

static void close_open(struct vpa_timeline *t, uint64_t end_ns)
{
	size_t i;

	for (i = 0; i < t->open_count; i++)
		if (t->open[i]->end_ns == UINT64_MAX) {
			t->open[i]->end_ns =
				end_ns > t->open[i]->start_ns ? end_ns : t->open[i]->start_ns;
			t->open[i]->unmatched = 1;
		}
}

int vpa_resolver_end(struct vpa_resolver *r, uint64_t end_ns)
{
	uint32_t i;

	for (i = 0; i < r->model->thread_count; i++) {
		struct vpa_thread_past *past = &r->pasts[i];

		vpa_calls_drop(&past->calls, past->calls.end);
		close_open(&past->ranges, end_ns);
		vpa_timeline_end(&past->ranges, &r->pool);
	}
	for (i = 0; i < r->process_count; i++) {
		close_open(&r->processes[i].ranges, end_ns);
		vpa_timeline_end(&r->processes[i].ranges, &r->pool);
	}
	return r->failed;
}

void vpa_resolver_ranges_at(struct vpa_resolver *r, uint32_t thread, uint64_t t,
	const struct vpa_range **own, const struct vpa_range **wide)
{
	*own = vpa_steps_at(&r->pasts[thread].ranges.steps, t);
	*wide = vpa_steps_at(&r->processes[r->model->threads[thread].process].ranges.steps, t);
}

const struct vpa_range *vpa_resolver_range_at(struct vpa_resolver *r, uint32_t thread, uint64_t t)
{
	const struct vpa_range *own, *wide;

	vpa_resolver_ranges_at(r, thread, t, &own, &wide);
	return vpa_inner_range(own, wide);
}

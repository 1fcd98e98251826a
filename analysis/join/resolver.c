/* resolver.c - splits chunks and joins their records.
 *
 *	resolver_maps.c     numbers of lanes, names and configurations
 *	resolver_ranges.c   adds ranges
 *	resolver_calls.c    adds calls
 *	resolver_ops.c      releases ops, joined with their launches
 *	resolver_backlogs.c ops without a launch
 *	resolver_places.c   ranges around a moment
 *	resolver_past.c     how long calls, ranges and waits are kept */
#include "analysis/join/resolver.h"

#include "analysis/join/resolver_maps.h"
#include "analysis/join/resolver_parts.h"
#include "formats/base/memory.h"
#include "formats/chunk/chunk.h"
#include "formats/file/contents.h"

#include <string.h>

static void free_overhead(struct vpa_overhead *o)
{
	vpa_intervals_free(&o->profiler);
	vpa_intervals_free(&o->loading);
}

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
	r->model = model;
	r->rules = rules;
	r->sink = *sink;
	r->first_call_ns = UINT64_MAX;
	r->first_left_id = UINT64_MAX;
	r->first_unlaunched_ns = UINT64_MAX;
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
		vpa_waits_free(&r->pasts[i].waits);
		vpa_stack_samples_free(&r->pasts[i].samples);
		vpa_captures_free(&r->pasts[i].captures);
		free_overhead(&r->pasts[i].overhead);
	}
	for (i = 0; i < r->process_count; i++) {
		vpa_timeline_free(&r->processes[i].ranges);
		vpa_launches_free(&r->processes[i].launches);
		free_overhead(&r->processes[i].overhead);
	}
	for (i = 0; i < r->model->stream_count && i < r->waits_cap; i++)
		vpa_waits_free(&r->waits[i]);
	vpt_free(r->ranks);
	vpt_free(r->ranked);
	vpt_free(r->threads.items);
	vpt_free(r->streams.items);
	vpt_free(r->pasts);
	vpt_free(r->processes);
	vpt_free(r->waits);
	vpt_free(r->backlogs);
	vpa_range_pool_free(&r->pool);
	vpa_marked_spans_free(&r->marked_spans);
	vpa_copy_holds_free(&r->holds);
	vpa_intervals_free(&r->lost);
	free_overhead(&r->overhead);
	vpa_intervals_free(&r->tracing);
	vpa_intervals_free(&r->paused);
	for (i = 0; i < r->fault_cap; i++)
		vpa_intervals_free(&r->faults[i]);
	vpt_free(r->faults);
	vpa_maps_free(r->maps);
	vpa_op_queue_free(&r->queue);
	r->model = NULL;
}

/* ---- timed records: synchronisation, overhead, loss ---- */

static int add_stream_wait(
	struct vpa_resolver *r, uint32_t stream, uint64_t start_ns, uint64_t correlation)
{
	struct vpa_unsettled *u = &r->streams;
	struct vpa_waits *w = &r->waits[stream];
	int was_settled = vpa_waits_are_settled(w);

	if (vpa_waits_add(w, start_ns, correlation, correlation != 0))
		return VPT_ENOMEM;
	if (!was_settled || vpa_waits_are_settled(w))
		return VPT_OK;
	if (vpt_grow(&u->items, &u->cap, u->count + 1, sizeof(*u->items)))
		return VPT_ENOMEM;
	u->items[u->count++] = stream;
	return VPT_OK;
}

static int add_waits(struct vpa_resolver *r, const struct vpt_section *s)
{
	uint32_t stream = vpa_maps_find(r, s->lane, VPT_LANETYPE_STREAM), row;
	int64_t number;
	int rc = VPT_OK;

	if (stream == VPA_NONE)
		return VPT_OK;
	number = r->model->streams[stream].stream;
	if (number < 0 || number >= UINT32_MAX)
		return VPT_OK;
	for (row = 0; row < s->row_count && !rc; row++) {
		uint64_t start = s->col[VPT_SYNC_START][row];

		if (s->col[VPT_SYNC_SYNC_KIND][row] != VPT_SYNCKIND_STREAM_WAIT)
			continue;
		r->waits_name_streams = 1;
		if (start > r->newest_wait_ns)
			r->newest_wait_ns = start;
		rc = add_stream_wait(r, stream, start, s->col[VPT_SYNC_CORRELATION][row]);
	}
	return rc;
}

/* A stream, to look up its waits' calls. */
struct stream_waits {
	const struct vpa_resolver *r;
	uint32_t stream;
};

static uint64_t find_wait(void *ctx, uint64_t id)
{
	const struct stream_waits *w = ctx;
	const struct vpa_resolver *r = w->r;
	int64_t pid = r->model->streams[w->stream].pid;
	struct vpa_call *call = NULL;
	size_t i;

	for (i = 0; i < r->process_count && !call; i++)
		if (pid == -1 || r->processes[i].pid == pid || r->processes[i].pid == -1)
			call = vpa_launches_find_wait(&r->processes[i].launches, r->pasts, id);
	return call ? vpa_call_start(call) : UINT64_MAX;
}

/* A wait counts from the start of its call, if that is known. A call not yet there comes with the
 * next chunk at the latest, since both end at the same time. */
static int settle_waits(struct vpa_resolver *r)
{
	struct vpa_unsettled *u = &r->streams;
	size_t kept = 0, i;
	int rc = VPT_OK;

	for (i = 0; i < u->count && !rc; i++) {
		uint32_t k = u->items[i];

		rc = vpa_waits_settle(&r->waits[k], find_wait, &(struct stream_waits){r, k});
		if (!vpa_waits_are_settled(&r->waits[k]))
			u->items[kept++] = k;
	}
	u->count = kept;
	return rc;
}

/* The set for overhead records of a kind; NULL: none. */
static struct vpa_intervals *overhead_set(struct vpa_overhead *o, uint64_t kind)
{
	switch (kind) {
	case VPT_OVERHEADKIND_FLUSH:
	case VPT_OVERHEADKIND_INSTRUMENTATION:
	case VPT_OVERHEADKIND_RESOURCE:
	case VPT_OVERHEADKIND_BUFFER_REQUEST:
		return &o->profiler;
	case VPT_OVERHEADKIND_COMPILER:
	case VPT_OVERHEADKIND_MODULE_LOADING:
	case VPT_OVERHEADKIND_LAZY_LOADING:
		return &o->loading;
	default:
		/* A full command buffer means a full queue, which is healthy. */
		return NULL;
	}
}

int vpa_resolver_note_fault(
	struct vpa_resolver *r, uint32_t stream, uint64_t start_ns, uint64_t end_ns)
{
	size_t device = r->model->streams[stream].device;

	if (end_ns <= start_ns)
		return VPT_OK;
	if (vpt_grow_zeroed(&r->faults, &r->fault_cap, device + 1, sizeof(*r->faults)))
		return VPT_ENOMEM;
	return vpa_intervals_add(&r->faults[device], start_ns, end_ns);
}

/* Page faults stand on a lane of their device. */
static int add_faults(struct vpa_resolver *r, const struct vpt_section *s)
{
	uint32_t stream, row;
	int rc = VPT_OK;

	if (vpa_maps_find(r, s->lane, VPT_LANETYPE_STREAM) == VPA_NONE)
		return VPT_OK;
	rc = vpa_maps_stream(r, s->lane, &stream);
	for (row = 0; row < s->row_count && !rc; row++)
		if (s->col[VPT_OVERHEAD_OVERHEAD_KIND][row] == VPT_OVERHEADKIND_PAGE_FAULTS)
			rc = vpa_resolver_note_fault(r, stream, s->col[VPT_OVERHEAD_START][row],
				s->col[VPT_OVERHEAD_START][row] +
					s->col[VPT_OVERHEAD_DURATION][row]);
	return rc;
}

static int add_overhead(struct vpa_resolver *r, const struct vpt_section *s)
{
	uint32_t thread = vpa_maps_find(r, s->lane, VPT_LANETYPE_THREAD), row;
	struct vpa_overhead *own = thread == VPA_NONE ? &r->overhead : &r->pasts[thread].overhead;

	for (row = 0; row < s->row_count; row++) {
		uint64_t start = s->col[VPT_OVERHEAD_START][row];
		uint64_t end = start + s->col[VPT_OVERHEAD_DURATION][row];
		uint64_t kind = s->col[VPT_OVERHEAD_OVERHEAD_KIND][row];
		struct vpa_intervals *set = overhead_set(own, kind);

		if (start < r->model->window_start_ns)
			start = r->model->window_start_ns;
		if (!set || end <= start)
			continue;
		if (end > r->quiet_ns)
			r->quiet_ns = end;
		if (vpa_intervals_add(set, start, end) ||
			(set == &own->profiler && vpa_intervals_add(&r->tracing, start, end)))
			return VPT_ENOMEM;
		if (thread == VPA_NONE)
			continue;
		set = overhead_set(&r->processes[r->model->threads[thread].process].overhead, kind);
		if (vpa_intervals_add(set, start, end))
			return VPT_ENOMEM;
	}
	return add_faults(r, s);
}

static int add_lost(
	struct vpa_resolver *r, struct vpa_intervals *set, uint64_t start_ns, uint64_t end_ns)
{
	if (set == &r->lost && end_ns > r->quiet_ns)
		r->quiet_ns = end_ns;
	if (start_ns < r->model->window_start_ns)
		start_ns = r->model->window_start_ns;
	if (set == &r->paused && vpa_resolver_let_grow(r))
		return VPT_ENOMEM;
	return vpa_intervals_add(set, start_ns, end_ns);
}

static int add_losses(struct vpa_resolver *r, const struct vpt_section *s)
{
	uint32_t row;

	for (row = 0; row < s->row_count; row++) {
		uint64_t start = s->col[VPT_LOSS_START][row];
		uint64_t end = start + s->col[VPT_LOSS_DURATION][row];
		uint64_t kind = s->col[VPT_LOSS_LOSS_KIND][row];

		if (kind == VPT_LOSSKIND_CAP)
			r->names_lost += s->col[VPT_LOSS_COUNT][row];
		else if (add_lost(r, kind == VPT_LOSSKIND_PAUSED ? &r->paused : &r->lost, start,
				 end))
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

int vpa_resolver_lose(struct vpa_resolver *r, uint64_t start_ns, uint64_t end_ns)
{
	return add_lost(r, &r->lost, start_ns, end_ns);
}

/* ---- ops ---- */

/* Counts ops of a chunk that should have come with an earlier one. */
VPA_RARE static void count_late(struct vpa_resolver *r, const struct vpt_section *s)
{
	const uint64_t *starts = s->col[0], *durations = s->col[1];
	uint32_t row;

	for (row = 0; row < s->row_count; row++)
		if (starts[row] < r->released_ns)
			r->late_ops += (starts[row] || r->model->zero_is_time) &&
				       starts[row] + durations[row] > starts[row];
}

/* The same for a packed section. */
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
			r->late_ops +=
				(starts[i] || r->model->zero_is_time) && starts[i] < r->released_ns;
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

static void count_others(struct vpa_resolver *r, unsigned kind, uint64_t rows)
{
	if (kind == VPT_MARK)
		r->counts.marks += rows;
	else if (kind == VPT_SYNC)
		r->counts.syncs += rows;
	else if (kind == VPT_COUNTER)
		r->counts.counters += rows;
	else if (vpt_kind_desc(kind)->flags & VPT_KIND_EVENT && kind > VPT_RANGE &&
		 kind != VPT_SAMPLE)
		r->counts.other += rows;
}

void vpa_resolver_leave(struct vpa_resolver *r, const uint64_t *values)
{
	const uint64_t *rows = values + VPT_CONTENTS_ROWS;
	unsigned kind;

	for (kind = 0; kind < VPT_KIND_LIMIT; kind++)
		if (rows[kind])
			count_others(r, kind, rows[kind]);
	r->first_left_id = vpa_earlier(r->first_left_id, values[VPT_CONTENTS_CALLS_FROM]);
	if (rows[VPT_CALL])
		r->first_call_ns = vpa_earlier(r->first_call_ns, values[VPT_CONTENTS_FIRST]);
}

static int add_marks(struct vpa_resolver *r, const struct vpt_batch *b, const struct vpt_section *s)
{
	uint32_t thread, row;
	int rc = vpa_maps_thread(r, s->lane, &thread);

	for (row = 0; !rc && row < s->row_count; row++) {
		struct vpa_mark mark = {.time_ns = s->col[VPT_MARK_TIME][row], .thread = thread};

		if (!vpa_in_window(r->model, mark.time_ns))
			continue;
		rc = vpa_maps_name(r, b, s->col[VPT_MARK_DOMAIN][row], &mark.domain);
		if (!rc && s->col[VPT_MARK_PAYLOAD][row] == VPT_PAYLOAD_JSON)
			rc = vpa_resolver_annotation(r, b, mark.domain, VPT_PAYLOAD_JSON,
				s->col[VPT_MARK_VALUE][row], &mark.payload);
		if (!rc)
			rc = vpa_maps_name(r, b, s->col[VPT_MARK_NAME][row], &mark.name);
		if (!rc)
			rc = r->sink.mark(r->sink.ctx, &mark);
	}
	return rc;
}

static int add_section(
	struct vpa_resolver *r, const struct vpt_batch *b, const struct vpt_section *s)
{
	count_others(r, s->kind, s->row_count);
	r->rows_since_trim += s->row_count;
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
	case VPT_SAMPLE:
		return vpa_resolver_add_samples(r, s);
	case VPT_OVERHEAD:
		return add_overhead(r, s);
	case VPT_LOSS:
		return add_losses(r, s);
	default:
		return VPT_OK;
	}
}

static int settle(struct vpa_resolver *r)
{
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < r->threads.count; i++) {
		struct vpa_thread_past *past = &r->pasts[r->threads.items[i]];

		rc |= vpa_captures_settle(&past->captures);
		rc |= vpa_waits_settle(&past->waits, NULL, NULL);
		past->is_unsettled = 0;
	}
	r->threads.count = 0;
	rc |= settle_waits(r);
	return rc ? VPT_ENOMEM : VPT_OK;
}

int vpa_resolver_add(struct vpa_resolver *r, const struct vpt_batch *b)
{
	size_t i;
	int rc = vpa_maps_begin_chunk(r, b);

	r->chunks++;
	/* Ranges first: calls look up theirs. */
	if (!rc)
		rc = vpa_resolver_add_ranges(r, b);
	if (!rc)
		rc = vpa_resolver_add_stacks(r, b);
	for (i = 0; !rc && i < b->section_count; i++)
		rc = add_section(r, b, &b->sections[i]);
	for (i = 0; !rc && i < b->section_count; i++)
		if (b->sections[i].kind == VPT_COPY)
			vpa_resolver_note_copies(r, &b->sections[i]);
	if (!rc)
		rc = settle(r);
	return rc ? rc : r->failed;
}

static void close_open(struct vpa_timeline *t, uint64_t end_ns)
{
	size_t i;

	for (i = 0; i < t->open.count; i++) {
		struct vpa_range *range = t->open_of[i];

		if (!range)
			continue;
		range->end_ns = end_ns > range->start_ns ? end_ns : range->start_ns;
		range->unmatched = 1;
	}
}

int vpa_resolver_end(struct vpa_resolver *r, uint64_t end_ns)
{
	uint32_t i;

	for (i = 0; i < r->model->thread_count; i++) {
		struct vpa_thread_past *past = &r->pasts[i];

		vpa_resolver_count_lost(r, i, past->calls.end);
		vpa_calls_drop(&past->calls, past->calls.end);
		close_open(&past->ranges, end_ns);
		vpa_timeline_end(&past->ranges, &r->pool);
	}
	for (i = 0; i < r->process_count; i++) {
		close_open(&r->processes[i].ranges, end_ns);
		vpa_timeline_end(&r->processes[i].ranges, &r->pool);
		vpa_launches_end(&r->processes[i].launches);
	}
	return r->failed;
}

uint64_t vpa_resolver_last_wait(
	const struct vpa_resolver *r, uint32_t stream, uint32_t thread, uint64_t before_ns)
{
	const struct vpa_waits *w =
		r->waits_name_streams ? &r->waits[stream] : &r->pasts[thread].waits;
	const struct vpa_calls *calls = &r->pasts[thread].calls;
	size_t i = vpa_waits_before(w, before_ns);

	/* Of a thread's own waits, only those of outermost calls count. */
	while (!r->waits_name_streams && i != SIZE_MAX && w->items[i].id >= calls->begin &&
		vpa_calls_at(calls, w->items[i].id)->state & VPA_CALL_NESTED)
		i = i ? i - 1 : SIZE_MAX;
	return i == SIZE_MAX ? UINT64_MAX : w->items[i].time_ns;
}

/* resolver.c - taking chunks apart and joining what belongs together. Lane and name numbering is in
 * resolver_maps.c, ops are joined in resolver_ops.c. */
#include "analysis/resolver.h"

#include "analysis/resolver_maps.h"
#include "formats/chunk.h"
#include "formats/memory.h"
#include "formats/vectorise.h"

#include <string.h>

enum {
	/* A thread's calls are kept for the gaps that may still ask; more than this only when a device is left
	 * idle for long, and then the oldest go. */
	CALLS_KEPT_MAX = 1 << 20
};

#define LAUNCH_WAIT_NS (VPA_LAUNCH_WAIT_S * (uint64_t)1000000000)

static void range_finished(void *ctx, struct vpa_range *range)
{
	struct vpa_resolver *r = ctx;
	const struct vpa_model *m = r->model;

	r->unmatched_ranges += range->unmatched;
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
	vpa_intervals_free(&r->lost);
	vpa_intervals_free(&r->profiler);
	vpa_intervals_free(&r->loading);
	vpa_intervals_free(&r->paused);
	vpa_maps_free(r->maps);
	vpa_op_queue_free(&r->queue);
	memset(r, 0, sizeof(*r));
}

/* ---- ranges ---- */

static struct vpa_timeline *timeline_of(struct vpa_resolver *r, uint32_t thread, uint64_t kind)
{
	if (kind == VPT_RANGEKIND_START_END)
		return &r->processes[r->model->threads[thread].process].ranges;
	return &r->pasts[thread].ranges;
}

/* The text of an annotation: JSON in our own domain, or in the default one where the host had no NVTX; never what others put into
 * the payloads of theirs. */
static int annotation(struct vpa_resolver *r, const struct vpt_batch *b, uint32_t domain,
	uint64_t type, uint64_t value, uint32_t *payload)
{
	*payload = 0;
	if (type != VPT_PAYLOAD_JSON || (domain && domain != r->maps->vptrace))
		return VPT_OK;
	return vpa_maps_name(r, b, value, payload);
}

/* What a row says of a range. */
struct range_row {
	uint64_t start_ns, end_ns; /* end ~0: still open */
	uint32_t name, domain, payload;
	uint8_t kind, unmatched;
};

static int add_range(struct vpa_resolver *r, struct vpa_timeline *t, uint32_t thread,
	const struct range_row *row)
{
	struct vpa_range *range = vpa_range_new(&r->pool);

	if (!range)
		return VPT_ENOMEM;
	range->start_ns = row->start_ns;
	range->end_ns = row->end_ns;
	range->name = row->name;
	range->domain = row->domain;
	range->kind = row->kind;
	range->unmatched = row->unmatched;
	range->payload = row->payload;
	range->thread = thread;
	return vpa_timeline_add(t, range);
}

static int add_open_ranges(struct vpa_resolver *r, const struct vpt_batch *b)
{
	const struct vpt_section *s = vpt_batch_find(b, VPT_OPEN);
	struct vpa_timeline *t;
	uint32_t row, thread;
	int rc = VPT_OK;

	for (row = 0; s && !rc && row < s->row_count; row++) {
		struct range_row values = {.start_ns = s->col[VPT_OPEN_START][row],
			.end_ns = UINT64_MAX,
			.kind = s->col[VPT_OPEN_RANGE_KIND][row] == VPT_RANGEKIND_START_END};

		rc = vpa_maps_thread(r, s->col[VPT_OPEN_LANE][row], &thread);
		if (!rc)
			rc = vpa_maps_name(r, b, s->col[VPT_OPEN_NAME][row], &values.name);
		if (!rc)
			rc = vpa_maps_name(r, b, s->col[VPT_OPEN_DOMAIN][row], &values.domain);
		if (!rc)
			rc = annotation(r, b, values.domain, s->col[VPT_OPEN_PAYLOAD][row],
				s->col[VPT_OPEN_VALUE][row], &values.payload);
		if (rc)
			break;
		t = timeline_of(r, thread, values.kind);
		if (!vpa_timeline_find_open(t, values.start_ns, values.name, values.domain))
			rc = add_range(r, t, thread, &values);
	}
	return rc;
}

static void count_range(struct vpa_resolver *r, const struct range_row *v)
{
	if (v->start_ns < r->model->window_start_ns || v->start_ns > r->model->window_end_ns ||
		v->unmatched)
		return;
	if (v->domain && v->domain == r->maps->cpu_op)
		r->counts.cpu_ops++;
	else
		r->counts.ranges++;
}

static int add_range_rows(
	struct vpa_resolver *r, const struct vpt_batch *b, const struct vpt_section *s)
{
	const uint64_t *const *col = (const uint64_t *const *)s->col;
	uint32_t thread, row;
	int rc = vpa_maps_thread(r, s->lane, &thread);

	for (row = 0; !rc && row < s->row_count; row++) {
		uint64_t start = col[VPT_RANGE_START][row],
			 end = start + col[VPT_RANGE_DURATION][row];
		struct range_row values = {.start_ns = start,
			.end_ns = end < start ? start : end,
			.kind = col[VPT_RANGE_RANGE_KIND][row] == VPT_RANGEKIND_START_END,
			.unmatched = col[VPT_RANGE_UNMATCHED][row] != 0};
		struct vpa_timeline *t = timeline_of(r, thread, values.kind);
		struct vpa_range *open;

		rc = vpa_maps_name(r, b, col[VPT_RANGE_NAME][row], &values.name);
		if (!rc)
			rc = vpa_maps_name(r, b, col[VPT_RANGE_DOMAIN][row], &values.domain);
		if (!rc)
			rc = annotation(r, b, values.domain, col[VPT_RANGE_PAYLOAD][row],
				col[VPT_RANGE_VALUE][row], &values.payload);
		if (rc)
			break;
		count_range(r, &values);
		open = vpa_timeline_find_open(t, start, values.name, values.domain);
		if (open) {
			open->end_ns = values.end_ns;
			open->unmatched = values.unmatched;
		} else {
			rc = add_range(r, t, thread, &values);
		}
	}
	return rc;
}

static int settle_ranges(struct vpa_resolver *r)
{
	size_t i;
	int rc = VPT_OK;

	for (i = 0; !rc && i < r->model->thread_count; i++)
		rc = vpa_timeline_settle(&r->pasts[i].ranges, &r->pool);
	for (i = 0; !rc && i < r->process_count; i++)
		rc = vpa_timeline_settle(&r->processes[i].ranges, &r->pool);
	return rc;
}

/* ---- calls ---- */

/* Calls that lie inside this one are nested: at any moment the outermost is "the call the thread was in". */
VPA_RARE static void mark_nested(
	const struct vpa_calls *calls, struct vpa_call *call, uint64_t own_position)
{
	uint64_t position = own_position, inside;

	while (position > calls->begin) {
		struct vpa_call *before = vpa_calls_at(calls, position - 1);
		uint32_t *encloses = vpa_call_encloses(before);

		if (vpa_call_start(before) < vpa_call_start(call) ||
			vpa_call_end(before) > vpa_call_end(call))
			break;
		inside = *encloses + (uint64_t)1;
		before->state |= VPA_CALL_NESTED;
		*encloses = (uint32_t)(own_position + 1 - position);
		position -= inside < position - calls->begin ? inside : position - calls->begin;
	}
	*vpa_call_encloses(call) = (uint32_t)(own_position - position);
}

/* Calls of one thread on their way in. */
struct adding {
	struct vpa_resolver *r;
	const struct vpt_batch *batch;
	struct vpa_calls *calls;
	struct vpa_launches *launches;
	uint32_t thread;
	struct vpt_rows rows;
};

_Static_assert((int)VPA_CALL_BLOCK <= (int)VPT_ROWS_AT_ONCE, "a block's calls are read at once");

/* Adds a call of any kind, at any time, whose times and id stand in its block; `i` among the rows at hand. `previous_ns`
 * is the start of the one before it on the thread. */
VPA_RARE static int add_any_call(
	struct adding *a, uint32_t i, struct vpa_call *call, uint64_t previous_ns)
{
	struct vpa_resolver *r = a->r;
	struct vpa_call_block *block = a->calls->blocks[a->calls->block_count - 1];
	uint16_t slot = (uint16_t)(call - block->calls);
	uint64_t start = block->starts_ns[slot];
	int inside = vpa_in_window(r->model, start), rc;
	struct vpa_call_kind kind;

	rc = vpa_maps_call_kind(
		r, a->batch, a->rows.col[VPT_CALL_ID][i], a->rows.col[VPT_CALL_NAME][i], &kind);
	if (rc)
		return rc;
	*call = kind.call;
	call->slot = slot;
	if (block->ends_ns[slot] < start)
		block->ends_ns[slot] = start;
	if (kind.unknown && block->correlations[slot] && !kind.launches) {
		kind.launches = 1;
		call->state |= VPA_CALL_WAITS;
	}
	if (!inside)
		call->state &= (uint8_t)~VPA_CALL_MISSED;
	block->waiting += kind.launches;
	block->start_ns = start < block->start_ns ? start : block->start_ns;
	r->counts.calls += (uint64_t)inside;
	r->launches_without_op += (call->state & VPA_CALL_MISSED) != 0;
	if (previous_ns >= start)
		mark_nested(a->calls, call, a->calls->end - a->calls->end % VPA_CALL_BLOCK + slot);
	return kind.blocks && inside ? vpa_hand_out_call(r, call) : VPT_OK;
}

/* Sets odd[i] to 0 for each call that begins after the one before it, `previous_ns` for the first, and inside the
 * window, whose number is small and which has no name, and says when each ends. A sum of signs: where a number's top
 * bit is set the row counts as odd too. */
VPT_VECTORISE
static void find_odd(const struct vpt_rows *rows, const uint64_t *restrict starts, uint32_t count,
	const struct vpa_model *m, uint64_t previous_ns, uint64_t *restrict ends,
	uint8_t *restrict odd)
{
	const uint64_t *durations = rows->col[VPT_CALL_DURATION];
	const uint64_t *ids = rows->col[VPT_CALL_ID], *names = rows->col[VPT_CALL_NAME];
	uint64_t from = m->window_start_ns;
	uint64_t to = m->window_end_ns > INT64_MAX ? INT64_MAX : m->window_end_ns;
	uint32_t i;

	for (i = 0; i < count; i++) {
		uint64_t start = starts[i], end = start + durations[i];
		uint64_t bad = start | durations[i] | end | (start - from) | (to - start);

		bad |= ids[i] | (255 - ids[i]);
		ends[i] = end;
		odd[i] = (uint8_t)(bad >> 63);
	}
	odd[0] |= starts[0] <= previous_ns;
	for (i = 1; i < count; i++)
		odd[i] |= (uint8_t)((starts[i] - starts[i - 1] - 1) >> 63);
	for (i = 0; i < count; i++)
		odd[i] |= names[i] != 0;
}

/* Adds all rows as if they were ordinary; those that are not become odd. Returns how many of them all launch
 * something. */
static uint32_t add_ordinary(const struct vpa_call_kind *kinds, const uint64_t *ids, uint32_t count,
	uint32_t slot, struct vpa_call *calls, uint8_t *odd)
{
	uint32_t launches = 0, i;

	for (i = 0; i < count; i++) {
		const struct vpa_call_kind *kind = &kinds[ids[i] & 255];

		calls[i] = kind->call;
		calls[i].slot = (uint16_t)(slot + i);
		odd[i] |= kind->usual ^ 1;
		launches += kind->launches;
	}
	return launches;
}

/* The first odd row from `i` on; `count` if there is none. */
static uint32_t next_odd(const uint8_t *odd, uint32_t i, uint32_t count)
{
	const uint8_t *next = i < count ? memchr(odd + i, 1, count - i) : NULL;

	return next ? (uint32_t)(next - odd) : count;
}

/* Adds the next `count` rows, all of which stand in the thread's last block. This is as hot as any: what is not quite
 * ordinary goes elsewhere. */
VPA_RARE static int add_call_rows(struct adding *a, uint32_t count)
{
	struct vpa_resolver *r = a->r;
	struct vpa_calls *calls = a->calls;
	struct vpa_call_block *block = calls->blocks[calls->block_count - 1];
	uint64_t position = calls->end, previous = 0;
	uint32_t slot = (uint32_t)(position % VPA_CALL_BLOCK), others = 0, launches, i;
	uint64_t *starts = block->starts_ns + slot;
	uint8_t odd[VPA_CALL_BLOCK];

	if (position > calls->begin)
		previous = vpa_call_start(vpa_calls_at(calls, position - 1));
	vpt_rows_next(&a->rows, count, 1 << VPT_CALL_ID | 1 << VPT_CALL_NAME, starts,
		block->correlations + slot);
	if (starts[0] < block->start_ns)
		block->start_ns = starts[0];
	find_odd(&a->rows, starts, count, r->model, previous, block->ends_ns + slot, odd);
	launches = add_ordinary(r->maps->call_kinds, a->rows.col[VPT_CALL_ID], count, slot,
		block->calls + slot, odd);
	/* Each was taken for a launch if its kind is one. */
	for (i = next_odd(odd, 0, count); i < count; i = next_odd(odd, i + 1, count)) {
		launches -= (block->calls[slot + i].state & VPA_CALL_MISSED) != 0;
		if (add_any_call(a, i, &block->calls[slot + i], i ? starts[i - 1] : previous))
			return VPT_ENOMEM;
		others++;
	}
	calls->end += count;
	block->waiting += launches;
	r->launches_without_op += launches;
	r->counts.calls += count - others;
	return vpa_launches_add(
		a->launches, r->pasts, a->thread, position, block->correlations + slot, count);
}

static int add_calls(struct vpa_resolver *r, const struct vpt_batch *b, const struct vpt_section *s)
{
	struct adding a; /* most of it is room */
	uint32_t left = s->row_count, count;
	struct vpa_calls *calls;
	int rc = vpa_maps_thread(r, s->lane, &a.thread);

	if (rc)
		return rc;
	a.r = r;
	a.batch = b;
	a.launches = &r->processes[r->model->threads[a.thread].process].launches;
	a.launches->released_ns = r->released_ns;
	calls = a.calls = &r->pasts[a.thread].calls;
	vpt_rows_begin(&a.rows, s);
	for (; left && !rc; left -= count) {
		count = VPA_CALL_BLOCK - (uint32_t)(calls->end % VPA_CALL_BLOCK);
		if (count == VPA_CALL_BLOCK && vpa_calls_begin_block(calls, a.thread))
			return VPT_ENOMEM;
		count = left < count ? left : count;
		rc = add_call_rows(&a, count);
	}
	return rc;
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
			rc = annotation(r, b, domain, s->col[VPT_MARK_PAYLOAD][row],
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
		return add_calls(r, b, s);
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
		rc = add_open_ranges(r, b);
	for (i = 0; !rc && i < b->section_count; i++)
		if (b->sections[i].kind == VPT_RANGE)
			rc = add_range_rows(r, b, &b->sections[i]);
	if (!rc)
		rc = settle_ranges(r);
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
	       (r->released_ns > end_ns && r->released_ns - end_ns >= LAUNCH_WAIT_NS);
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
	earliest = vpa_calls_earliest(calls);
	vpa_timeline_trim(&past->ranges, &r->pool, earliest < frontier_ns ? earliest : frontier_ns);
	return earliest;
}

int vpa_resolver_trim(struct vpa_resolver *r, uint64_t frontier_ns)
{
	uint64_t oldest = frontier_ns;
	uint32_t i;

	for (i = 0; i < r->model->thread_count; i++) {
		uint64_t earliest = trim_thread(r, i, frontier_ns);

		oldest = earliest < oldest ? earliest : oldest;
	}
	for (i = 0; i < r->process_count; i++)
		vpa_timeline_trim(&r->processes[i].ranges, &r->pool, oldest);
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

const struct vpa_range *vpa_resolver_range_at(struct vpa_resolver *r, uint32_t thread, uint64_t t)
{
	struct vpa_range *own = vpa_steps_at(&r->pasts[thread].ranges.steps, t);
	struct vpa_range *wide =
		vpa_steps_at(&r->processes[r->model->threads[thread].process].ranges.steps, t);

	if (!own || !wide)
		return own ? own : wide;
	return wide->start_ns > own->start_ns ? wide : own;
}

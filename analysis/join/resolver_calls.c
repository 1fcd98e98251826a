/* resolver_calls.c - adds CUDA calls to the past of their thread. A hot path, like that of ops:
 * ordinary calls of a slab are handled together, column by column. */
#include "analysis/join/resolver_maps.h"
#include "analysis/join/resolver_parts.h"
#include "formats/base/vectorise.h"
#include "formats/chunk/chunk.h"

#include <string.h>

/* What `inside` does on a device, `call` does too. */
static void take_effects(struct vpa_call *call, const struct vpa_call *inside)
{
	vpa_call_take_copies(call, inside);
	call->state |= inside->state & (VPA_CALL_PAGEABLE | VPA_CALL_SUBMITS);
	if (vpt_call_launches((enum vpt_call_class)inside->klass))
		call->state |= VPA_CALL_SUBMITS;
}

/* In traces with rough times calls may overlap without nesting, or have equal times: what is inside
 * calls that overlap this one may be inside this one too. Of the calls with an effect, the one that began
 * last is inside if any is. */
static void share_nested(struct vpa_calls *calls, struct vpa_call *call)
{
	const struct vpa_call *inner;
	unsigned effect;

	vpa_calls_note_effects(calls, vpa_call_position(call));
	for (effect = 0; effect < VPA_CALL_EFFECTS; effect++) {
		inner = vpa_calls_latest(calls, (enum vpa_call_effect_bit)effect);
		if (inner && vpa_call_is_inside(inner, call))
			take_effects(call, inner);
	}
}

/* Calls inside this one are nested: the outermost call at any moment is "the call the thread was
 * in", and it also does on a device what the nested ones do. */
VPA_RARE static void mark_nested(
	struct vpa_calls *calls, struct vpa_call *call, uint64_t own_position)
{
	uint64_t position = own_position, inside;

	while (position > calls->begin) {
		struct vpa_call *before = vpa_calls_at(calls, position - 1);
		uint32_t *encloses = vpa_call_encloses(before);

		if (before->state & VPA_CALL_NONE) {
			position--;
			continue;
		}
		if (!vpa_call_is_inside(before, call)) {
			if (vpa_call_end(before) > vpa_call_start(call))
				share_nested(calls, call);
			break;
		}
		inside = *encloses + (uint64_t)1;
		take_effects(call, before);
		before->state |= VPA_CALL_NESTED;
		*encloses = (uint32_t)(own_position + 1 - position);
		position -= inside < position - calls->begin ? inside : position - calls->begin;
	}
	*vpa_call_encloses(call) = (uint32_t)(own_position - position);
}

/* Adds calls of one thread. */
struct adding {
	struct vpa_resolver *r;
	const struct vpt_batch *batch;
	struct vpa_calls *calls;
	struct vpa_process *process;
	struct vpa_launches *launches;
	uint32_t thread;
	struct vpt_rows rows;
};

_Static_assert((int)VPA_CALL_SLAB <= (int)VPT_ROWS_AT_ONCE, "a slab's calls are read at once");

static void begin_capture(
	struct adding *a, struct vpa_thread_past *past, const struct vpa_call *call)
{
	past->capture_begin = vpa_call_position(call) + 1;
	a->process->open_captures++;
	a->process->captured_from_ns =
		vpa_earlier(a->process->captured_from_ns, vpa_call_start(call));
}

/* What a thread launched since its capture began went into a graph: it has no op of its own. Of captures
 * inside captures, the first begin and the first end count. A capture that ends before the thread began
 * one was open when the recording began. */
static void end_capture(struct adding *a, struct vpa_thread_past *past, uint64_t position)
{
	uint64_t at = past->capture_begin;

	for (at = at > a->calls->begin ? at : a->calls->begin; at < position; at++) {
		struct vpa_call *call = vpa_calls_at(a->calls, at);

		if ((call->state & (VPA_CALL_MISSED | VPA_CALL_MET)) != VPA_CALL_MISSED)
			continue;
		call->state &= (uint8_t)~VPA_CALL_MISSED;
		a->r->launches_without_op--;
	}
	if (past->capture_begin)
		a->process->open_captures--;
	else
		a->process->captured_from_ns = 0;
	past->capture_begin = 0;
	a->process->captured_until_ns =
		vpa_later(a->process->captured_until_ns, vpa_calls_end_at(a->calls, position));
}

/* Notes what a thread keeps of calls besides their history. */
static int note_call(struct adding *a, const struct vpa_call *call)
{
	struct vpa_thread_past *past = &a->r->pasts[a->thread];
	uint64_t start = vpa_call_start(call);

	switch (call->klass) {
	case VPT_CALL_STREAM_WAIT:
		if (start > a->r->newest_wait_ns)
			a->r->newest_wait_ns = start;
		return vpa_waits_add(&past->waits, start, vpa_call_position(call), 0);
	case VPT_CALL_BEGIN_CAPTURE:
	case VPT_CALL_END_CAPTURE:
		if (call->klass == VPT_CALL_BEGIN_CAPTURE && !past->capture_begin)
			begin_capture(a, past, call);
		else if (call->klass == VPT_CALL_END_CAPTURE &&
			 (past->capture_begin || !past->captures.count))
			end_capture(a, past, vpa_call_position(call));
		return vpa_captures_add(&past->captures, start, vpa_call_end(call),
			call->klass == VPT_CALL_BEGIN_CAPTURE);
	default:
		return VPT_OK;
	}
}

/* Adds a call of any kind, at any time; its times and id are already in its slab. `i`: its index
 * among the current rows. `previous_ns`: the end of the previous call on the thread, or ~0. */
VPA_RARE static int add_any_call(
	struct adding *a, uint32_t i, struct vpa_call *call, uint64_t previous_ns)
{
	struct vpa_resolver *r = a->r;
	struct vpa_call_slab *slab = a->calls->slabs[a->calls->slab_count - 1];
	uint16_t slot = (uint16_t)(call - slab->calls);
	uint64_t start = slab->starts_ns[slot];
	int inside = vpa_in_window(r->model, start), failed, rc;
	struct vpa_call_kind kind;

	rc = vpa_maps_call_kind(
		r, a->batch, a->rows.col[VPT_CALL_ID][i], a->rows.col[VPT_CALL_NAME][i], &kind);
	if (rc)
		return rc;
	*call = kind.call;
	call->slot = slot;
	/* The row gives only its start. */
	if (slab->ends_ns[slot] < start) {
		slab->ends_ns[slot] = start;
		call->state = VPA_CALL_NONE;
		kind.launches = kind.unknown = kind.blocks = 0;
	}
	if (kind.unknown && slab->correlations[slot] && !kind.launches) {
		kind.launches = 1;
		call->state |= VPA_CALL_WAITS;
	}
	if (!inside)
		call->state &= (uint8_t)~VPA_CALL_MISSED;
	failed = vpt_section_has(a->rows.section, VPT_CALL_RESULT) &&
		 a->rows.col[VPT_CALL_RESULT][i] != 0;
	if (failed && kind.launches) {
		kind.launches = 0;
		call->state &= (uint8_t) ~(VPA_CALL_MISSED | VPA_CALL_WAITS);
	}
	slab->waiting += kind.launches;
	slab->launches += kind.launches;
	slab->start_ns = start < slab->start_ns ? start : slab->start_ns;
	r->counts.calls += (uint64_t)inside;
	r->launches_without_op += (call->state & VPA_CALL_MISSED) != 0;
	if (call->state & VPA_CALL_NONE) {
		slab->correlations[slot] = 0; /* a query launches no op */
		return VPT_OK;
	}
	if (previous_ns > start)
		mark_nested(a->calls, call, slab->first + slot);
	slab->submits |= (uint32_t)vpa_call_submits(call);
	rc = note_call(a, call);
	if (kind.blocks && !failed)
		vpa_resolver_note_wait(r, a->thread, call, &kind);
	if (!rc && call->klass == VPT_CALL_COPY && call->state & VPA_CALL_SUBMITS)
		rc = vpa_copy_holds_add(&r->holds, start, slab->ends_ns[slot]);
	if (!rc && kind.sets_up && inside && r->sink.setup)
		rc = r->sink.setup(r->sink.ctx, call);
	return !rc && kind.blocks && inside ? vpa_hand_out_call(r, call) : rc;
}

/* Times that calls may begin in without being odd. */
struct call_times {
	uint64_t from_ns, to_ns; /* both included, at most INT64_MAX */
	int are_outside;         /* of the window */
};

/* The window; or, if none of the calls begins in it, all of time. */
VPT_VECTORISE
static struct call_times times_of(const struct vpa_model *m, const uint64_t *starts, uint32_t count)
{
	uint64_t from = m->window_start_ns;
	uint64_t to = m->window_end_ns > INT64_MAX ? INT64_MAX : m->window_end_ns, outside = ~0ULL;
	uint32_t i;

	for (i = 0; i < count; i++)
		outside &= (starts[i] - from) | (to - starts[i]);
	return outside >> 63 ? (struct call_times){0, INT64_MAX, 1}
			     : (struct call_times){from, to, 0};
}

/* Sets odd[i] to 0 for each call that begins after the previous one ended (`previous_ns` for the
 * first), is inside the times, and has a small number and no name; writes when each ends. Uses a
 * sum of signs: a row with a number whose top bit is set is odd too. */
VPT_VECTORISE
static void find_odd(const struct vpt_rows *rows, const uint64_t *restrict starts, uint32_t count,
	const struct call_times *times, uint64_t previous_ns, uint64_t *restrict ends,
	uint8_t *restrict odd)
{
	const uint64_t *durations = rows->col[VPT_CALL_DURATION];
	const uint64_t *ids = rows->col[VPT_CALL_ID], *names = rows->col[VPT_CALL_NAME];
	const uint64_t *results = rows->col[VPT_CALL_RESULT];
	uint64_t from = times->from_ns, to = times->to_ns;
	uint32_t i;

	for (i = 0; i < count; i++) {
		uint64_t start = starts[i], end = start + durations[i];
		uint64_t bad = start | durations[i] | end | (start - from) | (to - start);

		bad |= ids[i] | (255 - ids[i]);
		ends[i] = end;
		odd[i] = (uint8_t)(bad >> 63);
	}
	odd[0] |= starts[0] < previous_ns;
	for (i = 1; i < count; i++)
		odd[i] |= (uint8_t)((starts[i] - ends[i - 1]) >> 63);
	if (vpt_section_has(rows->section, VPT_CALL_NAME))
		for (i = 0; i < count; i++)
			odd[i] |= names[i] != 0;
	if (vpt_section_has(rows->section, VPT_CALL_RESULT))
		for (i = 0; i < count; i++)
			odd[i] |= results[i] != 0;
}

/* Adds all rows to a slab as if they were ordinary, and marks those that are not as odd. Returns how
 * many of all rows launch something. */
static uint32_t add_ordinary(const struct vpa_call_kind *kinds, const uint64_t *ids, uint32_t count,
	uint32_t slot, struct vpa_call_slab *slab, uint8_t *odd)
{
	struct vpa_call *calls = slab->calls + slot;
	uint64_t *correlations = slab->correlations + slot;
	uint32_t launches = 0, i;

	for (i = 0; i < count; i++) {
		const struct vpa_call_kind *kind = &kinds[ids[i] & 255];

		calls[i] = kind->call;
		calls[i].slot = (uint16_t)(slot + i);
		odd[i] |= kind->usual ^ 1;
		launches += kind->launches;
		/* A query launches no op. */
		correlations[i] &= (uint64_t)(kind->queries & ~odd[i]) - 1;
	}
	return launches;
}

/* None of these calls, which are outside the window, misses its op. */
static void miss_nothing(struct vpa_call *calls, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		calls[i].state &= (uint8_t)~VPA_CALL_MISSED;
}

/* The first odd row from `i` on; `count` if there is none. */
static uint32_t next_odd(const uint8_t *odd, uint32_t i, uint32_t count)
{
	const uint8_t *next = i < count ? memchr(odd + i, 1, count - i) : NULL;

	return next ? (uint32_t)(next - odd) : count;
}

/* When the previous call ended; ~0 for a query, which hides that. */
static uint64_t previous_end(const struct vpa_call *before)
{
	return before->state & VPA_CALL_NONE ? UINT64_MAX : vpa_call_end(before);
}

/* Ids are given out in order: the smallest of a thread is among its first calls. */
static void note_first_id(struct vpa_process *p, const uint64_t *ids, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (ids[i])
			p->first_id = vpa_earlier(p->first_id, ids[i]);
}

/* Adds the next `count` rows, all of which go into the thread's last slab. A hot path: rows that
 * are not quite ordinary are handled elsewhere. */
VPA_RARE static int add_call_rows(struct adding *a, uint32_t count)
{
	struct vpa_resolver *r = a->r;
	struct vpa_calls *calls = a->calls;
	struct vpa_call_slab *slab = calls->slabs[calls->slab_count - 1];
	uint64_t position = calls->end, previous = 0;
	uint32_t slot = (uint32_t)(position % VPA_CALL_SLAB), others = 0, done = 0, launches, i;
	uint64_t *starts = slab->starts_ns + slot;
	uint8_t odd[VPA_CALL_SLAB];
	struct call_times times;

	if (position > calls->begin)
		previous = previous_end(vpa_calls_at(calls, position - 1));
	vpt_rows_next(&a->rows, count, 1 << VPT_CALL_ID | 1 << VPT_CALL_NAME | 1 << VPT_CALL_RESULT,
		starts, slab->correlations + slot);
	if (starts[0] < slab->start_ns)
		slab->start_ns = starts[0];
	times = times_of(r->model, starts, count);
	find_odd(&a->rows, starts, count, &times, previous, slab->ends_ns + slot, odd);
	launches =
		add_ordinary(r->maps->call_kinds, a->rows.col[VPT_CALL_ID], count, slot, slab, odd);
	/* Each was counted as a launch if its kind is one. */
	for (i = next_odd(odd, 0, count); i < count; i = next_odd(odd, i + 1, count)) {
		if (times.are_outside)
			miss_nothing(slab->calls + slot + done, i - done);
		done = i;
		launches -= (slab->calls[slot + i].state & VPA_CALL_MISSED) != 0;
		if (i)
			previous = previous_end(&slab->calls[slot + i - 1]);
		if (add_any_call(a, i, &slab->calls[slot + i], previous))
			return VPT_ENOMEM;
		if (slab->calls[slot + i].state & VPA_CALL_NONE && i + 1 < count)
			odd[i + 1] = 1;
		others++;
	}
	if (times.are_outside)
		miss_nothing(slab->calls + slot + done, count - done);
	if (!slab->first)
		note_first_id(a->process, slab->correlations + slot, count);
	calls->end += count;
	if (slab->start_ns < r->first_call_ns)
		r->first_call_ns = slab->start_ns;
	slab->waiting += launches;
	slab->launches += launches;
	slab->submits |= launches;
	r->launches_without_op += times.are_outside ? 0 : launches;
	r->counts.calls += times.are_outside ? 0 : count - others;
	return vpa_launches_add(
		a->launches, r->pasts, a->thread, position, slab->correlations + slot, count);
}

int vpa_resolver_add_calls(
	struct vpa_resolver *r, const struct vpt_batch *b, const struct vpt_section *s)
{
	struct adding a; /* large: mostly buffers */
	uint32_t left = s->row_count, count;
	struct vpa_calls *calls;
	int rc = vpa_maps_thread(r, s->lane, &a.thread);

	if (rc)
		return rc;
	a.r = r;
	a.batch = b;
	a.process = &r->processes[r->model->threads[a.thread].process];
	a.launches = &a.process->launches;
	a.launches->released_ns = r->released_ns;
	calls = a.calls = &r->pasts[a.thread].calls;
	vpt_rows_begin(&a.rows, s);
	for (; left && !rc; left -= count) {
		count = VPA_CALL_SLAB - (uint32_t)(calls->end % VPA_CALL_SLAB);
		if (count == VPA_CALL_SLAB && vpa_calls_begin_slab(calls, a.thread))
			return VPT_ENOMEM;
		count = left < count ? left : count;
		rc = add_call_rows(&a, count);
	}
	return rc;
}

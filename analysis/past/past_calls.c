/* past_calls.c - calls in slabs, ranges by their changes. Searches start where the last one ended, since
 * nearly all queries come in order of time. */
#include "analysis/past/past_calls.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "formats/base/search.h"

#include <string.h>

enum {
	AHEAD = 3,
	TRIES = 8, /* steps forward before a search */
	STEPS_FEW = 4,
	CAPTURES_MAX = 4096
};

int vpa_calls_begin_slab(struct vpa_calls *c, uint32_t thread)
{
	struct vpa_call_slab *slab;

	if (vpt_grow(&c->slabs, &c->slab_cap, c->slab_count + 1, sizeof(*c->slabs)))
		return VPT_ENOMEM;
	slab = vpt_alloc(1, sizeof(*slab));
	if (!slab)
		return VPT_ENOMEM;
	slab->first = (c->first_slab + c->slab_count) * VPA_CALL_SLAB;
	slab->counted = NULL;
	slab->thread = thread;
	slab->waiting = 0;
	slab->launches = 0;
	slab->submits = 0;
	slab->start_ns = UINT64_MAX;
	memset(slab->small_reads, 0, sizeof(slab->small_reads));
	memset(slab->large_copies, 0, sizeof(slab->large_copies));
	memset(slab->correlations, 0, sizeof(slab->correlations));
	memset(slab->encloses, 0, sizeof(slab->encloses));
	slab->outer = NULL;
	c->slabs[c->slab_count++] = slab;
	return VPT_OK;
}

uint64_t vpa_calls_search(const struct vpa_calls *c, uint64_t t, uint64_t near)
{
	uint64_t low = c->begin, high = c->end, step = 1;

	near = near < low ? low : near > high ? high : near;
	/* Gallop from there, then bisect. */
	if (near > low && vpa_calls_end_at(c, near - 1) > t) {
		high = near - 1;
		while (high - low > step && vpa_calls_end_at(c, high - step) > t) {
			high -= step;
			step *= 2;
		}
		low = high - low > step ? high - step : low;
	} else {
		low = near;
		while (high - low > step && vpa_calls_end_at(c, low + step - 1) <= t) {
			low += step;
			step *= 2;
		}
		high = high - low > step ? low + step - 1 : high;
	}
	VPT_SEARCH(low, high, middle, vpa_calls_end_at(c, middle) <= t);
	return low;
}

uint64_t vpa_calls_earliest(const struct vpa_calls *c, uint64_t position)
{
	uint64_t earliest = UINT64_MAX;
	size_t i;

	for (; position % VPA_CALL_SLAB && position < c->end; position++)
		if (vpa_call_start(vpa_calls_at(c, position)) < earliest)
			earliest = vpa_call_start(vpa_calls_at(c, position));
	if (position >= c->end)
		return earliest;
	for (i = (size_t)(position / VPA_CALL_SLAB - c->first_slab); i < c->slab_count; i++)
		if (c->slabs[i]->start_ns < earliest)
			earliest = c->slabs[i]->start_ns;
	return earliest;
}

/* How far after the nested call at `position` the next call known to enclose it is. */
static uint32_t step_out(const struct vpa_calls *c, uint64_t position)
{
	const struct vpa_call_slab *slab = vpa_calls_slab(c, position);
	size_t slot = (size_t)(position % VPA_CALL_SLAB);

	return slab->outer && slab->outer[slot] ? slab->outer[slot] : slab->encloses[slot];
}

/* The first call around a nested one that is not nested itself. If it is far up, each call on the
 * way stores its distance, so that deep nesting is climbed once; without memory it is climbed
 * again. */
static uint64_t climb(const struct vpa_calls *c, uint64_t position)
{
	uint64_t top = position, next;
	int steps = 0;

	for (; vpa_calls_at(c, top)->state & VPA_CALL_NESTED; steps++)
		top += step_out(c, top);
	for (; steps > STEPS_FEW && position < top; position = next) {
		struct vpa_call_slab *slab = vpa_calls_slab(c, position);

		next = position + step_out(c, position);
		if (!slab->outer)
			slab->outer = vpt_calloc(VPA_CALL_SLAB, sizeof(*slab->outer));
		if (slab->outer)
			slab->outer[position % VPA_CALL_SLAB] = (uint32_t)(top - position);
	}
	return top;
}

uint64_t vpa_calls_next_of_nested(const struct vpa_calls *c, uint64_t position)
{
	while (position < c->end) {
		const struct vpa_call *call = vpa_calls_at(c, position);

		if (vpa_call_is_outermost(call))
			break;
		position = call->state & VPA_CALL_NESTED ? climb(c, position) : position + 1;
	}
	return position;
}

/* Usually found at once; if many overlap without nesting: gallop, then bisect. */
uint64_t vpa_calls_begun_from(const struct vpa_calls *c, uint64_t low, uint64_t t)
{
	uint64_t high = low, step = 1;

	while (high < c->end && vpa_call_start(vpa_calls_at(c, high)) < t) {
		low = high + 1;
		high = vpa_calls_next(c, step < c->end - low ? low + step : c->end);
		step *= 2;
	}
	while (low < high) {
		uint64_t middle = low + (high - low) / 2, at = vpa_calls_next(c, middle);

		if (at < high && vpa_call_start(vpa_calls_at(c, at)) < t)
			low = at + 1;
		else
			high = middle;
	}
	return vpa_calls_next(c, low);
}

uint64_t vpa_calls_begun(const struct vpa_calls *c, uint64_t t)
{
	return vpa_calls_begun_from(c, vpa_calls_next(c, vpa_calls_after(c, t, c->end)), t);
}

int vpa_call_is_inside(const struct vpa_call *b, const struct vpa_call *a)
{
	uint64_t b_start = vpa_call_start(b), b_end = vpa_call_end(b);
	uint64_t a_start = vpa_call_start(a), a_end = vpa_call_end(a);

	if (b_start < a_start || b_start >= a_end || b_end > a_end)
		return 0;
	return b_start > a_start || (b_end < a_end && b_end > b_start);
}

static unsigned effects_of(const struct vpa_call *call)
{
	const struct vpa_call_slab *slab = vpa_call_slab_of(call);
	size_t word = call->slot / 64, bit = call->slot % 64;

	if (call->state & VPA_CALL_NONE)
		return 0;
	return (unsigned)vpa_call_submits(call) << VPA_EFFECT_SUBMITS |
	       (unsigned)!!(call->state & VPA_CALL_PAGEABLE) << VPA_EFFECT_PAGEABLE |
	       (unsigned)(slab->small_reads[word] >> bit & 1) << VPA_EFFECT_SMALL_READ |
	       (unsigned)(slab->large_copies[word] >> bit & 1) << VPA_EFFECT_LARGE_COPY;
}

const struct vpa_call *vpa_calls_latest(const struct vpa_calls *c, enum vpa_call_effect_bit effect)
{
	return c->latest[effect] > c->begin ? vpa_calls_at(c, c->latest[effect] - 1) : NULL;
}

static void note_effects_of(struct vpa_calls *c, uint64_t position)
{
	const struct vpa_call *call = vpa_calls_at(c, position), *latest;
	unsigned effects = effects_of(call), i;

	for (i = 0; i < VPA_CALL_EFFECTS; i++) {
		if (!(effects >> i & 1))
			continue;
		latest = vpa_calls_latest(c, (enum vpa_call_effect_bit)i);
		/* Of those that began at once, the first one that took time is inside most others. */
		if (!latest || vpa_call_start(latest) < vpa_call_start(call) ||
			(vpa_call_start(latest) == vpa_call_start(call) &&
				vpa_call_end(latest) == vpa_call_start(latest)))
			c->latest[i] = position + 1;
	}
}

void vpa_calls_note_effects(struct vpa_calls *c, uint64_t until)
{
	if (c->noted < c->begin)
		c->noted = c->begin;
	for (; c->noted < until; c->noted++)
		note_effects_of(c, c->noted);
}

void vpa_calls_note_again(struct vpa_calls *c, uint64_t position)
{
	if (position < c->noted)
		note_effects_of(c, position);
}

uint64_t vpa_calls_around(const struct vpa_calls *c, uint64_t position, uint64_t around)
{
	const struct vpa_call *call = vpa_calls_at(c, position);
	uint64_t p;

	if (!(call->state & VPA_CALL_NESTED))
		return VPA_NOWHERE;
	if (around == VPA_NOWHERE)
		return climb(c, position);
	/* Calls that overlap without nesting, or have equal times, may both enclose it. */
	p = vpa_calls_next(c, around + 1);
	return p < c->end && vpa_call_is_inside(call, vpa_calls_at(c, p)) ? p : VPA_NOWHERE;
}

uint64_t vpa_calls_outermost(const struct vpa_calls *c, uint64_t position)
{
	const struct vpa_call *call = vpa_calls_at(c, position);
	uint64_t first, last, start = vpa_call_start(call);

	if (!(call->state & VPA_CALL_NESTED))
		return position;
	/* Those around it are adjacent; a call without length is not inside one that begins with
	 * it. */
	first = climb(c, position);
	last = vpa_calls_previous(
		c, vpa_calls_begun_from(c, first, vpa_call_end(call) > start ? start + 1 : start));
	return last != VPA_NOWHERE && last > first &&
			       vpa_call_is_inside(call, vpa_calls_at(c, last))
		       ? last
		       : first;
}

/* The last outermost call before `position`. */
static uint64_t last_before(const struct vpa_calls *c, uint64_t position)
{
	while (position > c->begin)
		if (vpa_call_is_outermost(vpa_calls_at(c, --position)))
			return position;
	return VPA_NOWHERE;
}

uint64_t vpa_calls_previous_of_nested(const struct vpa_calls *c, uint64_t position)
{
	if (position < c->end) {
		uint32_t encloses = *vpa_call_encloses(vpa_calls_at(c, position));

		position -= encloses < position - c->begin ? encloses : position - c->begin;
	}
	return last_before(c, position);
}

uint64_t vpa_calls_last_submit(const struct vpa_calls *c, uint64_t position)
{
	uint64_t p = vpa_calls_previous(c, position);

	while (p != VPA_NOWHERE) {
		const struct vpa_call_slab *slab = vpa_calls_slab(c, p);

		if (!slab->submits)
			p = last_before(c, slab->first > c->begin ? slab->first : c->begin);
		else if (vpa_call_submits(vpa_calls_at(c, p)))
			break;
		else
			p = vpa_calls_previous(c, p);
	}
	return p;
}

static struct vpa_counted *counted_of(const struct vpa_call_slab *slab, uint32_t device)
{
	struct vpa_counted *counted = slab->counted;

	while (counted && counted->device != device)
		counted = counted->next;
	return counted;
}

uint64_t vpa_calls_skip_exhausted(const struct vpa_calls *c, uint64_t position, uint32_t device)
{
	while (position < c->end) {
		const struct vpa_call_slab *slab = vpa_calls_slab(c, position);
		const struct vpa_counted *counted = counted_of(slab, device);

		if (!counted || position - slab->first >= counted->exhausted)
			break;
		position = slab->first + counted->exhausted;
	}
	return position < c->end ? position : c->end;
}

uint64_t *vpa_call_counted(struct vpa_call *call, uint32_t device)
{
	struct vpa_call_slab *slab = vpa_call_slab_of(call);
	struct vpa_counted *counted = counted_of(slab, device);

	if (!counted) {
		counted = vpt_calloc(1, sizeof(*counted));
		if (!counted)
			return NULL;
		counted->device = device;
		counted->next = slab->counted;
		slab->counted = counted;
	}
	return &counted->ns[call->slot];
}

void vpa_call_exhaust(struct vpa_call *call, uint32_t device)
{
	struct vpa_counted *counted;

	if (!vpa_call_counted(call, device))
		return;
	counted = counted_of(vpa_call_slab_of(call), device);
	if (counted->exhausted <= call->slot)
		counted->exhausted = call->slot + (uint32_t)1;
}

static void free_slab(struct vpa_call_slab *slab)
{
	struct vpa_counted *counted = slab->counted, *next;

	for (; counted; counted = next) {
		next = counted->next;
		vpt_free(counted);
	}
	vpt_free(slab->outer);
	vpt_free(slab);
}

void vpa_calls_drop(struct vpa_calls *c, uint64_t position)
{
	size_t slabs = (size_t)(position / VPA_CALL_SLAB - c->first_slab), i;

	c->begin = position > c->begin ? position : c->begin;
	if (!slabs)
		return;
	for (i = 0; i < slabs; i++)
		free_slab(c->slabs[i]);
	memmove(c->slabs, c->slabs + slabs, (c->slab_count - slabs) * sizeof(*c->slabs));
	c->slab_count -= slabs;
	c->first_slab += slabs;
}

void vpa_calls_free(struct vpa_calls *c)
{
	size_t i;

	for (i = 0; i < c->slab_count; i++)
		free_slab(c->slabs[i]);
	vpt_free(c->slabs);
	memset(c, 0, sizeof(*c));
}

/* Order: by start, then those without length, then the longer. */
static int is_before(const struct vpa_capture_call *a, const struct vpa_capture_call *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	if ((a->end_ns == a->start_ns) != (b->end_ns == b->start_ns))
		return a->end_ns == a->start_ns;
	return a->end_ns > b->end_ns;
}

int vpa_captures_add(struct vpa_captures *c, uint64_t start_ns, uint64_t end_ns, int begins)
{
	const struct vpa_capture_call call = {start_ns, end_ns, begins};
	size_t at;

	if (c->count == CAPTURES_MAX) {
		c->count /= 2;
		memmove(c->calls, c->calls + CAPTURES_MAX / 2, c->count * sizeof(*c->calls));
	}
	if (vpt_grow(&c->calls, &c->cap, c->count + 1, sizeof(*c->calls)))
		return VPT_ENOMEM;
	for (at = c->count++; at && is_before(&call, &c->calls[at - 1]); at--)
		c->calls[at] = c->calls[at - 1];
	c->calls[at] = call;
	c->stale = 1;
	return VPT_OK;
}

int vpa_captures_settle(struct vpa_captures *c)
{
	struct vpa_capture *open = NULL;
	size_t i;

	if (!c->stale)
		return VPT_OK;
	if (vpt_grow(&c->spans, &c->span_cap, c->count, sizeof(*c->spans)))
		return VPT_ENOMEM;
	c->span_count = 0;
	for (i = 0; i < c->count; i++) {
		/* A capture inside a capture, or a second begin without an end, changes nothing. */
		if (c->calls[i].begins && !open) {
			open = &c->spans[c->span_count++];
			*open = (struct vpa_capture){c->calls[i].start_ns, UINT64_MAX};
		} else if (!c->calls[i].begins && open) {
			open->end_ns = c->calls[i].end_ns;
			open = NULL;
		}
	}
	c->stale = 0;
	return VPT_OK;
}

void vpa_capture_span_seek(struct vpa_capture_span *span, const struct vpa_captures *c, uint64_t t)
{
	size_t low = 0, high = c->span_count;

	VPT_SEARCH(low, high, middle, c->spans[middle].start_ns <= t);
	span->is_open = low && t < c->spans[low - 1].end_ns;
	span->from_ns = !low            ? 0
			: span->is_open ? c->spans[low - 1].start_ns
					: c->spans[low - 1].end_ns;
	span->until_ns = span->is_open         ? c->spans[low - 1].end_ns
			 : low < c->span_count ? c->spans[low].start_ns
					       : UINT64_MAX;
}

void vpa_captures_free(struct vpa_captures *c)
{
	vpt_free(c->calls);
	vpt_free(c->spans);
	memset(c, 0, sizeof(*c));
}

size_t vpa_range_changes_index(struct vpa_range_changes *s, uint64_t t)
{
	size_t low = s->dropped, high = s->count, at = s->cursor;

	if (at < low || at >= high)
		at = low;
	if (low == high || s->items[low].time_ns > t)
		return SIZE_MAX;
	/* A few steps forward from the last answer, else bisect. */
	if (s->items[at].time_ns <= t) {
		unsigned tries;

		for (tries = 0; tries < TRIES && at + 1 < high && s->items[at + 1].time_ns <= t;
			tries++)
			at++;
		if (at + 1 == high || s->items[at + 1].time_ns > t)
			return s->cursor = at;
		low = at;
	} else {
		high = at;
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (s->items[middle].time_ns <= t)
			low = middle;
		else
			high = middle;
	}
	return s->cursor = low;
}

void vpa_range_span_seek(struct vpa_range_span *span, struct vpa_range_changes *s, uint64_t t)
{
	size_t i = s->cursor, last = i + TRIES < s->count ? i + TRIES : s->count - 1, next;

	/* Usually it is one of those right after the last answer. */
	if (i >= s->dropped && i < s->count && s->items[i].time_ns <= t) {
		while (i < last && s->items[i + 1].time_ns <= t)
			i++;
		s->cursor = i;
		if (i == last && i + 1 < s->count)
			i = vpa_range_changes_index(s, t);
	} else {
		i = vpa_range_changes_index(s, t);
	}
	next = i == SIZE_MAX ? s->dropped : i + 1;

	/* Ranges were created long before this query. */
	if (i + AHEAD < s->count) {
		__builtin_prefetch(s->items[i + AHEAD].range, 1);
		__builtin_prefetch(
			s->items[i + AHEAD].range ? &s->items[i + AHEAD].range->gpu : NULL, 1);
	}
	span->from_ns = i == SIZE_MAX ? 0 : s->items[i].time_ns;
	span->until_ns = next < s->count ? s->items[next].time_ns : UINT64_MAX;
	span->range = i == SIZE_MAX ? NULL : s->items[i].range;
}

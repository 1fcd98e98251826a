/* sound_ops.c - calls and ops: each op has one call, which began before it, and each launch its op.
 *
 * Rows of a lane must begin and end one after the other, as FORMAT.md orders them: then none is too late, and no op lasts
 * over others of its stream. */
#include "analysis/trust/sound_parts.h"

#include "analysis/join/pending/launches.h"
#include "formats/base/vectorise.h"
#include "formats/calls.h"

#include <string.h>

enum { SLOTS_LEAST = 1 << 12, SLOTS_MAX = 1 << 20, EARLY_MAX = 4096 };

#define ID_MAX ((uint64_t)1 << 60)

/* For so long a call is known to wait for its op: VPA_LAUNCH_WAIT_NS or less, a power of two. */
#define WAIT_NS ((uint64_t)1 << 33)
_Static_assert(WAIT_NS <= VPA_LAUNCH_WAIT_NS, "the analysis waits as long");

/* ---- calls ---- */

/* The ids of calls. */
struct id_range {
	uint64_t least, most;
	int ascending; /* each is larger than the one before */
};

static void find_ends(const uint64_t *ids, uint32_t count, struct id_range *range)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		range->least = ids[i] < range->least ? ids[i] : range->least;
		range->most = ids[i] > range->most ? ids[i] : range->most;
	}
}

/* Whether calls end one after the other, and have numbers, and times of which no sum overflows. */
VPT_VECTORISE
static int are_calls_usual(const struct vpt_section *s, uint64_t end_ns, struct id_range *range)
{
	const uint64_t *starts = s->col[VPT_CALL_START], *durations = s->col[VPT_CALL_DURATION];
	const uint64_t *ids = s->col[VPT_CALL_CORRELATION], *kinds = s->col[VPT_CALL_ID];
	uint64_t end = starts[0] + durations[0];
	uint64_t bad =
		(end - end_ns) | durations[0] | end | (VPA_SOUND_KINDS - 1 - kinds[0]) | kinds[0];
	uint64_t back = ids[0];
	uint32_t count = s->row_count, i;

	/* A start beyond 2^63 is in its end, or the duration is too. */
	for (i = 1; i < count; i++) {
		end = starts[i] + durations[i];
		bad |= durations[i] | end | (VPA_SOUND_KINDS - 1 - kinds[i]) | kinds[i] |
		       (end - (starts[i - 1] + durations[i - 1]));
		back |= ids[i] | (ids[i] - ids[i - 1] - 1);
	}
	*range = (struct id_range){ids[0], ids[count - 1], !(back >> 63)};
	if (!range->ascending)
		find_ends(ids, count, range);
	return !(bad >> 63);
}

/* The slot of an id. */
static inline size_t slot_of(const struct vpa_sound_calls *c, uint64_t id)
{
	return (size_t)(id & (c->slot_count - 1));
}

static int set_slots(struct vpa_sound_calls *c, size_t count)
{
	uint64_t *words = vpt_calloc(count, sizeof(*words));
	uint64_t *starts_ns = vpt_alloc(count, sizeof(*starts_ns));
	size_t i;

	if (!words || !starts_ns) {
		vpt_free(words);
		vpt_free(starts_ns);
		return VPT_ENOMEM;
	}
	for (i = 0; i < c->slot_count; i++) {
		size_t slot = (size_t)(c->words[i] / 8 & (count - 1));

		if (!c->words[i])
			continue;
		words[slot] = c->words[i];
		starts_ns[slot] = c->starts_ns[i];
	}
	vpt_free(c->words);
	vpt_free(c->starts_ns);
	c->words = words;
	c->starts_ns = starts_ns;
	c->slot_count = count;
	return VPT_OK;
}

/* Makes room for the ids of a chunk. All are less than half the slots away from the newest before: then no two of them
 * share a slot, and none that a slot has lost comes again. */
static int make_room(struct vpa_sound_calls *c, const struct id_range *ids)
{
	uint64_t behind = c->newest_id > ids->least ? c->newest_id - ids->least : 0;
	uint64_t ahead = ids->most > c->newest_id ? ids->most - c->newest_id : 0;
	uint64_t around = behind > ahead ? behind : ahead;
	size_t count = c->slot_count ? c->slot_count : SLOTS_LEAST;

	if (!ids->least || ids->most >= ID_MAX)
		return VPT_END;
	while (around >= count / 2 && count <= SLOTS_MAX)
		count *= 2;
	if (count > SLOTS_MAX)
		return VPT_END;
	return count > c->slot_count ? set_slots(c, count) : VPT_OK;
}

/* Whether calls of this name launch nothing. */
static int is_silent(struct vpa_sound *s, const struct vpt_batch *b, uint64_t name)
{
	struct vpt_text text = vpt_batch_text(b, name);
	enum vpt_call_class class;

	if (name >= b->strings.count)
		return 0;
	if (s->name_facts[name] & VPA_SOUND_SILENT)
		return 1;
	class = vpt_call_class_of(text.text, text.len);
	if (class == VPT_CALL_LAUNCH || class == VPT_CALL_GRAPH_LAUNCH)
		return 0;
	s->name_facts[name] |= VPA_SOUND_SILENT;
	return 1;
}

VPT_VECTORISE
static void find_named(const uint64_t *restrict names, size_t count, uint8_t *restrict named)
{
	size_t i;

	for (i = 0; i < count; i++)
		named[i] = names[i] != 0;
}

/* Whether all calls that have a name instead of a number launch nothing. Few have one. */
static int are_silent(
	struct vpa_sound *s, const struct vpt_batch *b, const struct vpt_section *calls)
{
	enum { STRETCH = 512 };
	uint8_t named[STRETCH];
	const uint8_t *next;
	size_t at, rows;

	if (!vpt_section_has(calls, VPT_CALL_NAME))
		return 1;
	for (at = 0; at < calls->row_count; at += rows) {
		const uint64_t *names = calls->col[VPT_CALL_NAME] + at;

		rows = calls->row_count - at < STRETCH ? calls->row_count - at : STRETCH;
		find_named(names, rows, named);
		for (next = named; (next = memchr(next, 1, rows - (size_t)(next - named))); next++)
			if (!is_silent(s, b, names[next - named]))
				return 0;
	}
	return 1;
}

/* Puts calls into their slots, where their ids may be already: that is in doubt. */
static int put_any_calls(struct vpa_sound_calls *c, const struct vpt_section *section)
{
	const uint64_t *starts = section->col[VPT_CALL_START], *kinds = section->col[VPT_CALL_ID];
	const uint64_t *ids = section->col[VPT_CALL_CORRELATION];
	size_t i, count = section->row_count;

	for (i = 0; i < count; i++) {
		size_t slot = slot_of(c, ids[i]);
		uint64_t state = c->states_of[kinds[i]];

		if (c->words[slot] / 8 == ids[i])
			return VPT_END;
		c->words[slot] = 8 * ids[i] + state;
		c->starts_ns[slot] = starts[i];
		c->launches += state & 1u;
	}
	return VPT_OK;
}

/* The same for calls whose ids go up, and are new: most ids are in a row, and so are their slots. */
static void put_new_calls(struct vpa_sound_calls *c, const struct vpt_section *section)
{
	enum { ROW = 8 };
	const uint64_t *starts = section->col[VPT_CALL_START], *kinds = section->col[VPT_CALL_ID];
	const uint64_t *ids = section->col[VPT_CALL_CORRELATION];
	const uint8_t *states_of = c->states_of;
	size_t i, k, few, count = section->row_count;
	uint64_t launches = 0;

	for (i = 0; i < count; i += few) {
		size_t slot = slot_of(c, ids[i]);
		uint64_t *words = c->words + slot, word = 8 * ids[i];

		few = 1;
		if (count - i >= ROW && ids[i + ROW - 1] - ids[i] == ROW - 1 &&
			slot + ROW <= c->slot_count) {
			few = ROW;
#pragma GCC unroll 8
			for (k = 0; k < ROW; k++) {
				uint64_t state = states_of[kinds[i + k]];

				words[k] = word + 8 * k + state;
				launches += state & 1u;
			}
			memcpy(c->starts_ns + slot, starts + i, ROW * sizeof(*starts));
			continue;
		}
		words[0] = word + states_of[kinds[i]];
		c->starts_ns[slot] = starts[i];
		launches += words[0] & 1u;
	}
	c->launches += launches;
}

/* Calls of a thread. */
static int take_calls(struct vpa_sound *s, const struct vpt_batch *b,
	const struct vpt_section *calls, uint64_t *newest_id)
{
	struct id_range ids;
	uint64_t *end_ns;
	uint32_t lane, last = calls->row_count - 1;
	int rc = vpa_sound_lane(s, calls->lane, VPT_LANETYPE_THREAD, &lane);

	if (rc)
		return rc;
	end_ns = &s->lane_of[lane].end_ns;
	if (!are_calls_usual(calls, *end_ns, &ids) || !are_silent(s, b, calls))
		return VPT_END;
	if (!s->calls.newest_id)
		s->calls.newest_id = ids.most;
	rc = make_room(&s->calls, &ids);
	if (rc)
		return rc;
	if (ids.ascending && ids.least > *newest_id)
		put_new_calls(&s->calls, calls);
	else
		rc = put_any_calls(&s->calls, calls);
	*end_ns = calls->col[VPT_CALL_START][last] + calls->col[VPT_CALL_DURATION][last];
	*newest_id = ids.most > *newest_id ? ids.most : *newest_id;
	return rc;
}

int vpa_sound_take_calls(struct vpa_sound *s, const struct vpt_batch *b)
{
	uint64_t newest_id = s->calls.newest_id;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < b->section_count && !rc; i++)
		if (b->sections[i].kind == VPT_CALL)
			rc = take_calls(s, b, &b->sections[i], &newest_id);
	s->calls.newest_id = newest_id;
	return rc;
}

/* ---- ops and their calls ---- */

static int keep_early(struct vpa_sound *s, uint64_t id, uint64_t start_ns)
{
	struct vpa_sound_ops *e = &s->early;

	if (e->count == EARLY_MAX || !id)
		return VPT_END;
	if (vpt_grow(&e->items, &e->cap, e->count + 1, sizeof(*e->items)))
		return VPT_ENOMEM;
	e->items[e->count].id = id;
	e->items[e->count++].start_ns = start_ns;
	return VPT_OK;
}

/* Gives an op to the call in its slot, or lets it wait for the next chunk. */
static int meet_call(struct vpa_sound *s, uint64_t start_ns, uint64_t id)
{
	size_t slot = slot_of(&s->calls, id);
	uint64_t *word = &s->calls.words[slot];
	unsigned state = *word & 7;

	if (*word / 8 != id || !id)
		return keep_early(s, id, start_ns);
	s->calls.met += state & 1;
	*word = 8 * id + (state & VPA_SOUND_MORE);
	return state && start_ns - s->calls.starts_ns[slot] < WAIT_NS ? VPT_OK : VPT_END;
}

/* Ops and when they start. */
struct op_ids {
	const uint64_t *starts_ns, *ids;
	size_t count;
};

/* Meets calls in this state, KERNEL or OP, until an op finds another one. Returns how many it met, and adds their waits
 * to those of which only the size of the largest counts. A function of its own, as it calls none and so stays in registers. */
static __attribute__((noinline)) size_t meet_alike(const struct vpa_sound_calls *c,
	struct op_ids ops, enum vpa_sound_state state, uint64_t *waits_ns)
{
	const uint64_t *launched_ns = c->starts_ns;
	uint64_t *words = c->words, mask = c->slot_count - 1, waited_ns = 0;
	size_t i;

#pragma GCC unroll 4
	for (i = 0; i < ops.count; i++) {
		uint64_t met = 8 * ops.ids[i];
		size_t slot = (size_t)(ops.ids[i] & mask);

		if (words[slot] != met + state)
			break;
		words[slot] = met;
		waited_ns |= ops.starts_ns[i] - launched_ns[slot];
	}
	*waits_ns |= waited_ns;
	return i;
}

/* The same for many, of which most are the only ones of their calls; those of a graph come one after the other. */
static int meet_calls(struct vpa_sound *s, struct op_ids ops, enum vpa_sound_state state)
{
	uint64_t waits_ns = 0;
	size_t i = 0;
	int rc = s->calls.words ? VPT_OK : VPT_END;

	while (!rc && i < ops.count) {
		struct op_ids rest = {ops.starts_ns + i, ops.ids + i, ops.count - i};
		size_t met = meet_alike(&s->calls, rest, state, &waits_ns);

		s->calls.met += met * (state & 1);
		i += met;
		while (!rc && i < ops.count && rest.ids[met] == ops.ids[i]) {
			rc = meet_call(s, ops.starts_ns[i], ops.ids[i]);
			i++;
		}
	}
	return rc || waits_ns < WAIT_NS ? rc : VPT_END;
}

/* The calls of a chunk are known by now: what the chunk before left must be among them. */
static int meet_early(struct vpa_sound *s)
{
	struct vpa_sound_ops *e = &s->early;
	size_t i, count = e->count;
	int rc = VPT_OK;

	for (i = 0, e->count = 0; i < count && !rc; i++) {
		uint64_t id = e->items[i].id, start_ns = e->items[i].start_ns;

		rc = s->calls.words ? meet_call(s, start_ns, id) : VPT_END;
	}
	return rc || !e->count ? rc : VPT_END;
}

/* ---- ops of a stream ---- */

/* The times of ops of one kind. */
struct op_times {
	const uint64_t *starts, *durations;
	size_t count;
};

/* Whether they have times of which no sum overflows, and end one after the other; *ordered: they begin so, too. */
VPT_VECTORISE
static int do_ends_follow(const struct op_times *t, uint64_t least_ns, int *ordered)
{
	const uint64_t *starts = t->starts, *durations = t->durations;
	uint64_t end = starts[0] + durations[0], bad = durations[0] | end | (starts[0] - least_ns);
	uint64_t early = 0;
	size_t i;

	for (i = 1; i < t->count; i++) {
		end = starts[i] + durations[i];
		bad |= durations[i] | end | (starts[i] - least_ns) |
		       (end - (starts[i - 1] + durations[i - 1]));
		early |= starts[i] - starts[i - 1];
	}
	*ordered = !(early >> 63);
	return !(bad >> 63);
}

/* Whether each op that lies in a later one is the node of a graph, of which several run at once. Ops end one after
 * the other. */
static int are_nested_nodes(const struct op_times *t, const uint64_t *nodes)
{
	uint64_t first_ns = UINT64_MAX;
	size_t i = t->count;

	while (i--) {
		if (first_ns <= t->starts[i] && !nodes[i])
			return 0;
		first_ns = t->starts[i] < first_ns ? t->starts[i] : first_ns;
	}
	return 1;
}

static uint64_t latest_start(const struct op_times *t)
{
	uint64_t latest_ns = 0;
	size_t i;

	for (i = 0; i < t->count; i++)
		latest_ns = t->starts[i] > latest_ns ? t->starts[i] : latest_ns;
	return latest_ns;
}

/* Whether a chunk's kernels or copies fit those of its lane in earlier chunks, and each other. */
static int do_times_fit(const struct vpa_sound *s, struct vpa_sound_lane *lane,
	const struct op_times *t, const uint64_t *nodes)
{
	uint64_t least_ns = s->start_ns > lane->start_ns ? s->start_ns : lane->start_ns;
	int ordered;

	/* Time 0 is none. */
	if (!do_ends_follow(t, least_ns ? least_ns : 1, &ordered) ||
		t->starts[0] + t->durations[0] < lane->end_ns)
		return 0;
	lane->overlaps |= !ordered;
	return ordered || are_nested_nodes(t, nodes);
}

static struct op_times times_of(const struct vpt_section *s)
{
	return (struct op_times){s->col[0], s->col[1], s->row_count};
}

/* Whether no copy of a stream runs while a kernel of it does. Both are in order. */
static int do_alternate(const struct op_times *kernels, const struct op_times *copies)
{
	enum { STRIDE = 16 };
	size_t i, k = 0, stride;

	for (i = 0; i < copies->count; i++) {
		uint64_t start = copies->starts[i], end = start + copies->durations[i];

		for (stride = STRIDE; stride > 1; stride /= 4)
			while (k + stride < kernels->count && kernels->starts[k + stride] <= start)
				k += stride;
		while (k < kernels->count && kernels->starts[k] + kernels->durations[k] <= start)
			k++;
		if (k < kernels->count && kernels->starts[k] < end)
			return 0;
	}
	return 1;
}

/* Notes where the ops of a lane ended in this chunk. */
static void end_lane(struct vpa_sound *s, struct vpa_sound_lane *lane)
{
	const struct vpt_section *const sections[] = {lane->kernels, lane->copies};
	size_t i;

	for (i = 0; i < 2; i++) {
		struct op_times t;
		uint64_t start, end;

		if (!sections[i])
			continue;
		t = times_of(sections[i]);
		start = lane->overlaps ? latest_start(&t) : t.starts[t.count - 1];
		end = t.starts[t.count - 1] + t.durations[t.count - 1];
		lane->start_ns = start > lane->start_ns ? start : lane->start_ns;
		lane->end_ns = end > lane->end_ns ? end : lane->end_ns;
		s->newest_op_ns = start > s->newest_op_ns ? start : s->newest_op_ns;
	}
}

static int add_ops(struct vpa_sound *s, const struct vpt_section *section)
{
	int is_kernel = section->kind == VPT_KERNEL, rc;
	const struct op_times t = times_of(section);
	const struct vpt_section **place;
	struct vpa_sound_lane *lane;
	uint32_t row;

	rc = vpa_sound_lane(s, section->lane, VPT_LANETYPE_STREAM, &row);
	if (rc)
		return rc;
	lane = &s->lane_of[row];
	place = is_kernel ? &lane->kernels : &lane->copies;
	if (*place ||
		!do_times_fit(s, lane, &t,
			section->col[is_kernel ? VPT_KERNEL_GRAPH_NODE : VPT_COPY_GRAPH_NODE]))
		return VPT_END;
	*place = section;
	return meet_calls(s,
		(struct op_ids){t.starts,
			section->col[is_kernel ? VPT_KERNEL_CORRELATION : VPT_COPY_CORRELATION],
			t.count},
		is_kernel ? VPA_SOUND_KERNEL : VPA_SOUND_OP);
}

int vpa_sound_take_ops(struct vpa_sound *s, const struct vpt_batch *b)
{
	int rc = meet_early(s);
	size_t i;

	for (i = 0; i < b->section_count && !rc; i++)
		if (b->sections[i].kind == VPT_KERNEL || b->sections[i].kind == VPT_COPY)
			rc = add_ops(s, &b->sections[i]);
	for (i = 0; i < s->touched_count && !rc; i++) {
		struct vpa_sound_lane *lane = &s->lane_of[s->touched[i]];

		if (lane->kernels && lane->copies) {
			const struct op_times kernels = times_of(lane->kernels),
					      copies = times_of(lane->copies);

			rc = lane->overlaps || !do_alternate(&kernels, &copies) ? VPT_END : VPT_OK;
		}
		end_lane(s, lane);
	}
	return rc;
}

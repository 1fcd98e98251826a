/* idle_clock.c - idle time up to a moment, found from the next op. */
#include "analysis/idle/idle_clock.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/search.h"
#include "formats/base/vectorise.h"

#include <string.h>

/* make_room() leaves room for more ops than a batch has. The ring has more places than that, a power of two;
 * the oldest op is at a multiple of STRETCH_OPS, so a stretch never goes round its end. */
enum {
	KEPT = 1 << 13,
	ROOM = KEPT * 3 / 2,
	RING = KEPT * 2,
	STRETCH_OPS = 256,
	STRETCHES_MAX = 4096
};

/* The start of the op at `i`, counted from the oldest retained one. */
static inline uint64_t start_of(const struct vpa_idle_clock *k, size_t i)
{
	return k->starts_ns[(k->first + i) % RING];
}

/* Idle time of the device up to that. */
static inline uint64_t idle_of(const struct vpa_idle_clock *k, size_t i)
{
	return k->idle_ns[(k->first + i) % RING];
}

/* Idle time before the op at `i`: without pauses, the length of the gap that ends with it. */
static uint64_t gap_before(const struct vpa_idle_clock *k, size_t i)
{
	return idle_of(k, i) - (i ? idle_of(k, i - 1) : k->before_idle_ns);
}

/* Idle time up to `at_ns`, which lies before the op at `i` and after the start of the previous one. */
static uint64_t idle_in_front(
	const struct vpa_idle_clock *k, const struct vpa_idle *idle, size_t i, uint64_t at_ns)
{
	uint64_t rest_ns = vpa_resolver_recorded_ns(idle->resolver, at_ns, start_of(k, i)),
		 gap_ns = gap_before(k, i);

	return idle_of(k, i) - (rest_ns < gap_ns ? rest_ns : gap_ns);
}

/* ---- older ops ---- */

/* Merges stretches in pairs, keeping the longer gap of each pair. */
static void join_stretches(struct vpa_idle_clock *k)
{
	size_t i;

	for (i = 0; i + 1 < k->stretch_count; i += 2) {
		struct vpa_idle_stretch *to = &k->stretches[i / 2];
		const struct vpa_idle_stretch *a = &k->stretches[i], *b = a + 1, *longer;

		longer = b->gap_end_ns - b->gap_start_ns > a->gap_end_ns - a->gap_start_ns ? b : a;
		*to = (struct vpa_idle_stretch){a->start_ns, a->idle_ns, longer->gap_start_ns,
			longer->gap_end_ns, longer->gap_idle_ns};
	}
	k->stretch_count /= 2;
}

/* The longest difference between neighbours among `count` rising numbers. */
VPT_VECTORISE
static uint64_t longest_step(const uint64_t *numbers, size_t count)
{
	uint64_t longest = 0;
	size_t i;

	for (i = 1; i < count; i++) {
		uint64_t step = numbers[i] - numbers[i - 1];

		longest = step > longest ? step : longest;
	}
	return longest;
}

/* Adds the ops at [begin, begin + STRETCH_OPS) as a stretch, from the start of the gap before the first.
 * Ignores pauses inside gaps. */
static void add_stretch(struct vpa_idle_clock *k, size_t begin)
{
	struct vpa_idle_stretch *s = &k->stretches[k->stretch_count++];
	const uint64_t *starts = k->starts_ns + (k->first + begin) % RING;
	const uint64_t *idle = k->idle_ns + (k->first + begin) % RING;
	uint64_t first_gap_ns = gap_before(k, begin), longest_ns = longest_step(idle, STRETCH_OPS);
	size_t longest = 0;

	if (longest_ns > first_gap_ns)
		for (longest = 1; idle[longest] - idle[longest - 1] != longest_ns;)
			longest++;
	else
		longest_ns = first_gap_ns;
	*s = (struct vpa_idle_stretch){.start_ns = starts[0] - first_gap_ns,
		.idle_ns = idle[0] - first_gap_ns,
		.gap_start_ns = starts[longest] - longest_ns,
		.gap_end_ns = starts[longest],
		.gap_idle_ns = idle[longest] - longest_ns};
}

/* Turns the oldest of the retained ops into stretches. */
VPA_RARE static int make_room(struct vpa_idle_clock *k)
{
	size_t gone = (k->count - KEPT) / STRETCH_OPS * STRETCH_OPS, i;

	if (!k->starts_ns) {
		k->starts_ns = vpt_alloc(RING, sizeof(uint64_t));
		k->idle_ns = vpt_alloc(RING, sizeof(uint64_t));
		return k->starts_ns && k->idle_ns ? VPT_OK : VPT_ENOMEM;
	}
	if (!k->stretches)
		k->stretches = vpt_alloc(STRETCHES_MAX, sizeof(*k->stretches));
	if (!k->stretches)
		return VPT_ENOMEM;
	for (i = 0; i < gone; i += STRETCH_OPS) {
		if (k->stretch_count == STRETCHES_MAX)
			join_stretches(k);
		add_stretch(k, i);
		k->before_idle_ns = idle_of(k, i + STRETCH_OPS - 1);
	}
	k->first = (k->first + gone) % RING;
	k->count -= gone;
	k->hint = k->hint > gone ? k->hint - gone : 0;
	return VPT_OK;
}

/* Copies numbers into a ring that has room for them. */
static void put(uint64_t *ring, size_t at, const uint64_t *from, size_t count)
{
	size_t until_end = RING - at, n = count < until_end ? count : until_end;

	memcpy(ring + at, from, n * sizeof(*from));
	memcpy(ring, from + n, (count - n) * sizeof(*from));
}

int vpa_idle_clock_add(
	struct vpa_idle_clock *k, const struct vpa_ops *ops, size_t begin, size_t end)
{
	size_t n = end - begin, at;

	if ((!k->starts_ns || k->count + n > ROOM) && make_room(k))
		return VPT_ENOMEM;
	at = (k->first + k->count) % RING;
	put(k->starts_ns, at, ops->start_ns + begin, n);
	put(k->idle_ns, at, ops->idle_ns + begin, n);
	k->count += n;
	return VPT_OK;
}

/* ---- answers ---- */

/* ns * part / whole, an estimate, so rounding does no harm. */
static uint64_t share_of(uint64_t ns, uint64_t part, uint64_t whole)
{
	uint64_t share = whole ? vpt_sat_u64((double)ns * ((double)part / (double)whole)) : 0;

	return share < ns ? share : ns;
}

/* Idle time at a moment between two with known idle times. */
static uint64_t between(
	uint64_t at_ns, uint64_t from_ns, uint64_t from_idle, uint64_t to_ns, uint64_t to_idle)
{
	return from_idle + share_of(to_idle - from_idle, at_ns - from_ns, to_ns - from_ns);
}

/* How many stretches begin by the moment. */
static size_t find_stretch(struct vpa_idle_clock *k, uint64_t at_ns)
{
	size_t low = 0, high = k->stretch_count, hint = k->stretch_hint;

	if (hint && hint <= high && k->stretches[hint - 1].start_ns <= at_ns) {
		if (hint == high || k->stretches[hint].start_ns > at_ns)
			return hint;
		low = hint + 1;
	}
	VPT_SEARCH(low, high, middle, k->stretches[middle].start_ns <= at_ns);
	return k->stretch_hint = low;
}

static uint64_t long_ago(struct vpa_idle_clock *k, const struct vpa_idle *idle, uint64_t at_ns)
{
	size_t low = find_stretch(k, at_ns);
	const struct vpa_idle_stretch *s;
	uint64_t end_ns, end_idle, gap_end_idle;

	if (!low)
		return 0;
	s = &k->stretches[low - 1];
	if (at_ns >= s->gap_start_ns && at_ns < s->gap_end_ns)
		return s->gap_idle_ns +
		       vpa_resolver_recorded_ns(idle->resolver, s->gap_start_ns, at_ns);
	if (at_ns < s->gap_start_ns)
		return between(at_ns, s->start_ns, s->idle_ns, s->gap_start_ns, s->gap_idle_ns);
	gap_end_idle = s->gap_idle_ns +
		       vpa_resolver_recorded_ns(idle->resolver, s->gap_start_ns, s->gap_end_ns);
	if (low < k->stretch_count) {
		end_ns = k->stretches[low].start_ns;
		end_idle = k->stretches[low].idle_ns;
	} else {
		end_ns = start_of(k, 0) - gap_before(k, 0);
		end_idle = idle_of(k, 0) - gap_before(k, 0);
	}
	return between(at_ns, s->gap_end_ns, gap_end_idle, end_ns, end_idle);
}

/* The first op that starts at the moment or later. Successive questions are close to each other. */
static size_t find(struct vpa_idle_clock *k, uint64_t at_ns)
{
	size_t low = 0, high = k->count, step = 1, at = k->hint < k->count ? k->hint : 0;

	if (start_of(k, at) < at_ns) {
		low = at + 1;
		for (; at + step < k->count && start_of(k, at + step) < at_ns; step *= 2)
			low = at + step + 1;
		high = at + step < k->count ? at + step : k->count;
	} else {
		high = at;
		for (; step <= at && start_of(k, at - step) >= at_ns; step *= 2)
			high = at - step;
		low = step <= at ? at - step + 1 : 0;
	}
	VPT_SEARCH(low, high, middle, start_of(k, middle) < at_ns);
	return k->hint = low;
}

uint64_t vpa_idle_clock_at(
	struct vpa_idle_clock *k, const struct vpa_idle *idle, uint32_t device, uint64_t at_ns)
{
	uint64_t cursor_ns;
	size_t i;

	if (!k->count)
		return 0;
	/* Most questions are about times before all retained ops: these need no search among them. */
	if (at_ns <= start_of(k, 0))
		return k->stretch_count && at_ns < start_of(k, 0) - gap_before(k, 0)
			       ? long_ago(k, idle, at_ns)
			       : idle_in_front(k, idle, 0, at_ns);
	i = find(k, at_ns);
	if (i < k->count)
		return idle_in_front(k, idle, i, at_ns);
	cursor_ns = idle->devices[device].cursor_ns;
	return idle_of(k, i - 1) +
	       (at_ns > cursor_ns ? vpa_resolver_recorded_ns(idle->resolver, cursor_ns, at_ns) : 0);
}

void vpa_idle_clock_free(struct vpa_idle_clock *k)
{
	vpt_free(k->starts_ns);
	vpt_free(k->idle_ns);
	vpt_free(k->stretches);
	memset(k, 0, sizeof(*k));
}

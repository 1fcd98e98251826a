/* timeline.c - which ranges are open at a moment.
 *
 * A range's parent is the innermost one open at its start, so a chain of parents, minus those that
 * have ended, is everything open at a moment. This also holds if ranges overlap without nesting:
 * whatever was open at the start of the innermost and began earlier is among its ancestors.
 *
 * If each of very many ranges outlives the one it began in, nearly all of a chain have ended, and
 * visiting them for each op would take forever. So at intervals the ended ones are unlinked.
 * Queries about earlier moments are still possible: the range above them gets a fork as its parent,
 * which leads to them until the moment of unlinking and past them afterwards. A range passed on the
 * way through forks was open at the queried moment, or is directly before a fork, so the way is at
 * most twice as long as the number of open ranges.
 *
 *	before	  C -> B -> A		B has ended by t
 *	after	  C -> fork at t -> A
 *		            \
 *		             `-> B -> A */
#include "analysis/past/timeline.h"

#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { AHEAD = 8, LIVE_LIMIT = 4 };

static void annotate(struct vpa_range *range, uint32_t payload)
{
	if (payload)
		range->payload = payload;
}

int vpa_timeline_still_open(struct vpa_timeline *t, const struct vpa_range *as)
{
	uint32_t at = vpa_open_find(&t->open, as->start_ns, as->name, as->domain);

	if (at == VPA_OPEN_NONE)
		return 0;
	annotate(t->open_of[at], as->payload);
	return 1;
}

int vpa_timeline_end_open(struct vpa_timeline *t, const struct vpa_range *as, int *ended)
{
	struct vpa_range *range;
	uint32_t at;

	*ended = 0;
	if (!t->open.open_count)
		return VPT_OK;
	if (vpt_grow(&t->ended, &t->ended_cap, t->ended_count + 1, sizeof(*t->ended)))
		return VPT_ENOMEM;
	at = vpa_open_find(&t->open, as->start_ns, as->name, as->domain);
	if (at == VPA_OPEN_NONE)
		return VPT_OK;
	vpa_open_end(&t->open, at, as->end_ns);
	vpa_open_drop(&t->open, at);
	range = t->open_of[at];
	t->open_of[at] = NULL;
	range->end_ns = as->end_ns;
	range->unmatched = as->unmatched;
	annotate(range, as->payload);
	t->ended[t->ended_count++] = range;
	*ended = 1;
	return VPT_OK;
}

int vpa_timeline_add(struct vpa_timeline *t, struct vpa_range *range)
{
	if (vpt_grow(&t->fresh, &t->fresh_cap, t->fresh_count + 1, sizeof(*t->fresh)))
		return VPT_ENOMEM;
	t->fresh[t->fresh_count++] = range;
	t->fresh_open += range->end_ns == UINT64_MAX;
	return VPT_OK;
}

static int add_change(struct vpa_timeline *t, uint64_t at, struct vpa_range *top)
{
	struct vpa_range_changes *s = &t->changes;

	t->top = top;
	t->last_ns = at;
	if (top)
		top->references++;
	return vpa_range_changes_add(s, at, top);
}

/* Ends all ranges that have ended by `at`, with one change for each innermost one. */
static int end_until(struct vpa_timeline *t, uint64_t at)
{
	while (t->top && t->top->end_ns <= at) {
		uint64_t end = t->top->end_ns;

		while (t->live_count && t->live[t->live_count - 1]->end_ns <= end)
			t->live_count--;
		if (add_change(t, end, t->live_count ? t->live[t->live_count - 1] : NULL))
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

/* Makes `parent` the range's parent from `at` on; until then it keeps the one it has. */
static int fork_parent(
	struct vpa_range_pool *pool, struct vpa_range *range, struct vpa_range *parent, uint64_t at)
{
	struct vpa_range *fork;

	if (vpt_grow(&pool->pending, &pool->pending_cap, pool->fork_count + 1,
		    sizeof(*pool->pending)))
		return VPT_ENOMEM;
	fork = vpa_range_new(pool);
	if (!fork)
		return VPT_ENOMEM;
	pool->fork_count++;
	fork->kind = VPA_RANGE_FORK;
	fork->start_ns = at;
	fork->before = range->parent;
	fork->parent = parent;
	if (parent)
		parent->references++;
	range->parent = fork;
	return VPT_OK;
}

/* Unlinks ranges that have ended by `at` from the chain of the innermost range, which has not
 * ended. */
static int unlink_ended(struct vpa_timeline *t, struct vpa_range_pool *pool, uint64_t at)
{
	struct vpa_range *parent = NULL;
	size_t kept = 0, passed = 0, i;
	int rc = VPT_OK, forked = 0;

	for (i = 0; i < t->live_count && !rc; i++) {
		struct vpa_range *range = t->live[i];

		if (range->end_ns <= at) {
			passed++;
			continue;
		}
		if (passed) {
			rc = fork_parent(pool, range, parent, at);
			forked = 1;
		}
		passed = 0;
		parent = t->live[kept++] = range;
	}
	t->live_count = kept;
	/* An answer holds until the next change, so add one where the fork switches. */
	if (!rc && forked && t->last_ns != at)
		rc = add_change(t, at, t->top);
	return rc;
}

/* Whether one more range may begin inside the innermost one. */
static int has_room(struct vpa_timeline *t, struct vpa_range_pool *pool, uint64_t at, int *rc)
{
	if (t->live_count < t->live_limit)
		return 1;
	*rc = unlink_ended(t, pool, at);
	t->live_limit = 2 * t->live_count < LIVE_LIMIT        ? LIVE_LIMIT
			: 2 * t->live_count > VPA_NESTING_MAX ? VPA_NESTING_MAX
							      : 2 * t->live_count;
	if (!*rc && vpt_grow(&t->live, &t->live_cap, t->live_limit, sizeof(*t->live)))
		*rc = VPT_ENOMEM;
	return !*rc && t->live_count < VPA_NESTING_MAX;
}

/* Sorts the fresh ranges by start, outer first. In completion order a backward walk meets parents
 * before children; a range that cannot have more children is popped off a stack, latest start
 * first. So well-nested ranges take linear time, and only the unordered rest is sorted. */
static int compare_starts(const void *pa, const void *pb)
{
	const struct vpa_range *a = *(struct vpa_range *const *)pa,
			       *b = *(struct vpa_range *const *)pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	/* Equal spans: the one that completed later is outside; settle stored the order in
	 * `launches`. */
	return a->launches > b->launches ? -1 : a->launches < b->launches;
}

static int order_fresh(struct vpa_timeline *t)
{
	size_t n = t->fresh_count, depth = 0, out = n, i;
	struct vpa_range **stack = vpt_alloc(n * 2, sizeof(*stack)), **sorted;
	int in_order = 1;

	if (!stack)
		return VPT_ENOMEM;
	sorted = stack + n;
	if (t->fresh_open > 1)
		qsort(t->fresh, t->fresh_open, sizeof(*t->fresh), compare_starts);
	for (i = 0; i < n; i++) {
		/* Open ranges, outermost first, then the ended ones from last to first. */
		struct vpa_range *r =
			i < t->fresh_open ? t->fresh[i] : t->fresh[n - 1 - (i - t->fresh_open)];

		while (depth && stack[depth - 1]->start_ns >= r->end_ns &&
			stack[depth - 1]->end_ns > r->end_ns)
			sorted[--out] = stack[--depth];
		stack[depth++] = r;
	}
	while (depth)
		sorted[--out] = stack[--depth];
	for (i = 1; i < n && in_order; i++)
		in_order = sorted[i - 1]->start_ns <= sorted[i]->start_ns;
	if (!in_order) {
		for (i = 0; i < n; i++)
			t->fresh[i]->launches = i < t->fresh_open ? n + n - i : i;
		qsort(sorted, n, sizeof(*sorted), compare_starts);
	}
	for (i = 0; i < n; i++) {
		sorted[i]->launches = 0;
		t->fresh[i] = sorted[i];
	}
	vpt_free(stack);
	return VPT_OK;
}

static int add_open(struct vpa_timeline *t, struct vpa_range *range)
{
	uint32_t at;

	if (vpt_grow(&t->open_of, &t->open_of_cap, t->open.count + 1, sizeof(*t->open_of)))
		return VPT_ENOMEM;
	at = vpa_open_add(&t->open, range->start_ns, range->name, range->domain);
	if (at == VPA_OPEN_NONE)
		return VPT_ENOMEM;
	t->open_of[at] = range;
	range->references++;
	return VPT_OK;
}

/* Removes ended ranges, adds newly open ones. */
static int update_open(struct vpa_timeline *t, struct vpa_range_pool *pool)
{
	size_t i;

	for (i = 0; i < t->ended_count; i++)
		vpa_range_drop(pool, t->ended[i]);
	t->ended_count = 0;
	for (i = 0; i < t->fresh_count; i++)
		if (t->fresh[i]->end_ns == UINT64_MAX && add_open(t, t->fresh[i]))
			return VPT_ENOMEM;
	return VPT_OK;
}

/* Whether the inner one, which began later, is a part of the outer one. What never ended is around all that began in it. */
static int is_inside(const struct vpa_range *inner, const struct vpa_range *outer)
{
	return outer->end_ns > inner->start_ns &&
	       (outer->unmatched || inner->end_ns <= outer->end_ns);
}

/* Of a range that has not ended yet it is known later. */
static int may_be_inside(struct vpa_timeline *t, struct vpa_range *inner, struct vpa_range *outer)
{
	if (vpt_grow(&t->nestings, &t->nesting_cap, t->nesting_count + 1, sizeof(*t->nestings)))
		return VPT_ENOMEM;
	t->nestings[t->nesting_count++] = (struct vpa_nesting){inner, outer};
	inner->references++;
	outer->references++;
	inner->nested = 1;
	return VPT_OK;
}

/* Notes whether a range is a part of another one of its name: of one that has ended, else perhaps of those that have not.
 * 0 or VPT_ENOMEM. */
static int note_nesting(struct vpa_timeline *t, struct vpa_range *range)
{
	size_t count = t->is_wide ? 0 : t->live_count, i;
	int rc = VPT_OK, is_part = 0, is_open = 0;

	for (i = 0; i < count; i++) {
		const struct vpa_range *around = t->live[i];

		if (around->name != range->name || around->domain != range->domain)
			continue;
		is_open |= around->end_ns == UINT64_MAX;
		is_part |= around->end_ns != UINT64_MAX && is_inside(range, around);
	}
	range->nested = is_part ? 1 : 0;
	for (i = 0; i < count && is_open && !is_part && !rc; i++)
		if (t->live[i]->name == range->name && t->live[i]->domain == range->domain &&
			t->live[i]->end_ns == UINT64_MAX)
			rc = may_be_inside(t, range, t->live[i]);
	return rc;
}

/* Decides about one range, whose outer ones are `count` in a row. Keeps what only the end of both can tell. */
static void settle_nesting(
	struct vpa_timeline *t, struct vpa_range_pool *pool, struct vpa_nesting *of, size_t count)
{
	struct vpa_range *inner = of->inner;
	int is_open = inner->end_ns == UINT64_MAX, is_part = 0;
	size_t i;

	for (i = 0; i < count; i++)
		is_part |= !(is_open && of[i].outer->end_ns == UINT64_MAX) &&
			   is_inside(inner, of[i].outer);
	inner->nested = is_part ? 1 : 0;
	for (i = 0; i < count; i++)
		if (is_open && !is_part && of[i].outer->end_ns == UINT64_MAX) {
			inner->nested = 1;
			t->nestings[t->nesting_count++] = of[i];
		} else {
			vpa_range_drop(pool, of[i].outer);
			vpa_range_drop(pool, inner);
		}
}

/* The outer ones of a range follow each other. */
static void settle_nestings(struct vpa_timeline *t, struct vpa_range_pool *pool)
{
	size_t count = t->nesting_count, i, n;

	t->nesting_count = 0;
	for (i = 0; i < count; i += n) {
		for (n = 1; i + n < count && t->nestings[i + n].inner == t->nestings[i].inner;)
			n++;
		settle_nesting(t, pool, &t->nestings[i], n);
	}
}

/* Adds a range to the changes, unless it comes too late or is nested too deeply. */
static int settle_range(
	struct vpa_timeline *t, struct vpa_range_pool *pool, struct vpa_range *range)
{
	int rc = end_until(t, range->start_ns);

	if (rc)
		return rc;
	/* An empty range encloses nothing; it has a parent but no change. */
	if (range->end_ns > range->start_ns && !has_room(t, pool, range->start_ns, &rc)) {
		t->deep += !rc;
		return rc;
	}
	if (note_nesting(t, range))
		return VPT_ENOMEM;
	range->parent = t->top;
	if (range->parent)
		range->parent->references++;
	if (range->end_ns > range->start_ns) {
		rc = add_change(t, range->start_ns, range);
		t->live[t->live_count++] = range;
	}
	return rc;
}

int vpa_timeline_settle(struct vpa_timeline *t, struct vpa_range_pool *pool)
{
	uint64_t settled_ns = t->last_ns;
	int had_changes = t->changes.count > t->changes.dropped, rc = VPT_OK;
	size_t i;

	settle_nestings(t, pool);
	if (!t->fresh_count && !t->ended_count)
		return VPT_OK;
	if (t->fresh_count > 1)
		rc = order_fresh(t);
	for (i = 0; !rc && i < t->fresh_count; i++) {
		if (had_changes && t->fresh[i]->start_ns < settled_ns)
			t->late++;
		else
			rc = settle_range(t, pool, t->fresh[i]);
	}
	if (!rc && t->top && t->top->end_ns != UINT64_MAX)
		rc = end_until(t, UINT64_MAX - 1);
	if (!rc)
		rc = update_open(t, pool);
	for (i = 0; i < t->fresh_count; i++)
		vpa_range_drop(pool, t->fresh[i]);
	t->fresh_count = t->fresh_open = 0;
	return rc;
}

/* Removes ranges that have ended by `at_ns` from a chain of parents: if ranges overlap without
 * nesting, each may reference the one before it, back to the beginning of the trace. */
static void shorten(struct vpa_range_pool *pool, struct vpa_range *range, uint64_t at_ns)
{
	struct vpa_range *around, *parent;

	for (; range; range = around) {
		parent = range->parent;
		around = vpa_range_around(range, at_ns);
		if (around == parent)
			continue;
		if (around)
			around->references++;
		range->parent = around;
		vpa_range_drop(pool, parent);
	}
}

/* Drops from the chain of the innermost range all that shorten() may remove from it. */
static void forget_ended(struct vpa_timeline *t, uint64_t at_ns)
{
	size_t kept = 0, i;

	for (i = 0; i < t->live_count; i++)
		if (t->live[i]->end_ns > at_ns)
			t->live[kept++] = t->live[i];
	t->live_count = kept;
}

void vpa_timeline_trim(struct vpa_timeline *t, struct vpa_range_pool *pool, uint64_t before_ns)
{
	struct vpa_range_changes *s = &t->changes;

	while (s->dropped + 1 < s->count && s->items[s->dropped + 1].time_ns <= before_ns) {
		/* Ranges were last touched a chunk ago: fetch those dropped next. */
		if (s->dropped + AHEAD < s->count && s->items[s->dropped + AHEAD].range) {
			__builtin_prefetch(&s->items[s->dropped + AHEAD].range->name, 1);
			__builtin_prefetch(&s->items[s->dropped + AHEAD].range->gpu.ops, 1);
		}
		vpa_range_drop(pool, s->items[s->dropped++].range);
	}
	/* Whatever is open at the first remaining change is on its chain; ranges that begin later
	 * have only parents that are open then or begin later too. */
	if (s->dropped < s->count && s->items[s->dropped].time_ns <= before_ns) {
		forget_ended(t, before_ns);
		shorten(pool, s->items[s->dropped].range, before_ns);
	}
	if (s->dropped > 4096 && s->dropped > s->count / 2) {
		s->count -= s->dropped;
		memmove(s->items, s->items + s->dropped, s->count * sizeof(*s->items));
		s->cursor = s->cursor > s->dropped ? s->cursor - s->dropped : 0;
		s->dropped = 0;
	}
}

/* What is referenced is open, begins with a change, or is in the chain of the first one. */
uint64_t vpa_timeline_unfinished(
	const struct vpa_timeline *t, vpa_range_is_meant *is_meant, void *ctx)
{
	const struct vpa_range_changes *s = &t->changes;
	const struct vpa_range *range = s->dropped < s->count ? s->items[s->dropped].range : NULL;
	uint64_t earliest = UINT64_MAX;
	size_t i;

	for (; range; range = range->parent) {
		if (range->kind == VPA_RANGE_FORK)
			return 0;
		if (range->start_ns < earliest && is_meant(ctx, range))
			earliest = range->start_ns;
	}
	for (i = 0; i < t->open.count; i++) {
		range = t->open_of[i];
		if (range && range->start_ns < earliest && is_meant(ctx, range))
			earliest = range->start_ns;
	}
	for (i = s->dropped; i < s->count && s->items[i].time_ns < earliest; i++) {
		range = s->items[i].range;
		if (range && range->start_ns == s->items[i].time_ns && is_meant(ctx, range))
			earliest = range->start_ns;
	}
	return earliest;
}

void vpa_timeline_end(struct vpa_timeline *t, struct vpa_range_pool *pool)
{
	size_t i;

	settle_nestings(t, pool);
	for (i = t->changes.dropped; i < t->changes.count; i++)
		vpa_range_drop(pool, t->changes.items[i].range);
	t->changes.count = t->changes.dropped = t->changes.cursor = 0;
	for (i = 0; i < t->open.count; i++)
		vpa_range_drop(pool, t->open_of[i]);
	vpa_open_clear(&t->open);
	for (i = 0; i < t->ended_count; i++)
		vpa_range_drop(pool, t->ended[i]);
	for (i = 0; i < t->fresh_count; i++)
		vpa_range_drop(pool, t->fresh[i]);
	t->ended_count = t->fresh_count = t->live_count = 0;
	t->top = NULL;
}

void vpa_timeline_free(struct vpa_timeline *t)
{
	vpt_free(t->changes.items);
	vpa_open_free(&t->open);
	vpt_free(t->open_of);
	vpt_free(t->ended);
	vpt_free(t->live);
	vpt_free(t->fresh);
	vpt_free(t->nestings);
	memset(t, 0, sizeof(*t));
}

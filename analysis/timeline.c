/* timeline.c - nesting.
 *
 * A range's parent is the innermost one open at its start, so a chain of parents, less those that have ended
 * by then, is everything open at a moment - also where ranges overlap without nesting: whatever was open at
 * the start of the innermost and began earlier is among its ancestors. */
#include "analysis/timeline.h"

#include "formats/memory.h"

#include <stdlib.h>
#include <string.h>

enum { POOL_BLOCK = 256, AHEAD = 8, CACHE_LINE = 64 };

_Static_assert(sizeof(void *) < 8 || sizeof(struct vpa_range) == 2 * CACHE_LINE, "two whole lines");

/* The first range of a block, which begins where a line of the cache does. */
static struct vpa_range *first_of(struct vpa_range *block)
{
	uintptr_t at = (uintptr_t)block + CACHE_LINE - 1;

	return (struct vpa_range *)(at - at % CACHE_LINE);
}

struct vpa_range *vpa_range_new(struct vpa_range_pool *pool)
{
	struct vpa_range *r;
	size_t i;

	if (!pool->unused) {
		if (vpt_grow(&pool->blocks, &pool->block_cap, pool->block_count + 1,
			    sizeof(*pool->blocks)))
			return NULL;
		r = vpt_calloc(POOL_BLOCK + 1, sizeof(*r));
		if (!r)
			return NULL;
		pool->blocks[pool->block_count++] = r;
		r = first_of(r);
		for (i = 0; i < POOL_BLOCK; i++) {
			r[i].parent = pool->unused;
			pool->unused = &r[i];
		}
	}
	r = pool->unused;
	pool->unused = r->parent;
	/* Ranges come back long after they were used: fetch the next one. */
	__builtin_prefetch(pool->unused, 1);
	__builtin_prefetch(pool->unused ? &pool->unused->gpu : NULL, 1);
	*r = (struct vpa_range){.references = 1, .gpu.device = VPA_NONE};
	return r;
}

/* The last reference to the range is gone, and with it one to its parent. */
static void finish(struct vpa_range_pool *pool, struct vpa_range *range)
{
	/* A loop, not a recursion: chains of parents may be long. */
	do {
		struct vpa_range *parent = range->parent;
		struct vpa_projection *p = range->gpu.next, *next;

		if (pool->finished)
			pool->finished(pool->ctx, range);
		for (; p; p = next) {
			next = p->next;
			vpt_free(p);
		}
		range->parent = pool->unused;
		pool->unused = range;
		range = parent;
	} while (range && --range->references == 0);
}

static inline void drop(struct vpa_range_pool *pool, struct vpa_range *range)
{
	if (range && --range->references == 0)
		finish(pool, range);
}

void vpa_range_drop(struct vpa_range_pool *pool, struct vpa_range *range)
{
	drop(pool, range);
}

void vpa_range_pool_free(struct vpa_range_pool *pool)
{
	size_t b, i;

	for (b = 0; b < pool->block_count; b++) {
		for (i = 0; i < POOL_BLOCK; i++) {
			struct vpa_range *r = first_of(pool->blocks[b]) + i;
			struct vpa_projection *p = r->references ? r->gpu.next : NULL, *next;

			for (; p; p = next) {
				next = p->next;
				vpt_free(p);
			}
		}
		vpt_free(pool->blocks[b]);
	}
	vpt_free(pool->blocks);
	memset(pool, 0, sizeof(*pool));
}

/* The order of the open list: by start, and among equal starts by what else tells ranges apart. */
static int compare_identity(
	const struct vpa_range *a, uint64_t start_ns, uint32_t name, uint32_t domain)
{
	if (a->start_ns != start_ns)
		return a->start_ns < start_ns ? -1 : 1;
	if (a->name != name)
		return a->name < name ? -1 : 1;
	return a->domain < domain ? -1 : a->domain > domain;
}

static int compare_open(const void *pa, const void *pb)
{
	const struct vpa_range *a = *(struct vpa_range *const *)pa,
			       *b = *(struct vpa_range *const *)pb;

	return compare_identity(a, b->start_ns, b->name, b->domain);
}

static size_t find_open(
	const struct vpa_timeline *t, uint64_t start_ns, uint32_t name, uint32_t domain)
{
	size_t low = 0, high = t->open_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_identity(t->open[middle], start_ns, name, domain) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < t->open_count && !compare_identity(t->open[low], start_ns, name, domain);
		low++)
		if (t->open[low]->end_ns == UINT64_MAX)
			return low;
	return SIZE_MAX;
}

struct vpa_range *vpa_timeline_find_open(
	struct vpa_timeline *t, uint64_t start_ns, uint32_t name, uint32_t domain)
{
	size_t i;

	/* Mostly it was opened after all those that are open still. */
	if (!t->open_count || start_ns > t->open[t->open_count - 1]->start_ns)
		return NULL;
	i = find_open(t, start_ns, name, domain);
	return i == SIZE_MAX ? NULL : t->open[i];
}

int vpa_timeline_add(struct vpa_timeline *t, struct vpa_range *range)
{
	if (vpt_grow(&t->fresh, &t->fresh_cap, t->fresh_count + 1, sizeof(*t->fresh)))
		return VPT_ENOMEM;
	t->fresh[t->fresh_count++] = range;
	t->fresh_open += range->end_ns == UINT64_MAX;
	return VPT_OK;
}

static int add_step(struct vpa_timeline *t, uint64_t at, struct vpa_range *top)
{
	struct vpa_steps *s = &t->steps;

	t->top = top;
	t->last_ns = at;
	if (top)
		top->references++;
	return vpa_steps_add(s, at, top);
}

/* Ends whatever has ended by `at`, one step for each that was innermost. */
static int end_until(struct vpa_timeline *t, uint64_t at)
{
	while (t->top && t->top->end_ns <= at) {
		uint64_t end = t->top->end_ns;

		if (add_step(t, end, vpa_range_open_at(t->top, end)))
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

/* Puts the fresh ranges in order of their start, outer first. In completion order a backward walk meets
 * parents before children; whatever cannot have children any more comes off a stack, latest start first.
 * So well-nested ranges take linear time, and only what is not in order afterwards is sorted. */
static int compare_starts(const void *pa, const void *pb)
{
	const struct vpa_range *a = *(struct vpa_range *const *)pa,
			       *b = *(struct vpa_range *const *)pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	/* Equal spans: the one that completed later is outside; settle noted the order in `launches`. */
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
		/* Open ranges first, outermost first, then the ended ones from the last to the first. */
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

/* Sweeps the list of open ranges: what has ended goes, what is newly open comes. */
static int update_open(struct vpa_timeline *t, struct vpa_range_pool *pool)
{
	size_t kept = 0, i;

	for (i = 0; i < t->open_count; i++)
		if (t->open[i]->end_ns == UINT64_MAX)
			t->open[kept++] = t->open[i];
		else
			drop(pool, t->open[i]);
	t->open_count = kept;
	if (vpt_grow(&t->open, &t->open_cap, kept + t->fresh_open, sizeof(*t->open)))
		return VPT_ENOMEM;
	for (i = 0; i < t->fresh_count; i++)
		if (t->fresh[i]->end_ns == UINT64_MAX) {
			t->fresh[i]->references++;
			t->open[t->open_count++] = t->fresh[i];
		}
	if (t->open_count > kept)
		qsort(t->open, t->open_count, sizeof(*t->open), compare_open);
	return VPT_OK;
}

int vpa_timeline_settle(struct vpa_timeline *t, struct vpa_range_pool *pool)
{
	uint64_t settled_ns = t->last_ns;
	int had_steps = t->steps.count > t->steps.dropped, rc = VPT_OK;
	size_t i;

	if (!t->fresh_count && !t->open_count)
		return VPT_OK;
	if (t->fresh_count > 1)
		rc = order_fresh(t);
	for (i = 0; !rc && i < t->fresh_count; i++) {
		struct vpa_range *r = t->fresh[i];

		if (had_steps && r->start_ns < settled_ns) {
			t->late++;
			continue;
		}
		rc = end_until(t, r->start_ns);
		if (rc)
			break;
		r->parent = vpa_range_open_at(t->top, r->start_ns);
		if (r->parent)
			r->parent->references++;
		/* An empty range encloses nothing; it has a parent but no step. */
		if (r->end_ns > r->start_ns)
			rc = add_step(t, r->start_ns, r);
	}
	if (!rc && t->top && t->top->end_ns != UINT64_MAX)
		rc = end_until(t, UINT64_MAX - 1);
	if (!rc)
		rc = update_open(t, pool);
	for (i = 0; i < t->fresh_count; i++)
		drop(pool, t->fresh[i]);
	t->fresh_count = t->fresh_open = 0;
	return rc;
}

/* Takes out of a chain of parents what has ended by `at_ns`: where ranges overlap without nesting each may hold the one
 * before it, back to the beginning of the trace. */
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
		drop(pool, parent);
	}
}

void vpa_timeline_trim(struct vpa_timeline *t, struct vpa_range_pool *pool, uint64_t before_ns)
{
	struct vpa_steps *s = &t->steps;

	while (s->dropped + 1 < s->count && s->items[s->dropped + 1].time_ns <= before_ns) {
		/* Ranges were last touched a chunk ago: fetch those that go next. */
		if (s->dropped + AHEAD < s->count && s->items[s->dropped + AHEAD].range) {
			__builtin_prefetch(&s->items[s->dropped + AHEAD].range->name, 1);
			__builtin_prefetch(&s->items[s->dropped + AHEAD].range->gpu.ops, 1);
		}
		drop(pool, s->items[s->dropped++].range);
	}
	/* Whatever is open at the first step that is left is on its chain, and what begins later has only parents that are
	 * open then or begin later too. */
	if (s->dropped < s->count && s->items[s->dropped].time_ns <= before_ns)
		shorten(pool, s->items[s->dropped].range, before_ns);
	if (s->dropped > 4096 && s->dropped > s->count / 2) {
		s->count -= s->dropped;
		memmove(s->items, s->items + s->dropped, s->count * sizeof(*s->items));
		s->cursor = s->cursor > s->dropped ? s->cursor - s->dropped : 0;
		s->dropped = 0;
	}
}

void vpa_timeline_end(struct vpa_timeline *t, struct vpa_range_pool *pool)
{
	size_t i;

	for (i = t->steps.dropped; i < t->steps.count; i++)
		drop(pool, t->steps.items[i].range);
	t->steps.count = t->steps.dropped = t->steps.cursor = 0;
	for (i = 0; i < t->open_count; i++)
		drop(pool, t->open[i]);
	for (i = 0; i < t->fresh_count; i++)
		drop(pool, t->fresh[i]);
	t->open_count = t->fresh_count = 0;
	t->top = NULL;
}

void vpa_timeline_free(struct vpa_timeline *t)
{
	vpt_free(t->steps.items);
	vpt_free(t->open);
	vpt_free(t->fresh);
	memset(t, 0, sizeof(*t));
}

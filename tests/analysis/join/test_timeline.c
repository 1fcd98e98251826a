/* test_timeline.c - what is open at a moment, and in what order, against looking at all ranges. */
#include "analysis/past/timeline.h"
#include "formats/base/count.h"
#include "tests/support/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANGES_MAX = 40, TIMES = 200, SEEDS = 500 };

/* A range as it was; its name is its index + 1. */
struct span {
	uint64_t start, end;
};

struct rig {
	struct vpa_timeline timeline;
	struct vpa_range_pool pool;
	struct span spans[RANGES_MAX]; /* in completion order */
	size_t count;
	unsigned reported[RANGES_MAX]; /* how often the pool said that a range is done */
};

static void count_finished(void *ctx, struct vpa_range *range)
{
	struct rig *g = ctx;

	assert_in_range(range->name, 1, g->count);
	g->reported[range->name - 1]++;
}

static void add(struct rig *g, size_t i, uint64_t end)
{
	struct vpa_range *r = vpa_range_new(&g->pool);

	assert_non_null(r);
	r->start_ns = g->spans[i].start;
	r->end_ns = end;
	r->name = (uint32_t)i + 1;
	assert_int_equal(vpa_timeline_add(&g->timeline, r), 0);
}

static void count_one(void *ctx, struct vpa_range *range)
{
	(void)range;
	++*(uint64_t *)ctx;
}

static void add_range(
	struct vpa_timeline *t, struct vpa_range_pool *pool, uint64_t start, uint64_t end)
{
	struct vpa_range *r = vpa_range_new(pool);

	assert_non_null(r);
	r->start_ns = start;
	r->end_ns = end;
	assert_int_equal(vpa_timeline_add(t, r), 0);
}

/* Whether such a range was open when the last chunk closed; ends it then. */
static int end_open(struct vpa_timeline *t, uint64_t start, uint32_t name, uint64_t end)
{
	const struct vpa_range as = {.start_ns = start, .end_ns = end, .name = name};
	int ended;

	assert_int_equal(vpa_timeline_end_open(t, &as, &ended), 0);
	return ended;
}

/* What a chunk that closes at `cut` says of the ranges: first those open, then those that ended since `from`. */
static void take_chunk(struct rig *g, uint64_t from, uint64_t cut)
{
	size_t i;

	for (i = 0; i < g->count; i++)
		if (g->spans[i].start <= cut && g->spans[i].end > cut &&
			vpa_open_find(&g->timeline.open, g->spans[i].start, (uint32_t)i + 1, 0) ==
				VPA_OPEN_NONE)
			add(g, i, UINT64_MAX);
	for (i = 0; i < g->count; i++)
		if (g->spans[i].end <= cut && g->spans[i].end > from &&
			!end_open(
				&g->timeline, g->spans[i].start, (uint32_t)i + 1, g->spans[i].end))
			add(g, i, g->spans[i].end);
	assert_int_equal(vpa_timeline_settle(&g->timeline, &g->pool), 0);
}

/* Outer first: by start, then the longer, then the one that completed later. */
static int is_outer(const struct rig *g, size_t a, size_t b)
{
	if (g->spans[a].start != g->spans[b].start)
		return g->spans[a].start < g->spans[b].start;
	return g->spans[a].end != g->spans[b].end ? g->spans[a].end > g->spans[b].end : a > b;
}

/* The names of what is open at `t`, innermost first. */
static void expect_open(struct rig *g, uint64_t t, const char *rule)
{
	struct vpa_range *r = vpa_range_open_at(vpa_range_changes_at(&g->timeline.changes, t), t);
	unsigned char listed[RANGES_MAX] = {0};
	size_t i, depth;

	for (depth = 0;; depth++) {
		size_t best = RANGES_MAX;

		for (i = 0; i < g->count; i++)
			if (g->spans[i].start <= t && t < g->spans[i].end && !listed[i] &&
				(best == RANGES_MAX || is_outer(g, best, i)))
				best = i;
		if (best == RANGES_MAX)
			break;
		listed[best] = 1;
		if (!r || r->name != best + 1)
			fail_msg("%s, at %llu: %zu deep is %u, expected %zu", rule,
				(unsigned long long)t, depth, r ? r->name : 0, best + 1);
		r = vpa_range_open_at(r->parent, t);
	}
	if (r)
		fail_msg("%s, at %llu: %u is open", rule, (unsigned long long)t, r->name);
	r = vpa_range_changes_at(&g->timeline.changes, t);
	if (r && r->end_ns <= t)
		fail_msg("%s, at %llu: the step's range has ended", rule, (unsigned long long)t);
}

static int has_odd_name(void *ctx, const struct vpa_range *range)
{
	++*(uint64_t *)ctx;
	return range->name % 2;
}

/* Of the ranges known at `cut`, those with odd names that are not reported yet. */
static void expect_unfinished(struct rig *g, uint64_t cut, const char *rule)
{
	uint64_t asked = 0, expected = UINT64_MAX, found;
	size_t i;

	for (i = 0; i < g->count; i += 2)
		if (g->spans[i].start <= cut && !g->reported[i] && g->spans[i].start < expected)
			expected = g->spans[i].start;
	found = vpa_timeline_unfinished(&g->timeline, has_odd_name, &asked);
	/* Where ended ranges are unlinked, it may not be known. */
	if (found != expected && (found || !g->pool.fork_count))
		fail_msg("%s, at %llu: the first unfinished range begins at %llu, expected %llu",
			rule, (unsigned long long)cut, (unsigned long long)found,
			(unsigned long long)expected);
}

static void finish(struct rig *g, const char *rule)
{
	size_t i;

	vpa_timeline_end(&g->timeline, &g->pool);
	for (i = 0; i < g->count; i++)
		if (g->reported[i] != 1)
			fail_msg(
				"%s: range %zu was reported %u times", rule, i + 1, g->reported[i]);
	vpa_timeline_free(&g->timeline);
	vpa_range_pool_free(&g->pool);
}

static int compare_ends(const void *pa, const void *pb)
{
	const struct span *a = pa, *b = pb;

	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return a->start > b->start ? -1 : a->start < b->start;
}

static const struct {
	const char *rule;
	struct span spans[6]; /* in completion order */
} cases[] = {
	{"one range", {{10, 20}}},
	{"a range in a range", {{12, 15}, {10, 20}}},
	{"two in one", {{12, 14}, {15, 18}, {10, 20}}},
	{"one after the other, touching", {{10, 20}, {20, 30}}},
	{"ranges that overlap", {{10, 20}, {15, 30}}},
	{"three that overlap in a row", {{10, 20}, {15, 30}, {25, 40}}},
	{"one that outlives the one it began in, with a child of each",
		{{11, 13}, {10, 20}, {21, 25}, {15, 30}}},
	{"of two that begin together the shorter is inside", {{10, 15}, {10, 20}}},
	{"of two that end together the later is inside", {{15, 20}, {10, 20}}},
	{"of equal ones the one that completed first is inside", {{10, 20}, {10, 20}}},
	{"three equal ones", {{10, 20}, {10, 20}, {10, 20}}},
	{"an empty range encloses nothing", {{12, 12}, {10, 20}}},
	{"an empty range at an edge", {{10, 10}, {10, 20}, {20, 20}}},
	{"a range from the beginning of time", {{0, 50}}},
};

static void nesting_follows_from_starts_and_ends(void **state)
{
	static struct rig g;
	size_t c;
	uint64_t t, cut;

	(void)state;
	for (c = 0; c < COUNT(cases); c++) {
		/* Which of equal ones is outside shows only when they end, so both must be there then. */
		int whole = strstr(cases[c].rule, "equal") || strstr(cases[c].rule, "together");

		for (cut = 0; cut < (whole ? 1 : 50); cut++) {
			memset(&g, 0, sizeof(g));
			g.pool.finished = count_finished;
			g.pool.ctx = &g;
			while (g.count < COUNT(cases[c].spans) &&
				(cases[c].spans[g.count].start || cases[c].spans[g.count].end)) {
				g.spans[g.count] = cases[c].spans[g.count];
				g.count++;
			}
			if (cut)
				take_chunk(&g, 0, cut);
			take_chunk(&g, cut, 1000);
			assert_int_equal(g.timeline.late, 0);
			for (t = 0; t < 50; t++)
				expect_open(&g, t, cases[c].rule);
			finish(&g, cases[c].rule);
		}
	}
}

/* With `ties`, some begin together: then all must come in one chunk, since before their ends nothing tells which
 * of two is outside. */
static void make_spans(struct rig *g, struct vpt_random *r, int ties)
{
	unsigned char used[TIMES] = {0};
	size_t n = 1 + vpt_random_below(r, RANGES_MAX);

	while (n--) {
		uint64_t start = 1 + vpt_random_below(r, ties ? TIMES / 10 : TIMES - 1);
		uint64_t length = vpt_random_below(r, vpt_random_below(r, 3) ? 20 : TIMES);

		if (used[start] && !ties)
			continue;
		used[start] = 1;
		g->spans[g->count++] = (struct span){start, start + length};
	}
	qsort(g->spans, g->count, sizeof(*g->spans), compare_ends);
}

static void random_ranges_in_random_chunks(void **state)
{
	static struct rig g;
	uint64_t seed;

	(void)state;
	for (seed = 0; seed < SEEDS; seed++) {
		struct vpt_random r = {seed};
		uint64_t from = 0, cut = 0, t, trimmed = 0;
		char rule[40];

		snprintf(rule, sizeof(rule), "seed %llu", (unsigned long long)seed);
		memset(&g, 0, sizeof(g));
		g.pool.finished = count_finished;
		g.pool.ctx = &g;
		make_spans(&g, &r, 0);
		while (cut < 3 * TIMES) {
			cut += 1 + vpt_random_below(&r, 100);
			take_chunk(&g, from, cut);
			/* What is settled stays so, and a trim forgets only what lies before it. */
			if (vpt_random_below(&r, 2)) {
				trimmed = vpt_random_below(&r, cut + 1) > trimmed
						  ? cut / 2 + trimmed / 2
						  : trimmed;
				vpa_timeline_trim(&g.timeline, &g.pool, trimmed);
			}
			for (t = trimmed; t <= cut && t < 3 * TIMES;
				t += 1 + vpt_random_below(&r, 5))
				expect_open(&g, t, rule);
			expect_unfinished(&g, cut, rule);
			from = cut;
		}
		assert_int_equal(g.timeline.late, 0);
		finish(&g, rule);
	}
}

static void random_ranges_that_begin_together(void **state)
{
	static struct rig g;
	uint64_t seed, t;

	(void)state;
	for (seed = 0; seed < SEEDS; seed++) {
		struct vpt_random r = {seed};
		char rule[40];

		snprintf(rule, sizeof(rule), "together, seed %llu", (unsigned long long)seed);
		memset(&g, 0, sizeof(g));
		g.pool.finished = count_finished;
		g.pool.ctx = &g;
		make_spans(&g, &r, 1);
		take_chunk(&g, 0, 1000);
		for (t = 0; t < 2 * TIMES; t++)
			expect_open(&g, t, rule);
		finish(&g, rule);
	}
}

/* A range whose time had been settled without it: no step, but it is reported and counted. */
static void what_comes_too_late_is_counted(void **state)
{
	static struct rig g;

	(void)state;
	memset(&g, 0, sizeof(g));
	g.pool.finished = count_finished;
	g.pool.ctx = &g;
	g.spans[g.count++] = (struct span){50, 60};
	take_chunk(&g, 0, 100);
	g.spans[g.count++] = (struct span){20, 110};
	add(&g, 1, 110);
	assert_int_equal(vpa_timeline_settle(&g.timeline, &g.pool), 0);
	assert_int_equal(g.timeline.late, 1);
	assert_non_null(vpa_range_changes_at(&g.timeline.changes, 55));
	assert_int_equal(vpa_range_changes_at(&g.timeline.changes, 55)->name, 1);
	assert_null(vpa_range_changes_at(&g.timeline.changes, 105));
	finish(&g, "late");
}

/* Each begins in the one before and outlives it, and all stay in one: a chain of parents without end, unless what has
 * ended is taken out. */
static void what_has_ended_is_let_go_of(void **state)
{
	enum { LINKS = 5000, EVERY = 10, HELD_MOST = 3 * EVERY };
	struct vpa_timeline t = {0};
	uint64_t reported = 0, at;
	struct vpa_range_pool pool = {.finished = count_one, .ctx = &reported};
	struct vpa_range *r;

	(void)state;
	for (at = EVERY; at < LINKS; at += EVERY) {
		uint64_t first = at - EVERY, i, depth = 0;

		/* The last one of each chunk is open at its end. */
		if (!end_open(&t, 10 * (first - 1) + 1, 0, 10 * (first - 1) + 15))
			add_range(&t, &pool, 0, UINT64_MAX);
		add_range(&t, &pool, 10 * (at - 1) + 1, UINT64_MAX);
		for (i = first; i < at - 1; i++)
			add_range(&t, &pool, 10 * i + 1, 10 * i + 15);
		assert_int_equal(vpa_timeline_settle(&t, &pool), 0);
		assert_int_equal(t.late, 0);
		vpa_timeline_trim(&t, &pool, 10 * (at - 5));
		r = vpa_range_changes_at(&t.changes, 10 * (at - 5));
		assert_int_equal(r->start_ns, 10 * (at - 6) + 1);
		for (; r; r = vpa_range_around(r, 10 * (at - 5)))
			depth++;
		assert_int_equal(depth, 2);
		assert_in_range(reported, at < HELD_MOST ? 0 : at - HELD_MOST, at);
	}
	vpa_timeline_end(&t, &pool);
	vpa_timeline_free(&t);
	vpa_range_pool_free(&pool);
}

/* Many ranges, each of which outlives the one that it began in, all inside one; two are open at a time. */
static void fill_overlapping(struct vpa_timeline *t, struct vpa_range_pool *pool, uint64_t count)
{
	uint64_t i;

	add_range(t, pool, 1, UINT64_MAX);
	for (i = 1; i <= count; i++)
		add_range(t, pool, 10 * i, 10 * i + 15);
	assert_int_equal(vpa_timeline_settle(t, pool), 0);
	assert_int_equal(t->late + t->deep, 0);
}

/* Who asks what is open looks at that, and at little more. */
static void a_long_chain_is_not_walked_for_what_is_open(void **state)
{
	enum { RANGES = 20000, LOOKED_AT_MOST = 24 };
	struct vpa_timeline t = {0};
	uint64_t reported = 0, i;
	struct vpa_range_pool pool = {.finished = count_one, .ctx = &reported};

	(void)state;
	fill_overlapping(&t, &pool, RANGES);
	for (i = 20; i < RANGES; i++) {
		uint64_t at = 10 * i + 1, looked_at = 0, open = 0;
		struct vpa_range *r = vpa_range_changes_at(&t.changes, at);

		for (; r; looked_at++) {
			open += r->end_ns > at;
			r = r->kind == VPA_RANGE_FORK && at < r->start_ns ? r->before : r->parent;
		}
		assert_int_equal(open, 3);
		assert_in_range(looked_at, 3, LOOKED_AT_MOST);
	}
	vpa_timeline_end(&t, &pool);
	assert_int_equal(reported, RANGES + 1);
	vpa_timeline_free(&t);
	vpa_range_pool_free(&pool);
}

/* Those beyond the limit are counted, and what is around them is known all the same. */
static void ranges_nest_up_to_a_limit(void **state)
{
	enum { DEPTH = 5000 };
	struct vpa_timeline t = {0};
	uint64_t reported = 0, i, open = 0;
	struct vpa_range_pool pool = {.finished = count_one, .ctx = &reported};
	struct vpa_range *r;

	(void)state;
	for (i = DEPTH; i > 0; i--)
		add_range(&t, &pool, i, 3 * DEPTH - i);
	assert_int_equal(vpa_timeline_settle(&t, &pool), 0);
	assert_int_equal(t.deep, DEPTH - VPA_NESTING_MAX);
	r = vpa_range_changes_at(&t.changes, DEPTH + 1);
	assert_int_equal(r->start_ns, VPA_NESTING_MAX);
	for (; r; r = vpa_range_around(r, DEPTH + 1))
		open++;
	assert_int_equal(open, VPA_NESTING_MAX);
	vpa_timeline_end(&t, &pool);
	assert_int_equal(reported, DEPTH);
	vpa_timeline_free(&t);
	vpa_range_pool_free(&pool);
}

static void steps_are_found_from_wherever_the_last_question_was(void **state)
{
	struct vpa_range_changes s = {0};
	struct vpt_random r = {5};
	uint64_t i;

	(void)state;
	for (i = 0; i < 300; i++)
		assert_int_equal(vpa_range_changes_add(&s, 100 + 10 * i, NULL), 0);
	for (i = 0; i < 5000; i++) {
		uint64_t t = vpt_random_below(&r, 3300);

		assert_int_equal(vpa_range_changes_index(&s, t), t < 100 ? SIZE_MAX
								 : (t - 100) / 10 < 300
									 ? (t - 100) / 10
									 : 299);
	}
	for (i = 0; i < 3300; i++)
		assert_int_equal(vpa_range_changes_index(&s, i), i < 100 ? SIZE_MAX
								 : (i - 100) / 10 < 300
									 ? (i - 100) / 10
									 : 299);
	vpa_timeline_free(&(struct vpa_timeline){.changes = s});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nesting_follows_from_starts_and_ends),
		cmocka_unit_test(random_ranges_in_random_chunks),
		cmocka_unit_test(random_ranges_that_begin_together),
		cmocka_unit_test(what_comes_too_late_is_counted),
		cmocka_unit_test(what_has_ended_is_let_go_of),
		cmocka_unit_test(a_long_chain_is_not_walked_for_what_is_open),
		cmocka_unit_test(ranges_nest_up_to_a_limit),
		cmocka_unit_test(steps_are_found_from_wherever_the_last_question_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

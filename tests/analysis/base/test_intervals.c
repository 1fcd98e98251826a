/* test_intervals.c - a set of times, compared with a list of moments that are in it; and spans that come in any
 * order take no longer than others. */
#include "analysis/base/intervals.h"

#include "tests/support/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { MOMENTS = 20000 };

/* Whether the set has the time from moment i to i + 1. */
static uint8_t has[MOMENTS];

static void add(struct vpa_intervals *s, uint64_t start_ns, uint64_t end_ns)
{
	assert_int_equal(vpa_intervals_add(s, start_ns, end_ns), 0);
	if (start_ns < end_ns)
		memset(has + start_ns, 1, end_ns - start_ns);
}

static uint64_t count_in(uint64_t start_ns, uint64_t end_ns)
{
	uint64_t ns = 0;

	for (; start_ns < end_ns; start_ns++)
		ns += has[start_ns];
	return ns;
}

static void compare_spans(const struct vpa_intervals *s)
{
	struct vpa_intervals_at at = {0, 0};
	const struct vpa_interval *span;
	uint64_t from = 0, to;
	size_t count = 0;

	for (; from < MOMENTS; from = to) {
		for (; from < MOMENTS && !has[from]; from++)
			;
		for (to = from; to < MOMENTS && has[to]; to++)
			;
		if (from == to)
			break;
		span = vpa_intervals_next(s, &at);
		assert_non_null(span);
		assert_int_equal(span->start_ns, from);
		assert_int_equal(span->end_ns, to);
		count++;
	}
	assert_null(vpa_intervals_next(s, &at));
	assert_int_equal(s->count, count);
}

static void ask(const struct vpa_intervals *s, uint64_t from, uint64_t to)
{
	struct vpa_intervals_at at;
	const struct vpa_interval *span = vpa_intervals_after(s, from, &at);
	uint64_t next = from;

	assert_int_equal(vpa_intervals_outside(s, from, to), to - from - count_in(from, to));
	assert_int_equal(vpa_intervals_total(s, to), count_in(0, to));
	assert_int_equal(vpa_intervals_touch(s, from, to), count_in(from, to) != 0);
	while (next < MOMENTS && !has[next])
		next++;
	if (next == MOMENTS) {
		assert_null(span);
		return;
	}
	assert_non_null(span);
	assert_true(span->start_ns <= next && next < span->end_ns);
}

/* Short spans, so that blocks are split, and at times long ones, which take in several blocks. */
static void it_has_the_moments_of_its_spans(void **state)
{
	static const struct {
		uint64_t longest;
		int long_every, in_order;
	} cases[] = {{3, 0, 0}, {3, 1500, 0}, {2, 400, 0}, {1, 0, 0}, {9, 3, 0}, {3, 0, 1}};
	struct vpt_random r = {7};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct vpa_intervals s = {.count = 0};

		memset(has, 0, sizeof(has));
		for (k = 0; k < 6000; k++) {
			int is_long = cases[i].long_every &&
				      !vpt_random_below(&r, (uint64_t)cases[i].long_every);
			uint64_t from =
				cases[i].in_order ? k * 3 : vpt_random_below(&r, MOMENTS - 4000);
			uint64_t length =
				vpt_random_below(&r, is_long ? 4000 : cases[i].longest + 1);

			add(&s, from, from + length);
			from = vpt_random_below(&r, MOMENTS);
			if (k % 16 == 0)
				ask(&s, from, from + vpt_random_below(&r, MOMENTS - from));
			if (k % 500 == 0)
				compare_spans(&s);
		}
		compare_spans(&s);
		vpa_intervals_free(&s);
	}
}

static void what_was_dropped_still_counts(void **state)
{
	struct vpa_intervals s = {.count = 0};
	uint64_t i;

	(void)state;
	memset(has, 0, sizeof(has));
	for (i = 0; i < 4000; i++)
		add(&s, i * 5, i * 5 + 2);
	vpa_intervals_trim(&s, 1000);
	assert_int_equal(s.count, 4000);
	vpa_intervals_trim(&s, 15000);
	assert_int_equal(s.count, 4000 - 2048);
	assert_int_equal(vpa_intervals_total(&s, UINT64_MAX), 8000);
	assert_int_equal(vpa_intervals_total(&s, 19000), 7600);
	assert_int_equal(vpa_intervals_outside(&s, 15000, 15100), 60);
	assert_true(vpa_intervals_touch(&s, 3, 4));
	assert_false(vpa_intervals_touch(&s, 15003, 15004));
	vpa_intervals_trim(&s, UINT64_MAX);
	assert_int_equal(s.count, 0);
	assert_int_equal(vpa_intervals_total(&s, UINT64_MAX), 8000);
	assert_int_equal(vpa_intervals_add(&s, 20000, 20010), 0);
	assert_int_equal(vpa_intervals_total(&s, UINT64_MAX), 8010);
	vpa_intervals_free(&s);
}

static void ends_of_time(void **state)
{
	struct vpa_intervals s = {.count = 0};
	struct vpa_intervals_at at;

	(void)state;
	assert_int_equal(vpa_intervals_add(&s, 5, 5), 0);
	assert_int_equal(s.count, 0);
	assert_null(vpa_intervals_after(&s, 0, &at));
	assert_int_equal(vpa_intervals_outside(&s, 0, 7), 7);
	assert_int_equal(vpa_intervals_add(&s, UINT64_MAX - 1, UINT64_MAX), 0);
	assert_int_equal(vpa_intervals_add(&s, 0, 1), 0);
	assert_int_equal(vpa_intervals_after(&s, 1, &at)->end_ns, UINT64_MAX);
	assert_null(vpa_intervals_after(&s, UINT64_MAX, &at));
	assert_int_equal(vpa_intervals_total(&s, UINT64_MAX), 2);
	assert_int_equal(vpa_intervals_add(&s, 0, UINT64_MAX), 0);
	assert_int_equal(s.count, 1);
	assert_int_equal(vpa_intervals_total(&s, UINT64_MAX), UINT64_MAX);
	vpa_intervals_free(&s);
}

/* The time in which `count` spans are added, each before or after all others, and asked for. */
static double seconds_of(uint64_t count)
{
	struct vpa_intervals s = {.count = 0};
	const uint64_t middle = (uint64_t)1 << 40;
	struct timespec from, to;
	uint64_t i;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	for (i = 0; i < count; i++) {
		uint64_t at = i & 1 ? middle + i * 10 : middle - i * 10;

		assert_int_equal(vpa_intervals_add(&s, at, at + 2), 0);
		assert_int_equal(
			vpa_intervals_outside(&s, 0, 2 * middle), 2 * middle - 2 * (i + 1));
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	assert_int_equal(s.count, count);
	vpa_intervals_free(&s);
	return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

/* If each moved all others, sixteen times as many would take 256 times as long. */
static void order_does_not_matter(void **state)
{
	double once, more;
	int tries = 0;

	(void)state;
	do {
		once = seconds_of(20000);
		more = seconds_of(16 * 20000);
	} while (more > 64 * once && ++tries < 5);
	if (more > 64 * once)
		fail_msg("%.1f ms, and %.1f ms for 16 times as many", once * 1e3, more * 1e3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_the_moments_of_its_spans),
		cmocka_unit_test(what_was_dropped_still_counts),
		cmocka_unit_test(ends_of_time),
		cmocka_unit_test(order_does_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

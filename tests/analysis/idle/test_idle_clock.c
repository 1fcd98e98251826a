/* test_idle_clock.c - idle time up to a moment, against adding up all gaps. */
#include "analysis/idle/idle_clock.h"
#include "tests/support/random.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { OPS = 400000, NEWEST = 8192 };

static struct {
	uint64_t start_ns[OPS], end_ns[OPS], idle_ns[OPS];
} all;

static struct vpa_resolver resolver;
static struct vpa_idle_device device;
static struct vpa_idle idle = {.resolver = &resolver, .devices = &device, .device_count = 1};

/* Ops of 10 to 20 us with gaps of less than 2 us, and every 5,000th time one of half a second. */
static void make(uint64_t seed)
{
	struct vpt_random random = {.state = seed};
	uint64_t at_ns = 0, idle_ns = 0;
	size_t i;

	for (i = 0; i < OPS; i++) {
		uint64_t gap_ns = i % 5000 == 77 ? 500000000 : vpt_random_below(&random, 2000);

		all.idle_ns[i] = idle_ns += gap_ns;
		all.start_ns[i] = at_ns += gap_ns;
		all.end_ns[i] = at_ns += 10000 + vpt_random_below(&random, 10000);
	}
}

static void add_all(struct vpa_idle_clock *k, size_t count)
{
	static struct vpa_ops ops;
	size_t i, begin, n;

	for (begin = 0; begin < count; begin += n) {
		n = count - begin < 200 ? count - begin : 200;
		for (i = 0; i < n; i++) {
			size_t at = begin + i;

			ops.start_ns[i] = all.start_ns[at];
			ops.idle_ns[i] = all.idle_ns[at];
		}
		assert_int_equal(vpa_idle_clock_add(k, &ops, 0, n), VPT_OK);
	}
	device.cursor_ns = all.end_ns[count - 1];
}

/* Looking at each op. */
static uint64_t slow(size_t count, uint64_t at_ns)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all.start_ns[middle] < at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == count)
		return all.idle_ns[count - 1] +
		       (at_ns > device.cursor_ns ? at_ns - device.cursor_ns : 0);
	if (low && at_ns < all.end_ns[low - 1])
		at_ns = all.end_ns[low - 1];
	return all.idle_ns[low] - (all.start_ns[low] - at_ns);
}

static void the_newest_are_exact(void **state)
{
	static const size_t counts[] = {1, 2, 200, 1000, 65535, 65536, 65600, 200000, OPS};
	struct vpt_random random = {.state = 5};
	size_t c, i;

	(void)state;
	make(1);
	for (c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		size_t count = counts[c], first = count > NEWEST ? count - NEWEST : 0;
		uint64_t from_ns = first ? all.end_ns[first - 1] : 0;
		uint64_t span_ns = all.end_ns[count - 1] - from_ns + 100000;
		struct vpa_idle_clock k = {0};

		add_all(&k, count);
		for (i = 0; i < 20000; i++) {
			uint64_t at_ns = i % 3 ? from_ns + vpt_random_below(&random, span_ns)
					       : all.start_ns[first + vpt_random_below(&random,
									      count - first)];

			assert_int_equal(
				vpa_idle_clock_at(&k, &idle, 0, at_ns), slow(count, at_ns));
		}
		vpa_idle_clock_free(&k);
	}
}

/* Long gaps are kept, so nothing is off by one; of the short ones of a stretch, by less than those. */
static void what_is_long_ago_is_nearly_exact(void **state)
{
	struct vpt_random random = {.state = 9};
	struct vpa_idle_clock k = {0};
	uint64_t before = 0, worst = 0;
	size_t i;

	(void)state;
	make(2);
	add_all(&k, OPS);
	for (i = 0; i < OPS; i++) {
		uint64_t at_ns = all.start_ns[i] - vpt_random_below(&random, 3000);
		uint64_t found, expected;

		if (at_ns > all.start_ns[i])
			continue;
		found = vpa_idle_clock_at(&k, &idle, 0, at_ns);
		expected = slow(OPS, at_ns);
		worst = found > expected + worst ? found - expected : worst;
		worst = expected > found + worst ? expected - found : worst;
		assert_true(found + 3000 >= before); /* it rises, as the moments nearly do */
		before = found;
	}
	/* 256 gaps of 1 us. */
	assert_in_range(worst, 1, 256000);
	vpa_idle_clock_free(&k);
}

static void a_clock_without_ops_stands_still(void **state)
{
	struct vpa_idle_clock k = {0};

	(void)state;
	assert_int_equal(vpa_idle_clock_at(&k, &idle, 0, 1000), 0);
	vpa_idle_clock_free(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_are_exact),
		cmocka_unit_test(what_is_long_ago_is_nearly_exact),
		cmocka_unit_test(a_clock_without_ops_stands_still),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

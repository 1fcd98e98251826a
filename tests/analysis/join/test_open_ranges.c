/* test_open_ranges.c - ranges that are open are found among very many, by looking at a few. */
#include "analysis/past/open_ranges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { RANGES = 100000, NAMES = 7, LOOKED_AT_MOST = 16 };

static uint64_t start_of(uint32_t i)
{
	return 1000 + (uint64_t)i * 1024;
}

static void fill(struct vpa_open_ranges *o)
{
	uint32_t i;

	for (i = 0; i < RANGES; i++)
		assert_int_equal(vpa_open_add(o, start_of(i), i % NAMES, 3), i);
}

static void a_range_is_found_among_few(void **state)
{
	struct vpa_open_ranges o = {0};
	size_t i, count = 0;

	(void)state;
	fill(&o);
	for (i = 0; i < o.bucket_count; i++) {
		uint32_t at, length = 0;

		for (at = o.buckets[i]; at; at = o.items[at - 1].next)
			length++;
		assert_in_range(length, 0, LOOKED_AT_MOST);
		count += length;
	}
	assert_int_equal(count, RANGES);
	vpa_open_free(&o);
}

static void it_is_found_by_all_that_tells_it_from_others(void **state)
{
	struct vpa_open_ranges o = {0};
	uint32_t i;

	(void)state;
	assert_int_equal(vpa_open_find(&o, start_of(0), 0, 3), VPA_OPEN_NONE);
	fill(&o);
	for (i = 0; i < RANGES; i++) {
		assert_int_equal(vpa_open_find(&o, start_of(i), i % NAMES, 3), i);
		assert_int_equal(vpa_open_find(&o, start_of(i), i % NAMES + 1, 3), VPA_OPEN_NONE);
		assert_int_equal(vpa_open_find(&o, start_of(i) + 1, i % NAMES, 3), VPA_OPEN_NONE);
		assert_int_equal(vpa_open_find(&o, start_of(i), i % NAMES, 4), VPA_OPEN_NONE);
	}
	vpa_open_free(&o);
}

/* One that has ended is open no more, though it keeps its place; that of one dropped is given to the next. */
static void places_are_kept_until_they_are_dropped(void **state)
{
	struct vpa_open_ranges o = {0};
	uint32_t i;

	(void)state;
	fill(&o);
	for (i = 0; i < RANGES; i += 2) {
		vpa_open_end(&o, i, start_of(i) + 9);
		assert_int_equal(vpa_open_find(&o, start_of(i), i % NAMES, 3), VPA_OPEN_NONE);
		assert_int_equal(o.items[i].end_ns, start_of(i) + 9);
	}
	assert_int_equal(vpa_open_add(&o, 5, 1, 3), RANGES);
	vpa_open_drop(&o, 40);
	vpa_open_drop(&o, 20);
	assert_int_equal(vpa_open_add(&o, 5, 1, 3), 20);
	assert_int_equal(vpa_open_add(&o, 5, 1, 3), 40);
	assert_int_equal(vpa_open_add(&o, 5, 1, 3), RANGES + 1);
	for (i = 1; i < RANGES; i += 2)
		assert_int_equal(vpa_open_find(&o, start_of(i), i % NAMES, 3), i);
	vpa_open_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range_is_found_among_few),
		cmocka_unit_test(it_is_found_by_all_that_tells_it_from_others),
		cmocka_unit_test(places_are_kept_until_they_are_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_sort.c - rows come in order, and equal ones keep theirs; a number at a place is that of the sorted ones. */
#include "analysis/base/sort.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/base/error.h"
#include "tests/support/random.h"

enum { ROWS = 300, LISTS = 3000 };

struct row {
	int64_t key, number;
	char filler[5];
};

static int by_key(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Stretches in order, of any length, with few or many keys. */
static size_t make(struct vpt_random *random, struct row *rows)
{
	size_t count = vpt_random_below(random, ROWS), keys = 1 + vpt_random_below(random, 400), i;
	size_t stretch = 1 + vpt_random_below(random, 100);
	int64_t key = 0;

	for (i = 0; i < count; i++) {
		key = vpt_random_below(random, stretch) ? key + (int64_t)vpt_random_below(random, 3)
							: (int64_t)vpt_random_below(random, keys);
		rows[i] = (struct row){key, (int64_t)i, "row"};
	}
	return count;
}

static void test_rows(void **state)
{
	struct vpt_random random = {1};
	struct row rows[ROWS];
	size_t i, k, count;

	(void)state;
	for (i = 0; i < LISTS; i++) {
		count = make(&random, rows);
		assert_int_equal(vpa_sort(rows, count, sizeof(*rows), by_key), VPT_OK);
		for (k = 0; k < count; k++) {
			assert_string_equal(rows[k].filler, "row");
			assert_true(!k || rows[k - 1].key < rows[k].key ||
				    (rows[k - 1].key == rows[k].key &&
					    rows[k - 1].number < rows[k].number));
		}
	}
}

static void test_numbers(void **state)
{
	struct vpt_random random = {2};
	int64_t numbers[ROWS], sorted[ROWS];
	size_t i, k;

	(void)state;
	for (i = 0; i < LISTS; i++) {
		size_t count = 1 + vpt_random_below(&random, ROWS), kind = i % 4, index;

		for (k = 0; k < count; k++)
			numbers[k] = kind == 0   ? (int64_t)vpt_random_nasty(&random)
				     : kind == 1 ? (int64_t)vpt_random_below(&random, 4)
				     : kind == 2 ? (int64_t)k
						 : -(int64_t)k;
		memcpy(sorted, numbers, count * sizeof(*numbers));
		qsort(sorted, count, sizeof(*sorted), by_number);
		index = vpt_random_below(&random, count);
		assert_int_equal(vpa_nth(numbers, count, index), sorted[index]);
		qsort(numbers, count, sizeof(*numbers), by_number);
		assert_memory_equal(numbers, sorted, count * sizeof(*numbers));
	}
}

/* Numbers with something beside them come as rows do, equal ones in the order in which they were. */
static void test_numbered(void **state)
{
	struct vpt_random random = {3};
	struct vpa_numbered items[ROWS];
	size_t i, k;

	(void)state;
	for (i = 0; i < LISTS; i++) {
		size_t count = vpt_random_below(&random, ROWS), kind = i % 5;
		int64_t sum = 0;

		for (k = 0; k < count; k++) {
			items[k].number = kind == 0   ? (int64_t)vpt_random_nasty(&random)
					  : kind == 1 ? (int64_t)vpt_random_below(&random, 4) - 2
					  : kind == 2 ? (int64_t)vpt_random_below(&random, 1 << 23)
					  : kind == 3 ? (int64_t)k
						      : -(int64_t)(k / 2);
			items[k].of = (uint32_t)k;
		}
		assert_int_equal(vpa_sort_numbered(items, count), VPT_OK);
		for (k = 0; k < count; k++) {
			assert_true(!k || items[k - 1].number < items[k].number ||
				    (items[k - 1].number == items[k].number &&
					    items[k - 1].of < items[k].of));
			sum += items[k].of;
		}
		assert_int_equal(sum, count * (count - !!count) / 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_numbered),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

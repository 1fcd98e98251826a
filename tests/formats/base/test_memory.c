/* test_memory.c - the allocation table: sizes that overflow, arrays that grow, allocators that
 * fail. */
#include "formats/base/memory.h"

#include "formats/base/error.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ---- an allocator that counts, remembers the last size, fails on demand, and hands out no zeros ---- */

static int calls, releases, fail_from;
static size_t last_bytes;

static void *counting_resize(void *ptr, size_t size_bytes)
{
	size_t before = ptr ? malloc_usable_size(ptr) : 0;
	void *fresh;

	calls++;
	last_bytes = size_bytes;
	if (fail_from && calls >= fail_from)
		return NULL;
	fresh = malloc(size_bytes);
	if (fresh) {
		memset(fresh, 0xa5, size_bytes);
		if (before)
			memcpy(fresh, ptr, before < size_bytes ? before : size_bytes);
		free(ptr);
	}
	return fresh;
}

static void counting_release(void *ptr)
{
	releases++;
	free(ptr);
}

static const struct vpt_memory_ops counting = {counting_resize, counting_release};

static int use_counting(void **state)
{
	(void)state;
	calls = releases = fail_from = 0;
	last_bytes = 0;
	vpt_memory_use(&counting);
	return 0;
}

static int use_libc(void **state)
{
	(void)state;
	vpt_memory_use(NULL);
	return 0;
}

/* ---- tests ---- */

static void products_are_checked(void **state)
{
	/* asked: the bytes the allocator must see; 0: it must not be asked at all */
	static const struct {
		const char *rule;
		size_t count, size, asked;
	} cases[] = {
		{"a plain product", 3, 8, 24},
		{"no elements still give a pointer", 0, 8, 1},
		{"elements of no size do too", 8, 0, 1},
		{"a product past SIZE_MAX", SIZE_MAX, 2, 0},
		{"one that wraps to a small number", SIZE_MAX / 2 + 2, 2, 0},
		{"one that wraps to exactly zero", SIZE_MAX / 2 + 1, 2, 0},
		{"more than a pointer difference can span", (size_t)PTRDIFF_MAX + 1, 1, 0},
	};
	static void *(*const functions[])(size_t, size_t) = {vpt_alloc, vpt_calloc};
	size_t i, f;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (f = 0; f < 2; f++) {
			void *ptr;

			calls = 0;
			ptr = functions[f](cases[i].count, cases[i].size);
			if (!ptr != !cases[i].asked || calls != !!cases[i].asked)
				fail_msg("%s: pointer %p, %d calls", cases[i].rule, ptr, calls);
			if (cases[i].asked)
				assert_int_equal(last_bytes, cases[i].asked);
			vpt_free(ptr);
		}
}

static void calloc_gives_zeroes(void **state)
{
	static const char zeroes[64];
	char *dirty = vpt_alloc(64, 1), *clean;

	(void)state;
	memset(dirty, 0xaa, 64);
	vpt_free(dirty); /* likely to be handed out again */
	clean = vpt_calloc(8, 8);
	assert_memory_equal(clean, zeroes, sizeof(zeroes));
	vpt_free(clean);
}

static void arrays_double(void **state)
{
	static const struct {
		const char *rule;
		size_t cap, need, cap_after, calls;
	} cases[] = {
		{"nothing needed, nothing done", 0, 0, 0, 0},
		{"the first element makes room for 16", 0, 1, 16, 1},
		{"what fits is left alone", 16, 16, 16, 0},
		{"one more doubles", 16, 17, 32, 1},
		{"doubling goes on until it is enough", 16, 100, 128, 1},
		{"an odd capacity doubles as it is", 5, 6, 10, 1},
	};
	size_t i, cap;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t *array = cases[i].cap ? vpt_alloc(cases[i].cap, sizeof(*array)) : NULL;

		cap = cases[i].cap;
		calls = 0;
		assert_int_equal(vpt_grow(&array, &cap, cases[i].need, sizeof(*array)), VPT_OK);
		if (cap != cases[i].cap_after || (size_t)calls != cases[i].calls)
			fail_msg("%s: capacity %zu after %d calls", cases[i].rule, cap, calls);
		vpt_free(array);
	}
}

static void growth_keeps_the_elements(void **state)
{
	uint64_t *array = NULL;
	size_t cap = 0, count;

	(void)state;
	for (count = 0; count < 1000; count++) {
		assert_int_equal(vpt_grow(&array, &cap, count + 1, sizeof(*array)), VPT_OK);
		array[count] = count * count;
	}
	for (count = 0; count < 1000; count++)
		assert_int_equal(array[count], count * count);
	assert_true(calls < 10);
	vpt_free(array);
}

/* Whatever the memory held before. */
static void elements_nobody_wrote_are_zero(void **state)
{
	uint64_t *array = NULL;
	size_t cap = 0, need, i;

	(void)state;
	for (need = 0; need < 3000; need += 7) {
		size_t before = cap;

		assert_int_equal(vpt_grow_zeroed(&array, &cap, need, sizeof(*array)), VPT_OK);
		assert_true(cap >= need);
		for (i = 0; i < cap; i++)
			if (array[i] != (i < before ? ~i : 0))
				fail_msg("need %zu: element %zu is %llx", need, i,
					(unsigned long long)array[i]);
		for (i = before; i < cap; i++)
			array[i] = ~i;
	}
	assert_true(calls < 10);
	vpt_free(array);
}

static void growth_that_fails_changes_nothing(void **state)
{
	static const struct {
		const char *rule;
		size_t need, size;
		int fail_from;
	} cases[] = {
		{"no memory", 17, 8, 1},
		{"a capacity that cannot double", SIZE_MAX, 1, 0},
		{"a capacity that cannot double, just", SIZE_MAX / 2 + 2, 1, 0},
		{"bytes past SIZE_MAX", SIZE_MAX / 4, 8, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *array = vpt_alloc(16, 8), *before = array;
		size_t cap = 16;
		int rc;

		memset(array, 'x', 128);
		calls = 0;
		fail_from = cases[i].fail_from;
		rc = vpt_grow(&array, &cap, cases[i].need, cases[i].size);
		if (rc != VPT_ENOMEM || array != before || cap != 16)
			fail_msg("%s: code %d, capacity %zu", cases[i].rule, rc, cap);
		rc = vpt_grow_zeroed(&array, &cap, cases[i].need, cases[i].size);
		fail_from = 0;
		if (rc != VPT_ENOMEM || array != before || cap != 16)
			fail_msg("zeroed, %s: code %d, capacity %zu", cases[i].rule, rc, cap);
		assert_int_equal(array[127], 'x');
		vpt_free(array);
	}
}

static void copies_end_in_a_nul(void **state)
{
	char *copy = vpt_strndup("kernel<float>", 6);

	(void)state;
	assert_string_equal(copy, "kernel");
	assert_int_equal(last_bytes, 7);
	vpt_free(copy);

	copy = vpt_strndup("", 0);
	assert_string_equal(copy, "");
	vpt_free(copy);

	copy = vpt_strndup("a\0b", 3);
	assert_memory_equal(copy, "a\0b", 4);
	vpt_free(copy);
	assert_null(vpt_strndup("", SIZE_MAX));
}

static void a_failing_table_fails_them_all(void **state)
{
	int *array = NULL;
	size_t cap = 0;

	(void)state;
	fail_from = 1;
	assert_null(vpt_alloc(1, 1));
	assert_null(vpt_calloc(1, 1));
	assert_null(vpt_strndup("a", 1));
	assert_int_equal(vpt_grow(&array, &cap, 1, sizeof(*array)), VPT_ENOMEM);
	assert_null(array);
	assert_int_equal(calls, 4);
}

static void freeing_null_asks_nobody(void **state)
{
	void *ptr = vpt_alloc(1, 1);

	(void)state;
	vpt_free(NULL);
	assert_int_equal(releases, 0);
	vpt_free(ptr);
	assert_int_equal(releases, 1);
}

static void tables_are_swapped_and_given_back(void **state)
{
	static const struct vpt_memory_ops other = {counting_resize, counting_release};
	const struct vpt_memory_ops *libc;

	(void)state;
	assert_ptr_equal(vpt_memory_use(&other), &counting);
	assert_ptr_equal(vpt_memory_use(NULL), &other);
	libc = vpt_memory_use(&counting);
	assert_ptr_not_equal(libc, &counting);
	assert_ptr_equal(vpt_memory_use(libc), &counting);
	assert_ptr_equal(vpt_memory_use(NULL), libc);
}

static void what_is_beyond_the_bound_is_refused(void **state)
{
	void *a, *b;

	(void)state;
	vpt_memory_use(NULL);
	vpt_memory_bound(1 << 20);
	a = vpt_alloc(400 << 10, 1);
	assert_non_null(a);
	assert_int_equal(vpt_memory_is_scarce(), 0);
	b = vpt_alloc(400 << 10, 1);
	assert_non_null(b);
	assert_int_equal(vpt_memory_is_scarce(), 1);
	assert_int_equal(vpt_memory_was_refused(), 0);
	assert_null(vpt_alloc(400 << 10, 1));
	assert_int_equal(vpt_memory_was_refused(), 1);
	/* What is given back can be had again, and a bound can be raised. */
	vpt_free(a);
	a = vpt_alloc(400 << 10, 1);
	assert_non_null(a);
	vpt_memory_bound(2 << 20);
	vpt_free(b);
	b = vpt_alloc(1400 << 10, 1);
	assert_non_null(b);
	vpt_free(a);
	vpt_free(b);
	assert_int_equal(vpt_memory_is_scarce(), 0);
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, use_counting, use_libc)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RULE(products_are_checked),
		RULE(calloc_gives_zeroes),
		RULE(arrays_double),
		RULE(growth_keeps_the_elements),
		RULE(elements_nobody_wrote_are_zero),
		RULE(growth_that_fails_changes_nothing),
		RULE(copies_end_in_a_nul),
		RULE(a_failing_table_fails_them_all),
		RULE(freeing_null_asks_nobody),
		RULE(tables_are_swapped_and_given_back),
		cmocka_unit_test(what_is_beyond_the_bound_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

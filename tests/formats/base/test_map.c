/* test_map.c - elements are found by what they hold, as by looking at all of them, whatever their
 * hashes are; and a map that cannot grow is as it was. */
#include "formats/base/map.h"

#include "formats/base/error.h"
#include "formats/base/hash.h"
#include "formats/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ELEMENTS = 3000 };

static uint64_t elements[ELEMENTS];
static uint32_t element_count;

/* ---- hashes, from good to useless ---- */

static uint64_t good(uint64_t key)
{
	return vpt_hash_number(key);
}

static uint64_t itself(uint64_t key)
{
	return key;
}

static uint64_t upper_half(uint64_t key)
{
	return key << 32;
}

static uint64_t last_slot(uint64_t key)
{
	return UINT64_MAX - key % 3;
}

static uint64_t of_few(uint64_t key)
{
	return key % 7;
}

static uint32_t found(const struct vpt_map *m, uint64_t (*hash)(uint64_t), uint64_t key)
{
	uint64_t h = hash(key), at = h;
	uint32_t n;

	while ((n = vpt_map_next(m, h, &at)) != VPT_MAP_NONE)
		if (elements[n] == key)
			return n;
	return VPT_MAP_NONE;
}

static uint32_t looked_up(uint64_t key)
{
	uint32_t n;

	for (n = 0; n < element_count; n++)
		if (elements[n] == key)
			return n;
	return VPT_MAP_NONE;
}

static void it_finds_what_a_look_at_all_finds(void **state)
{
	static const struct {
		const char *rule;
		uint64_t (*hash)(uint64_t);
		uint32_t count;
	} cases[] = {
		{"a good hash", good, ELEMENTS},
		{"numbers as they are", itself, ELEMENTS},
		{"low halves that are all equal", upper_half, 300},
		{"runs over the end of the slots", last_slot, 300},
		{"seven hashes", of_few, 300},
	};
	struct vpt_map m = {0};
	uint64_t key;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		vpt_map_reset(&m);
		for (element_count = 0; element_count < cases[i].count;) {
			key = (uint64_t)rand() % (cases[i].count * 2);
			if (found(&m, cases[i].hash, key) != looked_up(key))
				fail_msg("%s: %llu of %u", cases[i].rule, (unsigned long long)key,
					element_count);
			if (looked_up(key) == VPT_MAP_NONE)
				assert_int_equal(
					vpt_map_put(&m, cases[i].hash(key), element_count), 0);
			elements[element_count++] = key;
		}
		for (key = 0; key < cases[i].count * 2; key++)
			if (found(&m, cases[i].hash, key) != looked_up(key))
				fail_msg("%s: %llu at the end", cases[i].rule,
					(unsigned long long)key);
	}
	vpt_map_free(&m);
}

static void numbers_of_one_hash_come_in_their_order(void **state)
{
	struct vpt_map m = {0};
	uint32_t n, count;

	(void)state;
	for (count = 0; count < 200; count++) {
		uint64_t at = UINT64_MAX;

		assert_int_equal(vpt_map_put(&m, UINT64_MAX, count), 0);
		assert_int_equal(vpt_map_put(&m, count * 5, 1000 + count), 0);
		for (n = 0; n <= count; n++)
			assert_int_equal(vpt_map_next(&m, UINT64_MAX, &at), n);
		assert_int_equal(vpt_map_next(&m, UINT64_MAX, &at), VPT_MAP_NONE);
	}
	vpt_map_free(&m);
}

static int no_memory;

static void *failing_resize(void *ptr, size_t size_bytes)
{
	return no_memory ? NULL : realloc(ptr, size_bytes);
}

static const struct vpt_memory_ops failing = {failing_resize, free};

static void a_map_that_cannot_grow_is_as_before(void **state)
{
	struct vpt_map m = {0};
	uint32_t put = 0, refused = 0, n;

	(void)state;
	vpt_memory_use(&failing);
	no_memory = 1;
	assert_int_equal(vpt_map_put(&m, 1, 0), VPT_ENOMEM);
	assert_int_equal(found(&m, itself, 1), VPT_MAP_NONE);
	while (put < 500) {
		elements[put] = put;
		no_memory = put % 3 != 0;
		if (vpt_map_put(&m, put, put)) {
			refused++;
			no_memory = 0;
			assert_int_equal(found(&m, itself, put), VPT_MAP_NONE);
			assert_int_equal(vpt_map_put(&m, put, put), 0);
		}
		put++;
		for (n = 0; n < put; n++)
			assert_int_equal(found(&m, itself, n), n);
	}
	no_memory = 0;
	assert_true(refused > 0);
	assert_int_equal(m.count, 500);
	vpt_map_free(&m);
	vpt_memory_use(NULL);
}

static void an_empty_map_finds_nothing(void **state)
{
	struct vpt_map m = {0};

	(void)state;
	assert_int_equal(found(&m, good, 1), VPT_MAP_NONE);
	assert_int_equal(vpt_map_put(&m, 5, VPT_MAP_NONE), VPT_ENOMEM);
	elements[0] = 1;
	assert_int_equal(vpt_map_put(&m, good(1), 0), 0);
	assert_int_equal(found(&m, good, 1), 0);
	vpt_map_reset(&m);
	assert_int_equal(found(&m, good, 1), VPT_MAP_NONE);
	vpt_map_free(&m);
	vpt_map_free(&m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_finds_what_a_look_at_all_finds),
		cmocka_unit_test(numbers_of_one_hash_come_in_their_order),
		cmocka_unit_test(a_map_that_cannot_grow_is_as_before),
		cmocka_unit_test(an_empty_map_finds_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

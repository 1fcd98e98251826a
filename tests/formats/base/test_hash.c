/* test_hash.c - hashes have a key that differs in each run, and with it numbers chosen for what they have in common
 * spread as others do. */
#include "formats/base/hash.h"

#include "formats/base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* CPython's hash of the same bytes, with PYTHONHASHSEED=0. */
static void text_is_hashed_with_siphash_1_3(void **state)
{
	static const struct {
		size_t length;
		uint64_t hash;
	} cases[] = {
		{1, 0x68a914128e01e473},
		{7, 0x2f098ab0c751325a},
		{8, 0xead411e67ebe2eea},
		{9, 0x75927f9d95124362},
		{15, 0xf30eb725bb91c9ea},
		{16, 0x8972188433a5c5b7},
		{63, 0x385d3e39e5f37359},
	};
	struct vpt_hash_keys before = vpt_hash_keys;
	unsigned char bytes[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	memset(vpt_hash_keys.text, 0, sizeof(vpt_hash_keys.text));
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(vpt_hash(bytes, cases[i].length), cases[i].hash);
	vpt_hash_keys = before;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_not_equal(vpt_hash(bytes, cases[i].length), cases[i].hash);
}

/* What a run of this program says of its hashes. */
static void ask_another_run(char *answer, size_t size)
{
	char path[4096], command[4200];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	FILE *run;

	assert_true(length > 0);
	path[length] = 0;
	snprintf(command, sizeof(command), "'%s' hashes", path);
	run = popen(command, "r"); /* NOLINT(cert-env33-c) */
	assert_non_null(run);
	assert_non_null(fgets(answer, (int)size, run));
	assert_int_equal(pclose(run), 0);
}

static void each_run_has_its_own_key(void **state)
{
	unsigned long long first[4], second[4];
	char answer[200];
	int i;

	(void)state;
	ask_another_run(answer, sizeof(answer));
	assert_int_equal(
		sscanf(answer, "%llx %llx %llx %llx", &first[0], &first[1], &first[2], &first[3]),
		4);
	ask_another_run(answer, sizeof(answer));
	assert_int_equal(sscanf(answer, "%llx %llx %llx %llx", &second[0], &second[1], &second[2],
				 &second[3]),
		4);
	for (i = 0; i < 4; i++)
		assert_int_not_equal(first[i], second[i]);
}

static int say_hashes(void)
{
	const uint64_t words[] = {1, 2, 3};

	printf("%llx %llx %llx %llx\n", (unsigned long long)vpt_hash("name", 4),
		(unsigned long long)vpt_hash_number(7),
		(unsigned long long)vpt_hash_words(words, 3), (unsigned long long)vpt_hash_near(7));
	return 0;
}

/* ---- spread ---- */

enum { COUNT = 1 << 16 };

/* The i-th number of a set that somebody chose. */
typedef uint64_t choice(uint64_t i);

static uint64_t in_a_row(uint64_t i)
{
	return i;
}

static uint64_t high_halves(uint64_t i)
{
	return i << 32;
}

static uint64_t highest_bits(uint64_t i)
{
	return i << 48;
}

static uint64_t every_millionth(uint64_t i)
{
	return i << 20;
}

static uint64_t rows_with_gaps(uint64_t i)
{
	return (i >> 5 << 30) + (i & 31);
}

/* The inverse of vpt_mix(): all of these have the same low half there. */
static uint64_t unmixed(uint64_t i)
{
	uint64_t h = i << 32 | 0x1234567, inverse = 0x9e3779b97f4a7c15u;
	int k;

	for (k = 0; k < 6; k++)
		inverse *= 2 - 0x9e3779b97f4a7c15u * inverse;
	h ^= h >> 29 ^ h >> 58;
	h *= inverse;
	return h ^ h >> 32;
}

static uint64_t of_number(uint64_t number)
{
	return vpt_hash_number(number);
}

static uint64_t of_first(uint64_t number)
{
	return vpt_hash_pair(number, 5);
}

static uint64_t of_second(uint64_t number)
{
	return vpt_hash_pair(UINT64_MAX, number);
}

static uint64_t of_both(uint64_t number)
{
	return vpt_hash_pair(number, number);
}

static uint64_t of_words(uint64_t number)
{
	const uint64_t words[] = {0, 0, number, 0, number, 1, 1};

	return vpt_hash_words(words, 7);
}

static uint64_t of_text(uint64_t number)
{
	return vpt_hash(&number, sizeof(number));
}

/* Slots that a map looks at, to find each element once. Half as many as elements, with a good hash. */
static uint64_t looked_at(choice *chosen, uint64_t (*hash)(uint64_t))
{
	struct vpt_map m = {0};
	uint64_t looks = 0, i;

	for (i = 0; i < COUNT; i++)
		assert_int_equal(vpt_map_put(&m, hash(chosen(i)), (uint32_t)i), 0);
	for (i = 0; i < COUNT; i++) {
		uint64_t h = hash(chosen(i)), at;

		for (at = h; m.slots[at & (m.slot_count - 1)].number != i + 1; at++)
			looks++;
	}
	vpt_map_free(&m);
	return looks;
}

/* Entries that are passed before one is found, in chains of as many buckets. Half as many as entries, with a good hash. */
static uint64_t passed_in_chains(choice *chosen, uint64_t (*hash)(uint64_t))
{
	uint32_t *chains = calloc(COUNT, sizeof(*chains));
	uint64_t passed = 0, i;

	assert_non_null(chains);
	for (i = 0; i < COUNT; i++)
		passed += chains[hash(chosen(i)) & (COUNT - 1)]++;
	free(chains);
	return passed;
}

static const struct {
	const char *name;
	choice *chosen;
} choices[] = {
	{"in a row", in_a_row},
	{"high halves", high_halves},
	{"highest bits", highest_bits},
	{"every millionth", every_millionth},
	{"rows with gaps", rows_with_gaps},
	{"the same without a key", unmixed},
};

static void chosen_numbers_spread(void **state)
{
	static const struct {
		const char *name;
		uint64_t (*hash)(uint64_t);
	} hashes[] = {
		{"number", of_number},
		{"first of two", of_first},
		{"second of two", of_second},
		{"both of two", of_both},
		{"words", of_words},
		{"text", of_text},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(choices) / sizeof(*choices); i++)
		for (k = 0; k < sizeof(hashes) / sizeof(*hashes); k++) {
			uint64_t looks = looked_at(choices[i].chosen, hashes[k].hash);

			if (looks > COUNT)
				fail_msg("%s, %s: %llu slots", choices[i].name, hashes[k].name,
					(unsigned long long)looks);
		}
}

static void ids_spread_in_chains(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		uint64_t passed = passed_in_chains(choices[i].chosen, vpt_hash_near);

		if (passed > COUNT)
			fail_msg("%s: %llu passed", choices[i].name, (unsigned long long)passed);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_hashed_with_siphash_1_3),
		cmocka_unit_test(each_run_has_its_own_key),
		cmocka_unit_test(chosen_numbers_spread),
		cmocka_unit_test(ids_spread_in_chains),
	};

	if (argc > 1 && !strcmp(argv[1], "hashes"))
		return say_hashes();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

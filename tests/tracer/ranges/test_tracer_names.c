/* test_tracer_names.c - the names of ranges: the same bytes have the same number, whoever asks and whenever. */
#include "tracer/ranges/words/range_strings.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static int has_text(uint32_t name, const char *text, size_t len)
{
	size_t found;
	const char *there = vtr_name_text(name, &found);

	return found == len && !memcmp(there, text, len);
}

/* Runs in the process as it begins: later tests have the table. */
static void without_a_table_every_name_is_refused(void **state)
{
	size_t len;

	(void)state;
	assert_int_equal(vtr_name("a", 1), VTR_NAME_REFUSED);
	assert_int_equal(vtr_name_of("a"), VTR_NAME_REFUSED);
	assert_int_equal(vtr_name_of(NULL), VTR_NAME_EMPTY);
	assert_int_equal(vtr_names_refused(), 2);
	assert_string_equal(vtr_name_text(VTR_NAME_REFUSED, &len), "(too many names)");
	assert_int_equal(vtr_names_init(), 0);
	assert_int_equal(vtr_names_init(), 0);
}

static void numbers_are_given_once(void **state)
{
	static const struct {
		const char *rule, *text;
		size_t len;
	} cases[] = {
		{"one byte", "a", 1},
		{"another", "b", 1},
		{"two bytes of the same word", "ab", 2},
		{"three", "abc", 3},
		{"four", "abcd", 4},
		{"seven", "abcdefg", 7},
		{"eight", "abcdefgh", 8},
		{"nine", "abcdefghi", 9},
		{"another ending", "abcdefghj", 9},
		{"sixteen", "abcdefghijklmnop", 16},
		{"a NUL inside", "abc\0def", 7},
		{"a NUL at the end", "abc\0", 4},
		{"only a NUL", "\0", 1},
		{"no UTF-8", "\xff\xfe\x80", 3},
		{"what stands for all refused names", "(too many names)", 16},
	};
	uint32_t numbers[sizeof(cases) / sizeof(cases[0])];
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		numbers[i] = vtr_name(cases[i].text, cases[i].len);
		assert_true(numbers[i] > VTR_NAME_REFUSED && numbers[i] < vtr_names_count());
		for (k = 0; k < i; k++)
			assert_int_not_equal(numbers[i], numbers[k]);
	}
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (vtr_name(cases[i].text, cases[i].len) != numbers[i])
			fail_msg("%s: another number", cases[i].rule);
		if (!has_text(numbers[i], cases[i].text, cases[i].len))
			fail_msg("%s: another text", cases[i].rule);
	}
	assert_int_equal(vtr_name(NULL, 5), VTR_NAME_EMPTY);
	assert_int_equal(vtr_name("x", 0), VTR_NAME_EMPTY);
	assert_int_equal(vtr_name_of(""), VTR_NAME_EMPTY);
	assert_true(has_text(VTR_NAME_EMPTY, "", 0));
	assert_true(has_text(VTR_NAMES_MAX - 1, "", 0));
	assert_true(has_text(UINT32_MAX, "", 0));
}

static void a_buffer_that_is_used_again_is_looked_at_again(void **state)
{
	char text[64], copy[64];
	int i, round;

	(void)state;
	for (round = 0; round < 3; round++)
		for (i = 0; i < 100; i++) {
			uint32_t name;

			snprintf(text, sizeof(text), "temporary %d", i);
			memcpy(copy, text, sizeof(copy));
			name = vtr_name_of(text);
			assert_int_equal(name, vtr_name_of(text));
			assert_int_equal(name, vtr_name(copy, strlen(copy)));
			text[strlen(text) - 1] = 0; /* the front of a known text is another text */
			assert_int_not_equal(name, vtr_name_of(text));
		}
}

enum { PAIRS = 13, WORD = 8 };

/* The seconds it takes to intern 2^PAIRS names: each pair of words stands there as it is or, if the name's bit is
 * set, with the differences `first` and `second`. */
static double time_names(uint64_t first, uint64_t second)
{
	struct timespec from, to;
	unsigned i, k;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (i = 0; i < 1u << PAIRS; i++) {
		uint64_t words[2 * PAIRS];
		uint32_t name;

		memset(words, 'x', sizeof(words));
		for (k = 0; k < PAIRS; k++) {
			words[2 * k] ^= i >> k & 1 ? first : 0;
			words[2 * k + 1] ^= i >> k & 1 ? second : 0;
		}
		name = vtr_name((const char *)words, sizeof(words));
		assert_true(has_text(name, (const char *)words, sizeof(words)));
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

/* A product with a known odd factor, and then an XOR with its upper half, turn a difference of the highest bit into one
 * of two bits, whatever else the word is. Such names collided by the thousand, and each took as many steps. */
static void nobody_can_choose_names_that_collide(void **state)
{
	const uint64_t high = UINT64_C(1) << 63;
	double usual = time_names(1, 1), chosen = time_names(high, high | high >> 32);

	(void)state;
	if (chosen > 10 * usual + 0.01)
		fail_msg("%f s for chosen names, %f s for others", chosen, usual);
}

static void long_names_are_cut(void **state)
{
	static char text[65536];
	size_t len;
	uint32_t name;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	name = vtr_name_of(text);
	vtr_name_text(name, &len);
	assert_int_equal(len, VTR_NAME_BYTES_MAX);
	assert_int_equal(name, vtr_name(text, sizeof(text) - 1));
	assert_int_equal(name, vtr_name(text, VTR_NAME_BYTES_MAX));
	assert_int_not_equal(name, vtr_name(text, VTR_NAME_BYTES_MAX - 1));

	memcpy(text + VTR_NAME_BYTES_MAX - 2, "\xe2\x82\xac", 3); /* a character across the cut */
	vtr_name_text(vtr_name_of(text), &len);
	assert_int_equal(len, VTR_NAME_BYTES_MAX - 2);
	memset(text, 0x80, sizeof(text) - 1); /* no character begins anywhere near */
	vtr_name_text(vtr_name_of(text), &len);
	assert_int_equal(len, VTR_NAME_BYTES_MAX);
}

enum { SHARED = 4000, RACERS = 8 };

static uint32_t shared[RACERS][SHARED];
static pthread_barrier_t gate;

static void *race(void *arg)
{
	size_t me = (size_t)arg, i;
	char text[32];

	pthread_barrier_wait(&gate);
	for (i = 0; i < SHARED; i++) {
		size_t which = (i + me * 7) % SHARED;

		snprintf(text, sizeof(text), "shared %zu", which);
		shared[me][which] = vtr_name_of(text);
	}
	return NULL;
}

static void threads_that_meet_a_name_together_agree(void **state)
{
	static unsigned char seen[VTR_NAMES_MAX];
	pthread_t threads[RACERS];
	uint32_t before = vtr_names_count();
	size_t i, k;

	(void)state;
	pthread_barrier_init(&gate, NULL, RACERS);
	for (i = 0; i < RACERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, race, (void *)i), 0);
	for (i = 0; i < RACERS; i++)
		pthread_join(threads[i], NULL);
	for (k = 0; k < SHARED; k++) {
		char text[32];

		snprintf(text, sizeof(text), "shared %zu", k);
		assert_true(has_text(shared[0][k], text, strlen(text)));
		assert_int_equal(seen[shared[0][k]]++, 0);
		for (i = 1; i < RACERS; i++)
			assert_int_equal(shared[i][k], shared[0][k]);
	}
	/* A race may leave a number unused, but rarely. */
	assert_true(vtr_names_count() - before >= SHARED);
	assert_true(vtr_names_count() - before < SHARED + SHARED / 4);
}

/* Caps stay reached, so each test has a separate process. */
static void in_a_child(int (*body)(void))
{
	int status;
	pid_t child = fork();

	if (!child)
		_exit(body());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int fill_numbers(void)
{
	uint64_t refused = vtr_names_refused();
	uint32_t known = vtr_name_of("known before"), i;
	char text[32];

	for (i = 0; vtr_names_count() < VTR_NAMES_MAX; i++) {
		snprintf(text, sizeof(text), "filler %u", i);
		if (vtr_name_of(text) == VTR_NAME_REFUSED)
			return 1;
	}
	if (vtr_name_of("one too many") != VTR_NAME_REFUSED)
		return 2;
	if (vtr_name_of("one too many") != VTR_NAME_REFUSED)
		return 3;
	if (vtr_names_refused() != refused + 2)
		return 4;
	if (vtr_name_of("known before") != known)
		return 5;
	return vtr_names_count() == VTR_NAMES_MAX ? 0 : 6;
}

static int fill_bytes(void)
{
	static char text[VTR_NAME_BYTES_MAX + 1];
	uint32_t i, count;

	memset(text, 'y', VTR_NAME_BYTES_MAX);
	for (i = 0; i <= VTR_NAMES_BYTES_MAX / VTR_NAME_BYTES_MAX; i++) {
		snprintf(text, sizeof(text), "%010u", i);
		text[10] = 'y';
		if (vtr_name_of(text) == VTR_NAME_REFUSED)
			break;
	}
	if (vtr_names_refused() == 0 || i > VTR_NAMES_BYTES_MAX / VTR_NAME_BYTES_MAX)
		return 1;
	count = vtr_names_count();
	if (vtr_name_of(text) != VTR_NAME_REFUSED)
		return 2;
	return vtr_names_count() == count ? 0 : 3; /* a refusal takes no number */
}

static void there_is_an_end_of_numbers(void **state)
{
	(void)state;
	in_a_child(fill_numbers);
}

static void there_is_an_end_of_bytes(void **state)
{
	(void)state;
	in_a_child(fill_bytes);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_table_every_name_is_refused),
		cmocka_unit_test(numbers_are_given_once),
		cmocka_unit_test(a_buffer_that_is_used_again_is_looked_at_again),
		cmocka_unit_test(nobody_can_choose_names_that_collide),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(threads_that_meet_a_name_together_agree),
		cmocka_unit_test(there_is_an_end_of_numbers),
		cmocka_unit_test(there_is_an_end_of_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

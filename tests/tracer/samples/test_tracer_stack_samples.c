/* The queue and the tables between the sampler of stacks and the writer. */
#include "formats/capture_layout.h"
#include "tests/support/random.h"
#include "tracer/python_stacks/stack_samples.h"
#include "tracer/python_stacks/thread_state.h"
#include "tracer/ranges/cuda_callers.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static struct vtr_stack_samples *samples;
static struct vtr_stack_path path;

static int begin(void **state)
{
	(void)state;
	samples = vtr_stack_samples_new();
	memset(&path, 0, sizeof(path));
	return samples ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	vtr_stack_samples_free(samples);
	return 0;
}

static uint32_t place(const char *function, uint32_t line)
{
	struct vtr_code_place p = {.line = line};

	p.function = vtr_code_places_text(&samples->places, function, strlen(function));
	p.file = vtr_code_places_text(&samples->places, "a.py", 4);
	return vtr_code_places_put(&samples->places, &p);
}

static void append(void *ctx, struct vpt_text function, struct vpt_text file, uint32_t line)
{
	char *text = ctx;

	sprintf(text + strlen(text), "%.*s %.*s:%u;", (int)function.len, function.text,
		(int)file.len, file.text, line);
}

static void a_stack_is_interned_once_and_read_from_the_base_on(void **state)
{
	uint32_t outer = place("main", 10), inner = place("run", 20), last = place("step", 30);
	uint32_t one[] = {inner, outer}, two[] = {last, inner, outer};
	uint32_t a = vtr_stack_samples_stack(samples, &path, one, 2);
	uint32_t b = vtr_stack_samples_stack(samples, &path, two, 3);
	char text[200] = "";

	(void)state;
	assert_int_equal(vtr_stack_samples_stack(samples, &path, NULL, 0), 0);
	assert_int_equal(vtr_stack_samples_stack(samples, &path, one, 2), a);
	assert_int_equal(samples->nodes[b].caller, a);
	vtr_stack_samples_frames(samples, b, append, text);
	assert_string_equal(text, "main a.py:10;run a.py:20;step a.py:30;");
}

/* Stacks that share callers with the one before, or none, also deeper than a path keeps. */
static void a_path_changes_no_number(void **state)
{
	enum { DEEPEST = VTR_STACK_PATH_MAX + 40, STACKS = 3000 };
	struct vtr_stack_path none;
	uint32_t places[DEEPEST], count = 0, i, k, n;
	struct vpt_random r = {7};

	(void)state;
	for (i = 0; i < 20; i++)
		place("f", i);
	for (n = 0; n < STACKS; n++) {
		uint32_t drop = (uint32_t)vpt_random_below(&r, n % 50 ? 4 : count + 1);

		drop = drop < count ? drop : count;
		memmove(places, places + drop, (count - drop) * sizeof(*places));
		count -= drop;
		for (k = (uint32_t)vpt_random_below(&r, 6); k && count < DEEPEST; k--) {
			memmove(places + 1, places, count++ * sizeof(*places));
			places[0] = 1 + (uint32_t)vpt_random_below(&r, 20);
		}
		memset(&none, 0, sizeof(none));
		assert_int_equal(vtr_stack_samples_stack(samples, &path, places, count),
			vtr_stack_samples_stack(samples, &none, places, count));
	}
	assert_true(samples->node_count > DEEPEST);
}

static void samples_beyond_the_queue_are_refused_and_counted(void **state)
{
	struct vtr_stack_sample s = {0}, out[16];
	uint64_t next = 0;
	size_t n, i;

	(void)state;
	for (i = 0; i < VTR_STACK_SAMPLES_MAX; i++) {
		s.time_ns = i;
		assert_int_equal(vtr_stack_samples_put(samples, &s), 0);
	}
	assert_int_equal(vtr_stack_samples_put(samples, &s), -1);
	assert_int_equal(samples->refused, 1);
	while ((n = vtr_stack_samples_take(samples, out, 16)) > 0)
		for (i = 0; i < n; i++)
			assert_int_equal(out[i].time_ns, next++);
	assert_int_equal(next, VTR_STACK_SAMPLES_MAX);
	assert_int_equal(vtr_stack_samples_put(samples, &s), 0);
}

/* Times in ms: the sample before, the new one, and what is filled in with 200 per second. */
static void a_rest_has_samples_at_the_full_rate(void **state)
{
	static const struct {
		uint64_t from, to;
		const char *filled;
	} cases[] = {
		{100, 120, "105 110 115 "},
		{100, 105, ""},
		{100, 107, ""},
		{100, 108, "105 "},
		{100, 100, ""},
		{100, 90, ""},
	};
	struct vtr_stack_sample s = {.tid = 7, .stack = 3}, out[16];
	char text[200];
	size_t i, k, n;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		s.time_ns = cases[i].to * 1000000;
		n = vtr_stack_samples_fill(samples, &s, cases[i].from * 1000000, 5000000);
		assert_int_equal(vtr_stack_samples_take(samples, out, 16), n);
		text[0] = '\0';
		for (k = 0; k < n; k++) {
			assert_int_equal(out[k].tid, 7);
			assert_int_equal(out[k].stack, 3);
			sprintf(text + strlen(text), "%u ", (unsigned)(out[k].time_ns / 1000000));
		}
		assert_string_equal(text, cases[i].filled);
	}
}

static void filled_samples_leave_half_of_the_queue(void **state)
{
	struct vtr_stack_sample s = {.time_ns = UINT64_C(1000000000000)}, out[16];
	size_t n, all = 0;

	(void)state;
	assert_int_equal(
		vtr_stack_samples_fill(samples, &s, 0, 5000000), VTR_STACK_SAMPLES_MAX / 2);
	assert_int_equal(vtr_stack_samples_fill(samples, &s, 0, 5000000), 0);
	assert_int_equal(samples->refused, 0);
	while ((n = vtr_stack_samples_take(samples, out, 16)) > 0)
		all += n;
	assert_int_equal(all, VTR_STACK_SAMPLES_MAX / 2);
}

static void texts_beyond_the_limit_become_the_unknown_place(void **state)
{
	static char long_text[4096];
	uint32_t i, known = place("known", 1), got = known;

	(void)state;
	memset(long_text, 'x', sizeof(long_text) - 1);
	for (i = 0; i < VTR_CODE_PLACES_TEXT_MAX / sizeof(long_text) + 2; i++) {
		sprintf(long_text, "%u", i);
		long_text[strlen(long_text)] = 'x';
		got = place(long_text, i);
	}
	assert_int_equal(got, VTR_CODE_PLACE_UNKNOWN);
	assert_true(samples->places.refused > 0);
	assert_int_equal(place("known", 1), known);
}

static size_t resident_bytes(void)
{
	unsigned long all, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lu %lu", &all, &resident), 2);
	fclose(f);
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* 16 MiB, less what the sampler's own tables take. */
enum { FULL_BYTES_MAX = 11 << 20 };

static void full_tables_stay_within_their_memory(void **state)
{
	size_t before = resident_bytes();
	uint32_t i, stack = 0, last = 0;
	char name[64];

	(void)state;
	for (i = 0; stack != UINT32_MAX; i++) {
		snprintf(name, sizeof(name), "a_method_of_some_class.with_a_name_%u", i / 2);
		last = place(name, i);
		stack = vtr_stack_samples_stack(samples, &path, &last, 1);
		if (last == VTR_CODE_PLACE_UNKNOWN) { /* places are full: longer stacks */
			uint32_t two[] = {1 + i % 1000, 1 + i / 1000 % 60000, i % 60000};

			stack = vtr_stack_samples_stack(samples, &path, two, 3);
		}
	}
	assert_int_equal(samples->node_count, VTR_STACKS_MAX);
	assert_int_equal(samples->refused, 1);
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
	assert_in_range(resident_bytes() - before, 0, FULL_BYTES_MAX);
#else
	(void)before;
#endif
}

/* ---- two threads ---- */

enum { ROUNDS = 20000, DEPTH = 12 };

static void *sampler(void *arg)
{
	uint32_t places[DEPTH], i, k;
	char name[32];

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		struct vtr_stack_sample s = {.time_ns = i};

		pthread_mutex_lock(&samples->lock);
		for (k = 0; k < DEPTH; k++) {
			snprintf(name, sizeof(name), "f%u", (i + k) % 500);
			places[k] = place(name, k);
		}
		pthread_mutex_unlock(&samples->lock);
		s.stack = vtr_stack_samples_stack(samples, &path, places, DEPTH);
		while (vtr_stack_samples_put(samples, &s))
			usleep(100);
	}
	return NULL;
}

static void count_frames(void *ctx, struct vpt_text function, struct vpt_text file, uint32_t line)
{
	unsigned *count = ctx;

	/* Outermost first: the last place put is the first read. */
	assert_int_equal(line, DEPTH - 1 - *count);
	assert_int_equal(function.text[0], 'f');
	assert_int_equal(file.len, 4);
	++*count;
}

static void two_threads_share_them(void **state)
{
	struct vtr_stack_sample out[64];
	uint64_t next = 0;
	pthread_t thread;
	size_t n, i;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, sampler, NULL), 0);
	while (next < ROUNDS) {
		n = vtr_stack_samples_take(samples, out, 64);
		for (i = 0; i < n; i++, next++) {
			unsigned frames = 0;

			assert_int_equal(out[i].time_ns, next);
			vtr_stack_samples_frames(samples, out[i].stack, count_frames, &frames);
			assert_int_equal(frames, DEPTH);
		}
	}
	pthread_join(thread, NULL);
}

/* ---- who called, and what threads do ---- */

static void threads_that_called_lately_are_known(void **state)
{
	uint32_t tids[VTR_CALLERS_MAX];
	size_t count, i;

	(void)state;
	vtr_callers_saw(1, 1001);
	assert_int_equal(vtr_callers(0, tids), 0); /* nobody asked */
	vtr_callers_watch();
	for (i = 1; i <= 2 * VTR_CALLERS_MAX; i++)
		vtr_callers_saw((uint32_t)i, 1000 + i);
	count = vtr_callers(0, tids);
	assert_int_equal(count, VTR_CALLERS_MAX);
	for (i = 0; i < count; i++)
		assert_true(tids[i] > VTR_CALLERS_MAX); /* the oldest were forgotten */
	vtr_callers_saw(VTR_CALLERS_MAX + 1, 5000);
	assert_int_equal(vtr_callers(4999, tids), 1);
	assert_int_equal(tids[0], VTR_CALLERS_MAX + 1);
	assert_int_equal(vtr_callers(5001, tids), 0);
}

static _Atomic uint32_t other;

/* Waits for the other end of a pipe to be closed. */
static void *sleeper(void *arg)
{
	char byte;

	other = (uint32_t)gettid();
	assert_int_equal(read(*(const int *)arg, &byte, 1), 0);
	return NULL;
}

static void a_thread_sleeps_runs_or_has_ended(void **state)
{
	struct vtr_thread_state own, its;
	struct vtr_thread_times before, after;
	unsigned i;
	pthread_t thread;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pthread_create(&thread, NULL, sleeper, &ends[0]), 0);
	while (!other)
		usleep(1000);
	vtr_thread_state_open(&own, (uint32_t)gettid());
	vtr_thread_state_open(&its, other);
	assert_int_equal(vtr_thread_state_now(&own), VPT_THREADSTATE_RUNNING);
	assert_int_equal(vtr_thread_state_times(&own, &before), 0);
	while (vtr_thread_state_now(&its) != VPT_THREADSTATE_SLEEPING)
		usleep(1000);
	for (i = 0; i < 20; i++) {
		assert_int_equal(vtr_thread_state_now(&its), VPT_THREADSTATE_SLEEPING);
		usleep(1000);
	}
	assert_int_equal(vtr_thread_state_times(&own, &after), 0);
	assert_true(after.switches >= before.switches + 20);
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
	/* It is joined a moment before the kernel has taken it away. */
	for (i = 0; i < 5000 && vtr_thread_cpu_ns(other) != UINT64_MAX; i++)
		usleep(1000);
	assert_true(vtr_thread_cpu_ns(other) == UINT64_MAX);
	assert_int_equal(vtr_thread_state_now(&its), VPT_THREADSTATE_UNKNOWN);
	assert_int_not_equal(vtr_thread_state_times(&its, &after), 0);
	vtr_thread_state_close(&its);
	vtr_thread_state_close(&own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_stack_is_interned_once_and_read_from_the_base_on, begin, end),
		cmocka_unit_test_setup_teardown(a_path_changes_no_number, begin, end),
		cmocka_unit_test_setup_teardown(
			samples_beyond_the_queue_are_refused_and_counted, begin, end),
		cmocka_unit_test_setup_teardown(a_rest_has_samples_at_the_full_rate, begin, end),
		cmocka_unit_test_setup_teardown(filled_samples_leave_half_of_the_queue, begin, end),
		cmocka_unit_test_setup_teardown(
			texts_beyond_the_limit_become_the_unknown_place, begin, end),
		cmocka_unit_test_setup_teardown(full_tables_stay_within_their_memory, begin, end),
		cmocka_unit_test_setup_teardown(two_threads_share_them, begin, end),
		cmocka_unit_test(threads_that_called_lately_are_known),
		cmocka_unit_test(a_thread_sleeps_runs_or_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_tracer_session.c - every public function in several threads at once, while captures start and stop: for ThreadSanitizer,
 * see cli_tsan.sh, and for whoever waits for ever. */
#include "tests/support/random.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/words/range_strings.h"
#include "tracer/vptrace.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 4, CAPTURES = 40 };

static char folder[] = "/tmp/vptrace-session-XXXXXX", path[64];
static atomic_int is_over;
static atomic_ulong calls[16];

static void call(unsigned which)
{
	struct vptrace_stats st = {.struct_bytes = sizeof(st)};
	char copy[256];

	atomic_fetch_add(&calls[which], 1);
	switch (which) {
	case 0:
		vptrace_range_push("range");
		vptrace_range_pop();
		break;
	case 1:
		vptrace_range_end(vptrace_range_start("across"));
		break;
	case 2:
		vptrace_mark("mark");
		break;
	case 3:
		vptrace_counter("counter", 1, "things");
		break;
	case 4:
		vptrace_metadata("key", "value");
		break;
	case 5:
		vptrace_statistics(&st);
		break;
	case 6:
		vptrace_status();
		break;
	case 7:
		vptrace_pause();
		vptrace_resume();
		break;
	case 8:
		snprintf(copy, sizeof(copy), "%s", vptrace_path());
		assert_true(!*copy || !strncmp(copy, folder, strlen(folder)));
		break;
	case 9:
		snprintf(copy, sizeof(copy), "%s", vptrace_last_error());
		break;
	case 10:
		vptrace_snapshot(NULL);
		break;
	case 11:
		vptrace_step();
		break;
	default:
		vptrace_stop(NULL);
	}
}

static void *make_calls(void *seed)
{
	struct vpt_random random = {(uint64_t)(uintptr_t)seed};

	while (!atomic_load(&is_over)) {
		/* Snapshots and stops take long, and end what the others are to find. */
		call((unsigned)vpt_random_below(&random, vpt_random_below(&random, 50) ? 10 : 13));
		if (!vpt_random_below(&random, 16))
			usleep(50);
	}
	return NULL;
}

static void start(int i)
{
	struct vptrace_options o = {.struct_bytes = sizeof(o),
		.path = path,
		.overwrite = 1,
		.profile = VPTRACE_PROFILE_NONE,
		.counters_ms = -1,
		.stacks_hz = -1,
		.ring = i % 2 ? "1M" : NULL};

	vptrace_start(&o);
}

static void any_function_may_be_called_at_any_time(void **state)
{
	const char *percent = getenv("VPT_PERCENT");
	int captures = percent ? CAPTURES * atoi(percent) / 100 + 4 : CAPTURES, i;
	pthread_t threads[THREADS];

	(void)state;
	for (i = 0; i < THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, make_calls, (void *)(uintptr_t)(i + 1)),
			0);
	for (i = 0; i < captures; i++) {
		start(i);
		usleep(5000);
		vptrace_stop(NULL);
	}
	atomic_store(&is_over, 1);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < 13; i++)
		if (!atomic_load(&calls[i]))
			fail_msg("function %d was never called", i);
	vptrace_stop(NULL);
	assert_int_equal(vptrace_status(), VPTRACE_STOPPED);
}

/* Whatever the writer's thread has done so far. */
static void a_started_capture_has_a_name(void **state)
{
	char name[64], expected[96];
	struct vptrace_options o = {.struct_bytes = sizeof(o),
		.path = name,
		.profile = VPTRACE_PROFILE_NONE,
		.counters_ms = -1,
		.stacks_hz = -1};
	int i;

	(void)state;
	snprintf(name, sizeof(name), "%s/b.zst", folder);
	for (i = 1; i <= 20; i++) {
		snprintf(
			expected, sizeof(expected), i == 1 ? "%s/b.zst" : "%s/b-%d.zst", folder, i);
		assert_int_equal(vptrace_start(&o), VPTRACE_OK);
		assert_string_equal(vptrace_path(), expected);
		vptrace_stop(NULL);
		assert_string_equal(vptrace_path(), expected);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_started_capture_has_a_name),
		cmocka_unit_test(any_function_may_be_called_at_any_time),
	};
	char command[96];
	int rc;

	if (!mkdtemp(folder) || vtr_names_init() || vtr_threads_init())
		return 1;
	snprintf(path, sizeof(path), "%s/a.zst", folder);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command) ? 1 : rc;
}

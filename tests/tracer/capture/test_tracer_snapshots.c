/* test_tracer_snapshots.c - snapshots of a flight recorder whose disk is slow. */
#include "formats/io/io.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/words/range_strings.h"
#include "tracer/vptrace.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/vptrace-snapshots-XXXXXX", at_end[64], first[64], second[64];

/* ---- a slow disk ---- */

static atomic_int is_hanging, is_released;

static long slow_write(int fd, const void *data, size_t size)
{
	atomic_store(&is_hanging, 1);
	while (!atomic_load(&is_released))
		usleep(200);
	return write(fd, data, size);
}

static void start(void)
{
	struct vptrace_options o = {.struct_bytes = sizeof(o),
		.path = at_end,
		.profile = VPTRACE_PROFILE_NONE,
		.ring = "4M",
		.stop_timeout_ms = 1500};

	assert_int_equal(vptrace_start(&o), VPTRACE_OK);
	vptrace_mark("m");
}

static void *take_second(void *rc)
{
	*(int *)rc = vptrace_snapshot(second);
	return NULL;
}

/* The first snapshot's end, which nobody waits for any more, is not the second one's. */
static void a_late_snapshot_answers_nobody_else(void **state)
{
	static const struct vpt_io_ops slow = {NULL, slow_write};
	pthread_t thread;
	int rc = 1;

	(void)state;
	atomic_store(&is_released, 0);
	start();
	vpt_io_use(&slow);
	assert_int_equal(vptrace_snapshot(first), VPTRACE_EFILE);
	assert_non_null(strstr(vptrace_last_error(), "did not end in time"));
	assert_true(atomic_load(&is_hanging));
	vpt_io_use(NULL);
	assert_int_equal(pthread_create(&thread, NULL, take_second, &rc), 0);
	usleep(100000); /* it waits now, or finds the disk quick */
	atomic_store(&is_released, 1);
	pthread_join(thread, NULL);
	assert_int_equal(rc, 0);
	assert_string_equal(vptrace_path(), second);
	assert_int_equal(access(second, R_OK), 0);
	assert_int_equal(vptrace_stop(NULL), VPTRACE_OK);
	assert_int_equal(unlink(first), 0); /* has become whole */
	unlink(second);
	unlink(at_end);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_late_snapshot_answers_nobody_else),
	};
	int rc;

	unsetenv("VPTRACE_STOP_MS"); /* these have their own limit */
	if (!mkdtemp(folder) || vtr_names_init() || vtr_threads_init())
		return 1;
	snprintf(at_end, sizeof(at_end), "%s/end.zst", folder);
	snprintf(first, sizeof(first), "%s/first.zst", folder);
	snprintf(second, sizeof(second), "%s/second.zst", folder);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return rc;
}

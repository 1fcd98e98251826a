/* test_tracer_environment.c - loading the tracer does not move the environment from under threads that read it. */
#include "tracer/guest/environment.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ENTRIES_MAX = 4096 };

static void loading_leaves_the_environment_where_it_was(void **unused)
{
	static char *entries[ENTRIES_MAX];
	const char *folder = getenv("VPT_BIN"), *set;
	char path[4096], **before;
	size_t count = 0, i;

	(void)unused;
	snprintf(path, sizeof(path), "%s/libvptrace.so", folder ? folder : ".");
	unsetenv("NVTX_INJECTION64_PATH");
	unsetenv("VPTRACE_NVTX_OWN");
	setenv("VPT_TEST_GROWN", "1", 1); /* the array is now one that setenv() itself may move */
	before = environ;
	for (; before[count] && count < ENTRIES_MAX; count++)
		entries[count] = before[count];
	assert_true(count < ENTRIES_MAX);
	assert_non_null(dlopen(path, RTLD_NOW | RTLD_LOCAL));
	/* A thread that walks the old array still finds what was there, and its end. */
	assert_ptr_not_equal(environ, before);
	for (i = 0; i < count; i++)
		assert_ptr_equal(before[i], entries[i]);
	assert_null(before[count]);
	set = getenv("NVTX_INJECTION64_PATH");
	assert_non_null(set);
	assert_string_equal(set, path);
	assert_string_equal(getenv("VPTRACE_NVTX_OWN"), "1");
	assert_string_equal(getenv("VPT_TEST_GROWN"), "1");
}

static void what_is_set_stays(void **unused)
{
	(void)unused;
	setenv("VPT_TEST_SET", "theirs", 1);
	unsetenv("VPT_TEST_UNSET");
	vtr_environment_default("VPT_TEST_SET", "ours");
	assert_string_equal(getenv("VPT_TEST_SET"), "theirs");
	vtr_environment_default("VPT_TEST_UNSET", "ours");
	assert_string_equal(getenv("VPT_TEST_UNSET"), "ours");
	/* The environment is still one that the program can change. */
	setenv("VPT_TEST_UNSET", "theirs", 1);
	assert_string_equal(getenv("VPT_TEST_UNSET"), "theirs");
	unsetenv("VPT_TEST_UNSET");
	assert_null(getenv("VPT_TEST_UNSET"));
	assert_string_equal(getenv("VPT_TEST_SET"), "theirs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loading_leaves_the_environment_where_it_was),
		cmocka_unit_test(what_is_set_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

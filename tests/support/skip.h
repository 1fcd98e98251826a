/* skip.h - leaving a cmocka test with a reason, which the end of tests/run.sh lists.
 *
 * Include it after cmocka.h. */
#ifndef VPT_TESTS_SUPPORT_SKIP_H
#define VPT_TESTS_SUPPORT_SKIP_H

#include <stddef.h>

enum { VPT_SKIP_CODE = 77 };

static size_t vpt_skip_count;

/* Ends the test that calls it. */
#define vpt_skip(...)                                                                              \
	do {                                                                                       \
		vpt_skip_count++;                                                                  \
		print_message("SKIPPED: ");                                                        \
		print_message(__VA_ARGS__);                                                        \
		print_message("\n");                                                               \
		skip();                                                                            \
	} while (0)

/* What main returns for cmocka's count of failed tests: 77 where all `test_count` were skipped,
 * since a program that tested nothing has not passed. */
static inline int vpt_skip_code(int failed, size_t test_count)
{
	return !failed && vpt_skip_count >= test_count ? VPT_SKIP_CODE : failed;
}

#endif

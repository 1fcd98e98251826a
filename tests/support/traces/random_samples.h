/* random_samples.h - samples of Python stacks in a script that is made at random. */
#ifndef VPT_TESTS_RANDOM_SAMPLES_H
#define VPT_TESTS_RANDOM_SAMPLES_H

#include "tests/support/random.h"

#include <stddef.h>

/* The script with samples, which come after lines that name thread t1, so that no lane is new. Adds their
 * number to *count. The caller frees it with vpt_free(). */
char *random_samples(const char *script, struct vpt_random *r, size_t *count);

#endif

/* scarce.c - an allocator that fails on demand, and counts. */
#include "tests/support/scarce.h"

#include "formats/base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The size stands before the memory, which is as aligned as malloc()'s. */
enum { HEAD = 16 };

static size_t calls, fail_at, living;
static int fail_on; /* from the n-th on, not only the n-th */

static void *failing_resize(void *ptr, size_t size)
{
	void *fresh;

	calls++;
	if (calls == fail_at || (fail_on && calls > fail_at))
		return NULL;
	/* Memory always moves, so that a pointer kept from before is noticed. */
	fresh = malloc(size + HEAD);
	memcpy(fresh, &size, sizeof(size));
	living += !ptr;
	if (ptr) {
		size_t before;

		memcpy(&before, (char *)ptr - HEAD, sizeof(before));
		memcpy((char *)fresh + HEAD, ptr, before < size ? before : size);
		free((char *)ptr - HEAD);
	}
	return (char *)fresh + HEAD;
}

static void failing_release(void *ptr)
{
	living--;
	free((char *)ptr - HEAD);
}

static const struct vpt_memory_ops failing = {failing_resize, failing_release};

void vpt_fail_each_allocation(int (*job)(struct vpt_err *err))
{
	size_t n = 0, failures = 0;
	int rc;

	for (fail_on = 0; fail_on < 2; fail_on++) {
		for (n = 1;; n++) {
			struct vpt_err err = {0};

			vpt_memory_use(&failing);
			calls = living = 0;
			fail_at = n;
			rc = job(&err);
			vpt_memory_use(NULL);
			if (living)
				fail_msg("allocation %zu failed (%d): %zu blocks leak", n, fail_on,
					living);
			if (calls < n)
				break; /* it never came to the n-th: everything has failed once */
			if (rc != VPT_ENOMEM)
				fail_msg("allocation %zu failed (%d): code %d, %s", n, fail_on, rc,
					err.text);
			if (!err.text[0])
				fail_msg("allocation %zu failed (%d): no words", n, fail_on);
			failures++;
		}
		assert_int_equal(rc, VPT_OK);
	}
	print_message("%zu failures\n", failures);
	assert_true(failures > 3);
}

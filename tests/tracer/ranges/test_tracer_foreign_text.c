/* test_tracer_foreign_text.c - text that may be gone is read by the kernel's hand; where that is forbidden, directly. */
#include "tracer/guest/own_memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096 };

/* What the system answers: 0 and -1 as a filter of system calls may, with errno left as it was or set. */
static struct {
	int scripted;
	ssize_t result;
	int error; /* 0: errno is left alone */
} answer;

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long locals,
	const struct iovec *remote, unsigned long remotes, unsigned long flags)
{
	if (!answer.scripted)
		return syscall(SYS_process_vm_readv, pid, local, locals, remote, remotes, flags);
	if (answer.error)
		errno = answer.error;
	return answer.result;
}

static void texts_are_read_whole(void **unused)
{
	static char text[3 * PAGE], out[3 * PAGE];
	static const size_t lengths[] = {0, 1, 255, 256, 257, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE};
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		memset(text, 'k', sizeof(text));
		text[lengths[i]] = '\0';
		assert_int_equal(vtr_foreign_text(text, out, sizeof(out)), lengths[i]);
		assert_memory_equal(out, text, lengths[i]);
		assert_int_equal(
			vtr_foreign_text(text, out, 100), lengths[i] < 100 ? lengths[i] : 100);
	}
}

static void a_text_may_end_before_a_hole_and_not_in_it(void **unused)
{
	char *pages =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char out[512];

	(void)unused;
	assert_true(pages != MAP_FAILED);
	memset(pages, 'k', PAGE);
	munmap(pages + PAGE, PAGE);
	assert_int_equal(vtr_foreign_text(pages + PAGE - 8, out, sizeof(out)), -1);
	pages[PAGE - 1] = '\0';
	assert_int_equal(vtr_foreign_text(pages + PAGE - 8, out, sizeof(out)), 7);
	munmap(pages, PAGE);
	assert_int_equal(vtr_foreign_text(pages, out, sizeof(out)), -1);
}

static void where_the_call_is_forbidden_the_text_is_read_directly(void **unused)
{
	static const struct {
		ssize_t result;
		int error, before;
		ssize_t expected;
	} cases[] = {
		{-1, EPERM, 0, 4}, {-1, ENOSYS, EFAULT, 4}, {-1, EFAULT, 0, -1}, {0, 0, 0, 4},
		{0, 0, EFAULT, 4}, /* an error of some earlier call */
	};
	char out[16];
	size_t i;

	(void)unused;
	answer.scripted = 1;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		answer.result = cases[i].result;
		answer.error = cases[i].error;
		errno = cases[i].before;
		assert_int_equal(vtr_foreign_text("gemm", out, sizeof(out)), cases[i].expected);
		if (cases[i].expected > 0)
			assert_memory_equal(out, "gemm", 4);
	}
	answer.scripted = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_read_whole),
		cmocka_unit_test(a_text_may_end_before_a_hole_and_not_in_it),
		cmocka_unit_test(where_the_call_is_forbidden_the_text_is_read_directly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

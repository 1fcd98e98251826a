/* process.c - ignores SIGPIPE and SIGXFSZ, so that a write fails with an error, and refuses a stack that is too small. */
#include "formats/cli/process.h"

#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>

/* What the deepest calls take is a quarter of it; threads get as much as the main one. */
enum { STACK_KIB = 512 };

static const int ignored[] = {SIGPIPE, SIGXFSZ};

enum { IGNORED = sizeof(ignored) / sizeof(ignored[0]) };

static struct sigaction former[IGNORED];
static int has_begun;

int vpt_process_begin(struct vpt_err *err)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct rlimit stack;
	size_t i;

	for (i = 0; i < IGNORED; i++)
		sigaction(ignored[i], &ignore, &former[i]);
	has_begun = 1;
	if (!getrlimit(RLIMIT_STACK, &stack) && stack.rlim_cur < STACK_KIB * 1024)
		return vpt_fail(err, VPT_ENOMEM,
			"expected a limit of the stack of at least %d KiB, found %llu: raise it "
			"with ulimit -s",
			STACK_KIB, (unsigned long long)stack.rlim_cur / 1024);
	return VPT_OK;
}

void vpt_process_restore(void)
{
	size_t i;

	for (i = 0; has_begun && i < IGNORED; i++)
		sigaction(ignored[i], &former[i], NULL);
}

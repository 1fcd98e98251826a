/* trial.c - a raw clone(): fork() would run the host's handlers of forks, and its end would be a SIGCHLD. */
#include "tracer/cupti/library/cupti_library.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A driver that is read from a slow disk may take a second; the next trial has it in memory. */
static const int patience_ms[] = {1000, 4000};

enum { TRIALS = sizeof(patience_ms) / sizeof(patience_ms[0]), DONE = 42 };

static void run_child(pid_t parent, void (*body)(void *ctx), void *ctx)
{
	struct sigaction plain = {.sa_handler = SIG_DFL};
	struct rlimit none = {0, 0};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	for (i = 1; i < NSIG; i++)
		sigaction(i, &plain, NULL);
	setrlimit(RLIMIT_CORE, &none);
	for (i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	body(ctx);
	_exit(DONE);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits for the child; kills it when its time is over. 0: no child could be waited for. */
static int outlast(pid_t child, int patience, int *status, int *late)
{
	int64_t until = now_ms() + patience;
	int nap_ms = 1;
	pid_t ended;

	*late = 0;
	for (;;) {
		ended = waitpid(child, status, WNOHANG | __WALL);
		if (ended == child)
			return 1;
		if (ended < 0 && errno != EINTR)
			return 0;
		if (!*late && now_ms() >= until) {
			kill(child, SIGKILL);
			*late = 1;
			until = now_ms() + patience; /* inside a driver it may not be killable */
		} else if (now_ms() >= until) {
			return 1;
		}
		poll(NULL, 0, nap_ms);
		nap_ms = nap_ms < 16 ? 2 * nap_ms : nap_ms;
	}
}

int vtr_trial(void (*body)(void *ctx), void *ctx, char *out, size_t size)
{
	pid_t parent = getpid(), child;
	int trial, status = 0, late = 1;

	for (trial = 0; trial < TRIALS && late; trial++) {
		child = (pid_t)syscall(SYS_clone, 0UL, NULL, NULL, NULL, NULL);
		if (!child)
			run_child(parent, body, ctx);
		if (child < 0 || !outlast(child, patience_ms[trial], &status, &late))
			return 0;
	}
	if (late)
		snprintf(out, size, "it hangs: no answer within %d s",
			patience_ms[TRIALS - 1] / 1000);
	else if (WIFSIGNALED(status))
		snprintf(out, size, "it crashed (signal %d)", WTERMSIG(status));
	else if (WIFEXITED(status) && WEXITSTATUS(status) != DONE)
		snprintf(out, size, "it ended the process with status %d", WEXITSTATUS(status));
	else
		return 0;
	return -1;
}

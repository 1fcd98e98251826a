/* probe.c - the child is the leader of a process group, which is killed as one: a Python may have
 * children of its own. It dies with its parent. */
#include "tracer/doctor/probes/patient.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	LINE_BYTES = 4096,
	TEXT_MAX_BYTES = 1 << 20,
	SLICE_MS = 50,
	/* how long SIGKILL may take: a process inside the driver may not be killable */
	KILL_MS = 3000,
	REST_MS = 200 /* for lines that are on their way when the child has ended */
};

/* ---- the child ---- */

void vtr_probe_say(int to, const char *key, const char *fmt, ...)
{
	char line[LINE_BYTES];
	int n = snprintf(line, sizeof(line), "%s ", key);
	va_list args;
	size_t used;
	char *p;

	va_start(args, fmt);
	vsnprintf(line + n, sizeof(line) - (size_t)n, fmt, args);
	va_end(args);
	for (p = line; *p; p++)
		if (*p == '\n' || *p == '\r')
			*p = ' ';
	used = strlen(line);
	line[used++] = '\n'; /* in place of the NUL */
	/* Nobody is there to hear of a failure. */
	while (write(to, line, used) < 0 && errno == EINTR)
		;
}

void vtr_probe_step(int to, const char *step)
{
	vtr_probe_say(to, "step", "%s", step);
}

static void child(int to, void (*body)(int to, void *ctx), void *ctx, pid_t parent)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	setpgid(0, 0);
	for (i = 0; i < 3; i++)
		dup2(null, i);
	/* The end of the process may be a crash of what was loaded into it. */
	body(to, ctx);
	vtr_probe_step(to, "the end of the process");
	exit(0);
}

/* ---- the parent ---- */

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* 0: the pipe has no writer any more, or gives no more. */
static int take(struct vtr_probe *p, int from)
{
	char piece[LINE_BYTES];
	ssize_t n = read(from, piece, sizeof(piece));
	char *grown;

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (!n || p->bytes + (size_t)n > TEXT_MAX_BYTES)
		return 0;
	grown = realloc(p->text, p->bytes + (size_t)n + 2);
	if (!grown)
		return 0;
	p->text = grown;
	memcpy(p->text + p->bytes, piece, (size_t)n);
	p->bytes += (size_t)n;
	return 1;
}

volatile sig_atomic_t vtr_probe_abandon;

/* Reads for `ms`, or until the pipe ends or the child has. Returns whether the child has. */
static int listen_to(struct vtr_probe *p, int from, pid_t pid, long long ms,
	const volatile sig_atomic_t *abandon, int *status)
{
	/* poll() passes over a descriptor of -1: that of the child, before Linux 5.3. */
	struct pollfd fds[] = {{.fd = from, .events = POLLIN},
		{.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN}};
	long long until = now_ms() + ms;
	int ended = 0;

	while (!ended && now_ms() < until && !(abandon && *abandon)) {
		if (poll(fds, 2, SLICE_MS) > 0 && fds[0].revents && !take(p, from))
			fds[0].fd = -1;
		ended = waitpid(pid, status, WNOHANG) == pid;
	}
	if (fds[1].fd >= 0)
		close(fds[1].fd);
	return ended;
}

/* Other processes may hold the pipe, so it need not end. */
static void take_rest(struct vtr_probe *p, int from)
{
	struct pollfd fd = {.fd = from, .events = POLLIN};
	long long until = now_ms() + REST_MS;

	while (now_ms() < until && poll(&fd, 1, 0) > 0 && take(p, from))
		;
}

/* Line ends become NULs. */
static void cut_lines(struct vtr_probe *p)
{
	size_t i;

	if (!p->text)
		return;
	for (i = 0; i < p->bytes; i++)
		if (p->text[i] == '\n')
			p->text[i] = '\0';
	p->text[p->bytes] = p->text[p->bytes + 1] = '\0';
}

static void watch(struct vtr_probe *p, int from, pid_t pid)
{
	int status = 0;

	if (listen_to(p, from, pid, (long long)p->timeout_s * 1000, &vtr_probe_abandon, &status)) {
		p->end = WIFSIGNALED(status) ? VTR_PROBE_KILLED : VTR_PROBE_EXITED;
		p->status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	} else {
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL); /* it may not have become a leader yet */
		p->end = listen_to(p, from, pid, KILL_MS, NULL, &status) ? VTR_PROBE_TIMED_OUT
									 : VTR_PROBE_STUCK;
	}
	take_rest(p, from);
}

void vtr_probe_run(
	struct vtr_probe *p, unsigned timeout_s, void (*body)(int to, void *ctx), void *ctx)
{
	pid_t parent = getpid(), pid;
	int ends[2];

	memset(p, 0, sizeof(*p));
	p->timeout_s = timeout_s;
	if (pipe2(ends, O_CLOEXEC))
		return;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(ends[0]);
		child(ends[1], body, ctx, parent);
	}
	close(ends[1]);
	if (pid > 0)
		watch(p, ends[0], pid);
	close(ends[0]);
	cut_lines(p);
}

void vtr_probe_reset(struct vtr_probe *p)
{
	free(p->text);
	memset(p, 0, sizeof(*p));
}

/* ---- what it said ---- */

const char *vtr_probe_value(const struct vtr_probe *p, const char *key, unsigned index)
{
	size_t len = strlen(key);
	const char *line;

	for (line = p->text; line && line < p->text + p->bytes; line += strlen(line) + 1)
		if (!strncmp(line, key, len) && line[len] == ' ' && !index--)
			return line + len + 1;
	return NULL;
}

unsigned long long vtr_probe_number(const struct vtr_probe *p, const char *key)
{
	const char *value = vtr_probe_value(p, key, 0);

	return value ? strtoull(value, NULL, 10) : 0;
}

static const char *last_step(const struct vtr_probe *p)
{
	const char *step = NULL, *next;
	unsigned i = 0;

	while ((next = vtr_probe_value(p, "step", i++)) != NULL)
		step = next;
	return step ? step : "its first step";
}

int vtr_probe_failed(const struct vtr_probe *p, char *out, size_t size)
{
	switch (p->end) {
	case VTR_PROBE_EXITED:
		if (!p->status)
			return 0;
		snprintf(out, size, "it ended with status %d in %s", p->status, last_step(p));
		return 1;
	case VTR_PROBE_KILLED:
		snprintf(out, size, "it crashed (signal %d, %s) in %s", p->status,
			strsignal(p->status), last_step(p));
		return 1;
	case VTR_PROBE_TIMED_OUT:
		snprintf(out, size, "no answer within %u s: it hangs in %s", p->timeout_s,
			last_step(p));
		return 1;
	case VTR_PROBE_STUCK:
		snprintf(out, size,
			"no answer within %u s: it hangs in %s, inside the kernel, and cannot be "
			"killed",
			p->timeout_s, last_step(p));
		return 1;
	case VTR_PROBE_NOT_RUN:
		break;
	}
	snprintf(out, size, "no process could be made for it");
	return 1;
}

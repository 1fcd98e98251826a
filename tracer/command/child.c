/* child.c - starts the command, waits for it, passes signals on.
 *
 * The launcher and the command share a process group, as in a shell's job. A signal for the group
 * reaches both, and the launcher must not send it once more; one for the launcher alone it must.
 * The kernel does not say which of the two it was. So a third process of the group, the witness,
 * blocks and reports signals: what it receives too was meant for the group. It is younger than the
 * launcher, so the kernel sends it a signal of the group first. A process takes pending signals in
 * the order of their numbers, so once the witness has reported a real-time signal, it has reported
 * everything before.
 *
 * All these signals are blocked in the launcher and taken by sigwaitinfo(2), so nothing interrupts
 * it and none can end it. */
#include "tracer/command/run_parts.h"

#include "formats/cli/process.h"
#include "tracer/command/base/run_program.h"
#include "tracer/command/base/say.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long the witness may need to report on a busy machine. */
enum { WITNESS_MS = 5000 };

/* Which the witness reports after all else. */
#define END_OF_REPORT SIGRTMIN

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};

enum { PASSED_ON = sizeof(passed_on) / sizeof(passed_on[0]) };

struct witness {
	pid_t pid; /* -1: there is none */
	int from;  /* reads a byte for each signal that it has received */
	unsigned heard[NSIG];
};

/* ---- the witness ---- */

static void witness_main(const sigset_t *set, int to, pid_t launcher)
{
	unsigned char number;
	siginfo_t info;
	int fd, sig;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != launcher)
		_exit(0);
	/* It must not keep a pipe open that somebody waits for. */
	for (fd = 0; fd < 3; fd++)
		if (fd != to)
			close(fd);
	for (;;) {
		sig = sigwaitinfo(set, &info);
		number = (unsigned char)sig;
		if (sig > 0 && info.si_code != SI_KERNEL && sig != SIGCHLD &&
			write(to, &number, 1) < 0)
			_exit(0);
	}
}

static void start_witness(struct witness *w, const sigset_t *set)
{
	sigset_t reported = *set, before;
	pid_t launcher = getpid();
	int ends[2];

	*w = (struct witness){.pid = -1, .from = -1};
	if (pipe2(ends, O_CLOEXEC))
		return;
	sigaddset(&reported, END_OF_REPORT);
	sigprocmask(SIG_BLOCK, &reported, &before);
	w->pid = fork();
	if (!w->pid) {
		close(ends[0]);
		witness_main(&reported, ends[1], launcher);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(ends[1]);
	w->from = ends[0];
}

static void end_witness(struct witness *w)
{
	if (w->pid > 0) {
		kill(w->pid, SIGKILL);
		waitpid(w->pid, NULL, 0);
	}
	if (w->from >= 0)
		close(w->from);
}

/* Whether the witness has received this signal too. */
static int was_for_group(struct witness *w, int sig)
{
	struct pollfd p = {.fd = w->from, .events = POLLIN};
	unsigned char number = 0;

	if (w->pid <= 0 || kill(w->pid, END_OF_REPORT))
		return 0;
	while (number != END_OF_REPORT && poll(&p, 1, WITNESS_MS) == 1 &&
		read(w->from, &number, 1) == 1)
		if (number < NSIG)
			w->heard[number]++;
	if (!w->heard[sig])
		return 0;
	w->heard[sig]--;
	return 1;
}

/* ---- the command ---- */

static void child_main(
	const char *path, char *const *argv, const sigset_t *mask, const struct sigaction *on_child)
{
	int error;

	sigaction(SIGCHLD, on_child, NULL);
	vpt_process_restore();
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(path, argv);
	error = errno;
	vtr_say("%s: %s", path, strerror(error));
	_exit(error == ENOENT ? VTR_EXIT_NOT_FOUND : VTR_EXIT_CANNOT_EXECUTE);
}

/* 1: it has ended. */
static int has_ended(pid_t child, int *status)
{
	pid_t rc;

	do {
		rc = waitpid(child, status, WNOHANG);
	} while (rc < 0 && errno == EINTR);
	return rc != 0;
}

static int wait_for(pid_t child, const sigset_t *set, struct witness *w, int *killed_by)
{
	int status = 0, sig;
	siginfo_t info;

	while (!has_ended(child, &status)) {
		sig = sigwaitinfo(set, &info);
		if (sig <= 0 || sig == SIGCHLD)
			continue;
		if (info.si_code == SI_KERNEL || was_for_group(w, sig))
			continue;
		kill(child, sig);
	}
	*killed_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	return *killed_by ? VTR_EXIT_SIGNAL + *killed_by : WEXITSTATUS(status);
}

/* Signals that came too late for the command: the summary is still due. */
static void drop_pending(const sigset_t *set)
{
	const struct timespec at_once = {0, 0};

	while (sigtimedwait(set, NULL, &at_once) > 0)
		;
}

int vtr_child_run(const char *path, char *const *argv, int *killed_by)
{
	struct sigaction normal = {.sa_handler = SIG_DFL}, on_child;
	struct witness witness;
	sigset_t set, before;
	pid_t child;
	int i, rc;

	*killed_by = 0;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (i = 0; i < PASSED_ON; i++)
		sigaddset(&set, passed_on[i]);
	sigaction(SIGCHLD, &normal, &on_child);
	sigprocmask(SIG_BLOCK, &set, &before);
	start_witness(&witness, &set);
	child = fork();
	if (!child)
		child_main(path, argv, &before, &on_child);
	if (child < 0) {
		vtr_say("cannot start %s: %s", path, strerror(errno));
		rc = VTR_EXIT_CANNOT_EXECUTE;
	} else {
		rc = wait_for(child, &set, &witness, killed_by);
	}
	end_witness(&witness);
	drop_pending(&set);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

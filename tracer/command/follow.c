/* follow.c - waits for a capture, and becomes the program that follows it. */
#include "tracer/command/run_parts.h"

#include "tracer/command/base/run_program.h"
#include "tracer/files/run_list.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 100, NICENESS = 10 };

static const char metrics[] = "prometheus:";

static int is_metrics(const char *text)
{
	return !strncmp(text, metrics, sizeof(metrics) - 1);
}

int vtr_live_check(const char *text, struct vpt_err *err)
{
	char *end = NULL;
	double s = strtod(text, &end);

	if (!*text || (is_metrics(text) && text[sizeof(metrics) - 1]))
		return VPT_OK;
	if (*text >= '0' && *text <= '9' && !*end && s >= 0.1 && s <= 86400)
		return VPT_OK;
	return vpt_fail(err, VPT_EINVAL,
		"--live: expected seconds from 0.1 to 86400, or prometheus:FILE, found \"%.60s\"",
		text);
}

/* Waits for SIGTERM, which is blocked; whether it has come. */
static int is_over(void)
{
	const struct timespec t = {LOOK_MS / 1000, LOOK_MS % 1000 * 1000000};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	return sigtimedwait(&set, NULL, &t) == SIGTERM;
}

/* The first file in the list: "file PID PATH". Whether there is one. */
static int find_file(const char *list, char path[PATH_MAX])
{
	static char line[VTR_RUN_LIST_LINE];
	int fd = vtr_run_list_open(list), at = 0;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	long pid;

	path[0] = '\0';
	while (f && !*path && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "file %ld %n", &pid, &at) == 1 && at && line[at] == '/') {
			vtr_run_list_unescape(line + at);
			snprintf(path, PATH_MAX, "%s", line + at);
		}
		at = 0;
	}
	if (f)
		fclose(f);
	return *path != '\0';
}

/* Standard output is the command's: lines go where messages go. A signal that comes too early is not lost: a short
 * capture gets its line at the end. */
static void live_main(const char *list, const char *analyzer, const char *text, const char *target)
{
	const char *argv[10] = {"vptrace-analyze", "watch"};
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC), ended = 0, found, n = 2;
	char path[PATH_MAX], every[64];

	setpriority(PRIO_PROCESS, 0, NICENESS);
	dup2(is_metrics(text) && null >= 0 ? null : STDERR_FILENO, STDOUT_FILENO);
	do {
		found = find_file(list, path);
		ended = ended || is_over();
	} while (!found && !ended);
	if (!found && !find_file(list, path))
		return;
	argv[n++] = path;
	if (target) {
		argv[n++] = "--target";
		argv[n++] = target;
	}
	if (is_metrics(text)) {
		argv[n++] = "--prometheus";
		argv[n++] = text + sizeof(metrics) - 1;
	} else if (*text) {
		snprintf(every, sizeof(every), "%ss", text);
		argv[n++] = "--every";
		argv[n++] = every;
	}
	if (ended)
		argv[n] = "--once";
	vtr_program_become(analyzer, argv);
}

pid_t vtr_live_start(const char *list, const char *analyzer, const char *text, const char *target)
{
	pid_t launcher = getpid(), live;
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	live = fork();
	if (!live) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() == launcher)
			live_main(list, analyzer, text, target);
		_exit(0);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return live;
}

void vtr_live_end(pid_t live)
{
	int status;

	kill(live, SIGTERM);
	while (waitpid(live, &status, 0) < 0 && errno == EINTR)
		;
}

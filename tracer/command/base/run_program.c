/* run_program.c - runs programs without what the traced command got in its environment. */
#include "tracer/command/base/run_program.h"

#include "formats/cli/command.h"
#include "tracer/command/base/install_places.h"
#include "tracer/command/base/say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int vtr_analyzer_become(char **argv)
{
	char program[PATH_MAX];

	vtr_places_analyzer(program);
	if (!*program) {
		vtr_say("vptrace-analyze is not beside this program: install it there");
		return VTR_EXIT_NOT_FOUND;
	}
	argv[0] = "vptrace-analyze";
	execv(program, argv);
	vtr_say("%s: %s", program, strerror(errno));
	return VTR_EXIT_CANNOT_EXECUTE;
}

void vtr_program_become(const char *program, const char *const *argv)
{
	static const char *const ours[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH",
		"LD_PRELOAD", "VPTRACE_LIST", "VPTRACE_RING_SOCKET"};
	size_t i;

	for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		unsetenv(ours[i]);
	execv(program, (char *const *)(uintptr_t)argv);
}

/* In the child: `to` becomes standard output unless it is -1, which leaves everything as it is. */
static void program_main(const char *program, const char *const *argv, int to)
{
	if (to >= 0) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		dup2(to, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		dup2(null, STDIN_FILENO);
	}
	vtr_program_become(program, argv);
	_exit(VTR_EXIT_NOT_FOUND);
}

static int exit_status(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Reads to the end, beyond what fits: the writer must not be stopped by a closed pipe. */
static void read_all(int fd, char *out, size_t size)
{
	char rest[4096];
	size_t used = 0;
	ssize_t n;

	do {
		int fits = used < size - 1;

		n = read(fd, fits ? out + used : rest, fits ? size - 1 - used : sizeof(rest));
		if (n > 0 && fits)
			used += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	out[used] = '\0';
}

int vtr_program_ask(const char *program, const char *const *argv, char *out, size_t size)
{
	int ends[2];
	pid_t pid;

	out[0] = '\0';
	if (!*program || pipe2(ends, O_CLOEXEC))
		return -1;
	pid = fork();
	if (!pid)
		program_main(program, argv, ends[1]);
	close(ends[1]);
	if (pid > 0)
		read_all(ends[0], out, size);
	close(ends[0]);
	return pid > 0 ? exit_status(pid) : -1;
}

int vtr_program_show(const char *program, const char *const *argv)
{
	pid_t pid = *program ? fork() : -1;

	if (!pid)
		program_main(program, argv, -1);
	return pid > 0 ? exit_status(pid) : -1;
}

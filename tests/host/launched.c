/* launched.c - a program that `vptrace run` starts, and that ends or is signalled in many ways. It
 * knows nothing of the tracer.
 *
 *	host_launched launch N [STATUS]   launches N kernels, exits with the status
 *	host_launched fork N              the same after a fork; the child does nothing
 *	host_launched both N              the same, and the child launches too
 *	host_launched kill N SIGNAL       the same, waits for a file "go", dies of the signal
 *	host_launched count N             the same, prints "ready", waits for signals, prints how many of
 *	                                  each came, exits
 *	host_launched idle MS             initializes CUDA, prints "ready", and launches nothing for so long
 *	host_launched race MS             launches a kernel, and moves the simulated time on in leaps of 10 ms,
 *	                                  without a rest, for so long
 *	host_launched write N             the same; then writes to standard output until that fails */
#include "tests/host/host.h"
#include "tests/standin/standin.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH};
static volatile sig_atomic_t counts[NSIG];
static volatile sig_atomic_t any;

enum { SIGNALS = sizeof(signals) / sizeof(signals[0]) };

static void launch(long n)
{
	struct host_gpu gpu;
	long i;

	if (!n)
		return;
	gpu = host_open();
	for (i = 0; i < n; i++)
		host_launch(gpu.gemm, 1000, NULL);
	HOST_CHECK(cudaDeviceSynchronize());
}

static void on_signal(int number)
{
	counts[number]++;
	any = 1;
}

/* All that come within 300 ms of the first. */
static void count_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	int i, waited;

	for (i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &action, NULL);
	printf("ready %ld\n", (long)getpid());
	fflush(stdout);
	while (!any)
		usleep(1000);
	for (waited = 0; waited < 300; waited++)
		usleep(1000);
	for (i = 0; i < SIGNALS; i++)
		if (counts[signals[i]])
			printf("signal %d: %d\n", signals[i], (int)counts[signals[i]]);
}

/* Which is there once whoever runs this has seen in the capture what was launched. */
static void wait_for_file(void)
{
	int waited;

	for (waited = 0; waited < 60000 && access("go", F_OK); waited++)
		usleep(1000);
}

static void write_until_closed(void)
{
	signal(SIGPIPE, SIG_IGN);
	while (write(STDOUT_FILENO, "line\n", 5) == 5)
		usleep(1000);
}

/* Simulated time passes between any two readings of a clock. */
static void race(long ms)
{
	struct timespec now, end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += ms / 1000;
	end.tv_nsec += ms % 1000 * 1000000;
	do {
		standin_work(10000000);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (
		now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? host_number(argv[2], "N") : 0;
	long last = argc > 3 ? host_number(argv[3], "the last word") : 0;
	pid_t child = -1;

	if (!strcmp(how, "idle")) {
		HOST_CHECK(cuInit(0));
		puts("ready");
		fflush(stdout);
		usleep((unsigned)n * 1000);
		return 0;
	}
	if (!strcmp(how, "race")) {
		launch(1);
		race(n);
		return 0;
	}
	if (!strcmp(how, "fork") || !strcmp(how, "both"))
		child = fork();
	if (child || !strcmp(how, "both"))
		launch(n);
	if (!child)
		return 0;
	if (child > 0)
		waitpid(child, NULL, 0);
	if (!strcmp(how, "kill")) {
		wait_for_file();
		signal((int)last, SIG_DFL);
		raise((int)last);
	}
	if (!strcmp(how, "count"))
		count_signals();
	if (!strcmp(how, "write"))
		write_until_closed();
	return (int)last;
}

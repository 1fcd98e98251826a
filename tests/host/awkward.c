/* awkward.c - hosts that do what no library expects, one a case.
 *
 *	host_awkward CAPTURE CASE
 *
 * Ends with 0 and says "fine" where the host got on as it would have untraced; what the tracer must have counted is
 * checked here as well. A host that hangs is for the caller's timeout. */
#include "tests/host/host.h"

#include "tracer/vptrace.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int InitializeInjection(void);

static struct vptrace_options options = {.struct_bytes = sizeof(options), .flush_interval_ms = 100};
static struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};
static _Atomic long shift_s; /* by which the real-time clock is wrong */

/* The tracer's clock, and everybody's. */
int clock_gettime(clockid_t id, struct timespec *t)
{
	int rc = (int)syscall(SYS_clock_gettime, id, t);

	if (id == CLOCK_REALTIME)
		t->tv_sec += shift_s;
	return rc;
}

static _Atomic long writes_left = -1; /* to files, before the disk hangs; negative: it never does */

/* The tracer's as well: where the disk hangs, a write to a file never ends. */
ssize_t write(int fd, const void *data, size_t size)
{
	while (fd > STDERR_FILENO && writes_left == 0)
		pause();
	if (fd > STDERR_FILENO && writes_left > 0)
		writes_left--;
	return syscall(SYS_write, fd, data, size);
}

static void expect(const char *what, long long wanted, long long found)
{
	if (wanted == found)
		return;
	printf("%s: expected %lld, found %lld\n", what, wanted, found);
	exit(1);
}

static void start(void)
{
	int rc = vptrace_start(&options);

	if (rc != VPTRACE_OK && rc != VPTRACE_ENOCUPTI) {
		printf("start: %s\n", vptrace_last_error());
		exit(1);
	}
}

static void stop_with(unsigned long long received)
{
	vptrace_stop(&stats);
	expect("received", (long long)received, (long long)stats.received);
	expect("written + dropped", (long long)received,
		(long long)(stats.written + stats.dropped));
}

static void leave(int signal)
{
	(void)signal;
	puts("fine");
	exit(0);
}

/* The signal mostly finds the thread inside a function of the tracer, lock and all. */
static void exit_in_a_handler(void)
{
	struct itimerval soon = {.it_value = {0, 50000}};

	start();
	signal(SIGALRM, leave);
	setitimer(ITIMER_REAL, &soon, NULL);
	for (;;)
		vptrace_statistics(&stats);
}

static volatile sig_atomic_t refused;

/* Once: periodic alarms would leave the program no time on a slow machine, where the handler takes longer than a period. */
static void alarm_soon(void)
{
	struct itimerval soon = {.it_value = {0, 1000}};

	setitimer(ITIMER_REAL, &soon, NULL);
}

static void toggle_in_handler(int signal)
{
	(void)signal;
	refused += vptrace_stop(NULL) == VPTRACE_EBUSY;
	refused += vptrace_metadata("key", "value") == VPTRACE_EBUSY;
	refused += vptrace_statistics(&stats) == VPTRACE_EBUSY;
	refused += vptrace_start(&options) == VPTRACE_EBUSY;
	alarm_soon();
}

/* Handlers that stop and start what they have interrupted. */
static void toggled_in_a_handler(void)
{
	struct itimerval never = {{0, 0}, {0, 0}};
	time_t end = time(NULL) + 2;

	options.overwrite = 1;
	signal(SIGALRM, toggle_in_handler);
	alarm_soon();
	while (time(NULL) < end) {
		vptrace_start(&options);
		vptrace_mark("m");
		vptrace_statistics(&stats);
		vptrace_stop(NULL);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	vptrace_stop(NULL);
	if (!refused)
		expect("some calls were refused", 1, 0);
	start();
	vptrace_mark("m");
	stop_with(1);
}

static void *stop_thread(void *arg)
{
	(void)arg;
	vptrace_stop(NULL);
	return NULL;
}

static void cancelled_in_a_stop(void)
{
	struct host_gpu gpu;
	pthread_t thread;
	int i;

	start();
	gpu = host_open();
	for (i = 0; i < 200; i++)
		host_launch(gpu.gemm, 1000, NULL);
	if (pthread_create(&thread, NULL, stop_thread, NULL))
		exit(9);
	usleep(20000);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	expect("statistics", VPTRACE_OK, vptrace_statistics(&stats));
}

static void *mark_for_ever(void *arg)
{
	(void)arg;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;) {
		vptrace_range_push("cancelled");
		vptrace_mark("cancelled");
		vptrace_range_pop();
	}
	return NULL;
}

/* Threads that are cancelled at any instruction, mostly of the tracer's. The next thread gets the memory of the one before. */
static void cancelled_in_a_range(void)
{
	pthread_t thread;
	int i;

	start();
	for (i = 0; i < 300; i++) {
		if (pthread_create(&thread, NULL, mark_for_ever, NULL))
			exit(9);
		usleep(300 + (unsigned)i);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	usleep(50000); /* the writer reads what is left */
	for (i = 0; i < 1000; i++) {
		vptrace_range_push("not cancelled");
		vptrace_range_pop();
	}
	expect("stop", VPTRACE_OK, vptrace_stop(&stats));
	expect("received", (long long)(stats.written + stats.dropped), (long long)stats.received);
}

static void *toggle_for_ever(void *arg)
{
	(void)arg;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;) {
		vptrace_start(&options);
		vptrace_pause();
		vptrace_resume();
		vptrace_metadata("", ""); /* fails, and says why */
		vptrace_statistics(&stats);
		vptrace_stop(NULL);
	}
	return NULL;
}

static void cancelled_in_a_start(void)
{
	pthread_t thread;
	int i;

	options.overwrite = 1;
	for (i = 0; i < 100; i++) {
		if (pthread_create(&thread, NULL, toggle_for_ever, NULL))
			exit(9);
		usleep(500 + 10 * (unsigned)i);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	vptrace_stop(NULL);
	start();
	vptrace_mark("m");
	stop_with(1);
}

/* A child that the C library's fork handlers know nothing of. */
static void child_unannounced(void)
{
	int status = 1;
	pid_t child;

	start();
	vptrace_mark("in the parent");
	child = (pid_t)syscall(SYS_fork);
	if (!child) {
		expect("start in the child", VPTRACE_EFORKED, vptrace_start(&options));
		expect("stop in the child", VPTRACE_EFORKED, vptrace_stop(NULL));
		exit(0);
	}
	if (waitpid(child, &status, 0) != child)
		exit(9);
	expect("the child's status", 0, status);
	stop_with(1);
}

static void clock_set_back(void)
{
	start();
	vptrace_range_push("open until the stop");
	vptrace_range_push("across the change");
	usleep(1000);
	shift_s = -3600;
	vptrace_range_pop();
	vptrace_range_push("after");
	vptrace_range_pop();
	stop_with(3);
	expect("invalid", 1, (long long)stats.invalid);
}

/* Recording is paused when the driver loads the library. */
static void driver_comes_in_a_pause(void)
{
	struct host_gpu gpu;

	options.cupti_path = "/nonexistent/libcupti.so";
	start();
	expect("status", VPTRACE_RANGES_ONLY, vptrace_status());
	expect("pause", VPTRACE_OK, vptrace_pause());
	InitializeInjection();
	expect("status", VPTRACE_PAUSED, vptrace_status());
	gpu = host_open();
	host_launch(gpu.gemm, 1000, NULL);
	HOST_CHECK(cudaDeviceSynchronize());
	vptrace_mark("in the pause");
	expect("resume", VPTRACE_OK, vptrace_resume());
	usleep(1000);
	vptrace_mark("after the pause");
	stop_with(1);
}

static volatile int over;

static void *toggle(void *arg)
{
	int i;

	(void)arg;
	options.synchronize = 1;
	for (i = 0; i < 20 && !over; i++) {
		vptrace_start(&options);
		vptrace_stop(NULL);
	}
	return NULL;
}

/* cuInit() holds the driver's lock and waits for the injection, while a stop waits for the driver. */
static void driver_comes_in_a_stop(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, toggle, NULL))
		exit(9);
	usleep(20000);
	cuInit(0);
	over = 1;
	pthread_join(thread, NULL);
}

/* Many ranges stay open, and the last chunk becomes full while they are written. */
static void many_open_at_the_end(void)
{
	char name[32];
	int i;

	options.flush_interval_ms = 3600000;
	start();
	for (i = 0; i < 65480; i++) {
		vptrace_mark("m");
		if (i % 2000 == 0)
			usleep(15000);
	}
	for (i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "open %d", i);
		vptrace_range_start(name);
	}
	stop_with(65680);
	expect("invalid", 0, (long long)stats.invalid);
}

/* More series than a chunk has room for. */
static void many_series(void)
{
	char name[32];
	int i;

	options.flush_interval_ms = 3600000;
	start();
	for (i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "series %d", i);
		vptrace_counter(name, i, "items");
	}
	stop_with(5000);
	expect("dropped", 0, (long long)stats.dropped);
}

static void nobody_reads_the_errors(void)
{
	int ends[2];

	if (pipe(ends) || dup2(ends[1], STDERR_FILENO) < 0)
		exit(9);
	close(ends[0]);
	close(ends[1]);
	setenv("VPTRACE_PROFILE", "no such profile", 1);
	InitializeInjection();
}

static void no_such_folder(void)
{
	options.path = "/nonexistent/folder/t.zst";
	expect("start", VPTRACE_EFILE, vptrace_start(&options));
	expect("status", VPTRACE_STOPPED, vptrace_status());
	expect("stop", VPTRACE_EIDLE, vptrace_stop(NULL));
}

/* Each start looks at the same environment. */
static void misspelt(void)
{
	start();
	vptrace_stop(NULL);
	start();
	vptrace_stop(NULL);
}

static void hundred_captures(void)
{
	int i;

	for (i = 0; i < 100; i++) {
		start();
		vptrace_mark("m");
		stop_with(1);
	}
}

static void mark_often(int count)
{
	int i;

	for (i = 0; i < count; i++) {
		vptrace_mark("m");
		if (i % 1000 == 999)
			usleep(15000);
	}
}

/* Work of one stream is queued and running, that of another has been done. */
static void stop_with_work_queued(void)
{
	cudaStream_t slow, fast;
	struct host_gpu gpu;
	int i;

	options.synchronize = -1;
	start();
	gpu = host_open();
	HOST_CHECK(cudaStreamCreateWithFlags(&slow, cudaStreamNonBlocking));
	HOST_CHECK(cudaStreamCreateWithFlags(&fast, cudaStreamNonBlocking));
	for (i = 0; i < 100; i++) {
		host_launch(gpu.gemm, 500000000, slow);
		host_launch(gpu.attention, 1000, fast);
	}
	HOST_CHECK(cudaStreamSynchronize(fast));
	expect("stop", VPTRACE_OK, vptrace_stop(&stats));
	printf("unfinished %llu\n", (unsigned long long)stats.unfinished);
	start();
	host_launch(gpu.gemm, 1000, fast);
	HOST_CHECK(cudaStreamSynchronize(fast));
	expect("stop", VPTRACE_OK, vptrace_stop(&stats));
	expect("unfinished after a synchronisation", 0, (long long)stats.unfinished);
}

/* ---- another client of CUPTI, as PyTorch's profiler is one ---- */

static struct {
	int (*register_callbacks)(void (*)(uint8_t **, size_t *, size_t *),
		void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
	int (*enable)(uint32_t), (*disable)(uint32_t), (*flush)(uint32_t);
} other;

static void other_requested(uint8_t **buffer, size_t *size, size_t *max)
{
	*buffer = aligned_alloc(8, 1 << 20);
	*size = 1 << 20;
	*max = 0;
}

static void other_completed(
	void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)context, (void)stream, (void)size, (void)valid;
	free(buffer);
}

static void set_kinds(int (*set)(uint32_t))
{
	static const uint32_t kinds[] = {1, 2, 4, 5, 10}; /* copies, memsets, calls, kernels */
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		set(kinds[i]);
}

static void begin_other(void)
{
	void *cupti = dlopen(getenv("VPTRACE_LIBCUPTI"), RTLD_NOW);

	if (!cupti)
		exit(9);
	*(void **)&other.register_callbacks = dlsym(cupti, "cuptiActivityRegisterCallbacks");
	*(void **)&other.enable = dlsym(cupti, "cuptiActivityEnable");
	*(void **)&other.disable = dlsym(cupti, "cuptiActivityDisable");
	*(void **)&other.flush = dlsym(cupti, "cuptiActivityFlushAll");
	other.register_callbacks(other_requested, other_completed);
	set_kinds(other.enable);
}

static void launch_often(cudaKernel_t kernel)
{
	int i;

	for (i = 0; i < 100; i++)
		host_launch(kernel, 1000, NULL);
	HOST_CHECK(cudaStreamSynchronize(NULL));
}

/* It records when the capture begins: what is launched goes on into its buffer. */
static void another_client_before(void)
{
	struct host_gpu gpu = host_open();

	begin_other();
	launch_often(gpu.gemm);
	start();
	launch_often(gpu.gemm);
	expect("stop", VPTRACE_ETAKEN, vptrace_stop(&stats));
}

/* What stands in the file is what was written before, and everything else has been dropped. Then there is nothing to wait
 * for: the next capture gets a file of its own. */
static void disk_hangs(void)
{
	unsetenv("VPTRACE_STOP_MS");
	options.stop_timeout_ms = 200;
	writes_left = 3; /* the header, and two chunks */
	start();
	mark_often(60000);
	expect("stop", VPTRACE_EFILE, vptrace_stop(&stats));
	expect("received", 60000, (long long)stats.received);
	expect("written + dropped", 60000, (long long)(stats.written + stats.dropped));
	expect("chunks", 2, (long long)stats.chunks);
	printf("written %llu\n", (unsigned long long)stats.written);
	options.stop_timeout_ms = 0;
	writes_left = -1;
	start();
	vptrace_mark("m");
	stop_with(1);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"exit-in-a-handler", exit_in_a_handler},
	{"cancelled-in-a-range", cancelled_in_a_range},
	{"cancelled-in-a-start", cancelled_in_a_start},
	{"cancelled-in-a-stop", cancelled_in_a_stop},
	{"child-unannounced", child_unannounced},
	{"clock-set-back", clock_set_back},
	{"driver-comes-in-a-pause", driver_comes_in_a_pause},
	{"driver-comes-in-a-stop", driver_comes_in_a_stop},
	{"many-open-at-the-end", many_open_at_the_end},
	{"many-series", many_series},
	{"nobody-reads-the-errors", nobody_reads_the_errors},
	{"no-such-folder", no_such_folder},
	{"disk-hangs", disk_hangs},
	{"stop-with-work-queued", stop_with_work_queued},
	{"toggled-in-a-handler", toggled_in_a_handler},
	{"misspelt", misspelt},
	{"another-client-before", another_client_before},
	{"hundred-captures", hundred_captures},
};

int main(int argc, char **argv)
{
	size_t i;

	if (argc != 3)
		return 2;
	options.path = argv[1];
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(argv[2], cases[i].name)) {
			cases[i].run();
			puts("fine");
			return 0;
		}
	fprintf(stderr, "CASE: '%s' is not one of them\n", argv[2]);
	return 2;
}

/* ring.c - a program that is recorded by a flight recorder.
 *
 *	host_ring endless           prints "ready" once the ring has a chunk; works until it is killed
 *	host_ring die MS [CHUNKS]   works so long, and until the ring has had CHUNKS, and kills itself with SIGKILL
 *	host_ring steps N SLOW      N steps of 2 ms; the step of the number SLOW takes ten times as long, exactly
 *	                            so in simulated time
 *	host_ring calls N SLOW      the same by calls of vptrace_step()
 *	host_ring mark NAME         works, makes a mark, works on
 *	host_ring signal            sends itself SIGUSR2, for which it has a handler of its own
 *	host_ring take PATH...      works, and takes a snapshot of each name; "-" is none
 *	host_ring full PATH         the same on a full disk, then once more on one that is not
 *	host_ring busy PATH N       N snapshots while three threads launch as fast as they can
 *	host_ring ahead NAME US [DIE_MS]
 *	                            a mark after 1 s, in a thread that launches a kernel each US microseconds and never
 *	                            lets the GPU become idle; ends 2 s after it, or kills itself with SIGKILL after DIE_MS
 *	host_ring long SECONDS      the same without snapshots; prints its memory early and late
 *	host_ring forge PATH        has a ring, names another file in its head, and dies
 *	host_ring many N            N processes at once, which die like "die 300 1"
 *
 * Kernel i lasts 1,000 + i ns on each stream, so a hole in a capture shows. */
#include "tests/host/host.h"
#include "tests/standin/standin.h"
#include "tests/support/process.h"

#include "tracer/flight/flight.h"
#include "tracer/vptrace.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct host_gpu gpu;
static atomic_int is_over;
static atomic_ulong launched;
static volatile sig_atomic_t own_signals;

static void step(cudaStream_t stream, int64_t index, unsigned sleep_us)
{
	static _Thread_local uint64_t i;
	struct vptrace_note note = {VPTRACE_NOTE_STEP, index, -1, -1, 500.0};
	int k;

	vptrace_note_push("step", &note);
	for (k = 0; k < 20; k++)
		host_launch(gpu.gemm, 1000 + i++, stream);
	HOST_CHECK(cudaStreamSynchronize(stream));
	atomic_fetch_add(&launched, 20);
	if (sleep_us)
		usleep(sleep_us);
	vptrace_range_pop();
}

static void steps(int count)
{
	int i;

	for (i = 0; i < count; i++)
		step(NULL, i, 500);
}

static void *work(void *sleep_us)
{
	cudaStream_t stream;
	int64_t i;

	HOST_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (i = 0; !atomic_load(&is_over); i++)
		step(stream, i, (unsigned)(uintptr_t)sleep_us);
	return NULL;
}

static void start_threads(pthread_t *threads, int count, unsigned sleep_us)
{
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)sleep_us))
			exit(9);
}

static void end_threads(pthread_t *threads, int count)
{
	atomic_store(&is_over, 1);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void die(long ms, long chunks)
{
	struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};
	pthread_t threads[2];

	start_threads(threads, 2, 200);
	usleep((unsigned)ms * 1000);
	while (stats.chunks < (uint64_t)chunks) {
		usleep(1000);
		vptrace_statistics(&stats);
	}
	kill(getpid(), SIGKILL);
}

static void run_on(void)
{
	struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};
	pthread_t threads[2];

	start_threads(threads, 2, 200);
	while (!stats.chunks) {
		usleep(1000);
		vptrace_statistics(&stats);
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

/* The ring's head, in the memory that this process shares with the launcher; NULL: it has none. */
static struct vtr_image_head *find_head(void)
{
	char link[64], target[64];
	void *head;
	int fd;

	for (fd = 3; fd < 1024; fd++) {
		ssize_t n;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		if (!strstr(target, "vptrace-ring"))
			continue;
		head = mmap(
			NULL, sizeof(struct vtr_image), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		return head == MAP_FAILED ? NULL : head;
	}
	return NULL;
}

/* As vtr_image_check_head() in the library, which does not export it. */
static uint64_t check_of(const struct vtr_image_head *head)
{
	size_t bytes = offsetof(struct vtr_image_head, check);
	const unsigned char *p = (const unsigned char *)head;
	uint64_t hash = 0xcbf29ce484222325u, word;

	for (; bytes >= 8; bytes -= 8, p += 8) {
		memcpy(&word, p, 8);
		hash = (hash ^ word) * 0x100000001b3u;
		hash ^= hash >> 29;
	}
	for (; bytes; bytes--)
		hash = (hash ^ *p++) * 0x100000001b3u;
	return (hash ^ hash >> 32) | 1;
}

static void forge(const char *path)
{
	struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};
	struct vtr_image_head *head;

	while (!stats.chunks) {
		steps(20);
		vptrace_statistics(&stats);
	}
	head = find_head();
	if (!head || head->check != check_of(head))
		exit(8);
	snprintf(head->path, sizeof(head->path), "%s", path);
	head->check = check_of(head);
	kill(getpid(), SIGKILL);
}

static void slow_step(int count, int slow, int calls)
{
	struct vptrace_note note = {VPTRACE_NOTE_STEP, 0, -1, -1, 500.0};
	int i;

	for (i = 0; i < count; i++) {
		if (calls)
			vptrace_step();
		else
			vptrace_note_push("timed", &note);
		host_launch(gpu.gemm, 1000 + (uint64_t)i, NULL);
		HOST_CHECK(cudaDeviceSynchronize());
		standin_work(i == slow ? 20000000 : 2000000);
		if (!calls)
			vptrace_range_pop();
	}
}

static void on_signal(int number)
{
	(void)number;
	own_signals++;
}

static void take(const char *path)
{
	int rc = vptrace_snapshot(strcmp(path, "-") ? path : NULL);

	printf("snapshot %d %s %s\n", rc, rc ? "" : vptrace_path(), rc ? vptrace_last_error() : "");
	fflush(stdout);
}

static void take_on_full_disk(const char *path)
{
	struct rlimit limit, none = {512, RLIM_INFINITY};

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	none.rlim_max = limit.rlim_max;
	steps(50);
	setrlimit(RLIMIT_FSIZE, &none);
	take(path);
	setrlimit(RLIMIT_FSIZE, &limit);
	steps(50);
	take(path);
}

static void print_counts(void)
{
	struct vptrace_stats stats = {.struct_bytes = sizeof(stats)};

	vptrace_stop(&stats);
	printf("launched %lu, dropped %llu\n", atomic_load(&launched),
		(unsigned long long)(stats.dropped + stats.cupti_dropped));
}

static void take_while_busy(const char *path, long count)
{
	pthread_t threads[3];

	start_threads(threads, 3, 0);
	while (atomic_load(&launched) < 2000)
		usleep(1000);
	while (count--) {
		take(path);
		printf("launched by then %lu\n", atomic_load(&launched));
	}
	end_threads(threads, 3);
	print_counts();
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Kernels last longer than the time between their launches, so there is always one in the queue. */
static void run_ahead(const char *mark, long us, long die_ms)
{
	uint64_t begin_ns = now_ns(), i, step_ns = (uint64_t)us * 1000;

	for (i = 0; i * step_ns < 3000000000; i++) {
		while (now_ns() < begin_ns + i * step_ns)
			usleep(200);
		host_launch(gpu.gemm, step_ns + step_ns / 8 + i, NULL);
		atomic_fetch_add(&launched, 1);
		if (i % 10 == 0)
			vptrace_counter("launched", (double)i, "kernels");
		if (i == 1000000000 / step_ns)
			vptrace_mark(mark);
		if (die_ms && i * step_ns >= (uint64_t)die_ms * 1000000)
			kill(getpid(), SIGKILL);
	}
	HOST_CHECK(cudaDeviceSynchronize());
	print_counts();
}

static void watch_memory(long seconds)
{
	pthread_t threads[3];
	long i;

	start_threads(threads, 3, 0);
	for (i = 0; i < 10 * seconds; i++) {
		usleep(100000);
		if (i == 3 * seconds)
			printf("early %ld KiB\n", vpt_process_kib("VmRSS:"));
	}
	printf("late %ld KiB\n", vpt_process_kib("VmRSS:"));
	end_threads(threads, 3);
	print_counts();
}

static void die_in_many(const char *program, long count)
{
	long i;

	for (i = 0; i < count; i++)
		if (!fork()) {
			execl(program, program, "die", "300", "1", (char *)NULL);
			_exit(9);
		}
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "", *word = argc > 2 ? argv[2] : "0";
	long n = argc > 3 && strcmp(how, "take") ? host_number(argv[3], "the last word") : 0;

	if (!strcmp(how, "many")) {
		die_in_many(argv[0], host_number(word, "N"));
		return 0;
	}
	if (!strcmp(how, "signal")) /* before the tracer starts */
		signal(SIGUSR2, on_signal);
	gpu = host_open();
	if (!strcmp(how, "endless")) {
		run_on();
	} else if (!strcmp(how, "die")) {
		die(host_number(word, "MS"), n);
	} else if (!strcmp(how, "steps") || !strcmp(how, "calls")) {
		slow_step((int)host_number(word, "N"), (int)n, !strcmp(how, "calls"));
	} else if (!strcmp(how, "mark")) {
		steps(40);
		vptrace_mark(word);
		usleep(200000);
		steps(40);
	} else if (!strcmp(how, "signal")) {
		steps(40);
		raise(SIGUSR2);
		usleep(200000);
		printf("own signals %d\n", (int)own_signals);
	} else if (!strcmp(how, "take")) {
		for (int i = 2; i < argc; i++) {
			steps(40);
			take(argv[i]);
		}
	} else if (!strcmp(how, "forge")) {
		forge(word);
	} else if (!strcmp(how, "full")) {
		take_on_full_disk(word);
	} else if (!strcmp(how, "busy")) {
		take_while_busy(word, n);
	} else if (!strcmp(how, "ahead")) {
		run_ahead(word, n, argc > 4 ? host_number(argv[4], "DIE_MS") : 0);
	} else if (!strcmp(how, "long")) {
		watch_memory(host_number(word, "SECONDS"));
	} else {
		return 2;
	}
	return 0;
}

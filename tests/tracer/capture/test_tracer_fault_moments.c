/* test_tracer_fault_moments.c - something goes wrong at some moment of a small capture, and what the tracer says, what its
 * file says, and what the host and the stand-in did, is the same.
 *
 * A seed and a number make a pair of a fault and a moment. VPT_PAIRS says how many pairs are tried (500), VPT_SEED and
 * VPT_FIRST choose others; a pair that fails is named with both. The pairs are dealt to processes with different settings of
 * the stand-in, each of which runs many of them.
 * Long, since the same process makes the fault, the host and the check. */
#include "formats/base/memory.h"
#include "formats/file/capture_reader.h"
#include "tests/standin/include/standin_cuda.h"
#include "tests/standin/standin.h"
#include "tests/support/process.h"
#include "tests/support/random.h"
#include "tracer/capture/session.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/words/range_strings.h"
#include "tracer/vptrace.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum {
	STEPS = 24,
	SETTLE_MS = 2000,
	STOP_MS = 40,
	HANG_STOP_MS = 15,
	EXIT_STOP_MS = 10000,
	NAME_BYTES = 4200
};

/* ---- pairs ---- */

enum fault {
	NOTHING,
	WRITE_FAILS, /* the n-th write and all after it, with an errno */
	WRITE_FAILS_ONCE,
	WRITE_IS_SHORT, /* the n-th write and all after it move a part, then fail */
	WRITE_HANGS,    /* the n-th write ends after the stop */
	NO_MEMORY,      /* the n-th allocation and all after it */
	NO_MEMORY_ONCE,
	CUPTI_FAILS, /* the n-th call of CUPTI */
	STOP_ELSEWHERE,
	THREAD_CANCELLED,
	FORK,
	EXIT,
	NOT_SYNCHRONISED,
	FAULTS
};

static const char *const fault_names[FAULTS] = {"nothing", "write fails", "write fails once",
	"write is short", "write hangs", "no memory", "no memory once", "CUPTI fails",
	"stop elsewhere", "thread cancelled", "fork", "exit", "not synchronised"};

struct pair {
	unsigned seed, number;
	enum fault fault;
	unsigned moment; /* the n-th write, allocation, call of CUPTI, or step of the host */
	int error;
	unsigned pauses; /* of the host, so that there are several chunks */
	int quiet;       /* what CUPTI has left from before is fetched first */
};

static struct pair make_pair(unsigned seed, unsigned number)
{
	static const int errnos[] = {EIO, ENOSPC, EDQUOT, EFBIG, EPIPE, EINTR, EAGAIN, EBADF, 0};
	static const int results[] = {1, 3, 8, 12, 15, 35, 39, 999};
	static const unsigned moments[FAULTS] = {
		1, 6, 6, 6, 6, 500, 500, 260, STEPS, STEPS, STEPS, STEPS, STEPS};
	struct vpt_random r = {(uint64_t)seed << 32 | number};
	struct pair p = {.seed = seed, .number = number};

	p.fault = (enum fault)vpt_random_below(&r, FAULTS);
	p.moment = 1 + (unsigned)vpt_random_below(&r, moments[p.fault]);
	if (vpt_random_below(&r, 2) && moments[p.fault] > 100)
		p.moment = 1 + p.moment % 40;
	p.error = p.fault == CUPTI_FAILS
			  ? results[vpt_random_below(&r, sizeof(results) / sizeof(int))]
			  : errnos[vpt_random_below(&r, sizeof(errnos) / sizeof(int))];
	p.pauses = vpt_random_below(&r, 3) ? 0 : 1 + (unsigned)vpt_random_below(&r, 2);
	p.quiet = vpt_random_below(&r, 4) != 0;
	return p;
}

static struct pair pair;             /* at hand */
static struct vptrace_stats stopped; /* counts of its stop, printed if it fails */
static int stop_code;
static char folder[NAME_BYTES], capture[NAME_BYTES];

static __attribute__((format(printf, 1, 2), noreturn)) void wrong(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr,
		"VPT_SEED=%u VPT_FIRST=%u VPT_PAIRS=1: %s, moment %u, error %d, %u pauses%s: ",
		pair.seed, pair.number, fault_names[pair.fault], pair.moment, pair.error,
		pair.pauses, pair.quiet ? "" : ", not quiet");
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr,
		"\n  stop returned %d: received %llu, written %llu, dropped %llu, from CUPTI %llu, "
		"filtered %llu, invalid %llu, unfinished %llu; %llu buffers kept, %llu chunks\n",
		stop_code, (unsigned long long)stopped.received,
		(unsigned long long)stopped.written, (unsigned long long)stopped.dropped,
		(unsigned long long)stopped.cupti_records, (unsigned long long)stopped.filtered,
		(unsigned long long)stopped.invalid, (unsigned long long)stopped.unfinished,
		(unsigned long long)stopped.buffers_kept, (unsigned long long)stopped.chunks);
	_exit(1);
}

static void expect(const char *what, uint64_t wanted, uint64_t found)
{
	if (wanted != found)
		wrong("%s: expected %llu, found %llu", what, (unsigned long long)wanted,
			(unsigned long long)found);
}

/* ---- writes and allocations that fail ---- */

static atomic_uint writes, hanging, released;
static _Atomic long allocations; /* counted while the fault is armed */
static atomic_int armed;

static long plain_read(int fd, void *buf, size_t size, uint64_t offset)
{
	return pread(fd, buf, size, (off_t)offset);
}

static long failing_write(int fd, const void *data, size_t size)
{
	unsigned n = atomic_fetch_add(&writes, 1) + 1;
	int now = atomic_load(&armed) && (n == pair.moment || (n > pair.moment));

	if (!now || (n > pair.moment && pair.fault == WRITE_FAILS_ONCE))
		return write(fd, data, size);
	switch (pair.fault) {
	case WRITE_FAILS:
	case WRITE_FAILS_ONCE:
		errno = pair.error;
		return pair.error ? -1 : 0;
	case WRITE_IS_SHORT:
		if ((n - pair.moment) % 2 == 0)
			return write(fd, data, (size + 1) / 2);
		errno = pair.error ? pair.error : ENOSPC;
		return -1;
	case WRITE_HANGS:
		atomic_store(&hanging, 1);
		while (n == pair.moment && !atomic_load(&released))
			usleep(100);
		return write(fd, data, size);
	default:
		return write(fd, data, size);
	}
}

static void *failing_resize(void *ptr, size_t size)
{
	long n;

	if (!atomic_load(&armed) || (pair.fault != NO_MEMORY && pair.fault != NO_MEMORY_ONCE))
		return realloc(ptr, size);
	n = atomic_fetch_add(&allocations, 1) + 1;
	if (n == pair.moment || (n > pair.moment && pair.fault == NO_MEMORY))
		return NULL;
	return realloc(ptr, size);
}

/* ---- the host ---- */

#define CALLS(X)                                                                                   \
	X(cudaLibraryLoadData)                                                                     \
	X(cudaLibraryGetKernel)                                                                    \
	X(cudaLaunchKernel)                                                                        \
	X(cudaStreamCreateWithFlags)                                                               \
	X(cudaStreamSynchronize)                                                                   \
	X(cudaDeviceSynchronize)                                                                   \
	X(standin_counts)

static struct {
#define POINTER(function) __typeof__(function) *function;
	CALLS(POINTER)
	__typeof__(standin_fail_cupti) *fail_cupti;
	int (*flush)(uint32_t);
} gpu;

static cudaStream_t streams[2];
static cudaKernel_t kernel;
static atomic_ullong events, launches; /* that the host made in this capture */

static void open_gpu(void)
{
	static const char ptx[] = ".visible .entry kernel(.param .u64 ns)\n{ ret; }\n";
	cudaLibrary_t library;
	char path[NAME_BYTES + 32];
	void *runtime, *cupti;
	int i;

	snprintf(path, sizeof(path), "%s/libcudart.so.13", folder);
	runtime = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	snprintf(path, sizeof(path), "%s/libcupti.so.13", folder);
	cupti = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!runtime || !cupti)
		wrong("%s", dlerror());
#define BIND(function) *(void **)&gpu.function = dlsym(runtime, #function);
	CALLS(BIND)
	*(void **)&gpu.fail_cupti = dlsym(cupti, "standin_fail_cupti");
	*(void **)&gpu.flush = dlsym(cupti, "cuptiActivityFlushAll");
	expect("library", 0, gpu.cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	expect("kernel", 0, gpu.cudaLibraryGetKernel(&kernel, library, "kernel"));
	for (i = 0; i < 2; i++)
		expect("stream", 0, gpu.cudaStreamCreateWithFlags(&streams[i], 1));
}

static void launch(cudaStream_t stream, uint64_t ns)
{
	const dim3 grid = {2, 1, 1}, block = {64, 1, 1};
	void *arguments[] = {&ns};

	expect("launch", 0, gpu.cudaLaunchKernel(kernel, grid, block, arguments, 0, stream));
	atomic_fetch_add(&launches, 1);
}

/* One step of the host: a range with a launch, a mark and a counter inside. */
static void step(cudaStream_t stream)
{
	vptrace_range_push("step");
	launch(stream, 1000);
	vptrace_mark("launched");
	vptrace_counter("steps", 1, "steps");
	vptrace_range_pop();
	atomic_fetch_add(&events, 3);
}

static void *work_beside(void *arg)
{
	unsigned i;

	for (i = 0; i < STEPS / 2; i++)
		step(streams[1]);
	gpu.cudaStreamSynchronize(streams[1]);
	return arg;
}

static void *mark_for_ever(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;) {
		vptrace_range_push("cancelled");
		vptrace_mark("cancelled");
		vptrace_range_pop();
	}
	return arg;
}

static void cancel_a_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, mark_for_ever, NULL))
		wrong("no thread");
	usleep(50 + pair.number % 300);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

static void fork_a_child(void)
{
	int status = 1;
	pid_t child = fork();

	if (!child) {
		vptrace_range_push("in the child");
		vptrace_range_pop();
		if (vptrace_start(NULL) != VPTRACE_EFORKED || vptrace_stop(NULL) != VPTRACE_EFORKED)
			_exit(3);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		wrong("no child");
	expect("the child's status", 0, (uint64_t)status);
}

struct stop {
	struct vptrace_stats stats;
	int rc;
};

static void *stop_capture(void *arg)
{
	struct stop *s = arg;

	s->stats.struct_bytes = sizeof(s->stats);
	s->rc = vptrace_stop(&s->stats);
	return NULL;
}

/* The host's steps, with what happens at one of them. Returns a thread that has been asked to stop the capture. */
static pthread_t run_steps(struct stop *stop)
{
	pthread_t beside, stopper = 0;
	unsigned i;

	if (pthread_create(&beside, NULL, work_beside, NULL))
		wrong("no thread");
	for (i = 1; i <= STEPS; i++) {
		if (i == pair.moment && pair.fault == FORK)
			fork_a_child();
		else if (i == pair.moment && pair.fault == THREAD_CANCELLED)
			cancel_a_thread();
		else if (i == pair.moment && pair.fault == STOP_ELSEWHERE &&
			 pthread_create(&stopper, NULL, stop_capture, stop))
			wrong("no thread");
		step(streams[0]);
		if (pair.pauses && i % (STEPS / (pair.pauses + 1)) == 0)
			usleep(12000);
		if (pair.fault == NOT_SYNCHRONISED && i > pair.moment)
			launch(streams[0], 30000000);
	}
	pthread_join(beside, NULL);
	if (pair.fault != NOT_SYNCHRONISED)
		gpu.cudaStreamSynchronize(streams[0]);
	return stopper;
}

/* ---- what the file says ---- */

struct found {
	uint64_t rows, kernels, calls, losses, unfinished; /* rows: of events, without LOSS */
	uint64_t received, dropped;                        /* the last STATS of the capture */
	uint64_t lanes_received, lanes_dropped;
	uint64_t without_lane; /* of the rows: their thread had no memory, for example */
	uint64_t whole_chunks;
	int is_file, has_last, is_refused, is_unavailable, is_failed;
};

static void read_meta(struct found *f, const struct vpt_batch *b, const struct vpt_section *s)
{
	uint32_t i;

	for (i = 0; i < s->row_count; i++) {
		struct vpt_text key = vpt_batch_text(b, s->col[VPT_META_KEY][i]);

		f->is_refused |= key.len == 13 && !memcmp(key.text, "cupti.refused", 13);
		f->is_unavailable |= key.len == 17 && !memcmp(key.text, "cupti.unavailable", 17);
		f->is_failed |= key.len == 13 && !memcmp(key.text, "cupti.failure", 13);
	}
}

static void read_section(struct found *f, const struct vpt_batch *b, const struct vpt_section *s)
{
	uint32_t i;

	if (s->kind == VPT_META)
		read_meta(f, b, s);
	for (i = 0; s->kind == VPT_STATS && i < s->row_count; i++) {
		if (s->col[VPT_STATS_LANE][i]) {
			f->lanes_received += s->col[VPT_STATS_RECEIVED][i];
			f->lanes_dropped += s->col[VPT_STATS_DROPPED][i];
			continue;
		}
		f->received = s->col[VPT_STATS_RECEIVED][i];
		f->dropped = s->col[VPT_STATS_DROPPED][i];
	}
	for (i = 0; s->kind == VPT_LOSS && i < s->row_count; i++) {
		f->losses++;
		if (s->col[VPT_LOSS_LOSS_KIND][i] == VPT_LOSSKIND_UNFINISHED)
			f->unfinished += s->col[VPT_LOSS_COUNT][i];
	}
	if (s->kind < VPT_STRING && s->kind != VPT_LOSS && s->kind != VPT_OPEN)
		f->rows += s->row_count;
	if (s->kind < VPT_STRING && s->kind != VPT_LOSS && s->kind != VPT_OPEN && !s->lane)
		f->without_lane += s->row_count;
	f->kernels += s->kind == VPT_KERNEL ? s->row_count : 0;
	f->calls += s->kind == VPT_CALL ? s->row_count : 0;
}

static void read_chunks(struct found *f, const struct vpt_reader *reader)
{
	struct vpt_decoder *decoder = vpt_decoder_new();
	struct vpt_err err = {0};
	struct vpt_batch batch;
	size_t i, s;

	vpt_batch_init(&batch);
	expect("damaged bytes", 0, vpt_reader_damaged_bytes(reader));
	for (i = 0; i < vpt_reader_chunks(reader); i++) {
		if (vpt_reader_info(reader, i)->state != VPT_CHUNK_WHOLE)
			wrong("chunk %zu is not whole", i);
		if (vpt_reader_chunk(reader, decoder, i, &batch, &err))
			wrong("chunk %zu: %s", i, err.text);
		f->whole_chunks++;
		f->has_last |= (batch.flags & VPT_BATCH_LAST) != 0;
		for (s = 0; s < batch.section_count; s++)
			read_section(f, &batch, &batch.sections[s]);
	}
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
}

static struct found read_file(const char *path)
{
	struct vpt_source *source;
	struct vpt_reader *reader;
	struct vpt_err err = {0};
	struct found f = {0};
	struct stat st;

	if (!*path || stat(path, &st))
		return f;
	f.is_file = 1;
	if (!st.st_size)
		return f;
	if (vpt_source_open(path, &source, &err) || vpt_reader_open(source, &reader, &err))
		wrong("%s", err.text);
	read_chunks(&f, reader);
	vpt_reader_free(reader);
	expect("rows of the file, by its own account", f.received - f.dropped, f.rows);
	return f;
}

/* ---- what must be the same ---- */

static unsigned seen[FAULTS], effects[FAULTS]; /* pairs, and those in which something was lost */

static void check_file(const struct found *f, const struct stop *s)
{
	const struct vptrace_stats *n = &s->stats;

	expect("received", n->written + n->dropped, n->received);
	expect("rows of the file", n->written, f->rows);
	expect("chunks of the file", n->chunks, f->whole_chunks);
	expect("unfinished work", f->has_last ? n->unfinished : f->unfinished, f->unfinished);
	if (f->has_last) {
		expect("received, by the file", n->received, f->received);
		expect("dropped, by the file", n->dropped, f->dropped);
		expect("received, by the lanes of the file",
			n->received - f->without_lane - (n->dropped - f->lanes_dropped),
			f->lanes_received);
	} else if (s->rc != VPTRACE_EFILE) {
		wrong("the file has no last chunk, and the stop returned %d", s->rc);
	}
	if (f->received > n->received)
		wrong("the file says more was received than the stop");
}

/* `start`: what the start returned. */
static void check_counts(const struct found *f, const struct stop *s, int start,
	const struct standin_counts *before, const struct standin_counts *after)
{
	const struct vptrace_stats *n = &s->stats;
	uint64_t delivered = after->delivered - before->delivered;
	int is_exact = pair.fault != STOP_ELSEWHERE && pair.fault != THREAD_CANCELLED;
	int is_complete;

	if (is_exact)
		expect("received and filtered", n->cupti_records + events,
			n->received + n->filtered);
	if (!start && pair.quiet && is_exact && !n->buffers_kept && s->rc != VPTRACE_ETIMEOUT) {
		expect("records delivered", delivered, n->cupti_records);
		expect("records that CUPTI dropped", after->dropped - before->dropped,
			n->cupti_dropped);
	}
	is_complete = !start && f->has_last && !f->losses && !f->dropped && !f->is_failed;
	if (is_complete && is_exact) {
		expect("kernels of a complete file", launches, f->kernels);
		if (!f->is_refused && f->calls < launches)
			wrong("a complete file has %llu calls of %llu launches",
				(unsigned long long)f->calls, (unsigned long long)launches);
	}
	if (start && f->has_last && !f->is_unavailable)
		wrong("the file does not say why there is no CUPTI");
	effects[pair.fault] += !is_complete;
}

/* Until the disk's thread has closed the file. */
static void await_disk(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), i;

	for (i = 0; fd >= 0 && i < SETTLE_MS && flock(fd, LOCK_EX | LOCK_NB); i++)
		usleep(1000);
	if (fd >= 0)
		close(fd);
}

/* Until nothing is left of the captures before: neither records with CUPTI nor a flusher whose stop
 * has timed out, whose own calls of CUPTI make records. */
static void await_held(void)
{
	struct standin_counts counts;
	int i;

	gpu.fail_cupti(0, 0);
	for (i = 0; i < SETTLE_MS && vpt_process_threads("vptrace-flush", NULL, 0) > 0; i++)
		usleep(1000);
	gpu.cudaDeviceSynchronize();
	gpu.flush(1);
	for (i = 0; i < SETTLE_MS; i++) {
		gpu.standin_counts(&counts);
		if (!counts.held)
			return;
		usleep(1000);
	}
}

static void arm(void)
{
	atomic_store(&writes, 0);
	atomic_store(&allocations, 0);
	atomic_store(&hanging, 0);
	atomic_store(&released, 0);
	atomic_store(&events, 0);
	atomic_store(&launches, 0);
	gpu.fail_cupti(pair.fault == CUPTI_FAILS ? pair.moment : 0, pair.error);
	atomic_store(&armed, 1);
}

static void disarm(void)
{
	atomic_store(&armed, 0);
	gpu.fail_cupti(0, 0);
}

static int start_capture(void)
{
	struct vptrace_options o = {.struct_bytes = sizeof(o),
		.path = capture,
		.flush_interval_ms = 10,
		.memory_limit_bytes = 32 << 20};
	char cupti[NAME_BYTES + 32];

	snprintf(cupti, sizeof(cupti), "%s/libcupti.so.13", folder);
	o.cupti_path = cupti;
	o.stop_timeout_ms = pair.fault == WRITE_HANGS ? HANG_STOP_MS
			    : pair.fault == EXIT      ? EXIT_STOP_MS
						      : STOP_MS;
	return vptrace_start(&o);
}

static int records_nothing(int start)
{
	return start && start != VPTRACE_ENOCUPTI && start != VPTRACE_ETAKEN &&
	       start != VPTRACE_EDENIED;
}

static void check_no_capture(void)
{
	struct stat st;

	expect("status after a failed start", VPTRACE_STOPPED, vptrace_status());
	expect("stop after a failed start", (uint64_t)VPTRACE_EIDLE, (uint64_t)vptrace_stop(NULL));
	if (!lstat(capture, &st))
		wrong("a start that failed has left a file of %lld bytes", (long long)st.st_size);
}

static void run_pair(void)
{
	struct standin_counts before, after;
	struct stop stop = {.rc = 1};
	pthread_t stopper = 0;
	char path[NAME_BYTES];
	struct found f;
	int start;

	unlink(capture);
	if (pair.quiet)
		await_held();
	gpu.standin_counts(&before);
	arm();
	start = start_capture();
	if (records_nothing(start)) {
		disarm();
		check_no_capture();
		effects[pair.fault]++;
		return;
	}
	stopper = run_steps(&stop);
	if (stopper)
		pthread_join(stopper, NULL);
	else
		stop_capture(&stop);
	stopped = stop.stats;
	stop_code = stop.rc;
	gpu.standin_counts(&after);
	disarm();
	snprintf(path, sizeof(path), "%s", vptrace_path());
	if (stop.rc == VPTRACE_EFILE && !atomic_load(&hanging))
		await_disk(path); /* a write that is given up may still be going on */
	f = read_file(path);
	check_file(&f, &stop);
	check_counts(&f, &stop, start, &before, &after);
	if (atomic_load(&hanging)) {
		atomic_store(&released, 1);
		await_disk(path);
		f = read_file(path);
		check_file(&f, &stop);
	}
	if (*path)
		unlink(path);
}

/* ---- a process that exits ---- */

static void *exit_now(void *arg)
{
	if (pair.error == ENOSPC)
		_exit(0);
	exit(0);
	return arg;
}

/* The process that does: `pair` is known. Says on standard output how many events and launches it has made. */
static void exit_at_a_step(void)
{
	pthread_t thread;
	unsigned i;

	if (start_capture())
		exit(7);
	for (i = 1; i < pair.moment; i++) {
		step(streams[0]);
		if (pair.pauses && i % 10 == 0)
			usleep(12000);
	}
	gpu.cudaStreamSynchronize(streams[0]);
	printf("%llu %llu\n", (unsigned long long)events, (unsigned long long)launches);
	fflush(stdout);
	if (pair.error == EIO && !pthread_create(&thread, NULL, exit_now, NULL))
		pause();
	exit_now(NULL);
}

static void run_exit(const char *settings)
{
	char command[3 * NAME_BYTES], self[NAME_BYTES];
	unsigned long long made = 0, launched = 0;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct found f;
	FILE *pipe;
	int scanned;

	self[n > 0 ? n : 0] = '\0';
	unlink(capture);
	snprintf(command, sizeof(command), "exec '%s' exit %s %u %u '%s'", self, settings,
		pair.seed, pair.number, capture);
	pipe = popen(command, "re");
	if (!pipe)
		wrong("no process");
	scanned = fscanf(pipe, "%llu %llu", &made, &launched);
	expect("the status of the process that exits", 0, (uint64_t)pclose(pipe));
	expect("what it says", 2, (uint64_t)scanned);
	f = read_file(capture);
	if (pair.error != ENOSPC) {
		expect("the last chunk of a process that exits", 1, (uint64_t)f.has_last);
		if (!f.losses)
			expect("kernels of a process that exits", launched, f.kernels);
	}
	if (f.has_last && !f.dropped && f.rows < made + f.kernels)
		wrong("%llu rows for %llu events", (unsigned long long)f.rows, made);
	unlink(capture);
}

/* ---- processes with one setting of the stand-in each, two for every setting ---- */

static const struct setting {
	const char *version, *buffers, *complete, *faults;
} settings[] = {
	{"130001", "", "worker", ""}, {"130001", "", "caller", ""},
	{"130001", "global", "after", ""}, {"22", "", "worker", ""}, {"18", "", "caller", ""},
	{"130001", "", "worker", "late=5"},
	{"130001", "", "worker", "late=80"}, /* later than the stop waits */
};

enum { SETTINGS = sizeof(settings) / sizeof(settings[0]), PROCESSES = 2 * SETTINGS };

static void set_up(const char *capture_path)
{
	static const struct vpt_memory_ops memory = {failing_resize, free};
	static const struct vpt_io_ops io = {plain_read, failing_write};

	snprintf(capture, sizeof(capture), "%s", capture_path);
	/* What the shared library's constructor does. */
	vtr_names_init();
	vtr_threads_init();
	pthread_atfork(NULL, NULL, vtr_session_forked);
	vpt_memory_use(&memory);
	vpt_io_use(&io);
	open_gpu();
}

/* Hands the counts to the process that waits for us. */
static void tell_counts(void)
{
	char line[64], path[NAME_BYTES + 16];
	int i, fd;

	snprintf(path, sizeof(path), "%s.counts", capture);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	for (i = 0; i < FAULTS; i++) {
		int n = snprintf(line, sizeof(line), "%d %u %u\n", i, seen[i], effects[i]);

		if (write(fd, line, (size_t)n) != n)
			wrong("%s: %s", path, strerror(errno));
	}
	close(fd);
}

static void take_counts(const char *capture_path)
{
	char path[NAME_BYTES + 16];
	unsigned fault, pairs, lost;
	FILE *file;

	snprintf(path, sizeof(path), "%s.counts", capture_path);
	file = fopen(path, "r");
	while (file && fscanf(file, "%u %u %u", &fault, &pairs, &lost) == 3 && fault < FAULTS) {
		seen[fault] += pairs;
		effects[fault] += lost;
	}
	if (file)
		fclose(file);
	unlink(path);
}

/* Another process goes on where this one cannot: CUPTI has kept the subscription. */
static void go_on(char **argv, unsigned next)
{
	char number[16];

	tell_counts();
	snprintf(number, sizeof(number), "%u", next);
	argv[4] = number;
	execv("/proc/self/exe", argv);
	_exit(9);
}

/* run SETTING SEED FIRST STRIDE END CAPTURE: every STRIDE-th pair. */
static int run_pairs(char **argv)
{
	unsigned seed = (unsigned)atol(argv[3]), i = (unsigned)atol(argv[4]);
	unsigned stride = (unsigned)atol(argv[5]), end = (unsigned)atol(argv[6]);

	set_up(argv[7]);
	for (; i < end; i += stride) {
		pair = make_pair(seed, i);
		seen[pair.fault]++;
		alarm(60);
		if (pair.fault == EXIT)
			run_exit(argv[2]);
		else
			run_pair();
		if (pair.fault == CUPTI_FAILS && i + stride < end)
			go_on(argv, i + stride);
	}
	tell_counts();
	return 0;
}

static void capture_name(unsigned i, long owner, char path[NAME_BYTES])
{
	snprintf(path, NAME_BYTES, "/tmp/vptrace-moments-%ld-%u.zst", owner, i);
}

static pid_t start_process(unsigned i, unsigned seed, unsigned first, unsigned end)
{
	char number[6][16], path[NAME_BYTES];
	const struct setting *setting = &settings[i % SETTINGS];
	pid_t child = fork();

	if (child)
		return child;
	snprintf(number[0], 16, "%u", i);
	snprintf(number[1], 16, "%u", seed);
	/* The number alone decides which setting it gets. */
	snprintf(number[2], 16, "%u",
		first + (i + PROCESSES - first % PROCESSES) % (unsigned)PROCESSES);
	snprintf(number[3], 16, "%u", (unsigned)PROCESSES);
	snprintf(number[4], 16, "%u", end);
	capture_name(i, (long)getppid(), path);
	/*
	 * AddressSanitizer trips over its own signal stack when it ends that of a thread that was cancelled, and
	 * LeakSanitizer over the memory of a thread that ends while a process exits beside it.
	 */
	setenv("ASAN_OPTIONS", "use_sigaltstack=0:detect_leaks=0", 1);
	setenv("VPT_STANDIN_TIME", "real", 1);
	setenv("VPT_STANDIN_CUPTI", setting->version, 1);
	setenv("VPT_STANDIN_BUFFERS", setting->buffers, 1);
	setenv("VPT_STANDIN_COMPLETE", setting->complete, 1);
	setenv("VPT_STANDIN_FAULTS", setting->faults, 1);
	execl("/proc/self/exe", "moments", "run", number[0], number[1], number[2], number[3],
		number[4], path, (char *)NULL);
	_exit(9);
}

static unsigned number_of(const char *name, unsigned usual)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : usual;
}

static void what_is_said_is_what_happened(void **state)
{
	unsigned seed = number_of("VPT_SEED", 20), first = number_of("VPT_FIRST", 0);
	unsigned end = first + number_of("VPT_PAIRS", 500), i;
	char path[NAME_BYTES];
	int status, failed = 0;
	pid_t children[PROCESSES];

	(void)state;
	for (i = 0; i < PROCESSES; i++)
		children[i] = start_process(i, seed, first, end);
	/* All at a time: they mostly wait. */
	for (i = 0; i < PROCESSES; i++) {
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		if (status)
			fprintf(stderr, "process %u: status 0x%x\n", i, (unsigned)status);
		failed |= status;
		capture_name(i, (long)getpid(), path);
		take_counts(path);
		unlink(path);
	}
	for (i = 0; i < FAULTS; i++)
		print_message("%-20s %6u pairs, in %6u of them something was missing\n",
			fault_names[i], seen[i], effects[i]);
	assert_int_equal(failed, 0);
	/* Enough of them, and each fault has done harm that the tracer has reported. */
	for (i = 0; end - first >= 500 && i < FAULTS; i++)
		assert_true(seen[i] && (effects[i] || i == NOTHING || i == FORK || i == EXIT ||
					       i == STOP_ELSEWHERE || i == THREAD_CANCELLED));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_said_is_what_happened)};
	const char *bin = getenv("VPT_BIN");
	char path[NAME_BYTES + 32];

	unsetenv("VPTRACE_STOP_MS"); /* each fault has its own limit */
	snprintf(folder, sizeof(folder), "%s/standin", bin ? bin : ".");
	if (argc == 8 && !strcmp(argv[1], "run"))
		return run_pairs(argv);
	if (argc == 6 && !strcmp(argv[1], "exit")) {
		pair = make_pair((unsigned)atol(argv[3]), (unsigned)atol(argv[4]));
		set_up(argv[5]);
		exit_at_a_step();
	}
	snprintf(path, sizeof(path), "%s/libcupti.so.13", folder);
	if (access(path, R_OK)) {
		fprintf(stderr, "SKIPPED: there is no %s\n", path);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

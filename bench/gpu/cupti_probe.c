/* cupti_probe.c - measures CUPTI itself, without the tracer, to check what the tracer's design
 * assumes.
 *
 *	cupti_probe kinds ROUNDS LAUNCHES   ns per launch that each kind of record costs, alone and together
 *	cupti_probe coarse ROUNDS LAUNCHES  the same for whole graphs, and whether nodes are recorded afterwards
 *	cupti_probe threads THREADS LAUNCHES   which threads request and complete buffers, and when
 *	cupti_probe flush SECONDS           the cost of a flush, and its effect on launches meanwhile
 *	cupti_probe sequence FILE           every call, callback and record of one small run, as text
 *
 * Symbols are linked, so the loader chooses the library: the simulated one, or a real one with
 * LD_LIBRARY_PATH. Buffers come from the heap, since this is a probe, not a guest. */
#include "bench/gpu/probe.h"
#include "tests/standin/include/standin_cupti.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 20, ROUNDS_MAX = 200, THREADS_MAX = 256 };
enum { THREAD_ID_SYSTEM = 1, FORCED = 1 };

static struct probe_gpu gpu;
static struct standin_subscriber *subscriber;
static FILE *story; /* for `sequence`; otherwise NULL */
static pthread_mutex_t story_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_ulong requested_count, completed_count, records_bytes;
static atomic_ulong completed_by_flusher, completed_by_launcher, completed_by_others;
static atomic_ulong requested_by_launcher, requested_by_others;
static atomic_ulong kernels_reported;
static atomic_int flusher_tid;
static _Thread_local int is_launcher;
static int is_counting; /* count kernel records; for `coarse` */

/* ---- the story: TELL evaluates its arguments under the lock, so they must make no calls ---- */

#define TELL(...)                                                                                  \
	do {                                                                                       \
		if (story) {                                                                       \
			pthread_mutex_lock(&story_lock);                                           \
			fprintf(story, "%d ", (int)gettid());                                      \
			fprintf(story, __VA_ARGS__);                                               \
			fputc('\n', story);                                                        \
			pthread_mutex_unlock(&story_lock);                                         \
		}                                                                                  \
	} while (0)

/* Makes a call and records its return code, which is part of the result. */
#define CALL(call)                                                                                 \
	do {                                                                                       \
		int call_rc = (int)(call);                                                         \
		TELL("call %s -> %d", #call, call_rc);                                             \
	} while (0)

/* Bytes of a record: up to the next one in its buffer, or to the end of what is valid. */
static void tell_record(const uint8_t *record, size_t size)
{
	size_t i;
	uint32_t kind;

	memcpy(&kind, record, sizeof(kind));
	fprintf(story, "    record kind %u, %zu bytes:", kind, size);
	for (i = 0; i < size; i++)
		fprintf(story, "%s%02x", i % 8 ? "" : " ", record[i]);
	if (kind == STANDIN_KERNEL)
		fprintf(story, " name %s", ((const struct standin_kernel_record *)record)->name);
	fputc('\n', story);
}

static void tell_buffer(uint8_t *buffer, size_t valid)
{
	uint8_t *before = NULL;
	void *record = NULL;

	pthread_mutex_lock(&story_lock);
	while (!cuptiActivityGetNextRecord(buffer, valid, &record)) {
		if (before)
			tell_record(before, (size_t)((uint8_t *)record - before));
		before = record;
	}
	if (before)
		tell_record(before, (size_t)(buffer + valid - before));
	pthread_mutex_unlock(&story_lock);
}

static void count_kernels(uint8_t *buffer, size_t valid)
{
	void *record = NULL;
	uint32_t kind;

	while (!cuptiActivityGetNextRecord(buffer, valid, &record)) {
		memcpy(&kind, record, sizeof(kind));
		atomic_fetch_add(&kernels_reported, kind == STANDIN_KERNEL);
	}
}

/* ---- CUPTI's callbacks ---- */

static void requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*max_records = 0;
	atomic_fetch_add(&requested_count, 1);
	atomic_fetch_add(is_launcher ? &requested_by_launcher : &requested_by_others, 1);
	TELL("buffer %p is asked for", (void *)*buffer);
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	atomic_fetch_add(&completed_count, 1);
	atomic_fetch_add(&records_bytes, valid);
	if ((int)gettid() == atomic_load(&flusher_tid))
		atomic_fetch_add(&completed_by_flusher, 1);
	else
		atomic_fetch_add(is_launcher ? &completed_by_launcher : &completed_by_others, 1);
	TELL("buffer %p is complete: context %p stream %u size %zu valid %zu", (void *)buffer,
		context, stream, size, valid);
	if (story)
		tell_buffer(buffer, valid);
	if (is_counting)
		count_kernels(buffer, valid);
	free(buffer);
}

static void callback(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)user;
	(void)data;
	TELL("callback domain %u id %u", domain, cbid);
}

static void subscribe(void)
{
	PROBE_CHECK(cuptiSubscribe(&subscriber, callback, NULL));
	CALL(cuptiSetThreadIdType(THREAD_ID_SYSTEM));
	PROBE_CHECK(cuptiActivityRegisterCallbacks(requested, completed));
}

/* ---- kinds ---- */

struct mix {
	const char *name;
	uint32_t kinds[8];
	int launches_only; /* RUNTIME and DRIVER, enabled only for the launch calls */
};

static const struct mix mixes[] = {
	{"nothing", {0}, 0},
	{"kernel", {STANDIN_KERNEL}, 0},
	{"runtime", {STANDIN_RUNTIME}, 0},
	{"driver", {STANDIN_DRIVER}, 0},
	{"runtime+driver", {STANDIN_RUNTIME, STANDIN_DRIVER}, 0},
	{"launch calls", {0}, 1},
	{"kernel+runtime+driver", {STANDIN_KERNEL, STANDIN_RUNTIME, STANDIN_DRIVER}, 0},
	{"kernel+launch calls", {STANDIN_KERNEL}, 1},
	{"synchronization", {STANDIN_SYNCHRONIZATION}, 0},
	{"overhead", {STANDIN_OVERHEAD}, 0},
	{"memcpy+memset", {STANDIN_MEMCPY, STANDIN_MEMSET}, 0},
	{"memory2", {STANDIN_MEMORY2}, 0},
	{"stream+context", {STANDIN_STREAM, STANDIN_CONTEXT}, 0},
};
/* Once this has been on, CUPTI may never again record a graph's nodes, so it needs a process of its
 * own. */
static const struct mix coarse_mixes[] = {
	{"nothing", {0}, 0},
	{"graph trace", {STANDIN_GRAPH_TRACE}, 0},
};
enum { MIXES = sizeof(mixes) / sizeof(mixes[0]), CBIDS = 1200 };
enum { COARSE_MIXES = sizeof(coarse_mixes) / sizeof(coarse_mixes[0]) };
enum { DOMAIN_DRIVER = 1, DOMAIN_RUNTIME = 2 };

static void switch_launch_calls(uint32_t domain, uint8_t on)
{
	uint32_t cbid;

	for (cbid = 1; cbid < CBIDS; cbid++) {
		const char *name = NULL;

		if (cuptiGetCallbackName(domain, cbid, &name) || !name || !strstr(name, "Launch"))
			continue;
		if (domain == DOMAIN_DRIVER)
			cuptiActivityEnableDriverApi(cbid, on);
		else
			cuptiActivityEnableRuntimeApi(cbid, on);
	}
}

/* Switches a mix on or off; returns the milliseconds it took. Refusals are part of the result;
 * reports those of the first round. */
static double switch_mix(const struct mix *m, uint8_t on, unsigned round)
{
	uint64_t from = probe_now_ns();
	unsigned i;
	int rc;

	for (i = 0; m->kinds[i]; i++) {
		rc = on ? cuptiActivityEnable(m->kinds[i]) : cuptiActivityDisable(m->kinds[i]);
		if (rc && on && !round)
			fprintf(stderr, "%s: kind %u: CUPTI's error %d\n", m->name, m->kinds[i],
				rc);
	}
	if (m->launches_only) {
		switch_launch_calls(DOMAIN_RUNTIME, on);
		switch_launch_calls(DOMAIN_DRIVER, on);
	}
	return (double)(probe_now_ns() - from) / 1e6;
}

/* Runs the mixes in turns. The first is "nothing", the baseline for the others. */
static void take_turns(const struct mix *m, unsigned count, unsigned rounds, unsigned launches)
{
	static double ns[MIXES][ROUNDS_MAX], on_ms[MIXES][ROUNDS_MAX];
	double added[ROUNDS_MAX];
	unsigned r, i;

	for (r = 0; r < rounds; r++)
		for (i = 0; i < count; i++) {
			on_ms[i][r] = switch_mix(&m[i], 1, r);
			probe_launch_ns(&gpu, PROBE_BATCH);
			ns[i][r] = probe_launch_ns(&gpu, launches);
			switch_mix(&m[i], 0, r);
			cuptiActivityFlushAll(0);
		}
	for (i = 1; i < count; i++) {
		for (r = 0; r < rounds; r++)
			added[r] = ns[i][r] - ns[0][r];
		probe_say_of(m[i].name, "added", probe_median(added, rounds), "ns/launch");
		probe_say_of(m[i].name, "switching_on", probe_median(on_ms[i], rounds), "ms");
	}
	/* Last, because it sorts ns[0]. */
	probe_say("nothing.median", probe_median(ns[0], rounds), "ns/launch");
}

static void kinds(unsigned rounds, unsigned launches)
{
	probe_say("before_cupti", probe_launch_ns(&gpu, launches), "ns/launch");
	subscribe();
	take_turns(mixes, MIXES, rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX, launches);
	PROBE_CHECK(cuptiUnsubscribe(subscriber));
	probe_say("after_cupti", probe_launch_ns(&gpu, launches), "ns/launch");
}

/* How many of a graph's nodes are recorded as kernels. */
static unsigned long nodes_reported(cudaGraphExec_t graph)
{
	unsigned long before = atomic_load(&kernels_reported);

	PROBE_CHECK(cuptiActivityEnable(STANDIN_KERNEL));
	PROBE_CHECK(cudaGraphLaunch(graph, gpu.stream));
	PROBE_CHECK(cudaStreamSynchronize(gpu.stream));
	PROBE_CHECK(cuptiActivityFlushAll(FORCED));
	PROBE_CHECK(cuptiActivityDisable(STANDIN_KERNEL));
	return atomic_load(&kernels_reported) - before;
}

static void coarse(unsigned rounds, unsigned launches)
{
	enum { NODES = 10 };
	cudaGraphExec_t graph;

	is_counting = 1;
	subscribe();
	graph = probe_graph(&gpu, NODES);
	probe_say("nodes_reported.before", (double)nodes_reported(graph), "of 10");
	take_turns(coarse_mixes, COARSE_MIXES, rounds < ROUNDS_MAX ? rounds : ROUNDS_MAX, launches);
	probe_say("nodes_reported.after", (double)nodes_reported(graph), "of 10");
	probe_say("nodes_reported.after_of_a_new_graph",
		(double)nodes_reported(probe_graph(&gpu, NODES)), "of 10");
	PROBE_CHECK(cuptiUnsubscribe(subscriber));
}

/* ---- threads, flush ---- */

static atomic_int is_over;
static atomic_uint launchers_ready;
static double flush_ms_max, flush_ms_sum;
static unsigned flushes;

static void flush_once(void)
{
	uint64_t from = probe_now_ns();
	double ms;

	cuptiActivityFlushAll(0);
	ms = (double)(probe_now_ns() - from) / 1e6;
	flush_ms_sum += ms;
	flush_ms_max = ms > flush_ms_max ? ms : flush_ms_max;
	flushes++;
}

static void *flush_now_and_then(void *interval_ms)
{
	unsigned ms = *(const unsigned *)interval_ms;
	struct timespec nap = {ms / 1000, (long)(ms % 1000) * 1000000};

	atomic_store(&flusher_tid, (int)gettid());
	while (!atomic_load(&is_over)) {
		nanosleep(&nap, NULL);
		flush_once();
	}
	return NULL;
}

static void *launch_some(void *amount)
{
	struct probe_gpu mine = gpu;

	is_launcher = 1;
	PROBE_CHECK(cudaStreamCreateWithFlags(&mine.stream, cudaStreamNonBlocking));
	probe_launch_ns(&mine, *(const unsigned *)amount);
	atomic_fetch_add(&launchers_ready, 1);
	while (!atomic_load(&is_over))
		/* wait, since a thread that ends returns its buffer */
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	return NULL;
}

/* With default attributes: one buffer per thread from CUDA 12.3 on. */
static void threads(unsigned count, unsigned amount)
{
	pthread_t ids[THREADS_MAX], flusher;
	unsigned i, interval_ms = 20;

	count = count < THREADS_MAX ? count : THREADS_MAX;
	subscribe();
	PROBE_CHECK(cuptiActivityEnable(STANDIN_KERNEL));
	PROBE_CHECK(cuptiActivityEnable(STANDIN_RUNTIME));
	PROBE_CHECK(pthread_create(&flusher, NULL, flush_now_and_then, &interval_ms));
	for (i = 0; i < count; i++)
		PROBE_CHECK(pthread_create(&ids[i], NULL, launch_some, &amount));
	while (atomic_load(&launchers_ready) < count)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	atomic_store(&is_over, 1);
	for (i = 0; i < count; i++)
		pthread_join(ids[i], NULL);
	pthread_join(flusher, NULL);
	probe_say("completed_while_running", (double)completed_count, "buffers");
	probe_say("completed_by.flusher", (double)completed_by_flusher, "buffers");
	probe_say("completed_by.launcher", (double)completed_by_launcher, "buffers");
	probe_say("completed_by.other", (double)completed_by_others, "buffers");
	probe_say("requested_by.launcher", (double)requested_by_launcher, "buffers");
	probe_say("requested_by.other", (double)requested_by_others, "buffers");
	probe_say("flush.mean", flush_ms_sum / flushes, "ms");
	probe_say("flush.max", flush_ms_max, "ms");
	PROBE_CHECK(cuptiActivityFlushAll(FORCED));
	probe_say("completed_at_the_end", (double)completed_count, "buffers");
	probe_say("delivered", (double)records_bytes / 1048576, "MiB");
}

/* Finds the slowest launches within `seconds`, with a flush every `interval_ms`, or without. */
static void slowest_launches(const char *who, double seconds, unsigned interval_ms)
{
	enum { SAMPLES = 2000000 };
	double *ns = malloc(SAMPLES * sizeof(*ns));
	uint64_t until = probe_now_ns() + (uint64_t)(seconds * 1e9), from;
	pthread_t flusher;
	unsigned n = 0, i;

	if (!ns)
		exit(9);
	atomic_store(&is_over, 0);
	flush_ms_sum = flush_ms_max = 0;
	flushes = 0;
	if (interval_ms)
		PROBE_CHECK(pthread_create(&flusher, NULL, flush_now_and_then, &interval_ms));
	while (n + PROBE_BATCH <= SAMPLES && probe_now_ns() < until) {
		for (i = 0; i < PROBE_BATCH; i++) {
			from = probe_now_ns();
			probe_launch(gpu.empty, gpu.stream);
			ns[n++] = (double)(probe_now_ns() - from);
		}
		PROBE_CHECK(cudaStreamSynchronize(gpu.stream));
	}
	atomic_store(&is_over, 1);
	if (interval_ms) {
		pthread_join(flusher, NULL);
		probe_say_of(who, "flush_mean", flush_ms_sum / flushes, "ms");
		probe_say_of(who, "flush_max", flush_ms_max, "ms");
	}
	probe_say_of(who, "p50", probe_median(ns, n), "ns/launch");
	probe_say_of(who, "p999", ns[(size_t)(n * 0.999)], "ns/launch");
	probe_say_of(who, "max", ns[n - 1] / 1000, "us/launch");
	free(ns);
}

static void flush(double seconds)
{
	subscribe();
	PROBE_CHECK(cuptiActivityEnable(STANDIN_KERNEL));
	PROBE_CHECK(cuptiActivityEnable(STANDIN_RUNTIME));
	slowest_launches("never", seconds, 0);
	slowest_launches("every_1000ms", seconds, 1000);
	slowest_launches("every_10ms", seconds, 10);
}

/* ---- sequence ---- */

/* Does each thing that a pipeline does once. */
static void small_run(void)
{
	enum { BYTES = 1 << 20 };
	cudaGraphExec_t graph;
	cudaStream_t side;
	cudaEvent_t event;
	void *device, *pinned, *pageable = malloc(BYTES);

	CALL(cudaMalloc(&device, BYTES));
	CALL(cudaMallocHost(&pinned, BYTES));
	CALL(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
	CALL(cudaEventCreate(&event));
	CALL(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, gpu.stream));
	CALL(cudaMemcpyAsync(device, pageable, BYTES, cudaMemcpyHostToDevice, gpu.stream));
	CALL(cudaMemsetAsync(device, 0, BYTES, gpu.stream));
	probe_launch(gpu.empty, gpu.stream);
	CALL(cudaEventRecord(event, gpu.stream));
	CALL(cudaStreamWaitEvent(side, event, 0));
	probe_launch(gpu.empty, side);
	CALL(cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, side));
	CALL(cudaEventSynchronize(event));
	CALL(cudaStreamSynchronize(side));
	CALL(cudaMemcpy(pageable, device, BYTES, cudaMemcpyDeviceToHost));
	TELL("a graph of three kernels is captured");
	graph = probe_graph(&gpu, 3);
	CALL(cudaGraphLaunch(graph, gpu.stream));
	CALL(cudaGraphLaunch(graph, gpu.stream));
	CALL(cudaDeviceSynchronize());
	CALL(cudaGraphExecDestroy(graph));
	CALL(cudaFree(device));
	CALL(cudaFreeHost(pinned));
	free(pageable);
}

static void sequence(const char *path)
{
	static const uint32_t all[] = {STANDIN_KERNEL, STANDIN_MEMCPY, STANDIN_MEMCPY2,
		STANDIN_MEMSET, STANDIN_RUNTIME, STANDIN_DRIVER, STANDIN_SYNCHRONIZATION,
		STANDIN_OVERHEAD, STANDIN_CUDA_EVENT, STANDIN_MEMORY2, STANDIN_JIT};
	static const uint32_t dumped[] = {STANDIN_DEVICE, STANDIN_CONTEXT, STANDIN_STREAM};
	enum { DOMAIN_RESOURCE = 3, RESOURCES = 40 };
	uint32_t version = 0, i;
	size_t dropped = 0;
	int rc;

	story = fopen(path, "w");
	if (!story) {
		perror(path);
		exit(9);
	}
	CALL(cuptiGetVersion(&version));
	TELL("version %u", version);
	subscribe();
	for (i = 1; i < RESOURCES; i++)
		cuptiEnableCallback(1, subscriber, DOMAIN_RESOURCE, i);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		rc = cuptiActivityEnable(all[i]);
		TELL("enable kind %u -> %d", all[i], rc);
	}
	for (i = 0; i < sizeof(dumped) / sizeof(dumped[0]); i++) {
		rc = cuptiActivityEnableAndDump(dumped[i]);
		TELL("enable and dump kind %u -> %d", dumped[i], rc);
	}
	gpu = probe_open();
	small_run();
	TELL("flush");
	CALL(cuptiActivityFlushAll(0));
	CALL(cuptiActivityFlushAll(FORCED));
	CALL(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	TELL("dropped %zu", dropped);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		CALL(cuptiActivityDisable(all[i]));
	CALL(cuptiUnsubscribe(subscriber));
	TELL("the end");
	probe_say("requested", (double)requested_count, "buffers");
	probe_say("completed", (double)completed_count, "buffers");
	probe_say("version", version, "");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	int is_in_turns =
		!strcmp(what, "kinds") || !strcmp(what, "coarse") || !strcmp(what, "threads");

	if (argc < 3 || (argc < 4 && is_in_turns)) {
		fprintf(stderr, "usage: cupti_probe kinds|coarse ROUNDS LAUNCHES | threads THREADS "
				"LAUNCHES | "
				"flush SECONDS | sequence FILE\n");
		return 2;
	}
	if (!strcmp(what, "sequence")) {
		sequence(argv[2]); /* subscribes before CUDA is initialised */
		return 0;
	}
	gpu = probe_open();
	is_launcher = 1;
	if (!strcmp(what, "kinds"))
		kinds(probe_number(argv[2]), probe_number(argv[3]));
	else if (!strcmp(what, "coarse"))
		coarse(probe_number(argv[2]), probe_number(argv[3]));
	else if (!strcmp(what, "threads"))
		threads(probe_number(argv[2]), probe_number(argv[3]));
	else if (!strcmp(what, "flush"))
		flush(atof(argv[2]));
	else
		return 2;
	return 0;
}

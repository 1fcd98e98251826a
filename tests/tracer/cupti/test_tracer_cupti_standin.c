/* test_tracer_cupti_standin.c - CUPTI sessions from start to stop on the simulated GPU, held
 * against its books.
 *
 * Each case is a process of its own, as settings of the stand-in are read once: the program runs
 * itself with the name of a case. Inside, threads launch kernels, copies and graphs while the main
 * thread does the writer's work; in the end every record that the stand-in delivered must be a row,
 * dropped, or filtered, and every launch must be joined to what it put on the device. */
#include "tracer/cupti/cupti.h"

#include "formats/base/memory.h"
#include "formats/calls.h"
#include "formats/capture_layout.h"
#include "formats/file/capture_reader.h"
#include "tests/standin/include/standin_cuda.h"
#include "tests/standin/standin.h"
#include "tracer/ranges/app_threads.h"
#include "tracer/ranges/words/range_strings.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 3, TURNS = 300, GRAPH_RUNS = 5, GRAPH_NODES = 4 };

enum {
	EXACT = 1,      /* every record delivered is accounted for */
	DAMAGED = 2,    /* LOSS rows of damage, and records that nobody can count */
	INVALID = 4,    /* rows with invalid times */
	LOSSES = 8,     /* LOSS rows of dropped records */
	FATAL = 16,     /* CUPTI dies */
	SMALL_POOL = 32 /* four buffers for everybody */
};

static const struct scenario {
	const char *name;
	const char *version, *buffers, *complete, *faults;
	enum vptrace_profile profile;
	int expected; /* what the start returns */
	int about;
} scenarios[] = {
	{"11.8", "18", "", "worker", "", VPTRACE_PROFILE_DEFAULT, 0, EXACT},
	{"11.8-caller", "18", "", "caller", "", VPTRACE_PROFILE_FULL, 0, EXACT},
	{"12.4", "22", "", "worker", "", VPTRACE_PROFILE_FULL, 0, EXACT},
	{"12.4-global", "22", "global", "after", "", VPTRACE_PROFILE_DEFAULT, 0, EXACT},
	{"13.0", "130001", "", "worker", "", VPTRACE_PROFILE_DEFAULT, 0, EXACT},
	{"13.0-full", "130001", "", "after", "", VPTRACE_PROFILE_FULL, 0, EXACT},
	{"13.0-lite", "130001", "global", "caller", "", VPTRACE_PROFILE_LITE, 0, EXACT},
	{"13.0-coarse", "130001", "", "worker", "", VPTRACE_PROFILE_COARSE, 0, EXACT},
	{"no calls one by one", "130001", "", "worker",
		"no-symbols=cuptiActivityEnableRuntimeApi:cuptiActivityEnableDriverApi:"
		"cuptiSubscribe_v2",
		VPTRACE_PROFILE_DEFAULT, 0, EXACT},
	{"correlation wraps", "130001", "", "worker", "correlation=4294967000",
		VPTRACE_PROFILE_DEFAULT, 0, EXACT},
	{"out of order", "22", "global", "worker", "out-of-order", VPTRACE_PROFILE_DEFAULT, 0,
		EXACT},
	{"names reused", "130001", "", "worker", "reuse-names=300", VPTRACE_PROFILE_DEFAULT, 0,
		EXACT},
	{"names unmapped", "130001", "", "worker", "unmap-names=300", VPTRACE_PROFILE_DEFAULT, 0,
		EXACT},
	{"zero times", "130001", "", "worker", "zero-times=7", VPTRACE_PROFILE_DEFAULT, 0,
		EXACT | INVALID},
	{"reversed times", "18", "", "worker", "reversed=7", VPTRACE_PROFILE_DEFAULT, 0,
		EXACT | INVALID},
	{"foreign buffer", "130001", "", "worker", "foreign-buffer", VPTRACE_PROFILE_DEFAULT, 0,
		EXACT},
	{"unknown kind", "130001", "", "worker", "unknown-kind", VPTRACE_PROFILE_DEFAULT, 0,
		DAMAGED},
	{"truncated tail", "22", "", "worker", "truncated-tail", VPTRACE_PROFILE_DEFAULT, 0,
		DAMAGED},
	{"no free buffer, 12.4", "22", "", "worker", "", VPTRACE_PROFILE_DEFAULT, 0,
		EXACT | SMALL_POOL | LOSSES},
	{"no free buffer, 13.0", "130001", "", "worker", "", VPTRACE_PROFILE_DEFAULT, 0,
		EXACT | SMALL_POOL},
	{"fatal", "130001", "", "worker", "fatal=500", VPTRACE_PROFILE_DEFAULT, 0, FATAL},
	{"busy", "130001", "", "worker", "busy", VPTRACE_PROFILE_DEFAULT, VPTRACE_ETAKEN, 0},
	{"denied", "22", "", "worker", "denied", VPTRACE_PROFILE_DEFAULT, VPTRACE_EDENIED, 0},
	{"no driver", "18", "", "worker", "no-driver", VPTRACE_PROFILE_DEFAULT, VPTRACE_ENOCUPTI,
		0},
	{"a function is missing", "130001", "", "worker", "no-symbols=cuptiActivityFlushAll",
		VPTRACE_PROFILE_DEFAULT, VPTRACE_ENOCUPTI, 0},
};

/* ---- the simulated GPU, by dlsym ---- */

#define CALLS(X)                                                                                   \
	X(cudaLibraryLoadData)                                                                     \
	X(cudaLibraryGetKernel)                                                                    \
	X(cudaLaunchKernel)                                                                        \
	X(cudaStreamCreateWithFlags)                                                               \
	X(cudaStreamSynchronize)                                                                   \
	X(cudaStreamBeginCapture)                                                                  \
	X(cudaStreamEndCapture)                                                                    \
	X(cudaGraphInstantiate)                                                                    \
	X(cudaGraphDestroy)                                                                        \
	X(cudaGraphExecDestroy)                                                                    \
	X(cudaLibraryUnload)                                                                       \
	X(cudaStreamDestroy)                                                                       \
	X(cudaGraphLaunch)                                                                         \
	X(cudaDeviceSynchronize)                                                                   \
	X(cudaMemsetAsync)                                                                         \
	X(cudaMalloc)                                                                              \
	X(cudaFree)                                                                                \
	X(cudaGetLastError)                                                                        \
	X(cuLaunchKernel)                                                                          \
	X(standin_counts)

static struct {
#define POINTER(function) __typeof__(function) *function;
	CALLS(POINTER)
} gpu;

static char folder[4096];

static void bind_gpu(void)
{
	char path[4200];
	void *handle;

	snprintf(path, sizeof(path), "%s/libcudart.so.13", folder);
	handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		_exit(9);
	}
#define BIND(function)                                                                             \
	*(void **)&gpu.function = dlsym(handle, #function);                                        \
	if (!gpu.function)                                                                         \
		_exit(9);
	CALLS(BIND)
}

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                    \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)
#define EQUAL(a, b)                                                                                \
	do {                                                                                       \
		uint64_t left = (a), right = (b);                                                  \
		if (left != right) {                                                               \
			fprintf(stderr, "line %d: %s is %llu, %s is %llu\n", __LINE__, #a,         \
				(unsigned long long)left, #b, (unsigned long long)right);          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static cudaKernel_t kernel_named(const char *name, cudaLibrary_t *library)
{
	cudaKernel_t kernel;
	char ptx[256];

	snprintf(ptx, sizeof(ptx), ".visible .entry %s(.param .u64 ns)\n{ ret; }\n", name);
	CHECK(!gpu.cudaLibraryLoadData(library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	CHECK(!gpu.cudaLibraryGetKernel(&kernel, *library, name));
	return kernel;
}

static void launch(cudaKernel_t kernel, cudaStream_t stream, uint64_t ns)
{
	const dim3 grid = {2, 1, 1}, block = {64, 1, 1};
	void *arguments[] = {&ns};

	CHECK(!gpu.cudaLaunchKernel(kernel, grid, block, arguments, 0, stream));
}

static atomic_int working;

static void *work(void *arg)
{
	unsigned thread = (unsigned)(uintptr_t)arg, i, j;
	char name[16];
	cudaLibrary_t library;
	cudaKernel_t kernel;
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	void *memory;

	snprintf(name, sizeof(name), "kernel_%u", thread);
	kernel = kernel_named(name, &library);
	CHECK(!gpu.cudaStreamCreateWithFlags(&stream, 1));
	CHECK(!gpu.cudaMalloc(&memory, 1 << 20));
	CHECK(!gpu.cudaStreamBeginCapture(stream, 2));
	for (j = 0; j < GRAPH_NODES; j++)
		launch(kernel, stream, 1000);
	CHECK(!gpu.cudaStreamEndCapture(stream, &graph));
	CHECK(!gpu.cudaGraphInstantiate(&exec, graph, 0));
	for (i = 0; i < TURNS; i++) {
		launch(kernel, stream, 2000);
		CHECK(!gpu.cudaMemsetAsync(memory, 0, 4096, stream));
		gpu.cudaGetLastError();
		if (i % (TURNS / GRAPH_RUNS) == 0)
			CHECK(!gpu.cudaGraphLaunch(exec, stream));
		if (i % 50 == 49)
			CHECK(!gpu.cudaStreamSynchronize(stream));
	}
	CHECK(!gpu.cudaStreamSynchronize(stream));
	CHECK(!gpu.cudaFree(memory));
	CHECK(!gpu.cudaGraphExecDestroy(exec));
	CHECK(!gpu.cudaGraphDestroy(graph));
	CHECK(!gpu.cudaStreamDestroy(stream));
	CHECK(!gpu.cudaLibraryUnload(library));
	atomic_fetch_sub(&working, 1);
	return NULL;
}

/* ---- the writer's work ---- */

static struct vtr_recorder *recorder;
static struct vpt_buffer file;
static struct vtr_pool *pool;
static struct vtr_cupti_clock own_clock; /* CUPTI's is the system's */

static void drain(struct vtr_cupti *c)
{
	struct vtr_full full;

	while (vtr_pool_next(pool, &full)) {
		vtr_cupti_decode(c, &own_clock, &full, recorder);
		vtr_pool_recycle(pool, &full);
	}
	vtr_cupti_settle(c, recorder, 0);
	vtr_pool_grow(pool);
}

static void drain_for(struct vtr_cupti *c, unsigned ms)
{
	struct timespec t = {0, 1000000};
	struct vtr_pool_state state;

	do {
		drain(c);
		vtr_pool_state(pool, &state);
		nanosleep(&t, NULL);
	} while (state.outstanding && ms--);
	drain(c);
}

static void run_work(struct vtr_cupti *c)
{
	struct timespec t = {0, 5000000};
	pthread_t threads[THREADS];
	unsigned i;

	atomic_store(&working, THREADS);
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i));
	while (atomic_load(&working)) {
		vtr_cupti_flush(c, 0);
		drain(c);
		nanosleep(&t, NULL);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (!vtr_cupti_failure(c))
		gpu.cudaDeviceSynchronize();
}

/* ---- what is in the file ---- */

struct found {
	uint64_t rows[VPT_KIND_LIMIT];
	uint64_t kernels_of[THREADS], other_names, graphs;
	uint64_t damaged, dropped; /* LOSS rows */
	uint64_t devices, simulated;
	uint64_t *calls, *ops; /* correlation numbers */
	size_t call_count, call_cap, op_count, op_cap;
	uint64_t largest;
};

static void note(
	uint64_t **list, size_t *count, size_t *cap, const struct vpt_section *s, unsigned column)
{
	uint32_t i;

	CHECK(!vpt_grow(list, cap, *count + s->row_count, sizeof(uint64_t)));
	for (i = 0; i < s->row_count; i++)
		if (s->col[column][i])
			(*list)[(*count)++] = s->col[column][i];
}

static void count_names(struct found *f, const struct vpt_batch *b, const struct vpt_section *s)
{
	const struct vpt_section *configs = vpt_batch_find(b, VPT_CONFIG);
	uint32_t i;

	for (i = 0; i < s->row_count; i++) {
		uint64_t row = s->col[VPT_KERNEL_CONFIG][i];
		struct vpt_text t = vpt_batch_text(b, configs->col[VPT_CONFIG_NAME][row]);

		if (t.len == 8 && !memcmp(t.text, "kernel_", 7) && t.text[7] < '0' + THREADS)
			f->kernels_of[t.text[7] - '0']++;
		else if (t.len == 10 && !memcmp(t.text, "CUDA graph", 10))
			f->graphs++;
		else
			f->other_names++;
	}
}

static void count_section(struct found *f, const struct vpt_batch *b, const struct vpt_section *s)
{
	uint32_t i;

	f->rows[s->kind] += s->row_count;
	if (s->kind == VPT_KERNEL) {
		count_names(f, b, s);
		note(&f->ops, &f->op_count, &f->op_cap, s, VPT_KERNEL_CORRELATION);
	} else if (s->kind == VPT_COPY) {
		note(&f->ops, &f->op_count, &f->op_cap, s, VPT_COPY_CORRELATION);
	} else if (s->kind == VPT_CALL) {
		note(&f->calls, &f->call_count, &f->call_cap, s, VPT_CALL_CORRELATION);
	} else if (s->kind == VPT_LOSS) {
		for (i = 0; i < s->row_count; i++) {
			f->damaged += s->col[VPT_LOSS_LOSS_KIND][i] == VPT_LOSSKIND_DAMAGED;
			f->dropped += s->col[VPT_LOSS_LOSS_KIND][i] == VPT_LOSSKIND_DROPPED;
		}
	} else if (s->kind == VPT_DEVICE) {
		f->devices += s->row_count;
		f->simulated += s->col[VPT_DEVICE_SIMULATED][0];
	}
}

static void read_file(struct found *f)
{
	struct vpt_decoder *decoder = vpt_decoder_new();
	struct vpt_reader *reader;
	struct vpt_source *source;
	struct vpt_batch batch;
	size_t i, s;

	CHECK(!vpt_source_memory(file.data, file.size, &source, NULL));
	CHECK(!vpt_reader_open(source, &reader, NULL));
	vpt_batch_init(&batch);
	for (i = 0; i < vpt_reader_chunks(reader); i++) {
		CHECK(!vpt_reader_chunk(reader, decoder, i, &batch, NULL));
		for (s = 0; s < batch.section_count; s++)
			count_section(f, &batch, &batch.sections[s]);
	}
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
	vpt_reader_free(reader);
}

static int by_number(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* No number stands in two calls, and each op's number in one. */
static void check_joins(struct found *f)
{
	size_t i;

	qsort(f->calls, f->call_count, sizeof(uint64_t), by_number);
	for (i = 1; i < f->call_count; i++)
		CHECK(f->calls[i] != f->calls[i - 1]);
	for (i = 0; i < f->op_count; i++)
		CHECK(bsearch(&f->ops[i], f->calls, f->call_count, sizeof(uint64_t), by_number));
	f->largest = f->call_count ? f->calls[f->call_count - 1] : 0;
}

/* ---- a case ---- */

static void check_books(
	const struct scenario *s, struct vtr_cupti *c, const struct vtr_recorder_totals *totals)
{
	struct standin_counts books;
	struct vtr_decoded n;
	struct found f;
	unsigned i;

	memset(&f, 0, sizeof(f));
	gpu.standin_counts(&books);
	vtr_cupti_decoded(c, &n);
	read_file(&f);
	CHECK(books.callbacks > 0);
	CHECK(!books.heap_guarded || !books.heap_calls); /* none inside of our callbacks */
	EQUAL(n.held, 0);
	EQUAL(n.records, n.rows + n.dropped + n.filtered + n.described);
	EQUAL(totals->received, n.rows + n.dropped);
	EQUAL(f.devices > 0, f.simulated > 0);
	EQUAL(f.other_names, 0);
	EQUAL(f.damaged, s->about & DAMAGED ? 1 : 0);
	EQUAL(totals->invalid > 0, (s->about & INVALID) != 0);
	CHECK(!(s->about & LOSSES) || f.dropped);
	if (s->about & FATAL) {
		CHECK(vtr_cupti_failure(c));
		goto out;
	}
	CHECK(!vtr_cupti_failure(c));
	EQUAL(books.records, books.delivered + books.dropped + books.held);
	EQUAL(vtr_cupti_dropped(c), books.dropped);
	EQUAL(vtr_cupti_dropped(c), 0);
	if (!(s->about & EXACT)) {
		CHECK(n.records < books.delivered);
		goto out;
	}
	EQUAL(n.records, books.delivered);
	if (s->about & SMALL_POOL)
		goto out;
	EQUAL(books.dropped, 0);
	EQUAL(f.rows[VPT_KERNEL] + f.rows[VPT_COPY], books.op_records + f.graphs);
	for (i = 0; i < THREADS; i++)
		EQUAL(f.kernels_of[i],
			TURNS + (s->profile == VPTRACE_PROFILE_COARSE ? 0
								      : GRAPH_RUNS * GRAPH_NODES));
	EQUAL(f.graphs, s->profile == VPTRACE_PROFILE_COARSE ? THREADS * GRAPH_RUNS : 0);
	EQUAL(f.rows[VPT_MEMORY] > 0, s->profile == VPTRACE_PROFILE_FULL);
	EQUAL(f.rows[VPT_SYNC] > 0, s->profile != VPTRACE_PROFILE_LITE);
	CHECK(n.nested > 0);
	check_joins(&f);
	if (strstr(s->faults, "correlation"))
		CHECK(f.largest > UINT64_C(1) << 32);
out:
	vpt_free(f.calls);
	vpt_free(f.ops);
}

static void open_recorder(void)
{
	struct vtr_recorder_options o = {
		.header = {.major = VPT_MAJOR, .t0_ns = 1, .pid = 7}, .level = 1, .always = 1};

	CHECK(!vpt_sink_memory(&file, &o.sink, NULL));
	CHECK(!vtr_recorder_new(&o, &recorder, NULL));
}

static int run_scenario(const struct scenario *s)
{
	struct vtr_cupti_options o = {.profile = s->profile};
	struct vtr_recorder_totals totals;
	void *held[4];
	struct vtr_cupti *c;
	char path[4200];
	struct vpt_err err = {0};
	unsigned i;
	int rc;

	bind_gpu();
	vtr_names_init();
	vtr_threads_init();
	snprintf(path, sizeof(path), "%s/libcupti.so.13", folder);
	o.path = path;
	o.pool = pool = vtr_pool_new(s->about & SMALL_POOL ? 0 : 64 << 20);
	vtr_pool_ready(pool);
	vtr_pool_begin(pool);
	for (i = 0; s->about & SMALL_POOL && i < 4; i++)
		held[i] = vtr_pool_take(pool, VTR_BUFFER_BYTES);
	rc = vtr_cupti_start(&o, &c, &err);
	if (rc != s->expected)
		fprintf(stderr, "start: %d, %s\n", rc, err.text);
	EQUAL((uint64_t)rc, (uint64_t)s->expected);
	if (rc)
		return 0;
	open_recorder();
	vtr_cupti_describe(c, recorder);
	run_work(c);
	vtr_cupti_stop(c);
	for (i = 0; s->about & SMALL_POOL && i < 4; i++)
		vtr_pool_give(pool, held[i], 0);
	drain_for(c, 2000);
	vtr_cupti_settle(c, recorder, 1);
	vtr_recorder_flush(recorder, VTR_FLUSH_LAST);
	vtr_recorder_totals(recorder, &totals);
	check_books(s, c, &totals);
	vtr_recorder_free(recorder);
	vpt_free(file.data);
	return 0;
}

/* ---- the cases as processes ---- */

static int run_child(const struct scenario *s)
{
	char heap[4200];
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child) {
		snprintf(heap, sizeof(heap), "%s/libstandin_heap.so", folder);
		if (!access(heap, R_OK))
			setenv("LD_PRELOAD", heap, 1);
		setenv("VPT_STANDIN_TIME", "real", 1);
		setenv("VPT_STANDIN_CUPTI", s->version, 1);
		setenv("VPT_STANDIN_BUFFERS", s->buffers, 1);
		setenv("VPT_STANDIN_COMPLETE", s->complete, 1);
		setenv("VPT_STANDIN_FAULTS", s->faults, 1);
		alarm(60);
		execl("/proc/self/exe", "test_tracer_cupti_standin", s->name, (char *)NULL);
		_exit(8);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void every_record_is_accounted_for(void **unused)
{
	size_t i;
	int failed = 0;

	(void)unused;
	for (i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		int status = run_child(&scenarios[i]);

		if (status)
			print_message("%s: status 0x%x\n", scenarios[i].name, status);
		failed |= status;
	}
	assert_int_equal(failed, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_record_is_accounted_for)};
	const char *build = getenv("VPT_BIN");
	char path[4200];
	size_t i;

	snprintf(folder, sizeof(folder), "%s/standin", build ? build : ".");
	for (i = 0; argc > 1 && i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (!strcmp(argv[1], scenarios[i].name))
			return run_scenario(&scenarios[i]);
	snprintf(path, sizeof(path), "%s/libcupti.so.13", folder);
	if (access(path, R_OK)) {
		fprintf(stderr, "SKIPPED: there is no %s\n", path);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

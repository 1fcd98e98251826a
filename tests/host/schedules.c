/* schedules.c - random windows over a host that runs ahead of the GPU.
 *
 *	host_schedules SEED COUNT FOLDER
 *
 * Makes COUNT captures, FOLDER/0.zst and so on, each of a loop of its own whose iterations launch kernels, copies, memsets and
 * graphs on one stream or several, from one thread or two, and seldom wait for them. Prints of each op the capture's number, whether
 * it was launched in the window (1 or 0), and what tells it apart: "kernel" and its duration, "copy" and its bytes. Of each
 * step that is marked on the thread that works in it, and of each request: "step" or "request", and its number. A capture's
 * first line has the number, "schedule", and what it was; its last number is that of the streams. VPT_GIVE_UP: each stop gives up
 * what has not ended.
 *
 * What opens and closes the window: pause and resume, as a schedule of wait, warm-up and active iterations does; steps, by calls or
 * notes; ranges, as of requests. On the stand-in's clock: what is printed does not depend on the machine. */
#include "tests/host/host.h"

#include "tests/standin/standin.h"
#include "tests/support/random.h"
#include "tracer/vptrace.h"

#include <pthread.h>
#include <string.h>

enum { STREAMS = 3, GRAPHS = 8, GRAPH_NODES = 4, BYTES = 1 << 20 };

static struct host_gpu gpu;
static struct vpt_random dice;
static cudaStream_t streams[STREAMS];
static cudaGraphExec_t graphs[GRAPHS];
static void *device, *host;
static unsigned capture;
/* Of the capture's ops, to make durations and bytes unique; the graphs that it has launched, each once. */
static uint64_t serial;
static int graphs_used;
static unsigned streams_used;

static uint64_t below(uint64_t limit)
{
	return vpt_random_below(&dice, limit);
}

static void tell(int is_inside, const char *kind, uint64_t value)
{
	printf("%u %d %s %llu\n", capture, is_inside, kind, (unsigned long long)value);
}

/* ---- work ---- */

static uint64_t node_ns(int number, int node)
{
	return 5000 + (uint64_t)(number * GRAPH_NODES + node);
}

static void build_graph(int number)
{
	cudaGraph_t description;
	int i;

	HOST_CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
	for (i = 0; i < GRAPH_NODES; i++)
		host_launch(gpu.gemm, node_ns(number, i), streams[0]);
	HOST_CHECK(cudaStreamEndCapture(streams[0], &description));
	HOST_CHECK(cudaGraphInstantiate(&graphs[number], description, 0));
	HOST_CHECK(cudaGraphDestroy(description));
}

static void launch_one(int is_inside)
{
	cudaStream_t stream = streams[below(streams_used)];
	int i, what = (int)below(10);

	serial++;
	if (what < 7 || (what == 9 && graphs_used == GRAPHS)) {
		uint64_t ns = 20000 * (1 + below(6)) + serial;

		tell(is_inside, "kernel", ns);
		host_launch(gpu.gemm, ns, stream);
	} else if (what == 7) {
		tell(is_inside, "copy", serial);
		HOST_CHECK(cudaMemcpyAsync(device, host, serial, cudaMemcpyHostToDevice, stream));
	} else if (what == 8) {
		tell(is_inside, "copy", 100000 + serial);
		HOST_CHECK(cudaMemsetAsync(device, 0, 100000 + serial, stream));
	} else {
		for (i = 0; i < GRAPH_NODES; i++)
			tell(is_inside, "kernel", node_ns(graphs_used, i));
		HOST_CHECK(cudaGraphLaunch(graphs[graphs_used++], stream));
	}
}

/* ---- the second thread ---- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	unsigned launches; /* that it has to make; 0: none */
	int is_inside, ends;
} second = {.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};

static void launch_many(unsigned launches, int is_inside)
{
	for (; launches; launches--)
		launch_one(is_inside);
}

static void *run_second(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&second.lock);
	while (!second.ends) {
		while (!second.launches && !second.ends)
			pthread_cond_wait(&second.moved, &second.lock);
		launch_many(second.launches, second.is_inside);
		second.launches = 0;
		pthread_cond_signal(&second.moved);
	}
	pthread_mutex_unlock(&second.lock);
	return NULL;
}

/* A leak checker may take a thread's local memory of another library for a block at an odd address: none is left. */
static void end_second(pthread_t thread)
{
	pthread_mutex_lock(&second.lock);
	second.ends = 1;
	pthread_cond_signal(&second.moved);
	pthread_mutex_unlock(&second.lock);
	pthread_join(thread, NULL);
}

static void launch_by_second(unsigned launches, int is_inside)
{
	pthread_mutex_lock(&second.lock);
	second.launches = launches;
	second.is_inside = is_inside;
	pthread_cond_signal(&second.moved);
	while (second.launches)
		pthread_cond_wait(&second.moved, &second.lock);
	pthread_mutex_unlock(&second.lock);
}

/* An iteration's work. Returns whether its own thread launched it. */
static int work(int is_inside)
{
	unsigned launches = 1 + (unsigned)below(12);
	int is_own = below(4) != 0;

	if (is_own)
		launch_many(launches, is_inside);
	else
		launch_by_second(launches, is_inside);
	standin_work(
		1000 *
		(1 + below(50))); /* the second thread's calls take none of the simulated time */
	if (!below(12))
		HOST_CHECK(cudaStreamSynchronize(streams[below(STREAMS)]));
	if (!below(20))
		HOST_CHECK(cudaDeviceSynchronize());
	return is_own;
}

/* ---- windows ---- */

/* `wait` iterations are left out, warm-up included, `active` recorded; `repeat` times, 0: always. */
struct schedule {
	const char *kind;
	unsigned wait, active, repeat, iterations;
	char text[64]; /* of VPTRACE_CAPTURE; "": none */
};

static int is_active(const struct schedule *s, unsigned iteration)
{
	unsigned cycle = s->wait + s->active;

	return iteration % cycle >= s->wait && (!s->repeat || iteration / cycle < s->repeat);
}

static void draw(struct schedule *s)
{
	static const char *const kinds[] = {"pauses", "calls", "notes", "requests"};

	*s = (struct schedule){.kind = kinds[below(4)],
		.wait = (unsigned)below(4),
		.active = 1 + (unsigned)below(4),
		.repeat = (unsigned)below(3)};
	if (*s->kind == 'c' || *s->kind == 'n') {
		s->repeat = 1;
		snprintf(s->text, sizeof(s->text), "step:%u-%u", s->wait, s->wait + s->active - 1);
	} else if (*s->kind == 'r' && s->repeat) {
		s->repeat *= s->active;
		s->active = 1;
		snprintf(s->text, sizeof(s->text), "nvtx:request:%u", s->repeat);
	} else if (*s->kind == 'r') {
		snprintf(s->text, sizeof(s->text), "nvtx:request");
	}
	s->iterations = (s->wait + s->active) * (s->repeat ? s->repeat : 3) + (unsigned)below(4);
}

static void iterate(const struct schedule *s, unsigned i)
{
	struct vptrace_note note = {VPTRACE_NOTE_STEP, (int)i, -1, -1, -1};
	int inside = is_active(s, i), is_own;

	if (*s->kind == 'p')
		HOST_CHECK(inside ? vptrace_resume() : vptrace_pause());
	else if (*s->kind == 'c')
		vptrace_step();
	if (*s->kind == 'n' || *s->kind == 'p')
		vptrace_note_push("denoise step", &note);
	else if (*s->kind == 'r')
		vptrace_range_push(inside ? "request" : "warm-up");
	is_own = work(inside);
	if (*s->kind != 'c') {
		vptrace_range_pop();
		if (is_own || !inside || *s->kind == 'r')
			tell(inside, *s->kind == 'r' ? "request" : "step", i);
	}
	standin_work(100);
}

static void record(const char *folder)
{
	struct vptrace_options options = {.struct_bytes = sizeof(options), .overwrite = 1};
	char path[512];
	struct schedule s;
	unsigned i;

	draw(&s);
	serial = 0;
	graphs_used = 0;
	streams_used = below(2) ? STREAMS : 1;
	snprintf(path, sizeof(path), "%s/%u.zst", folder, capture);
	options.path = path;
	options.capture = s.text;
	options.counters_ms = -1;
	options.synchronize = getenv("VPT_GIVE_UP") ? -1 : 0;
	printf("%u schedule %s %u %u %u %u %u\n", capture, s.kind, s.wait, s.active, s.repeat,
		s.iterations, streams_used);
	HOST_CHECK(vptrace_start(&options));
	for (i = 0; i < s.iterations; i++)
		iterate(&s, i);
	vptrace_stop(NULL);
	HOST_CHECK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int i;

	if (argc != 4)
		return 2;
	dice.state = (uint64_t)host_number(argv[1], "SEED");
	gpu = host_open();
	for (i = 0; i < STREAMS; i++)
		HOST_CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
	HOST_CHECK(cudaMalloc(&device, BYTES));
	HOST_CHECK(cudaMallocHost(&host, BYTES));
	for (i = 0; i < GRAPHS; i++)
		build_graph(i);
	if (pthread_create(&thread, NULL, run_second, NULL))
		return 9;
	for (capture = 0; capture < (unsigned)host_number(argv[2], "COUNT"); capture++)
		record(argv[3]);
	end_second(thread);
	return 0;
}

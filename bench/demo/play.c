/* play.c - does the deeds of a plan on CUDA's runtime, whichever is loaded: the real one or the
 * simulated one of tests/standin/.
 *
 * Kernels are PTX entries that watch the clock, copies move the same few buffers back and forth,
 * host code is a busy wait, or on the simulated GPU a step of its clock. After the first call
 * that fails nothing more is done. */
#include "bench/demo/helper.h"
#include "bench/demo/nccl.h"
#include "bench/demo/plan.h"
#include "bench/demo/ptx.h"
#include "tracer/vptrace_nvtx.h"

#ifdef VPT_HAVE_CUDA
#include <cuda.h>
#include <cuda_runtime_api.h>
#else
#include "tests/standin/include/standin_cuda.h"
#endif

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ALLOCATED_MAX = 64 };

struct play {
	void (*simulated_work)(uint64_t ns); /* NULL: time is real */
	cudaStream_t streams[DEMO_STREAMS];
	cudaEvent_t events[DEMO_EVENTS];
	cudaLibrary_t library;
	cudaKernel_t kernels[DEMO_KERNELS];
	cudaGraphExec_t *graphs;
	size_t graph_count;
	void *device, *pinned, *pageable, *allocated[ALLOCATED_MAX];
	unsigned allocated_count;
	void (*push)(const char *name); /* NULL: nobody listens */
	void (*pop)(void);
	struct demo_helper *helper;
	struct demo_nccl *nccl; /* NULL: kernels of its names do, and wait for nobody */
	atomic_int failed;
};

static int check(struct play *p, const char *call, cudaError_t error)
{
	if (error == cudaSuccess)
		return 0;
	/* One sentence is enough, whichever thread is first. */
	if (!atomic_exchange(&p->failed, 1))
		fprintf(stderr, "demo: %s: %s (error %d)\n", call, cudaGetErrorString(error),
			(int)error);
	return -1;
}
#define CHECK(p, call) check(p, #call, call)

/* ---- deeds ---- */

static void work(struct play *p, uint64_t ns)
{
	struct timespec now, until;

	if (p->simulated_work) {
		p->simulated_work(ns);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(ns / 1000000000);
	until.tv_nsec += (long)(ns % 1000000000);
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec < until.tv_sec ||
		(now.tv_sec == until.tv_sec && now.tv_nsec < until.tv_nsec));
}

static void launch(struct play *p, const struct demo_deed *d)
{
	const struct demo_kernel *k = &demo_kernels[d->kernel];
	dim3 grid = {k->grid_x, k->grid_y, 1}, block = {k->block, 1, 1};
	uint64_t ns = d->ns;
	void *arguments[] = {&ns};

	CHECK(p, cudaLaunchKernel((const void *)p->kernels[d->kernel], grid, block, arguments, 0,
			 p->streams[d->stream]));
}

static void copy(struct play *p, const struct demo_deed *d)
{
	void *host = d->pinned ? p->pinned : p->pageable;
	char *half = (char *)p->device + DEMO_COPY_BYTES_MAX / 2;
	cudaStream_t stream = p->streams[d->stream];

	if (d->kind == DEMO_ON_DEVICE)
		CHECK(p, cudaMemcpyAsync(
				 half, p->device, d->bytes, cudaMemcpyDeviceToDevice, stream));
	else if (d->kind == DEMO_TO_DEVICE)
		CHECK(p,
			cudaMemcpyAsync(p->device, host, d->bytes, cudaMemcpyHostToDevice, stream));
	else if (d->blocking)
		CHECK(p, cudaMemcpy(host, p->device, d->bytes, cudaMemcpyDeviceToHost));
	else
		CHECK(p,
			cudaMemcpyAsync(host, p->device, d->bytes, cudaMemcpyDeviceToHost, stream));
}

static void allocate(struct play *p, const struct demo_deed *d)
{
	if (p->allocated_count < ALLOCATED_MAX &&
		!CHECK(p, cudaMalloc(&p->allocated[p->allocated_count], d->bytes)))
		p->allocated_count++;
}

static void release(struct play *p)
{
	if (p->allocated_count)
		CHECK(p, cudaFree(p->allocated[--p->allocated_count]));
}

static void captured(struct play *p, const struct demo_deed *d)
{
	cudaGraph_t graph = NULL;
	cudaGraphExec_t exec = NULL;
	cudaGraphExec_t *larger = realloc(p->graphs, (p->graph_count + 1) * sizeof(*larger));

	if (larger)
		p->graphs = larger;
	if (CHECK(p, cudaStreamEndCapture(p->streams[d->stream], &graph)) ||
		CHECK(p, cudaGraphInstantiate(&exec, graph, 0)) || !larger)
		return;
	p->graphs[p->graph_count++] = exec;
	CHECK(p, cudaGraphDestroy(graph));
}

/* Ranges that are nothing to vptrace are plain NVTX, as in any program; without NVTX's headers
 * the tracer's own. */
static void plain_push(struct play *p, const char *name)
{
#ifdef VPTRACE_WITH_NVTX
	(void)p;
	nvtxRangePushA(name);
#else
	if (p->push)
		p->push(name);
#endif
}

static void plain_pop(struct play *p)
{
#ifdef VPTRACE_WITH_NVTX
	(void)p;
	nvtxRangePop();
#else
	if (p->pop)
		p->pop();
#endif
}

static void push(struct play *p, const struct demo_deed *d)
{
	switch ((enum vptrace_note_kind)d->note.kind) {
	case VPTRACE_NOTE_REQUEST:
		vptrace_request_push(d->name);
		break;
	case VPTRACE_NOTE_STAGE:
		vptrace_stage_push(d->name);
		break;
	case VPTRACE_NOTE_BLOCK:
		vptrace_block_push(d->note.index, d->note.frames, d->note.latents);
		break;
	case VPTRACE_NOTE_STEP:
		vptrace_step_push(d->note.index, d->note.timestep);
		break;
	case VPTRACE_NOTE_CONTEXT:
		vptrace_context_push(d->note.index);
		break;
	case VPTRACE_NOTE_NONE:
	case VPTRACE_NOTE_FRAMES:
	case VPTRACE_NOTE_RANGE:
		plain_push(p, d->name);
		break;
	}
}

static void pop(struct play *p, const struct demo_deed *d)
{
	if (d->note.kind == VPTRACE_NOTE_NONE)
		plain_pop(p);
	else
		vptrace_pop();
}

/* What makes the host or a stream wait, or lets it be waited for. */
static void order(struct play *p, const struct demo_deed *d, cudaStream_t stream)
{
	if (d->kind == DEMO_SYNC_STREAM)
		CHECK(p, cudaStreamSynchronize(stream));
	else if (d->kind == DEMO_SYNC_EVENT)
		CHECK(p, cudaEventSynchronize(p->events[d->event]));
	else if (d->kind == DEMO_RECORD)
		CHECK(p, cudaEventRecord(p->events[d->event], stream));
	else
		CHECK(p, cudaStreamWaitEvent(stream, p->events[d->event], 0));
}

static void perform(void *ctx, const struct demo_deed *d)
{
	struct play *p = ctx;
	cudaStream_t stream = p->streams[d->stream];

	if (p->failed)
		return;
	switch (d->kind) {
	case DEMO_WORK:
		work(p, d->ns);
		break;
	case DEMO_LAUNCH:
		launch(p, d);
		break;
	case DEMO_COLLECTIVE:
		if (!p->nccl)
			launch(p, d);
		else if (demo_nccl_do(p->nccl, d, stream))
			p->failed = 1;
		break;
	case DEMO_TO_DEVICE:
	case DEMO_TO_HOST:
	case DEMO_ON_DEVICE:
		copy(p, d);
		break;
	case DEMO_CLEAR:
		CHECK(p, cudaMemsetAsync(p->device, 0, d->bytes, stream));
		break;
	case DEMO_ALLOCATE:
		allocate(p, d);
		break;
	case DEMO_FREE:
		release(p);
		break;
	case DEMO_SYNC_STREAM:
	case DEMO_SYNC_EVENT:
	case DEMO_RECORD:
	case DEMO_WAIT:
		order(p, d, stream);
		break;
	case DEMO_CAPTURE:
		CHECK(p, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
		break;
	case DEMO_CAPTURED:
		captured(p, d);
		break;
	case DEMO_REPLAY:
		CHECK(p, cudaGraphLaunch(p->graphs[d->graph], stream));
		break;
	case DEMO_PUSH:
		push(p, d);
		break;
	case DEMO_POP:
		pop(p, d);
		break;
	case DEMO_MARK:
		vptrace_frames_ready(d->note.index, d->note.frames);
		break;
	case DEMO_END:
		raise(SIGKILL);
		break;
	case DEMO_DEEDS:
		break;
	}
}

static void share_out(void *ctx, const struct demo_deed *d)
{
	struct play *p = ctx;

	if (d->thread && p->helper)
		demo_helper_give(p->helper, d);
	else
		perform(p, d);
}

/* ---- before and after ---- */

static int load_kernels(struct play *p)
{
	char *text = demo_ptx();
	unsigned k;

	if (!text) {
		fprintf(stderr, "demo: no memory for the kernels\n");
		return -1;
	}
	CHECK(p, cudaLibraryLoadData(&p->library, text, NULL, NULL, 0, NULL, NULL, 0));
	for (k = 0; k < DEMO_KERNELS && !p->failed; k++)
		CHECK(p, cudaLibraryGetKernel(&p->kernels[k], p->library, demo_kernels[k].name));
	free(text);
	return p->failed;
}

/* After the first CUDA call, with which the tracer may have come. */
static void find_tracer(struct play *p)
{
	void *library = dlopen(VPTRACE_SONAME, RTLD_LAZY | RTLD_NOLOAD);

	*(void **)&p->push = library ? dlsym(library, "vptrace_range_push") : NULL;
	*(void **)&p->pop = library ? dlsym(library, "vptrace_range_pop") : NULL;
	if (!p->pop)
		p->push = NULL;
}

static int set_up(struct play *p, const struct demo_options *o)
{
	int devices = 0;
	unsigned i;

	if (CHECK(p, cudaGetDeviceCount(&devices)))
		return -1;
	if (CHECK(p, cudaSetDevice((int)(o->rank % (uint64_t)devices))))
		return -1;
	find_tracer(p);
	CHECK(p, cudaStreamCreateWithFlags(&p->streams[DEMO_MAIN], 0));
	CHECK(p, cudaStreamCreateWithFlags(&p->streams[DEMO_SIDE], cudaStreamNonBlocking));
	for (i = 0; i < DEMO_EVENTS; i++)
		CHECK(p, cudaEventCreateWithFlags(&p->events[i], cudaEventDisableTiming));
	CHECK(p, cudaMalloc(&p->device, DEMO_COPY_BYTES_MAX));
	CHECK(p, cudaMallocHost(&p->pinned, DEMO_COPY_BYTES_MAX));
	p->pageable = calloc(1, DEMO_COPY_BYTES_MAX);
	if (!p->pageable) {
		fprintf(stderr, "demo: no memory for a host buffer\n");
		return -1;
	}
	if (load_kernels(p) || demo_nccl_join(o, &p->nccl))
		return -1;
	if (o->threads) {
		p->helper = demo_helper_start(
			(struct demo_player){perform, p}, p->simulated_work != NULL);
		if (!p->helper) {
			fprintf(stderr, "demo: the second thread could not be started\n");
			return -1;
		}
	}
	return p->failed;
}

static void tear_down(struct play *p)
{
	size_t i;

	demo_helper_finish(p->helper);
	CHECK(p, cudaDeviceSynchronize());
	demo_nccl_leave(p->nccl);
	for (i = 0; i < p->graph_count; i++)
		cudaGraphExecDestroy(p->graphs[i]);
	free(p->graphs);
	for (i = 0; i < DEMO_EVENTS; i++)
		cudaEventDestroy(p->events[i]);
	cudaStreamDestroy(p->streams[DEMO_MAIN]);
	cudaStreamDestroy(p->streams[DEMO_SIDE]);
	cudaFree(p->device);
	cudaFreeHost(p->pinned);
	cudaLibraryUnload(p->library);
	free(p->pageable);
}

int demo_probe(void)
{
	struct play p = {0};
	char name[128] = "unknown";
	int devices = 0;
	CUdevice first;

	if (CHECK(&p, cudaGetDeviceCount(&devices)))
		return -1;
	if (dlsym(RTLD_DEFAULT, "standin_work")) {
		printf("a simulated GPU\n");
		return 0;
	}
	if (!cuInit(0) && !cuDeviceGet(&first, 0))
		cuDeviceGetName(name, sizeof(name), first);
	printf("%d x %s\n", devices, name);
	return 0;
}

int demo_play(const struct demo_options *options)
{
	struct play p = {0};
	int rc;

	*(void **)&p.simulated_work = dlsym(RTLD_DEFAULT, "standin_work");
	rc = set_up(&p, options);
	if (!rc)
		demo_plan(options, (struct demo_player){share_out, &p});
	if (!rc)
		tear_down(&p);
	return rc || p.failed ? -1 : 0;
}

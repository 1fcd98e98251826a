/* test_standin_records.c - what the stand-in's CUPTI tells: records in the layout of their
 * generation, and callbacks. */
#include "tests/standin/clients/client.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { US = 1000, KERNELS = STANDIN_QUEUE + 6 };

/* ---- records ---- */

static const uint32_t every_kind[] = {STANDIN_MEMCPY, STANDIN_MEMSET, STANDIN_DRIVER,
	STANDIN_RUNTIME, STANDIN_DEVICE, STANDIN_CONTEXT, STANDIN_KERNEL, STANDIN_OVERHEAD,
	STANDIN_MEMCPY2, STANDIN_CUDA_EVENT, STANDIN_STREAM, STANDIN_SYNCHRONIZATION,
	STANDIN_MEMORY2, 0};

/* Work of every kind. */
static void work(void)
{
	cudaKernel_t k = rig_kernel("kernel_of_the_test");
	cudaStream_t s;
	cudaEvent_t e;
	void *here, *there, *host;

	RIG_EQUAL(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, -2), 0);
	RIG_EQUAL(cudaEventCreate(&e), 0);
	RIG_EQUAL(cudaMallocHost(&host, 4096), 0);
	RIG_EQUAL(cudaMalloc(&here, 4096), 0);
	RIG_EQUAL(cudaMemcpyAsync(here, host, 4096, cudaMemcpyHostToDevice, s), 0);
	RIG_EQUAL(cudaMemsetAsync(here, 3, 100, s), 0);
	for (int i = 0; i < KERNELS; i++) /* more than the queue holds */
		rig_launch(k, 5000 * US, s);
	RIG_EQUAL(cudaEventRecord(e, s), 0);
	RIG_EQUAL(cudaStreamWaitEvent(NULL, e, 0), 0);
	RIG_EQUAL(cudaDeviceSynchronize(), 0);
	RIG_EQUAL(cudaSetDevice(1), 0);
	RIG_EQUAL(cudaMalloc(&there, 4096), 0);
	RIG_EQUAL(cudaMemcpyPeerAsync(there, 1, here, 0, 4096, NULL), 0);
	RIG_EQUAL(cudaDeviceSynchronize(), 0);
	RIG_EQUAL(cudaFree(here), 0);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
}

/* Bytes of records by API version, measured on the real libraries. */
static const struct {
	uint32_t kind, bytes[3];
} sizes[] = {
	{STANDIN_KERNEL, {200, 208, 216}},
	{STANDIN_MEMCPY, {88, 88, 96}},
	{STANDIN_MEMCPY2, {96, 96, 96}},
	{STANDIN_MEMSET, {88, 88, 88}},
	{STANDIN_RUNTIME, {40, 40, 40}},
	{STANDIN_DRIVER, {40, 40, 40}},
	{STANDIN_OVERHEAD, {40, 56, 56}},
	{STANDIN_DEVICE, {176, 184, 184}},
	{STANDIN_CONTEXT, {16, 24, 32}},
	{STANDIN_STREAM, {24, 24, 24}},
	{STANDIN_CUDA_EVENT, {24, 24, 56}},
	{STANDIN_SYNCHRONIZATION, {40, 40, 56}},
	{STANDIN_MEMORY2, {120, 120, 128}},
};

static void walk_by_size(int generation)
{
	for (unsigned b = 0; b < client.back_count; b++) {
		size_t at = 0;
		void *r = NULL;

		while (at < client.valid[b]) {
			uint32_t kind = *(uint32_t *)(void *)(client.back[b] + at);
			unsigned i = 0;

			RIG_EQUAL(cupti.cuptiActivityGetNextRecord(
					  client.back[b], client.valid[b], &r),
				0);
			RIG_EQUAL((uint8_t *)r - client.back[b], at);
			while (i < sizeof(sizes) / sizeof(sizes[0]) && sizes[i].kind != kind)
				i++;
			RIG_TRUE(i < sizeof(sizes) / sizeof(sizes[0]));
			at += sizes[i].bytes[generation];
		}
		RIG_EQUAL(at, client.valid[b]);
		RIG_EQUAL(cupti.cuptiActivityGetNextRecord(client.back[b], client.valid[b], &r),
			STANDIN_CUPTI_MAX_LIMIT_REACHED);
	}
}

static void every_kind_is_written(int generation)
{
	struct standin_counts c;

	client_start(every_kind, client_ignore);
	work();
	walk_by_size(generation);
	c = client_books();
	RIG_EQUAL(c.held, 0);
	RIG_EQUAL(c.dropped, 0);
	RIG_EQUAL(client_count(0), c.records);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		RIG_TRUE(client_count(sizes[i].kind) > 0);
	RIG_EQUAL(client_count(STANDIN_KERNEL), KERNELS);
	RIG_EQUAL(c.kernels, KERNELS);
	RIG_EQUAL(c.op_records, KERNELS + 3);
	RIG_EQUAL(client_count(STANDIN_OVERHEAD), c.overheads);
	RIG_EQUAL(client_count(STANDIN_SYNCHRONIZATION), c.syncs);
	RIG_EQUAL(client_count(STANDIN_RUNTIME), c.calls);
	for (unsigned i = 0; generation && i < c.overheads; i++) {
		struct standin_overhead_record *o = client_record(STANDIN_OVERHEAD, i, NULL);

		RIG_TRUE(o->data && o->correlation);
		free(o->data);
	}
}

static void generation_18(void)
{
	every_kind_is_written(0);
}

static void generation_22(void)
{
	every_kind_is_written(1);
}

static void generation_130001(void)
{
	every_kind_is_written(2);
}

static void kernels_say_what_happened(const struct rig_op *op)
{
	struct standin_kernel_record *k = client_record(STANDIN_KERNEL, 0, NULL);

	RIG_EQUAL(k->start, op->start_ns);
	RIG_EQUAL(k->end, op->end_ns);
	RIG_EQUAL(strcmp(k->name, "kernel_of_the_test"), 0);
	RIG_EQUAL(k->grid[0], 2);
	RIG_EQUAL(k->block[0], 64);
	RIG_EQUAL(k->correlation, op->correlation);
}

static void copies_say_what_happened(void)
{
	struct standin_memcpy_record *m = client_record(STANDIN_MEMCPY, 0, NULL);
	struct standin_memcpy2_record *p = client_record(STANDIN_MEMCPY2, 0, NULL);
	struct standin_memset_record *s = client_record(STANDIN_MEMSET, 0, NULL);

	RIG_EQUAL(m->end - m->start, 1000 + 164); /* 4096 / 25 */
	RIG_EQUAL(m->copy_kind, 1);
	RIG_EQUAL(m->src_kind, 2);
	RIG_EQUAL(m->dst_kind, 3);
	RIG_EQUAL(m->flags, 1);
	RIG_EQUAL(m->bytes, 4096);
	RIG_EQUAL(m->copies, 1);
	RIG_EQUAL(p->copy_kind, 10);
	RIG_EQUAL(p->src_device, 0);
	RIG_EQUAL(p->dst_device, 1);
	RIG_EQUAL(p->device, 1);
	RIG_EQUAL(s->value, 3);
	RIG_EQUAL(s->bytes, 100);
}

static void streams_say_whose_they_are(void)
{
	struct standin_kernel_record *k = client_record(STANDIN_KERNEL, 0, NULL);
	struct standin_stream_record *t = client_record(STANDIN_STREAM, 0, NULL);
	struct standin_context_record *c = client_record(STANDIN_CONTEXT, 0, NULL);

	RIG_EQUAL(t->stream, k->stream);
	RIG_EQUAL((int32_t)t->priority, -2);
	RIG_EQUAL(t->flag, 2);
	RIG_EQUAL(c->context, k->context);
	RIG_EQUAL(c->null_stream, 7);
}

static void waits_say_what_for(void)
{
	struct standin_event_record *e = client_record(STANDIN_CUDA_EVENT, 0, NULL);
	struct standin_sync_record *w = client_record(STANDIN_SYNCHRONIZATION, 0, NULL);
	struct standin_sync_record *y = client_record(STANDIN_SYNCHRONIZATION, 1, NULL);

	RIG_EQUAL(w->type, 2);
	RIG_EQUAL(w->event_sync, e->event_sync);
	RIG_EQUAL(w->event, e->event);
	RIG_EQUAL(y->type, 4);
}

static void the_last_call_says_what_it_freed(void)
{
	struct standin_api_record *r =
		client_record(STANDIN_RUNTIME, client_count(STANDIN_RUNTIME) - 1, NULL);
	struct standin_memory_record *a =
		client_record(STANDIN_MEMORY2, client_count(STANDIN_MEMORY2) - 1, NULL);

	RIG_EQUAL(r->cbid, 22); /* cudaFree */
	RIG_EQUAL(r->end - r->start, 20000);
	RIG_EQUAL(r->process, getpid());
	RIG_EQUAL(r->thread, gettid());
	RIG_EQUAL(a->operation, 2);
	RIG_EQUAL(a->bytes, 4096);
	RIG_EQUAL(a->correlation, r->correlation);
}

static void records_say_what_happened(void)
{
	struct rig_op op[4];

	client_start(every_kind, client_ignore);
	work();
	RIG_EQUAL(rig_ops(op, 4), 4); /* copy, memset, kernels */
	kernels_say_what_happened(&op[2]);
	copies_say_what_happened();
	streams_say_whose_they_are();
	waits_say_what_for();
	the_last_call_says_what_it_freed();
}

static const char *const real_library = "/usr/local/cuda/lib64/libcupti.so.13";

/* The real iterator, in a process that never loads the stand-in's libcupti, walks what another
 * process wrote. */
static void real_iterator_walks_the_buffers(void)
{
	int (*next)(uint8_t *, size_t, void **);
	const char *file = rig_file("buffers");
	static uint64_t buffer[CLIENT_BUFFER / 8];
	char command[1024];
	void *library, *found;
	uint64_t numbers[2]; /* valid bytes, records */
	unsigned total = 0;
	FILE *f;

	if (access(real_library, R_OK)) {
		fprintf(stderr, "skipped: no %s\n", real_library);
		_exit(RIG_SKIP);
	}
	snprintf(command, sizeof(command), "RIG_BUFFERS=%s /proc/%d/exe write_buffers", file,
		(int)getpid());
	RIG_EQUAL(system(command), 0);
	library = dlopen(real_library, RTLD_NOW | RTLD_LOCAL);
	RIG_TRUE(library);
	found = dlsym(library, "cuptiActivityGetNextRecord");
	memcpy(&next, &found, sizeof(next));
	f = fopen(file, "re");
	RIG_TRUE(f);
	while (fread(numbers, sizeof(numbers), 1, f) == 1) {
		uint8_t *at = (uint8_t *)buffer;
		void *r = NULL;

		RIG_EQUAL(fread(buffer, numbers[0], 1, f), 1);
		for (uint64_t i = 0; i < numbers[1]; i++) {
			uint32_t expected[2]; /* kind, offset */

			RIG_EQUAL(fread(expected, sizeof(expected), 1, f), 1);
			RIG_EQUAL(next(at, numbers[0], &r), 0);
			RIG_EQUAL(*(uint32_t *)r, expected[0]);
			RIG_EQUAL((uint8_t *)r - at, expected[1]);
			total++;
		}
		RIG_EQUAL(next(at, numbers[0], &r), STANDIN_CUPTI_MAX_LIMIT_REACHED);
	}
	fclose(f);
	RIG_TRUE(total > 3 * KERNELS);
}

/* The other half of the case above; alone it does nothing. */
static void write_buffers(void)
{
	const char *file = getenv("RIG_BUFFERS");
	FILE *f = file ? fopen(file, "we") : NULL;

	if (!f)
		return;
	client_start(every_kind, client_ignore);
	work();
	for (unsigned b = 0; b < client.back_count; b++) {
		uint64_t numbers[2] = {client.valid[b], 0};
		void *r = NULL;

		while (!cupti.cuptiActivityGetNextRecord(client.back[b], client.valid[b], &r))
			numbers[1]++;
		fwrite(numbers, sizeof(numbers), 1, f);
		fwrite(client.back[b], client.valid[b], 1, f);
		r = NULL;
		while (!cupti.cuptiActivityGetNextRecord(client.back[b], client.valid[b], &r)) {
			uint32_t said[2] = {
				*(uint32_t *)r, (uint32_t)((uint8_t *)r - client.back[b])};

			fwrite(said, sizeof(said), 1, f);
		}
	}
	RIG_EQUAL(fclose(f), 0);
}

static void calls_are_chosen_one_by_one(void)
{
	static const uint32_t none[] = {0};
	struct standin_api_record *driver, *runtime;
	cudaKernel_t k;

	client_start(none, client_ignore);
	k = rig_kernel("k");
	RIG_EQUAL(cupti.cuptiActivityEnableRuntimeApi(211, 1), 0);
	rig_launch(k, 1, NULL);
	RIG_EQUAL(cudaDeviceSynchronize(), 0);
	RIG_EQUAL(cupti.cuptiActivityEnableDriverApi(307, 1), 0);
	rig_launch(k, 1, NULL);
	RIG_EQUAL(cupti.cuptiActivityEnableRuntimeApi(211, 0), 0);
	rig_launch(k, 1, NULL);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	RIG_EQUAL(client_count(STANDIN_RUNTIME), 2);
	RIG_EQUAL(client_count(STANDIN_DRIVER), 2);
	RIG_EQUAL(client_count(0), 4);
	/* A driver record nested in a runtime call shares its id and lies within it. */
	runtime = client_record(STANDIN_RUNTIME, 1, NULL);
	driver = client_record(STANDIN_DRIVER, 0, NULL);
	RIG_EQUAL(driver->correlation, runtime->correlation);
	RIG_EQUAL(driver->start, runtime->start + 100);
	RIG_EQUAL(driver->end, runtime->end - 100);
	RIG_EQUAL(client_books().calls, 3);
}

static void names_of_calls_have_suffixes(void)
{
	const char *name;

	client_load();
	RIG_EQUAL(cupti.cuptiGetCallbackName(2, 211, &name), 0);
	RIG_EQUAL(strcmp(name, "cudaLaunchKernel_v7000"), 0);
	RIG_EQUAL(cupti.cuptiGetCallbackName(1, 307, &name), 0);
	RIG_EQUAL(strcmp(name, "cuLaunchKernel"), 0);
	RIG_EQUAL(cupti.cuptiGetCallbackName(2, 1000, &name), STANDIN_CUPTI_INVALID_PARAMETER);
	RIG_EQUAL(cupti.cuptiGetLastError(), STANDIN_CUPTI_INVALID_PARAMETER);
}

static void devices_contexts_and_streams_are_dumped(void)
{
	static const uint32_t none[] = {0};
	struct standin_device_record *d;
	cudaStream_t s;

	RIG_EQUAL(cudaStreamCreate(&s), 0);
	client_start(none, client_ignore);
	RIG_EQUAL(cupti.cuptiActivityEnableAndDump(STANDIN_DEVICE), 0);
	RIG_EQUAL(cupti.cuptiActivityEnableAndDump(STANDIN_CONTEXT), 0);
	RIG_EQUAL(cupti.cuptiActivityEnableAndDump(STANDIN_STREAM), 0);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	RIG_EQUAL(client_count(STANDIN_DEVICE), 2);
	RIG_EQUAL(client_count(STANDIN_CONTEXT), 1);
	RIG_EQUAL(client_count(STANDIN_STREAM), 2);
	d = client_record(STANDIN_DEVICE, 1, NULL);
	RIG_EQUAL(strcmp(d->name, "Simulated H100"), 0);
	RIG_EQUAL(d->multiprocessors, 132);
	RIG_EQUAL(d->capability_major * 10 + d->capability_minor, 90);
	RIG_EQUAL(d->global_bytes, UINT64_C(80) << 30);
	RIG_EQUAL(d->id, 1);
	RIG_EQUAL(
		cupti.cuptiActivityEnable(3), STANDIN_CUPTI_INVALID_KIND); /* serialises kernels */
	RIG_EQUAL(cupti.cuptiActivityEnable(63), STANDIN_CUPTI_INVALID_KIND);
	RIG_EQUAL(cupti.cuptiActivityEnable(UINT32_MAX), STANDIN_CUPTI_INVALID_KIND);
}

static cudaGraphExec_t graph_of(cudaKernel_t k, cudaStream_t s, int nodes)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	RIG_EQUAL(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), 0);
	for (int i = 0; i < nodes; i++)
		rig_launch(k, 10 * US, s);
	RIG_EQUAL(cudaStreamEndCapture(s, &graph), 0);
	RIG_EQUAL(cudaGraphInstantiate(&exec, graph, 0), 0);
	return exec;
}

static void graphs_are_told_by_node_or_whole(void)
{
	struct standin_graph_record *g;
	struct standin_kernel_record *k;
	cudaGraphExec_t exec;
	cudaStream_t s;

	client_start(client_common, client_ignore);
	RIG_EQUAL(cudaStreamCreate(&s), 0);
	exec = graph_of(rig_kernel("k"), s, 3);
	RIG_EQUAL(cudaGraphLaunch(exec, s), 0);
	RIG_EQUAL(cudaStreamSynchronize(s), 0);
	RIG_EQUAL(cupti.cuptiActivityEnable(STANDIN_GRAPH_TRACE), 0);
	RIG_EQUAL(cudaGraphLaunch(exec, s), 0);
	RIG_EQUAL(cudaStreamSynchronize(s), 0);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	RIG_EQUAL(client_count(STANDIN_KERNEL), 3);
	RIG_EQUAL(client_count(STANDIN_GRAPH_TRACE), 1);
	k = client_record(STANDIN_KERNEL, 2, NULL);
	g = client_record(STANDIN_GRAPH_TRACE, 0, NULL);
	RIG_EQUAL(k->graph, g->graph);
	RIG_EQUAL(g->end - g->start, 30 * US);
	RIG_TRUE(g->correlation > k->correlation);
	RIG_EQUAL(client_books().kernels, 6);
}

/* ---- callbacks ---- */

static struct {
	uint32_t id;
	uint64_t node, origin;
	uint32_t graph;
} reported[256];
static unsigned reported_count;

static void note_resource(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	const struct standin_resource_data *r = data;
	const struct standin_graph_data *g = r->descriptor;

	(void)user;
	RIG_EQUAL(domain, STANDIN_DOMAIN_RESOURCE);
	reported[reported_count].id = cbid;
	if (cbid == 13 || cbid == 20) {
		RIG_EQUAL(cupti.cuptiGetGraphNodeId(g->node, &reported[reported_count].node), 0);
		RIG_EQUAL(cupti.cuptiGetGraphId(g->graph, &reported[reported_count].graph), 0);
		if (g->original_node)
			RIG_EQUAL(cupti.cuptiGetGraphNodeId(
					  g->original_node, &reported[reported_count].origin),
				0);
	}
	reported_count++;
}

static void resources_are_told_as_they_come(void)
{
	/* init, context, stream, module; capture of two nodes, the second after the first; instantiation; end of the graph */
	static const uint32_t expected[] = {
		5, 1, 3, 6, 9, 12, 13, 12, 13, 15, 17, 11, 13, 20, 13, 15, 20, 18, 19, 4};
	cudaGraphExec_t exec;
	struct standin_kernel_record *k;
	cudaStream_t s;

	client_start(client_common, note_resource);
	RIG_EQUAL(cupti.cuptiEnableDomain(1, client.subscriber, STANDIN_DOMAIN_RESOURCE), 0);
	RIG_EQUAL(cudaStreamCreate(&s), 0);
	exec = graph_of(rig_kernel("k"), s, 2);
	RIG_EQUAL(cudaGraphLaunch(exec, s), 0);
	RIG_EQUAL(cudaGraphExecDestroy(exec), 0);
	RIG_EQUAL(cudaStreamSynchronize(s), 0);
	RIG_EQUAL(cudaStreamDestroy(s), 0);
	RIG_EQUAL(reported_count, sizeof(expected) / sizeof(expected[0]));
	for (unsigned i = 0; i < reported_count; i++)
		RIG_EQUAL(reported[i].id, expected[i]);
	RIG_EQUAL(cupti.cuptiActivityFlushAll(0), 0);
	k = client_record(STANDIN_KERNEL, 1, NULL);
	RIG_EQUAL(reported[16].id, 20); /* the second node, cloned */
	RIG_EQUAL(reported[16].node, k->graph_node);
	RIG_EQUAL(reported[16].graph, k->graph);
	RIG_EQUAL(reported[16].origin, reported[8].node);
	RIG_EQUAL(client_books().callbacks, reported_count + 2); /* and a buffer, there and back */
}

static unsigned entered, left;

static void note_call(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	const struct standin_api_data *d = data;

	(void)user;
	RIG_EQUAL(domain, STANDIN_DOMAIN_RUNTIME);
	RIG_EQUAL(cbid, 165);
	RIG_EQUAL(strcmp(d->function, "cudaDeviceSynchronize_v3020"), 0);
	entered += d->site == 0;
	left += d->site == 1;
}

static void calls_can_be_followed(void)
{
	client_start(client_common, note_call);
	RIG_EQUAL(cupti.cuptiEnableCallback(1, client.subscriber, STANDIN_DOMAIN_RUNTIME, 165), 0);
	RIG_EQUAL(cudaFree(NULL), 0);
	RIG_EQUAL(cudaDeviceSynchronize(), 0);
	RIG_EQUAL(entered, 1);
	RIG_EQUAL(left, 1);
	RIG_EQUAL(cupti.cuptiUnsubscribe(client.subscriber), 0);
	RIG_EQUAL(cudaDeviceSynchronize(), 0);
	RIG_EQUAL(left, 1);
}

static void injected_library_is_called_once(void)
{
	cudaStream_t s;

	RIG_EQUAL(cuInit(0), 0);
	RIG_EQUAL(cudaStreamCreate(&s), 0);
	RIG_EQUAL(strcmp(getenv("STANDIN_INJECTED"), "once"), 0);
}

#define CASE(name, environment)                                                                    \
	{                                                                                          \
#name, environment, name, 0                                                        \
	}

static const struct rig_case cases[] = {
	CASE(generation_18, "VPT_STANDIN_CUPTI=18 VPT_STANDIN_DEVICES=2"),
	CASE(generation_22, "VPT_STANDIN_CUPTI=22 VPT_STANDIN_DEVICES=2"),
	CASE(generation_130001, "VPT_STANDIN_DEVICES=2"),
	CASE(records_say_what_happened, "VPT_STANDIN_DEVICES=2"),
	CASE(real_iterator_walks_the_buffers, "VPT_STANDIN_DEVICES=2"),
	CASE(write_buffers, ""),
	CASE(calls_are_chosen_one_by_one, ""),
	CASE(names_of_calls_have_suffixes, ""),
	CASE(devices_contexts_and_streams_are_dumped, "VPT_STANDIN_DEVICES=2"),
	CASE(graphs_are_told_by_node_or_whole, ""),
	CASE(resources_are_told_as_they_come, ""),
	CASE(calls_can_be_followed, ""),
	CASE(injected_library_is_called_once, "CUDA_INJECTION64_PATH=@libstandin_injected.so"),
};

int main(int argc, char **argv)
{
	return rig_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}

/* test_replay.c - traces whose times in a changed world a person can compute. */
#include "analysis/retime/retime.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "tests/support/traces/script.h"

enum { CHANGES = 4, WORLDS = 8 };

/* A world: changes with "; " between them, how many calls or ops the last one is about, and how long the span is. */
struct expected {
	const char *changes;
	uint64_t hits, ns;
};

struct retimed {
	struct vpa_retiming out;
	struct vpt_err err;
	int rc;
};

static void read_changes(const char *text, struct vpa_change *changes, size_t *count)
{
	char copy[400], *at = copy, *next;
	struct vpt_err err = {0};

	strcpy(copy, text);
	for (*count = 0; at; at = next) {
		next = strstr(at, "; ");
		if (next) {
			*next = '\0';
			next += 2;
		}
		assert_true(*count < CHANGES);
		if (vpa_change_read(at, &changes[(*count)++], &err))
			fail_msg("%s", err.text);
	}
}

static struct retimed retime(const char *script, uint64_t from_ns, uint64_t to_ns,
	const struct expected *worlds, size_t count)
{
	static struct vpa_change changes[WORLDS][CHANGES];
	struct vpa_change_list lists[WORLDS];
	struct vpa_span span = {from_ns, to_ns};
	struct retimed r = {.rc = 0};
	struct vpt_trace *trace;
	size_t i;

	assert_true(count <= WORLDS);
	for (i = 0; i < count; i++) {
		lists[i].changes = changes[i];
		read_changes(worlds[i].changes, changes[i], &lists[i].count);
	}
	if (vpt_script_trace(script, &trace, &r.err))
		fail_msg("%s", r.err.text);
	r.rc = vpa_retime(trace, 1, VPA_REPLAYED_MOST, lists, count, &span, 1, &r.out, &r.err);
	vpt_trace_close(trace);
	return r;
}

/* A trace, its span, how long it is at each pace, and worlds. */
struct retime_case {
	const char *name, *script;
	uint64_t from_ns, to_ns, host_ns, gpu_ns;
	struct expected worlds[WORLDS];
};

static void check(const struct retime_case *c)
{
	struct retimed r;
	size_t count = 0, i, hits = 0;

	while (count < WORLDS && c->worlds[count].changes)
		count++;
	r = retime(c->script, c->from_ns, c->to_ns, c->worlds, count);
	if (r.rc)
		fail_msg("%s: %s", c->name, r.err.text);
	assert_int_equal(r.out.world_count, VPA_WORLD_FIRST + count);
	assert_int_equal(vpa_retimed_ns(&r.out, VPA_WORLD_RECORDED, 0), c->to_ns - c->from_ns);
	if (vpa_retimed_ns(&r.out, VPA_WORLD_HOST, 0) != c->host_ns)
		fail_msg("%s: host alone: expected %" PRIu64 ", found %" PRIu64, c->name,
			c->host_ns, vpa_retimed_ns(&r.out, VPA_WORLD_HOST, 0));
	if (vpa_retimed_ns(&r.out, VPA_WORLD_GPU, 0) != c->gpu_ns)
		fail_msg("%s: GPU alone: expected %" PRIu64 ", found %" PRIu64, c->name, c->gpu_ns,
			vpa_retimed_ns(&r.out, VPA_WORLD_GPU, 0));
	for (i = 0; i < count; i++) {
		uint64_t ns = vpa_retimed_ns(&r.out, VPA_WORLD_FIRST + i, 0);
		const char *at = c->worlds[i].changes;

		while ((at = strstr(at, "; ")) != NULL) {
			hits++;
			at += 2;
		}
		if (ns != c->worlds[i].ns || r.out.hits[hits] != c->worlds[i].hits)
			fail_msg("%s: %s: expected %" PRIu64 " ns and %" PRIu64
				 " hits, found %" PRIu64 " and %" PRIu64,
				c->name, c->worlds[i].changes, c->worlds[i].ns, c->worlds[i].hits,
				ns, r.out.hits[hits]);
		hits++;
	}
	vpa_retiming_free(&r.out);
}

/* ---- small traces ---- */

#define LAUNCH_BOUND                                                                               \
	"call t1 cudaLaunchKernel 1000-6000 corr 1\nkernel s7 8000-12000 corr 1 \"gemm\"\n"        \
	"call t1 cudaLaunchKernel 26000-31000 corr 2\nkernel s7 33000-37000 corr 2 \"gemm\"\n"     \
	"call t1 cudaLaunchKernel 51000-56000 corr 3\nkernel s7 58000-62000 corr 3 \"gemm\"\n"

#define READ                                                                                       \
	"call t1 cudaLaunchKernel 1000-3000 corr 1\nkernel s7 5000-25000 corr 1 \"a\"\n"           \
	"call t1 cudaMemcpyAsync 10000-12000 corr 2\n"                                             \
	"copy s7 DtoH device->pinned 26000-27000 corr 2 bytes 4\n"                                 \
	"call t1 cudaStreamSynchronize 13000-30000 corr 3\n"                                       \
	"sync t1 stream 13000-30000 corr 3 waits s7\n"                                             \
	"call t1 cudaLaunchKernel 40000-42000 corr 4\nkernel s7 44000-54000 corr 4 \"b\"\n"

#define TWO_STREAMS                                                                                \
	"call t1 cudaLaunchKernel 1000-3000 corr 1\nkernel s7 5000-45000 corr 1 \"a\"\n"           \
	"call t1 cudaLaunchKernel 8000-10000 corr 4\nkernel s8 46000-56000 corr 4 \"b\"\n"

/* Four kernels back to back; the second and the fourth are launched in "vae". */
#define FOUR                                                                                       \
	"call t1 cudaLaunchKernel 1000-3000 corr 1\nkernel s7 5000-105000 corr 1 \"a\"\n"          \
	"call t1 cudaLaunchKernel 4000-6000 corr 2\nkernel s7 105000-205000 corr 2 \"v\"\n"        \
	"call t1 cudaLaunchKernel 7000-9000 corr 3\nkernel s7 205000-305000 corr 3 \"a\"\n"        \
	"call t1 cudaLaunchKernel 10000-12000 corr 4\nkernel s7 305000-405000 corr 4 \"v\"\n"      \
	"range t1 900-3500 \"step 1\"\nrange t1 3600-6500 \"vae\"\n"                               \
	"range t1 6600-9500 \"step 2\"\nrange t1 9600-12500 \"vae\"\n"

static const struct retime_case cases[] = {
	{"launches are late", LAUNCH_BOUND, 1000, 62000, 57000, 14000,
		{{"host 0", 2, 21000}, {"host 0.5", 2, 41000}, {"scale gemm 2", 3, 65000},
			{"host 0; scale * 10", 3, 127000}, {"delete cudaLaunch*", 3, 0},
			{"drop syncs", 0, 61000},
			{"host 0.5 over 20us; host 0 under 20us", 0, 41000},
			{"host 0; host 10", 2, 21000}}},
	{"the GPU is late",
		"call t1 cudaLaunchKernel 1000-3000 corr 1\nkernel s7 5000-105000 corr 1 \"k\"\n"
		"call t1 cudaLaunchKernel 4000-6000 corr 2\nkernel s7 106000-206000 corr 2 \"k\"\n"
		"call t1 cudaLaunchKernel 7000-9000 corr 3\nkernel s7 207000-307000 corr 3 \"k\"\n",
		1000, 307000, 10000, 304000,
		{{"host 0", 2, 306000}, {"scale k 0.5", 3, 156000}, {"scale k 0", 3, 10000},
			{"host 1000", 2, 2008000 + 100000}}},
	{"a sync, and what only seems to be a gain",
		"call t1 cudaLaunchKernel 1000-3000 corr 1\nkernel s7 5000-55000 corr 1 \"k\"\n"
		"call t1 cudaDeviceSynchronize 4000-58000 corr 2\n"
		"call t1 cudaLaunchKernel 68000-70000 corr 3\nkernel s7 72000-82000 corr 3 \"k\"\n",
		1000, 82000, 21000, 62000,
		{{"drop syncs", 1, 64000}, {"drop cudaDeviceSynchronize", 1, 64000},
			{"drop cudaStreamSynchronize", 0, 81000}, {"drop copies", 0, 81000},
			{"drop syncs under 10us", 0, 81000}, {"drop syncs under 11us", 1, 64000},
			{"delete syncs", 1, 64000}, {"host 0 after syncs", 0, 81000}}},
	{"a copy that blocks",
		"call t1 cudaMemcpy 1000-51000 corr 1\n"
		"copy s8 DtoH device->pageable 6000-50000 corr 1 bytes 440000\n"
		"call t1 cudaLaunchKernel 61000-63000 corr 2\nkernel s7 65000-75000 corr 2 \"k\"\n",
		1000, 75000, 20000, 49000,
		{{"rate DtoH 44", 1, 40000}, {"rate HtoD 44", 0, 74000}, {"drop copies", 1, 49000},
			{"pin DtoH 44", 1, 28000}, {"delete copies DtoH", 1, 24000},
			{"delete small-reads", 0, 74000},
			{"delete copies; delete copies", 0, 24000}}},
	{"a small read and its wait", READ, 1000, 54000, 30000, 34000,
		{{"delete small-reads", 2, 34000}, {"host 0 after small-reads", 1, 50000},
			{"drop small-reads", 1, 38000}, {"drop syncs", 1, 38000},
			{"delete small-reads; host 0 after small-reads; scale a 0", 1, 23000},
			{"delete cudaMemcpyAsync", 1, 51000}}},
	{"a wait of a stream that was recorded",
		TWO_STREAMS
		"call t1 cudaEventRecord 4000-5000 corr 2\n"
		"event s7 4500 event 1 sync_id 1 corr 2\n"
		"call t1 cudaStreamWaitEvent 6000-7000 corr 3\n"
		"sync s8 \"stream waits for event\" 6000-7000 corr 3 waits s7 sync_id 1\n",
		1000, 56000, 11000, 53000,
		{{"scale a 0.5", 1, 35000}, {"delete cudaLaunch*", 2, 4000}}},
	{"a wait of a stream that nothing but its end shows", TWO_STREAMS, 1000, 56000, 11000,
		53000, {{"scale a 0.5", 1, 35000}}},
	{"a thread goes on after another one",
		"call t1 cudaLaunchKernel 1000-3000 corr 1\nkernel s7 5000-15000 corr 1 \"k\"\n"
		"call t2 cudaLaunchKernel 90000-92000 corr 2\nkernel s8 94000-104000 corr 2 \"k\"\n"
		"call t2 cudaLaunchKernel 200000-202000 corr 3\nkernel s8 204000-214000 corr 3 "
		"\"k\"\n"
		"call t1 cudaLaunchKernel 250000-252000 corr 4\nkernel s7 254000-264000 corr 4 "
		"\"k\"\n"
		"range t2 120000-210000 \"work\"\n"
		/* another process does not hide that */
		"thread t9 pid 9 tid 9\ncall t9 cudaEventQuery 230000-231000 corr 1\n",
		1000, 264000, 253000, 22000, {{"host 0 in work", 1, 155000}}},
	{"threads that have nothing to do with each other",
		"thread t1 pid 1 tid 77 \"main\"\nthread t2 pid 1 tid 78 \"loader\"\n"
		"call t1 cudaLaunchKernel 1000-3000 corr 1\nkernel s7 5000-15000 corr 1 \"k\"\n"
		"call t1 cudaLaunchKernel 303000-305000 corr 2\nkernel s7 307000-317000 corr 2 "
		"\"k\"\n"
		"call t1 cudaLaunchKernel 605000-607000 corr 3\nkernel s7 609000-619000 corr 3 "
		"\"k\"\n"
		"call t1 cudaLaunchKernel 907000-909000 corr 4\nkernel s7 911000-921000 corr 4 "
		"\"k\"\n"
		"call t2 cudaLaunchKernel 40000-42000 corr 5\nkernel s8 44000-54000 corr 5 \"k\"\n"
		"call t2 cudaLaunchKernel 240000-242000 corr 6\nkernel s8 244000-254000 corr 6 "
		"\"k\"\n"
		"call t2 cudaLaunchKernel 440000-442000 corr 7\nkernel s8 444000-454000 corr 7 "
		"\"k\"\n"
		"call t2 cudaLaunchKernel 640000-642000 corr 8\nkernel s8 644000-654000 corr 8 "
		"\"k\"\n"
		"call t2 cudaLaunchKernel 840000-842000 corr 9\nkernel s8 844000-854000 corr 9 "
		"\"k\"\n",
		1000, 921000, 910000, 52000,
		{{"host 0 on main", 3, 853000}, {"host 0 on loader", 5, 920000},
			{"host 0", 8, 54000}}},
	{"nodes of a graph",
		"call t1 cudaGraphLaunch 1000-3000 corr 1\nkernel s7 6000-10000 corr 1 \"a\" node "
		"1\n"
		"kernel s7 10500-14000 corr 1 \"b\" node 2\n"
		"kernel s8 12000-13000 corr 1 \"c\" node 3\n",
		1000, 14000, 7000, 11000,
		{{"scale a 2", 1, 17000}, {"scale c 4", 1, 15000}, {"host 0", 0, 13000}}},
	{"calls inside calls",
		"call t1 cudaLaunchKernel 1000-5000 corr 1\ncall t1 cuLaunchKernel 2000-4000 corr "
		"2\n"
		"kernel s7 7000-9000 corr 2 \"k\"\n"
		"call t1 cudaLaunchKernel 15000-19000 corr 3\ncall t1 cuLaunchKernel 16000-18000 "
		"corr 4\n"
		"kernel s7 21000-23000 corr 4 \"k\"\n",
		1000, 23000, 20000, 6000,
		{{"host 0", 1, 12000}, {"delete cuLaunchKernel", 0, 22000}}},
	{"calls and ops of no length",
		"call t1 cudaLaunchKernel 1000-1000 corr 1\nkernel s7 1000-1000 corr 1 \"k\"\n"
		"call t1 cudaEventQuery 5000-5000 corr 2\n"
		"call t1 cudaLaunchKernel 9000-9000 corr 3\nkernel s7 9000-9000 corr 3 \"k\"\n",
		1000, 9000, 8000, 0, {{"host 0.5", 2, 4000}, {"scale k 9", 2, 8000}}},
	{"a graph that is captured before it is launched",
		"call t1 cudaStreamBeginCapture 1000-2000 corr 1\n"
		"call t1 cudaLaunchKernel 12000-14000 corr 2\n"
		"call t1 cudaLaunchKernel 24000-26000 corr 3\n"
		"call t1 cudaStreamEndCapture 36000-38000 corr 4\n"
		"call t1 cudaGraphInstantiate 40000-60000 corr 5\n"
		"call t1 cudaGraphLaunch 70000-75000 corr 6\n"
		"kernel s7 77000-87000 corr 6 \"a\" node 2\n"
		"call t1 cudaLaunchKernel 90000-92000 corr 7\nkernel s7 94000-96000 corr 7 \"b\"\n",
		1000, 96000, 93000, 14000,
		/* Left are 10,000 and 15,000 of host code, the calls of 5,000 and 2,000, the last one's 2,000 until its kernel
		 * begins, and that. */
		{{"delete graph-builds", 5, 36000}, {"delete graph-builds in x", 0, 95000}}},
	{"an adapter beside a layer",
		"call t1 cudaLaunchKernel 1000-2000 corr 1\nkernel s7 5000-15000 corr 1 \"gemm\"\n"
		"call t1 cudaLaunchKernel 12000-13000 corr 2\n"
		"kernel s7 16000-18000 corr 2 \"gemm_down\"\n"
		"call t1 cudaLaunchKernel 23000-24000 corr 3\n"
		"kernel s7 27000-29000 corr 3 \"gemm_up\"\n"
		"call t1 cudaLaunchKernel 34000-35000 corr 4\n"
		"kernel s7 38000-39000 corr 4 \"triton_poi_fused_add_mul_0\"\n"
		"call t1 cudaLaunchKernel 45000-46000 corr 5\n"
		"kernel s7 49000-59000 corr 5 \"gemm\"\n",
		1000, 59000, 48000, 28000,
		/* Left are the first launch and the last one, each of 1,000, with 10,000 of host code between; its kernel begins
		 * 3,000 later. */
		{{"delete adapters", 3, 25000}, {"delete adapters in x", 0, 58000},
			{"delete unpacking", 0, 58000}}},
	{"unpacking before a product",
		"call t1 cudaLaunchKernel 1000-2000 corr 1\nkernel s7 5000-15000 corr 1 \"k\"\n"
		"call t1 cudaLaunchKernel 12000-13000 corr 2\n"
		"kernel s7 16000-18000 corr 2 "
		"\"elementwise_kernel<BitwiseAndFunctor<unsigned char>>\"\n"
		"call t1 cudaLaunchKernel 23000-24000 corr 3\n"
		"kernel s7 27000-29000 corr 3 \"elementwise_kernel<MulFunctor>\"\n"
		"call t1 cudaLaunchKernel 34000-35000 corr 4\n"
		"kernel s7 38000-39000 corr 4 \"gemm\"\n",
		1000, 39000, 37000, 18000,
		{{"delete unpacking", 2, 16000}, {"delete adapters", 0, 38000}}},
	{"what checkpointing computes again",
		/* Forward twice, then a gradient: one with a range of autograd, one with an operator. */
		"call t1 cudaLaunchKernel 1000-2000 corr 1\nkernel s7 5000-15000 corr 1 \"k\"\n"
		"call t1 cudaLaunchKernel 12000-13000 corr 2\nkernel s7 16000-26000 corr 2 \"f\"\n"
		"call t1 cudaLaunchKernel 23000-24000 corr 3\nkernel s7 27000-37000 corr 3 \"f\"\n"
		"call t1 cudaLaunchKernel 34000-35000 corr 4\nkernel s7 38000-48000 corr 4 \"g\"\n"
		"range t1 33000-36000 \"autograd::engine::evaluate_function: MulBackward0\" domain "
		"cpu_op\n"
		"call t1 cudaLaunchKernel 45000-46000 corr 5\nkernel s7 49000-59000 corr 5 \"f\"\n"
		"range t1 11000-47000 \"CheckpointFunctionBackward\" domain cpu_op\n",
		1000, 59000, 48000, 53000,
		/* The first kernel, then the launches that follow it as they did: of the code before them nothing, of the
		 * calls nothing. */
		{{"delete recomputation", 2, 36000}, {"delete recomputation in x", 0, 58000},
			{"delete adapters", 0, 58000}}},
	{"a host that stands still",
		/* In a launch, in a wait for what has ended, in code; the last launch is as long as is usual. */
		"call t1 cudaLaunchKernel 1000-2000 corr 1\nkernel s7 3000-13000 corr 1 \"k\"\n"
		"call t1 cudaLaunchKernel 20000-50000000 corr 2\n"
		"kernel s7 50001000-50011000 corr 2 \"k\"\n"
		"call t1 cudaStreamSynchronize 50002000-150000000 corr 3\n"
		"call t1 cudaLaunchKernel 250000000-250002000 corr 4\n"
		"kernel s7 250003000-250013000 corr 4 \"k\"\n"
		"call t1 cudaLaunchKernel 250020000-250022000 corr 5\n"
		"kernel s7 250023000-250033000 corr 5 \"k\"\n",
		1000, 250033000, 150026000, 41000,
		/* Of a launch 2,000 are left, of a wait 2,000 after the kernel's end; of code, where it ends with the others, what is
		 * usual before a launch, 18,000. */
		{{"drop stops", 2, 100067000}, {"drop stops every 100ms from 50ms", 3, 85000},
			{"drop stops every 100ms from 60ms", 0, 250032000}}},
	{"an op that no call launched follows its stream",
		"call t1 cudaLaunchKernel 1000-3000 corr 1\nkernel s7 5000-15000 corr 1 \"a\"\n"
		"kernel s7 20000-25000 corr 0 \"b\"\n",
		1000, 25000, 9000, 22000, {{"scale a 2", 1, 34000}, {"delete cuda*", 1, 24000}}},
	{"a sync waits for ops that were launched before the trace",
		"kernel s7 1000-101000 corr 0 \"early\"\n"
		"call t1 cudaDeviceSynchronize 10000-104000 corr 2\n"
		"call t1 cudaLaunchKernel 114000-116000 corr 3\nkernel s7 118000-128000 corr 3 "
		"\"k\"\n",
		1000, 128000, 25000, 110000,
		{{"scale early 0.5", 1, 77000}, {"drop syncs", 1, 110000}}},
	{"of a stream without a launch nothing is known",
		"kernel s7 1000-101000 corr 0 \"early\"\n"
		"call t1 cudaDeviceSynchronize 10000-104000 corr 2\n"
		"kernel s7 118000-128000 corr 0 \"k\"\n",
		1000, 128000, 17000, 127000, {{"drop syncs", 0, 127000}}},
	{"devices and processes are on their own",
		"thread t2 pid 2 tid 2\nstream s8 device 0 context 1 stream 8 pid 2\n"
		"call t1 cudaLaunchKernel 1000-3000 corr 1\nkernel s7 5000-45000 corr 1 \"a\"\n"
		"kernel s1.7 45000-50000 corr 2 \"b\"\ncall t1 cudaLaunchKernel 41000-43000 corr "
		"2\n"
		"call t2 cudaLaunchKernel 44000-46000 corr 1\nkernel s8 48000-58000 corr 1 \"c\"\n",
		1000, 58000, 47000, 42000,
		{{"scale a 0", 1, 57000}, {"scale b 100", 1, 544000}, {"delete syncs", 0, 57000},
			{"scale c 2", 1, 67000}}},
	{"a stage aside, or left out", FOUR, 1000, 405000, 13000, 402000,
		{{"aside vae", 2, 304000}, {"aside step*", 2, 207000}, {"aside nothing", 0, 404000},
			{"skip 1/2 vae", 1, 304000}, {"skip 1/2 step*", 1, 304000},
			{"scale * 0.5 in vae", 2, 304000}, {"aside vae; scale v 0", 2, 204000},
			{"scale v 0 in step?1", 0, 404000}}},
	{"fewer steps, in each range around them",
		LAUNCH_BOUND "range t1 500-90000 \"block\"\nrange t1 600-7000 \"step 1\"\n"
			     "range t1 25000-32000 \"step 2\"\nrange t1 50000-57000 \"step 3\"\n"
			     "call t1 cudaLaunchKernel 101000-106000 corr 4\n"
			     "kernel s7 108000-112000 corr 4 \"gemm\"\n"
			     "range t1 100500-107000 \"step 1\"\n",
		1000, 112000, 107000, 18000,
		/* Of three steps the last one runs, then the last two; a block with one has it anyway. */
		{{"steps 1 step*", 2, 81000}, {"steps 2 step*", 1, 106000},
			{"steps 3 step*", 0, 111000}, {"steps 1 nothing", 0, 111000}}},
	{"host code of a thread, or at a line",
		"thread t1 pid 1 tid 77 \"main\"\nthread t2 pid 1 tid 78 \"loader\"\n" LAUNCH_BOUND
		"sample t1 900 \"main (run.py:1);f (wan/model.py:5)\" flags 1\n"
		"sample t1 16000 \"main (run.py:1);g (wan/model.py:7)\" flags 1\n"
		"sample t1 26000 \"main (run.py:1)\" flags 1\n"
		"sample t1 36000 \"main (run.py:1);g (wan/model.py:7)\" flags 1\n"
		"sample t1 41000 \"main (run.py:2)\" flags 1\n",
		1000, 62000, 57000, 14000,
		{{"host 0 on main", 2, 21000}, {"host 0 on 77", 2, 21000},
			{"host 0 on m*n", 2, 21000}, {"host 0 on loader", 0, 61000},
			/* 10,000 of the first stretch, 5,000 of the second. */
			{"host 0 at model.py:7", 2, 46000}, {"host 3 at wan/model.py:7", 2, 91000},
			{"host 0 at odel.py:7", 0, 61000},
			{"host 0.5; host 0 at run.py:1", 2, 26000}}},
	{"places: ranges around ranges, and of a process",
		LAUNCH_BOUND "range t1 500-60000 \"all\"\nrange t1 10000-30000 \"in\"\n"
			     "startend t2 30000-52000 \"wide\"\n",
		1000, 62000, 57000, 14000,
		{{"host 0 in all", 2, 21000}, {"host 0 in in", 1, 41000},
			{"host 0 in wide", 1, 41000}, {"host 0 in @(in|wide)", 2, 21000},
			{"scale * 0 in in", 1, 61000}, {"scale * 0 in wide", 1, 57000},
			{"host 0 in x", 0, 61000}}},
	{"a span that begins on the host, after host code and soon after an op's end",
		"call t1 cudaLaunchKernel 1000-3000 corr 1\nkernel s7 5000-95000 corr 1 \"k\"\n"
		"call t1 cudaLaunchKernel 103000-105000 corr 2\n"
		"kernel s7 107000-117000 corr 2 \"k\"\n",
		100000, 117000, 7000, 10000,
		{{"host 0", 1, 10000}, {"host 0.5", 1, 10000}, {"host 2", 1, 20000},
			{"scale k 0.5", 2, 12000}, {"delete cudaLaunch*", 2, 3000}}},
	{"a wait for an event that no record names",
		"call t1 cudaLaunchKernel 1000-3000 corr 1\nkernel s7 5000-105000 corr 1 \"a\"\n"
		"call t1 cudaLaunchKernel 4000-6000 corr 2\nkernel s7 105000-305000 corr 2 \"b\"\n"
		"call t1 cudaEventSynchronize 8000-112000 corr 3\n"
		"call t1 cudaLaunchKernel 300000-302000 corr 4\nkernel s7 306000-316000 corr 4 "
		"\"c\"\n",
		1000, 316000, 201000, 313000,
		/* the wait ends 50,000 ns earlier, and so does the launch; "b" is on until 255,000 */
		{{"scale a 0.5", 1, 265000}}},
	{"a wait for another GPU",
		"call t1 cudaLaunchKernel 1000-3000 corr 1\nkernel s7 5000-45000 corr 1 \"a\"\n"
		"call t1 cudaStreamWaitEvent 6000-7000 corr 3\n"
		"call t1 cudaLaunchKernel 8000-10000 corr 4\nkernel s1.7 46000-56000 corr 4 "
		"\"b\"\n",
		1000, 56000, 11000, 53000,
		{{"scale a 0.5", 1, 35000}, {"scale * 0.5 on GPU 0", 1, 35000},
			{"scale * 0.5 on GPU 1", 1, 50000}, {"scale * 0.5 on GPU 2", 0, 55000}}},
};

static void test_cases(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		check(&cases[i]);
}

/* "b" begins as "a" of another GPU has ended; `wait`: what the thread does in between. */
#define TWO_GPUS(wait)                                                                             \
	"call t1 cudaLaunchKernel 1000-3000 corr 1\nkernel s7 5000-45000 corr 1 \"a\"\n" wait      \
	"call t1 cudaLaunchKernel 8000-10000 corr 4\nkernel s1.7 46000-56000 corr 4 \"b\"\n"

#define UNEXPLAINED                                                                                \
	"call t1 cudaLaunchKernel 1000-3000 corr 1\nkernel s7 5000-6000 corr 1 \"a\"\n"            \
	"call t1 cudaLaunchKernel 8000-10000 corr 2\nkernel s7 32000-33000 corr 2 \"b\"\n"         \
	"kernel s7 40000-41000 corr 0 \"c\"\n"

static void test_what_it_does_not_know(void **state)
{
	struct retimed r = retime(TWO_STREAMS, 1000, 56000, NULL, 0);

	(void)state;
	/* "b" could have begun 2,000 ns after its launch. */
	assert_int_equal(r.out.inferred_ns, 34000);
	assert_int_equal(r.out.unexplained_ns, 0);
	assert_int_equal(r.out.ops, 2);
	assert_int_equal(r.out.ops_without_call, 0);
	vpa_retiming_free(&r.out);
	/* GPUs end ops at the same time by chance; a stream that was told to wait does wait. */
	r = retime(TWO_GPUS(""), 1000, 56000, NULL, 0);
	assert_int_equal(r.out.inferred_ns, 0);
	assert_int_equal(r.out.unexplained_ns, 34000);
	vpa_retiming_free(&r.out);
	r = retime(
		TWO_GPUS("call t1 cudaStreamWaitEvent 6000-7000 corr 3\n"), 1000, 56000, NULL, 0);
	assert_int_equal(r.out.inferred_ns, 34000);
	assert_int_equal(r.out.unexplained_ns, 0);
	vpa_retiming_free(&r.out);
	/* Of another thread, or after the launch, it says nothing of this op. */
	r = retime(
		TWO_GPUS("call t2 cudaStreamWaitEvent 6000-7000 corr 3\n"), 1000, 56000, NULL, 0);
	assert_int_equal(r.out.unexplained_ns, 34000);
	vpa_retiming_free(&r.out);
	r = retime(
		TWO_GPUS("call t1 cudaStreamWaitEvent 11000-12000 corr 3\n"), 1000, 56000, NULL, 0);
	assert_int_equal(r.out.unexplained_ns, 34000);
	vpa_retiming_free(&r.out);
	r = retime(UNEXPLAINED, 1000, 41000, NULL, 0);
	assert_int_equal(r.out.inferred_ns, 0);
	assert_int_equal(r.out.unexplained_ns, 20000);
	assert_int_equal(r.out.ops_without_call, 1);
	vpa_retiming_free(&r.out);
	/* What is outside of all spans says nothing about them. */
	r = retime(UNEXPLAINED, 1000, 32000, NULL, 0);
	assert_int_equal(r.out.unexplained_ns, 0);
	assert_int_equal(r.out.ops, 1);
	assert_int_equal(r.out.ops_without_call, 0);
	vpa_retiming_free(&r.out);
	r = retime(cases[7].script, 300000, 310000, NULL, 0);
	assert_int_equal(r.out.handed_over_ns, 0);
	vpa_retiming_free(&r.out);
	r = retime(cases[7].script, 1000, 264000, NULL, 0);
	assert_int_equal(r.out.handed_over_ns, 247000);
	vpa_retiming_free(&r.out);
}

static const struct {
	const char *script, *change;
	int rc;
	const char *words;
} refused[] = {
	{"kernel s7 1000-2000 corr 1 \"k\"\n", "host 0", VPT_EUNSUPPORTED,
		"the trace has no CUDA calls"},
	{"call t1 cudaLaunchKernel 1000-2000 corr 1\n", "host 0", VPT_EUNSUPPORTED,
		"the trace has no ops"},
	{"range t1 1000-2000 \"x\"\n", "host 0", VPT_EUNSUPPORTED, "the trace has no ops"},
	{LAUNCH_BOUND, "pin HtoD", VPT_EINVAL, "expected pin HtoD GB/s"},
};

static void test_refused(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(refused); i++) {
		struct expected world = {refused[i].change, 0, 0};
		struct retimed r = retime(refused[i].script, 1000, 2000, &world, 1);

		if (r.rc != refused[i].rc || !strstr(r.err.text, refused[i].words))
			fail_msg("%s: %d %s", refused[i].change, r.rc, r.err.text);
		vpa_retiming_free(&r.out);
	}
}

/* ---- graphs ---- */

/* Two blocks of two passes of three launches; each pass has a sync in it or not. */
static void write_passes(char *script, size_t size, int has_sync)
{
	size_t used = 0;
	int k;

	for (k = 0; k < 12; k++) {
		int at = 1000 + 10000 * k;

		used += (size_t)snprintf(script + used, size - used,
			"call t1 cudaLaunchKernel %d-%d corr %d\nkernel s7 %d-%d corr %d \"k\"\n",
			at, at + 2000, k + 1, at + 4000, at + 5000, k + 1);
		if (k % 3 == 0)
			used += (size_t)snprintf(script + used, size - used,
				"range t1 %d-%d \"pass\"\n", at - 500, at + 22500);
		if (k % 6 == 0)
			used += (size_t)snprintf(script + used, size - used,
				"range t1 %d-%d \"block %d\"\n", at - 600, at + 52600, k / 6);
		if (has_sync && k % 3 == 0)
			used += (size_t)snprintf(script + used, size - used,
				"call t1 cudaDeviceSynchronize %d-%d corr %d\n", at + 7000,
				at + 7000, 100 + k);
	}
	assert_true(used < size);
}

static void test_graphs(void **state)
{
	static char script[8192];
	/* What 2 launches of a captured pass cost the host: 20,000 ns; to build it 1,000,000; code and launch 38,000. */
	struct retime_case c = {"launches become a graph", script, 1000, 116000, 114000, 14000,
		{{"graph pass", 4, 1201000}, {"graph pass each block*", 4, 2221000},
			{"graph pass each pass", 4, 4261000}, {"graph block*", 2, 0},
			{"graph nothing", 0, 115000},
			{"graph pass; delete cudaLaunch*", 4, 1042000}}};

	(void)state;
	write_passes(script, sizeof(script), 0);
	/* A pass is in no block: one graph for each block, built once: 5 launches' 50,000 ns, then code and launch. */
	c.worlds[3].ns = 50000 + 1000000 + 30000 + 8000 + 38000 + 8000 + 2000 + 6000;
	check(&c);
	/* A sync breaks a pass into one launch and two; without it, it is one graph. */
	write_passes(script, sizeof(script), 1);
	c = (struct retime_case){"a sync in a graph", script, 1000, 116000, 114000, 14000,
		{{"graph pass", 4,
			 10000 + 10000 + 1000000 + 30000 + 8000 + 3 * (2000 + 8000 + 38000 + 8000) +
				 2000 + 2000},
			{"delete syncs; graph pass", 4, 1201000 - 5000}}};
	check(&c);
}

/* ---- full queues ---- */

/* A loop of launches of `nodes` kernels; the call ends so long after the end of the launch 1,024 before. */
struct loop {
	int64_t gap_ns, kernel_ns, back_ns;
	int nodes;
};

enum { LOOPS = 1100, DEPTH = 1024, NODES_MOST = 3, LINE = 160 };

/* Returns when the last kernel ends; `script` may be NULL. */
static int64_t run_loop(const struct loop *l, char *script)
{
	static int64_t ends[LOOPS];
	int64_t at = 1000, gpu = 0;
	size_t used = 0;
	int i, k;

	for (i = 0; i < LOOPS; i++) {
		int64_t start = at, end = start + 1000;

		if (i >= DEPTH && ends[i - DEPTH] > start && ends[i - DEPTH] + l->back_ns > end)
			end = ends[i - DEPTH] + l->back_ns;
		at = end + l->gap_ns;
		gpu = gpu > end + 2000 ? gpu : end + 2000;
		if (script)
			used += (size_t)snprintf(script + used, LINE,
				"call t1 %s %" PRId64 "-%" PRId64 " corr %d\n",
				l->nodes > 1 ? "cudaGraphLaunch" : "cudaLaunchKernel", start, end,
				i + 1);
		for (k = 0; k < l->nodes; k++) {
			if (script)
				used += (size_t)snprintf(script + used, LINE,
					"kernel s7 %" PRId64 "-%" PRId64 " corr %d \"k\"\n", gpu,
					gpu + l->kernel_ns, i + 1);
			gpu += l->kernel_ns;
		}
		ends[i] = gpu;
	}
	return ends[LOOPS - 1];
}

static void test_full_queue(void **state)
{
	static const struct loop loops[] = {
		{1000, 100000, 500, 1}, {1000, 100000, 0, 1}, {1000, 40000, 500, NODES_MOST}};
	char *script = vpt_alloc(LOOPS * (1 + NODES_MOST), LINE);
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(loops); i++) {
		struct loop l = loops[i], slow = l, quick = l, late = l, eager = l;
		struct retime_case c = {.name = "a full queue", .script = script, .from_ns = 1000};
		uint64_t kernels = (uint64_t)(LOOPS * l.nodes);

		c.to_ns = (uint64_t)run_loop(&l, script);
		slow.kernel_ns *= 2;
		quick.kernel_ns /= 10;
		late.gap_ns *= 50;
		eager.gap_ns = 0;
		c.worlds[0] = (struct expected){
			"scale k 2", kernels, (uint64_t)run_loop(&slow, NULL) - 1000};
		c.worlds[1] = (struct expected){
			"scale k 0.1", kernels, (uint64_t)run_loop(&quick, NULL) - 1000};
		c.worlds[2] = (struct expected){
			"host 50", LOOPS - 1, (uint64_t)run_loop(&late, NULL) - 1000};
		c.worlds[3] = (struct expected){
			"host 0", LOOPS - 1, (uint64_t)run_loop(&eager, NULL) - 1000};
		c.host_ns = 1000 * LOOPS + 1000 * (LOOPS - 1) + 2000;
		c.gpu_ns = 2000 + (uint64_t)l.kernel_ns * kernels;
		check(&c);
	}
	vpt_free(script);
}

/* With 200 of 1,100 launches gone the queue has room for the others: no call waits, though the launches 1,024 before the last
 * ones are still there. Each launch takes 1,000 ns, and so does the code between them; then the host runs code for 200 ms,
 * in which the GPU ends all kernels. */
static void test_queue_with_launches_gone(void **state)
{
	const struct loop l = {1000, 100000, 500, 1};
	char *script = vpt_alloc(LOOPS * 2, LINE);
	struct retime_case c = {.name = "a queue with launches gone",
		.script = script,
		.from_ns = 1000,
		.host_ns = 1000 * LOOPS + 1000 * (LOOPS - 1) + 200000000,
		.gpu_ns = 2000 + 100000 * LOOPS,
		.worlds = {
			{"delete cudaLaunch* in gone", 200, 1000 * 900 + 1000 * 899 + 200000000}}};
	size_t used;

	(void)state;
	run_loop(&l, script);
	/* The last launch waits for the kernel 1,024 before it, 4,000 ns of launch and latency included. */
	c.to_ns = 4000 + 100000 * (LOOPS - DEPTH) + 500 + 200000000;
	used = strlen(script);
	snprintf(script + used, 4 * LINE,
		"call t1 cudaLaunchKernel %" PRIu64 "+1us corr 2000\n"
		"kernel s7 %" PRIu64 "+1us corr 2000 \"k\"\nrange t1 400500-800500 \"gone\"\n",
		c.to_ns, c.to_ns + 3000);
	check(&c);
	vpt_free(script);
}

/* ---- worlds beside each other ---- */

static void test_worlds_are_independent(void **state)
{
	struct expected worlds[WORLDS];
	struct retimed one, many;
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		for (k = 0; k < WORLDS && cases[i].worlds[k].changes; k++) {
			size_t w;

			for (w = 0; w < WORLDS; w++)
				worlds[w] = cases[i].worlds[w % 2 ? k : 0];
			one = retime(
				cases[i].script, cases[i].from_ns, cases[i].to_ns, &worlds[1], 1);
			many = retime(
				cases[i].script, cases[i].from_ns, cases[i].to_ns, worlds, WORLDS);
			for (w = 1; w < WORLDS; w += 2)
				assert_int_equal(vpa_retimed_ns(&many.out, VPA_WORLD_FIRST + w, 0),
					vpa_retimed_ns(&one.out, VPA_WORLD_FIRST, 0));
			vpa_retiming_free(&one.out);
			vpa_retiming_free(&many.out);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_what_it_does_not_know),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_graphs),
		cmocka_unit_test(test_full_queue),
		cmocka_unit_test(test_queue_with_launches_gone),
		cmocka_unit_test(test_worlds_are_independent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

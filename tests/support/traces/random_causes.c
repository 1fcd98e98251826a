/* random_causes.c - the program that a seed makes, as lines of a script.
 * Long, since one generator makes all parts of a program. */
#include "tests/support/traces/random_causes.h"

#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "tests/support/random.h"
#include "tests/support/traces/random_lines.h"
#include "tests/support/traces/script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEVICES_MAX = 3,
	STREAMS_MAX = 12,
	THREADS_MAX = 4,
	CALLS_MAX = 400,
	LINES_MAX = 3000,
	CUTS_MAX = 32,
	DEPTH_MAX = 3,
	SCALES = 4
};

/* What durations are of; each has its own mix of scales in a trace. */
enum length { OF_CALLS, OF_HOST_CODE, OF_OPS, OF_DELAYS, LENGTHS };

struct made_call {
	uint64_t start, end, corr;
	unsigned thread, action;
	int parent; /* the call that it is made inside; -1: none */
	int has_inner;
};

struct made {
	struct vpt_random random;
	int orderly;
	uint64_t grid, start, t0;
	unsigned weights[LENGTHS][SCALES];
	unsigned processes, threads, devices, names;
	int records_waits; /* some waits have records */
	unsigned stream_count;
	struct made_stream {
		unsigned pid, device, number;
		uint64_t last_start, last_end;
	} streams[STREAMS_MAX];
	uint64_t next_corr[3];
	struct made_call calls[CALLS_MAX];
	unsigned call_count;
	struct random_lines lines;
	struct random_line line_items[LINES_MAX];
};

static unsigned below(struct made *t, unsigned limit)
{
	return (unsigned)vpt_random_below(&t->random, limit);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* A duration, often right at a threshold. */
static uint64_t some_ns(struct made *t, enum length of)
{
	static const uint64_t usual[SCALES][8] = {{0, 1, 300, 1000, 1001, 3000, 4999, 5000},
		{2000, 6000, 9000, 9999, 10000, 10001, 15000, 20000},
		{30000, 60000, 85000, 99999, 100000, 100001, 130000, 250000},
		{400000, 900000, 999999, 1000000, 1000001, 1400000, 2500000, 4000000}};
	unsigned sum = 0, scale, pick;
	uint64_t ns;

	for (scale = 0; scale < SCALES; scale++)
		sum += t->weights[of][scale];
	pick = below(t, sum);
	for (scale = 0; pick >= t->weights[of][scale]; scale++)
		pick -= t->weights[of][scale];
	ns = usual[scale][below(t, 8)];
	return ns - ns % t->grid;
}

/* A moment of the trace so far. */
static uint64_t some_time(struct made *t)
{
	uint64_t at = t->start + vpt_random_below(&t->random, t->lines.last - t->start + 1);

	return at - at % t->grid;
}

/* ---- calls ---- */

enum effect {
	RUNS_NOTHING,
	RUNS_KERNEL,
	RUNS_GRAPH,
	RUNS_COPY,
	RUNS_PAGEABLE,
	RUNS_MEMSET,
	RUNS_STREAM_WAIT
};

static const struct action {
	const char *call;
	enum effect effect;
	const char *copy; /* direction and memories */
	unsigned weight;
} actions[] = {
	{"cudaLaunchKernel", RUNS_KERNEL, NULL, 24},
	{"cudaLaunchKernelExC", RUNS_KERNEL, NULL, 3},
	{"cuLaunchKernel", RUNS_KERNEL, NULL, 5},
	{"cudaLaunchCooperativeKernel", RUNS_KERNEL, NULL, 1},
	{"cudaGraphLaunch", RUNS_GRAPH, NULL, 7},
	{"cuGraphLaunch", RUNS_GRAPH, NULL, 1},
	{"cudaMemcpyAsync", RUNS_COPY, "HtoD pinned->device", 2},
	{"cudaMemcpyAsync", RUNS_PAGEABLE, "DtoH device->pageable", 3},
	{"cuMemcpyHtoDAsync", RUNS_PAGEABLE, "HtoD pageable->device", 2},
	{"cudaMemcpy", RUNS_COPY, "DtoH device->pinned", 2},
	{"cuMemcpyDtoH", RUNS_PAGEABLE, "DtoH device->pageable", 1},
	{"cudaMemsetAsync", RUNS_MEMSET, NULL, 2},
	{"cudaStreamSynchronize", RUNS_NOTHING, NULL, 7},
	{"cudaDeviceSynchronize", RUNS_NOTHING, NULL, 2},
	{"cuEventSynchronize", RUNS_NOTHING, NULL, 1},
	{"cudaStreamWaitEvent", RUNS_STREAM_WAIT, NULL, 5},
	{"cuStreamWaitEvent", RUNS_STREAM_WAIT, NULL, 1},
	{"cudaMalloc", RUNS_NOTHING, NULL, 3},
	{"cudaFree", RUNS_NOTHING, NULL, 3},
	{"cudaFreeAsync", RUNS_NOTHING, NULL, 1},
	{"cudaHostAlloc", RUNS_NOTHING, NULL, 1},
	{"cuModuleLoadData", RUNS_NOTHING, NULL, 2},
	{"cuLibraryLoadData", RUNS_NOTHING, NULL, 1},
	{"cudaGraphInstantiate", RUNS_NOTHING, NULL, 2},
	{"cudaStreamBeginCapture", RUNS_NOTHING, NULL, 2},
	{"cudaStreamEndCapture", RUNS_NOTHING, NULL, 3},
	{"cudaStreamCreateWithFlags", RUNS_NOTHING, NULL, 2},
	{"cudaFuncSetAttribute", RUNS_NOTHING, NULL, 2},
	{"cudaGetSymbolAddress", RUNS_NOTHING, NULL, 1},
	{"cudaThreadExchangeStreamCaptureMode", RUNS_NOTHING, NULL, 1},
	{"cudaLaunchHostFunc", RUNS_NOTHING, NULL, 1},
	{"cudaEventQuery", RUNS_NOTHING, NULL, 2},
	{"cudaEventRecord", RUNS_NOTHING, NULL, 2},
	{"cudaStreamIsCapturing", RUNS_NOTHING, NULL, 1},
	{"cudaPeekAtLastError", RUNS_NOTHING, NULL, 1},
};

static unsigned some_action(struct made *t)
{
	unsigned sum = 0, i, pick;

	for (i = 0; i < COUNT(actions); i++)
		sum += actions[i].weight;
	pick = below(t, sum);
	for (i = 0; pick >= actions[i].weight; i++)
		pick -= actions[i].weight;
	return i;
}

static unsigned pid_of(const struct made *t, unsigned thread)
{
	return 1 + thread % t->processes;
}

/* A moment of [start, end], often an edge. */
static uint64_t some_edge(struct made *t, uint64_t start, uint64_t end)
{
	uint64_t ns = end - start;

	switch (below(t, 4)) {
	case 0:
		return start;
	case 1:
		return end;
	default:
		ns = vpt_random_below(&t->random, ns + 1);
		return start + ns - ns % t->grid;
	}
}

/* A call, and perhaps others made inside it: by a runtime that calls the driver, or at its very edges. */
static void make_call(
	struct made *t, unsigned thread, uint64_t start, uint64_t end, int parent, unsigned depth)
{
	uint64_t at = start, inner_end;
	int me = (int)t->call_count;
	struct made_call *c;
	unsigned n;

	if (t->call_count == CALLS_MAX)
		return;
	c = &t->calls[t->call_count++];
	*c = (struct made_call){.start = start,
		.end = end,
		.thread = thread,
		.action = some_action(t),
		.parent = parent};
	c->corr = t->next_corr[pid_of(t, thread)] += 1 + below(t, 2);
	if (parent >= 0 && below(t, 2))
		c->corr = t->calls[parent].corr;
	for (n = depth < DEPTH_MAX && !below(t, 4) ? 1 + below(t, 2) : 0; n; n--) {
		at = some_edge(t, at, end);
		inner_end = some_edge(t, at, end);
		c->has_inner = 1;
		make_call(t, thread, at, inner_end, me, depth + 1);
		at = inner_end;
	}
}

static void make_thread(struct made *t, unsigned thread, unsigned calls)
{
	uint64_t at = t->start + some_ns(t, OF_HOST_CODE), start = at;

	for (; calls; calls--) {
		uint64_t end;

		at = later(at, t->start);
		end = at + some_ns(t, OF_CALLS);
		make_call(t, thread, at, end, -1, 1);
		start = at;
		switch (below(t, 8)) {
		case 0: /* the next one overlaps it, or begins with it */
			at = some_edge(t, start, end);
			break;
		case 1:
			at = end;
			break;
		default:
			at = end + some_ns(t, OF_HOST_CODE);
		}
	}
}

/* ---- ops ---- */

static const char *const kernel_names[] = {"ampere_sgemm_128x64", "vectorized_elementwise_kernel",
	"softmax_warp_forward", "ncclDevKernel_AllReduce", "mystery", "flash_fwd"};

static void put_op(struct made *t, unsigned stream, uint64_t start, uint64_t end, uint64_t corr,
	const struct action *a, unsigned node)
{
	unsigned delay = below(t, 3), fate = below(t, 30), name = below(t, t->names);
	struct made_stream *s = &t->streams[stream];
	char span[64];

	snprintf(span, sizeof(span), "%" PRIu64 "-%" PRIu64, start, end);
	if (fate == 0) {
		snprintf(span, sizeof(span), "%" PRIu64 "-%" PRIu64, start, start);
		end = start;
	} else if (fate == 1) {
		snprintf(span, sizeof(span), "%" PRIu64 "-%" PRIu64, start + 5, start);
		end = start + 5;
	} else {
		s->last_start = later(s->last_start, start);
		s->last_end = later(s->last_end, end);
	}
	if (a->effect == RUNS_COPY || a->effect == RUNS_PAGEABLE)
		random_lines_put(&t->lines, end, delay, "copy x%u %s %s corr %" PRIu64 " bytes 64",
			stream, a->copy, span, corr);
	else if (a->effect == RUNS_MEMSET)
		random_lines_put(&t->lines, end, delay, "memset x%u %s corr %" PRIu64 " bytes 64",
			stream, span, corr);
	else
		random_lines_put(&t->lines, end, delay,
			"kernel x%u %s corr %" PRIu64 " \"%s\" node %u", stream, span, corr,
			kernel_names[name], node);
}

static unsigned stream_of(struct made *t, unsigned pid)
{
	unsigned stream = below(t, t->stream_count);

	while (t->streams[stream].pid != pid)
		stream = (stream + 1) % t->stream_count;
	return stream;
}

/* Mostly after what runs on the stream, and when the launch has returned. */
static void run_queued(
	struct made *t, const struct made_call *c, unsigned stream, uint64_t corr, unsigned node)
{
	struct made_stream *s = &t->streams[stream];
	uint64_t start = c->start, ns = some_ns(t, OF_OPS);

	if (below(t, 4))
		start = later(c->end, start);
	if (below(t, 6))
		start = later(start, s->last_end);
	if (below(t, 3))
		start += some_ns(t, OF_DELAYS);
	if (!t->orderly && !below(t, 24))
		start = t->start + (c->start - t->start) / 2;
	put_op(t, stream, start, start + later(ns, below(t, 10) ? t->grid : 0), corr,
		&actions[c->action], node);
}

/* A copy that blocks by its memory runs while it does. */
static void run_inside(struct made *t, const struct made_call *c, unsigned stream, uint64_t corr)
{
	uint64_t start = t->orderly ? c->start : some_edge(t, c->start, c->end);
	uint64_t end = some_edge(t, start, c->end);

	if (!t->orderly && !below(t, 4))
		end = start + some_ns(t, OF_OPS);
	put_op(t, stream, start, end, corr, &actions[c->action], 0);
}

static void run_wait(struct made *t, const struct made_call *c, unsigned stream)
{
	uint64_t at = t->orderly ? c->start : some_edge(t, c->start, c->end),
		 corr = below(t, 8) ? c->corr : 0;
	char lane[16];

	if (!t->records_waits || !below(t, 5))
		return;
	snprintf(lane, sizeof(lane), "x%u", stream);
	if (!below(t, 6))
		snprintf(lane, sizeof(lane), "%s", below(t, 2) ? "-" : "none");
	random_lines_put(&t->lines, at, 0,
		"sync %s \"stream waits for event\" %" PRIu64 "+0 corr %" PRIu64, lane, at, corr);
}

static void run_call(struct made *t, const struct made_call *c)
{
	const struct action *a = &actions[c->action];
	unsigned pid = pid_of(t, c->thread), fate = below(t, 24), nodes = 1 + below(t, 5), i;
	unsigned stream = stream_of(t, pid), with_nodes = below(t, 3);
	uint64_t corr = fate == 0 ? 0 : fate == 1 ? 900000 + c->corr : c->corr;

	if (fate == 2) /* what it launched was not recorded */
		return;
	switch (a->effect) {
	case RUNS_KERNEL:
	case RUNS_COPY:
	case RUNS_MEMSET:
		run_queued(t, c, stream, corr, 0);
		break;
	case RUNS_GRAPH:
		for (i = 0; i < nodes; i++)
			run_queued(t, c, below(t, 4) ? stream : stream_of(t, pid), corr,
				with_nodes ? i + 1 : 0);
		break;
	case RUNS_PAGEABLE:
		run_inside(t, c, stream, corr);
		break;
	case RUNS_STREAM_WAIT:
		run_wait(t, c, stream);
		break;
	case RUNS_NOTHING:
		/* A call that does not submit by its name, as a cudaFree that clears. */
		if (!t->orderly && !below(t, 20))
			put_op(t, stream, c->start, c->end, corr, &actions[0], 0);
	}
}

static int compare_calls(const void *pa, const void *pb)
{
	const struct made_call *a = *(struct made_call *const *)pa,
			       *b = *(struct made_call *const *)pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void run_calls(struct made *t)
{
	struct made_call *order[CALLS_MAX];
	unsigned i;

	for (i = 0; i < t->call_count; i++)
		order[i] = &t->calls[i];
	qsort(order, t->call_count, sizeof(*order), compare_calls);
	for (i = 0; i < t->call_count; i++) {
		struct made_call *c = order[i];
		unsigned fate = below(t, 40);

		if (fate == 0 && !t->orderly)
			random_lines_put(&t->lines, c->end, 0,
				"call t%u %s %" PRIu64 "-%" PRIu64 " corr %" PRIu64, c->thread + 1,
				actions[c->action].call, c->end + 7, c->end, c->corr);
		else if (fate != 1)
			random_lines_put(&t->lines, c->end, 0,
				"call t%u %s %" PRIu64 "-%" PRIu64 " corr %" PRIu64, c->thread + 1,
				actions[c->action].call, c->start, c->end, c->corr);
		/* Of two calls with one number, mostly one has the op. */
		if (c->parent < 0 || c->corr != t->calls[c->parent].corr || !below(t, 4))
			run_call(t, c);
	}
}

/* ---- what lies around ---- */

static void make_range(struct made *t, uint64_t *starts, unsigned *made)
{
	static const char *const names[] = {"step", "block", "denoise", "ProfilerStep#3"};
	static const char *const domains[] = {
		"", "", " domain other", " domain cpu_op", " domain python_function"};
	uint64_t start = some_time(t), end;
	unsigned thread = below(t, t->threads), wide = !below(t, 5), name = below(t, 4), k;
	unsigned domain = wide || name == 3 ? 0 : below(t, COUNT(domains));

	end = below(t, 3) ? start + (some_time(t) - t->start) / 3
			  : start + some_ns(t, OF_HOST_CODE);
	end -= end % t->grid;
	/* Of two that begin at the same moment, only the order in one chunk tells which is outside. */
	for (k = 0; k < *made && starts[k] != start; k++)
		;
	if (k < *made || end < start)
		return;
	starts[(*made)++] = start;
	if (!below(t, 12))
		random_lines_put(&t->lines, UINT64_MAX, 0, "%s t%u %" PRIu64 " \"%s\"%s",
			wide ? "openstartend" : "open", thread + 1, start, names[name],
			domains[domain]);
	else
		random_lines_put(&t->lines, end, 0, "%s t%u %" PRIu64 "-%" PRIu64 " \"%s\"%s",
			wide ? "startend" : "range", thread + 1, start, end, names[name],
			domains[domain]);
}

static void make_ranges(struct made *t)
{
	uint64_t starts[32];
	unsigned n = below(t, 30), made = 0;

	for (; n; n--)
		make_range(t, starts, &made);
}

static void make_overheads(struct made *t)
{
	static const char *const kinds[] = {"buffer flush", "instrumentation", "resource",
		"activity buffer request", "driver compiler", "module loading",
		"lazy function loading", "command buffer full", "unified memory start", "unknown"};
	unsigned n = below(t, 3) ? below(t, 8) : 0;

	for (; n; n--) {
		uint64_t start = some_time(t), end = start + some_ns(t, OF_HOST_CODE);
		char lane[16] = "-";

		if (below(t, 3))
			snprintf(lane, sizeof(lane), "t%u", 1 + below(t, t->threads));
		random_lines_put(&t->lines, end, below(t, 2),
			"overhead %s \"%s\" %" PRIu64 "-%" PRIu64, lane,
			kinds[below(t, COUNT(kinds))], start, end);
	}
}

static void make_losses(struct made *t)
{
	static const char *const kinds[] = {"dropped", "invalid", "ring full", "unknown", "cap"};
	unsigned n = below(t, 3) ? 0 : 1 + below(t, 2);

	for (; n; n--) {
		uint64_t start = some_time(t), end = start + some_ns(t, OF_DELAYS);

		random_lines_put(&t->lines, end, below(t, 2),
			"loss all \"%s\" %" PRIu64 "-%" PRIu64 " count %u",
			kinds[below(t, COUNT(kinds))], start, end, below(t, 9));
	}
	for (n = below(t, 5) ? 0 : 1 + below(t, 3); n; n--) {
		uint64_t start = some_time(t), end = start + some_ns(t, OF_HOST_CODE);

		random_lines_put(&t->lines, end, below(t, 2),
			"loss all paused %" PRIu64 "-%" PRIu64, start, end);
	}
}

/* ---- the whole ---- */

/* Each process has one. */
static void make_streams(struct made *t)
{
	unsigned i, k;

	t->stream_count = t->devices * (1 + below(t, STREAMS_MAX / DEVICES_MAX));
	t->processes = t->stream_count == 1 ? 1 : t->processes;
	for (i = 0; i < t->stream_count; i++) {
		struct made_stream *s = &t->streams[i];

		s->device = i % t->devices;
		s->pid = i == 0                     ? 1
			 : i + 1 == t->stream_count ? t->processes
						    : 1 + below(t, t->processes);
		s->number = 7;
		for (k = 0; k < i; k++)
			if (t->streams[k].device == s->device && t->streams[k].pid == s->pid)
				s->number += 6;
	}
}

static void make_trace(struct made *t, const struct random_causes *how)
{
	static const uint64_t grids[] = {1, 1, 1000, 5000};
	unsigned i, k, size;

	memset(t, 0, sizeof(*t));
	t->random.state = how->seed;
	t->orderly = how->orderly;
	t->grid = grids[below(t, COUNT(grids))];
	t->lines.items = t->line_items;
	t->lines.max = LINES_MAX;
	t->start = t->lines.last = 1000000;
	for (i = 0; i < LENGTHS; i++)
		for (k = 0; k < SCALES; k++)
			t->weights[i][k] = 1 + below(t, below(t, 2) ? 3 : 16);
	t->processes = 1 + !below(t, 3);
	t->devices = 1 + below(t, DEVICES_MAX);
	t->names = 1 + below(t, COUNT(kernel_names));
	t->records_waits = below(t, 3) > 0;
	make_streams(t);
	t->threads = t->processes + below(t, THREADS_MAX - t->processes + 1);
	size = 4 + below(t, below(t, 3) ? 24 : 60);
	for (i = 0; i < t->threads; i++)
		make_thread(t, i, 2 + below(t, size));
	if (t->orderly && t->records_waits)
		random_lines_put(&t->lines, t->start, 0,
			"sync x0 \"stream waits for event\" %" PRIu64 "+0 corr 0", t->start);
	run_calls(t);
	make_overheads(t);
	make_losses(t);
	make_ranges(t);
}

/* ---- scripts ---- */

static void say_lanes(const struct made *t, struct random_text *s)
{
	unsigned i;

	random_text_add(s, "stream none device 0 context 1 stream 4294967295 pid 1\n");
	for (i = 0; i < t->threads; i++)
		random_text_add(s, "thread t%u pid %u tid %u\n", i + 1, pid_of(t, i), 100 + i);
	for (i = 0; i < t->stream_count; i++)
		random_text_add(s, "stream x%u device %u context 1 stream %u pid %u\n", i,
			t->streams[i].device, t->streams[i].number, t->streams[i].pid);
}

/* Whether a call that has others inside is under way. */
static int is_nested(const struct made *t, uint64_t at)
{
	unsigned i, k;

	for (i = 0; i < t->call_count; i++) {
		const struct made_call *a = &t->calls[i];

		if (a->start > at || at >= a->end)
			continue;
		for (k = 0; k < t->call_count; k++) {
			const struct made_call *b = &t->calls[k];

			if (k != i && b->thread == a->thread && b->start >= a->start &&
				b->start <= a->end && b->end <= a->end)
				return 1;
		}
	}
	return 0;
}

static size_t choose_cuts(struct made *t, const struct random_causes *how, uint64_t *cuts)
{
	unsigned n = how->cuts < CUTS_MAX ? how->cuts : CUTS_MAX, i;
	uint64_t at = t->start;
	size_t count = 0;

	t->random.state = how->seed ^ 0x5eed;
	for (i = 0; i < n; i++) {
		at += vpt_random_below(&t->random, 2 * (t->lines.last - t->start) / n + 2);
		if (!t->orderly || !is_nested(t, at))
			cuts[count++] = at;
	}
	return count;
}

/* What is asked of the trace: mostly all of it. */
static void choose_window(struct made *t, struct random_text *s, struct vpa_options *window)
{
	uint64_t span = t->lines.last - t->start;

	t->t0 = t->start + (below(t, 8) ? 0 : span / 4);
	random_text_add(s, "start %" PRIu64 "\n", t->t0);
	if (!below(t, 7))
		random_text_add(s, "killed\n");
	else if (!below(t, 4))
		random_text_add(s, "end %" PRIu64 "\n", t->lines.last + some_ns(t, OF_HOST_CODE));
	*window = (struct vpa_options){.jobs = 1, .top = 100000, .min_gap_ns = 1};
	window->has_from = !below(t, 6);
	window->from_ns = window->has_from ? span / 5 : 0;
	window->has_to = !below(t, 8);
	window->to_ns = window->has_to ? span / 5 + span / 3 + 1 : 0;
}

char *random_causes_script(const struct random_causes *how, struct vpa_options *window)
{
	struct made *t = vpt_calloc(1, sizeof(*t));
	uint64_t cuts[CUTS_MAX];
	struct random_text s = {0};
	size_t cut_count;

	if (!t)
		abort();
	make_trace(t, how);
	choose_window(t, &s, window);
	say_lanes(t, &s);
	cut_count = choose_cuts(t, how, cuts);
	random_lines_write(&t->lines, cuts, cut_count, &s);
	vpt_free(t);
	return s.data;
}

int random_causes_write(const struct random_causes *how, struct vpa_options *window,
	struct vpt_buffer *out, struct vpt_err *err)
{
	char *script = random_causes_script(how, window);
	int rc = vpt_script_bytes(script, out, err);

	vpt_free(script);
	return rc;
}

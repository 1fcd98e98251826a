/* test_analysis_properties.c - random traces: what must hold for every trace, and equality with a slow model.
 *
 * A seed makes a small program: threads that call CUDA, streams that run what was launched, ranges that nest
 * and overlap, records that are missing or invalid. It is written as a script, cut into chunks in several
 * ways, and analyzed each time. Times come from a few values around the thresholds of the definitions, so that
 * edges meet often.
 * Long, since the generator and the properties share its program. */
#include "analysis/analyze.h"
#include "analysis/render/renderer.h"
#include "formats/base/count.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "tests/support/model/model.h"
#include "tests/support/random.h"
#include "tests/support/traces/random_lines.h"
#include "tests/support/traces/script.h"

#include <inttypes.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/support/model/said_places.h"

enum {
	SEEDS = 400,
	LONG_SEEDS = 6,
	THREADS_MAX = 4,
	STREAMS_MAX = 5,
	CALLS_MAX = 8000,
	LINES_MAX = 40000,
	CUTS_MAX = 48,
	FIRST_STREAMS = STREAMS_MAX + THREADS_MAX + 1
};

struct made_call {
	uint64_t start, end;
	unsigned thread, action;
	int inside; /* the outer call of a pair: its index + 1 */
	uint64_t corr;
};

struct made {
	struct vpt_random random;
	uint64_t grid, scale;
	uint64_t start, t0;
	struct random_lines lines;
	int killed;
	struct vpa_options options;
	unsigned processes, threads, streams, devices;
	int skewed;    /* ops may begin before their launch */
	unsigned cuts; /* at most this many */
	unsigned call_count;
	struct made_stream {
		unsigned pid, device;
		uint64_t last_start, last_end;
	} stream[STREAMS_MAX +
		 THREADS_MAX]; /* one for each thread's blocking copies behind the others */
	uint64_t next_corr[3];
	/* from here on only as much is valid as the counts say */
	struct made_call calls[CALLS_MAX];
	struct random_line line_items[LINES_MAX];
};

static unsigned below(struct made *t, unsigned limit)
{
	return (unsigned)vpt_random_below(&t->random, limit);
}

/* A duration, often right at a threshold. */
static uint64_t some_ns(struct made *t)
{
	static const uint64_t usual[] = {0, 1, 7, 300, 999, 1000, 1001, 2500, 4999, 5000, 6000,
		9999, 10000, 10001, 20000, 45000, 99999, 100000, 100001, 130000, 1000000};
	uint64_t ns = usual[below(t, below(t, 3) ? 14 : COUNT(usual))];

	return (ns - ns % t->grid) * t->scale;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- calls ---- */

enum effect {
	RUNS_KERNEL,
	RUNS_COPY,
	RUNS_MEMSET,
	RUNS_GRAPH,
	RUNS_NOTHING,
	RUNS_BLOCKING,
	RUNS_STREAM_WAIT
};

static const struct action {
	const char *call;
	enum effect effect;
	const char *copy; /* kind and memories */
} actions[] = {
	{"cudaLaunchKernel", RUNS_KERNEL, NULL},
	{"cudaLaunchKernel", RUNS_KERNEL, NULL},
	{"cudaLaunchKernel", RUNS_KERNEL, NULL},
	{"cudaLaunchKernelExC", RUNS_KERNEL, NULL},
	{"cuLaunchKernel", RUNS_KERNEL, NULL},
	{"cudaGraphLaunch", RUNS_GRAPH, NULL},
	{"cudaMemcpyAsync", RUNS_COPY, "HtoD pinned->device"},
	{"cudaMemcpyAsync", RUNS_COPY, "DtoD device->device"},
	{"cudaMemcpyAsync", RUNS_BLOCKING, "HtoD pageable->device"},
	{"cudaMemcpyAsync", RUNS_BLOCKING, "DtoH device->pageable"},
	{"cudaMemcpy", RUNS_BLOCKING, "DtoH device->pinned"},
	{"cudaMemsetAsync", RUNS_MEMSET, NULL},
	{"cudaStreamSynchronize", RUNS_NOTHING, NULL},
	{"cudaDeviceSynchronize", RUNS_NOTHING, NULL},
	{"cudaEventSynchronize", RUNS_NOTHING, NULL},
	{"cudaStreamWaitEvent", RUNS_STREAM_WAIT, NULL},
	{"cudaMalloc", RUNS_NOTHING, NULL},
	{"cudaFree", RUNS_NOTHING, NULL},
	{"cuModuleLoadData", RUNS_NOTHING, NULL},
	{"cudaGraphInstantiate", RUNS_NOTHING, NULL},
	{"cudaEventRecord", RUNS_NOTHING, NULL},
	{"cudaGetDevice", RUNS_NOTHING, NULL},
};
enum { OUTER_CALL = 0, INNER_CALL = 4 };

static void make_call(
	struct made *t, unsigned thread, unsigned action, uint64_t start, uint64_t end, int inside)
{
	if (t->call_count < CALLS_MAX)
		t->calls[t->call_count++] =
			(struct made_call){start, end, thread, action, inside, 0};
}

static void make_thread(struct made *t, unsigned thread, unsigned calls)
{
	uint64_t at = t->start + some_ns(t);

	for (; calls; calls--) {
		unsigned action = below(t, COUNT(actions));
		uint64_t end = at + some_ns(t);

		if (actions[action].effect == RUNS_BLOCKING)
			end += 3 * (1000 / t->grid + 1) * t->grid;
		if (below(t, 10) || t->call_count + 2 > CALLS_MAX) {
			make_call(t, thread, action, at, end, 0);
		} else {
			/* A runtime call around the driver's. */
			uint64_t inner = at + some_ns(t), inner_end = inner + some_ns(t);

			end = inner_end + some_ns(t) + t->grid;
			make_call(t, thread, OUTER_CALL, at, end, 0);
			make_call(t, thread, INNER_CALL, inner, inner_end, (int)t->call_count);
		}
		at = end + some_ns(t);
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

/* ---- ops ---- */

static const char *const kernel_names[] = {"ampere_sgemm_128x64", "vectorized_elementwise_kernel",
	"softmax_warp_forward", "ncclDevKernel_AllReduce", "mystery"};

static void put_op(struct made *t, unsigned stream, uint64_t start, uint64_t end, uint64_t corr,
	const struct action *a, unsigned node)
{
	unsigned delay = below(t, 3), fate = below(t, 40);
	struct made_stream *s = &t->stream[stream];
	char span[64];

	if (a->effect != RUNS_BLOCKING && fate == 0)
		end = start; /* counted, otherwise ignored */
	snprintf(span, sizeof(span), "%" PRIu64 "-%" PRIu64, start, end);
	if (a->effect != RUNS_BLOCKING && fate == 1)
		snprintf(span, sizeof(span), "%" PRIu64 "-%" PRIu64, start + 5, start);
	else if (a->effect != RUNS_BLOCKING && fate == 2)
		snprintf(span, sizeof(span), "0-%" PRIu64, end);
	else
		s->last_start = start;
	s->last_end = later(s->last_end, end);
	if (a->effect == RUNS_KERNEL || a->effect == RUNS_GRAPH)
		random_lines_put(&t->lines, end, delay,
			"kernel s%u %s corr %" PRIu64 " \"%s\" grid %u node %u", stream + 1, span,
			corr, kernel_names[below(t, COUNT(kernel_names))], 1 + below(t, 20), node);
	else if (a->effect == RUNS_MEMSET)
		random_lines_put(&t->lines, end, delay, "memset s%u %s corr %" PRIu64 " bytes %u",
			stream + 1, span, corr, below(t, 5000));
	else
		random_lines_put(&t->lines, end, delay, "copy s%u %s %s corr %" PRIu64 " bytes %u",
			stream + 1, a->copy, span, corr, below(t, 5000));
}

/* Ops of a stream begin one after the other, in order of launch; mostly they also end so. */
static void run_queued(
	struct made *t, const struct made_call *c, unsigned stream, uint64_t corr, unsigned node)
{
	struct made_stream *s = &t->stream[stream];
	uint64_t start = later(c->start + some_ns(t), s->last_start + t->grid);

	if (t->skewed && !below(t, 6))
		start = later(c->start - t->grid, s->last_start + t->grid);
	else if (below(t, 8))
		start = later(start, s->last_end) + (below(t, 2) ? some_ns(t) : 0);
	put_op(t, stream, start, start + some_ns(t), corr, &actions[c->action], node);
}

static unsigned stream_of(struct made *t, unsigned pid)
{
	unsigned stream = below(t, t->streams);

	while (t->stream[stream].pid != pid)
		stream = (stream + 1) % t->streams;
	return stream;
}

static void run_call(struct made *t, const struct made_call *c, unsigned pid, uint64_t corr)
{
	const struct action *a = &actions[c->action];
	unsigned stream = stream_of(t, pid), nodes = 1 + below(t, 5), i;

	switch (a->effect) {
	case RUNS_KERNEL:
	case RUNS_COPY:
	case RUNS_MEMSET:
		run_queued(t, c, stream, corr, 0);
		break;
	case RUNS_GRAPH:
		for (i = 0; i < nodes; i++)
			run_queued(t, c, below(t, 4) ? stream : stream_of(t, pid), corr, i + 1);
		break;
	case RUNS_BLOCKING:
		put_op(t, STREAMS_MAX + c->thread, c->start + t->grid, c->end, corr, a, 0);
		break;
	case RUNS_STREAM_WAIT:
		random_lines_put(&t->lines, c->start, 0,
			"sync s%u \"stream waits for event\" %" PRIu64 "+0 corr %" PRIu64,
			stream + 1, c->start, corr);
		break;
	default:
		break;
	}
}

static unsigned pid_of(const struct made *t, unsigned thread)
{
	return 1 + thread % t->processes;
}

static void make_calls_and_ops(struct made *t)
{
	struct made_call *order[CALLS_MAX];
	unsigned i;

	for (i = 0; i < t->call_count; i++)
		order[i] = &t->calls[i];
	qsort(order, t->call_count, sizeof(*order), compare_calls);
	for (i = 0; i < t->call_count; i++) {
		struct made_call *c = order[i];
		unsigned pid = pid_of(t, c->thread), fate = below(t, 30);
		uint64_t corr = t->next_corr[pid] += 1 + below(t, 2);

		/* Some pairs share a number, as when both calls are recorded under the runtime's. */
		if (c->inside && t->grid == 1)
			corr = t->calls[c->inside - 1].corr;
		c->corr = corr;
		if (fate > 0 || c->inside)
			random_lines_put(&t->lines, c->end, 0,
				"call t%u %s %" PRIu64 "-%" PRIu64 " corr %" PRIu64, c->thread + 1,
				actions[c->action].call, c->start, c->end, corr);
		if (fate > 1 && !(c->inside && t->grid == 1))
			run_call(t, c, pid,
				fate == 2 && actions[c->action].effect == RUNS_KERNEL ? 0 : corr);
	}
}

/* ---- what lies around ---- */

static void make_ranges(struct made *t)
{
	static const char *const names[] = {
		"step", "block", "aten::to, op_id = 1", "aten::to, op_id = 2", "ProfilerStep#7"};
	static const char *const domains[] = {"", " domain other", " domain cpu_op"};
	uint64_t starts[THREADS_MAX * 32];
	unsigned n = below(t, 24), made = 0, i, k;

	for (i = 0; i < n; i++) {
		uint64_t span = t->lines.last - t->start + 1,
			 start = t->start + vpt_random_below(&t->random, span), end;
		unsigned thread = below(t, t->threads), wide = !below(t, 4), open = !below(t, 12);

		start -= start % t->grid;
		end = start + (below(t, 3) ? vpt_random_below(&t->random, span) / 3 : some_ns(t));
		end -= end % t->grid;
		/* Of two that begin at the same moment, only the order in one chunk tells which is outside. */
		for (k = 0; k < made && starts[k] != start; k++)
			;
		if (k < made || end < start)
			continue;
		starts[made++] = start;
		if (open)
			random_lines_put(&t->lines, UINT64_MAX, 0, "%s t%u %" PRIu64 " \"%s\"%s",
				wide ? "openstartend" : "open", thread + 1, start,
				names[below(t, 5)], domains[below(t, 2)]);
		else
			random_lines_put(&t->lines, end, 0,
				"%s t%u %" PRIu64 "-%" PRIu64 " \"%s\"%s%s",
				wide ? "startend" : "range", thread + 1, start, end,
				names[below(t, 5)], domains[below(t, 3)],
				below(t, 20) ? "" : " unmatched");
	}
}

static void make_troubles(struct made *t)
{
	static const char *const overheads[] = {"buffer flush", "instrumentation", "resource",
		"activity buffer request", "driver compiler", "module loading",
		"lazy function loading", "command buffer full", "unified memory start"};
	unsigned n = below(t, 4), i;

	for (i = 0; i < n; i++) {
		uint64_t start =
			t->start + vpt_random_below(&t->random, t->lines.last - t->start + 1);
		uint64_t end = start + some_ns(t);

		if (below(t, 4))
			random_lines_put(&t->lines, end, below(t, 2),
				"overhead - \"%s\" %" PRIu64 "-%" PRIu64, overheads[below(t, 9)],
				start, end);
		else
			random_lines_put(&t->lines, end, below(t, 2),
				"loss all dropped %" PRIu64 "-%" PRIu64 " count %u", start, end,
				below(t, 9));
	}
}

static void make_options(struct made *t)
{
	uint64_t span = t->lines.last - t->start;

	t->options = (struct vpa_options){.jobs = 1, .top = 100000, .min_gap_ns = 1};
	if (!below(t, 4)) {
		t->options.has_from = 1;
		t->options.from_ns = span / 5;
	}
	if (!below(t, 6)) {
		t->options.has_to = 1;
		t->options.to_ns = span / 5 + span / 3 + 1;
	}
}

/* The stretch before a device's first op may be as long as the trace, so what the host did in it is known only
 * as far back as it has not been forgotten. Where other devices let it forget, there is no such stretch here. */
static void make_first_ops(struct made *t)
{
	uint64_t at = t->t0 + t->options.from_ns;
	unsigned i;

	for (i = 0; t->devices > 1 && i < t->devices; i++) {
		random_lines_put(&t->lines, at, 0,
			"call t1 cudaMemsetAsync %" PRIu64 "-%" PRIu64 " corr %u", at, at,
			1000000 + i);
		random_lines_put(&t->lines, at + 1, 0, "memset s%u %" PRIu64 "-%" PRIu64 " corr %u",
			FIRST_STREAMS + i, at, at + 1, 1000000 + i);
	}
}

static void make_trace(struct made *t, uint64_t seed, int is_long)
{
	static const uint64_t grids[] = {1, 1, 1000, 5000};
	unsigned i, size;

	memset(t, 0, offsetof(struct made, calls));
	t->random.state = seed;
	t->scale = is_long ? 2000 : 1;
	t->cuts = is_long ? CUTS_MAX : 6;
	t->grid = grids[below(t, 4)];
	t->lines.items = t->line_items;
	t->lines.max = LINES_MAX;
	t->start = t->lines.last = 1000000;
	t->processes = 1 + !below(t, 3);
	t->threads = t->processes + below(t, 2);
	t->streams = t->processes + below(t, STREAMS_MAX - 1);
	t->devices = 1 + below(t, 3);
	t->skewed = !below(t, 4);
	for (i = 0; i < STREAMS_MAX + THREADS_MAX; i++) {
		t->stream[i].pid =
			i < STREAMS_MAX ? 1 + i % t->processes : pid_of(t, i - STREAMS_MAX);
		t->stream[i].device = below(t, t->devices);
		t->stream[i].last_start = t->start;
	}
	/* With ops before their launches, a copy might be over before it is known that it blocks. */
	size = is_long ? 3000 : 1 + below(t, below(t, 3) ? 30 : 60);
	for (i = 0; i < t->threads; i++)
		make_thread(t, i, is_long ? size : 1 + below(t, size));
	for (i = 0; t->skewed && i < t->call_count; i++)
		if (actions[t->calls[i].action].effect == RUNS_BLOCKING)
			t->calls[i].action = 0;
	make_calls_and_ops(t);
	make_troubles(t);
	make_ranges(t);
	t->t0 = t->start + (below(t, 5) ? 0 : (t->lines.last - t->start) / 4);
	t->killed = !below(t, 7);
	make_options(t);
	make_first_ops(t);
}

/* ---- scripts ---- */

static void write_lanes(const struct made *t, struct random_text *s)
{
	unsigned i;

	for (i = 0; i < t->devices; i++)
		random_text_add(s,
			"device %u \"GPU\" cc 9.0 sms 10\nstream s%u device %u context 1 stream %u "
			"pid 1\nevent s%u %" PRIu64 " event 1\n",
			i, FIRST_STREAMS + i, i, FIRST_STREAMS + i, FIRST_STREAMS + i, t->start);
	for (i = 0; i < t->threads; i++)
		random_text_add(s, "thread t%u pid %u tid %u\n", i + 1, pid_of(t, i), 100 + i);
	for (i = 0; i < STREAMS_MAX + THREADS_MAX; i++)
		random_text_add(s,
			"stream s%u device %u context 1 stream %u pid %u\nevent s%u %" PRIu64
			" event 1\n",
			i + 1, t->stream[i].device, i + 1, t->stream[i].pid, i + 1, t->start);
}

/* The capture's ends are chosen by the seed, its chunks by the cuts. */
static char *write_script(const struct made *t, const uint64_t *cuts, size_t cut_count)
{
	struct random_text s = {0};

	random_text_add(&s, "start %" PRIu64 "\n%s", t->t0, t->killed ? "killed\n" : "");
	write_lanes(t, &s);
	random_lines_write(&t->lines, cuts, cut_count, &s);
	return s.data;
}

/* Not inside a pair of calls: that the outer one was there shows only when it ends. */
static size_t choose_cuts(struct made *t, uint64_t *cuts)
{
	size_t count = 0, i, n = 1 + below(t, t->cuts);
	uint64_t at = t->start;

	for (; n; n--) {
		int inside = 0;

		at += vpt_random_below(&t->random, 2 * (t->lines.last - t->start) / t->cuts + 2);
		for (i = 0; i < t->call_count; i++)
			if (t->calls[i].inside) {
				const struct made_call *outer = &t->calls[t->calls[i].inside - 1];

				inside |= outer->start <= at && at < outer->end;
			}
		if (!inside)
			cuts[count++] = at;
	}
	return count;
}

/* ---- analyzing ---- */

static struct vpt_trace *open_script(const char *script)
{
	struct vpt_trace *trace;
	struct vpt_err err = {0};

	if (vpt_script_trace(script, &trace, &err))
		fail_msg("%s", err.text);
	return trace;
}

static struct vpa_report *analyze(const struct vpt_trace *trace, const struct vpa_options *o)
{
	struct vpa_report *report;
	struct vpt_err err = {0};

	if (vpa_analyze(trace, "random", o, &report, &err))
		fail_msg("%s", err.text);
	return report;
}

static struct vpt_buffer json_of(const struct vpa_report *r)
{
	struct vpt_buffer b = {0};
	struct vpt_sink *sink;

	assert_int_equal(vpt_sink_memory(&b, &sink, NULL), 0);
	assert_int_equal(vpa_render_json(r, sink, NULL), 0);
	assert_int_equal(sink->finish(sink, 1, NULL), 0);
	return b;
}

static struct vpt_buffer analyze_to_json(const char *script, const struct vpa_options *o)
{
	struct vpt_trace *trace = open_script(script);
	struct vpa_report *r = analyze(trace, o);
	struct vpt_buffer json = json_of(r);

	vpa_report_free(r);
	vpt_trace_close(trace);
	return json;
}

static const char *parts_differ(const struct vpa_report *r)
{
	uint64_t window = r->window_end_ns - r->window_start_ns, exclusive = 0, busy = 0;
	size_t i, k;

	for (i = 0; i < r->device_count; i++) {
		const struct vpa_device *d = &r->devices[i];
		uint64_t causes = 0, listed = 0;

		for (k = 0; k < d->cause_count; k++)
			causes += d->causes[k].ns;
		for (k = 0; k < r->gap_count; k++)
			listed += r->gaps[k].device == d->device ? r->gaps[k].duration_ns : 0;
		if (d->busy_ns + d->window_idle_ns != window || listed != d->window_idle_ns)
			return "busy time and gaps do not sum to the window";
		if (causes != d->window_idle_ns)
			return "the causes do not sum to idle time";
		if (d->compute_ns + d->exposed_comm_ns + d->exposed_copy_ns != d->busy_ns)
			return "compute, communication and copies do not sum to busy time";
		busy += d->busy_ns;
	}
	for (i = 0; i < r->family_count; i++)
		exclusive += r->families[i].exclusive_ns;
	if (exclusive != busy)
		return "the families' exclusive time does not sum to busy time";
	for (i = 0; i < r->range_count; i++)
		if (r->ranges[i].busy_ns + r->ranges[i].foreign_ns + r->ranges[i].idle_ns !=
			r->ranges[i].envelope_ns)
			return "a range's envelope is not busy, foreign and idle time";
	return NULL;
}

static struct made made;

static void fail_seed(uint64_t seed, const char *script, const char *why)
{
	fprintf(stderr, "%s\n", script);
	fail_msg("seed %" PRIu64 ": %s", seed, why);
}

/* What depends on chunks is left to the other tests: here the whole trace is one. */
static void each_seed(void (*check)(uint64_t seed, const char *whole, const struct vpa_options *o),
	unsigned seeds, unsigned step, int is_long)
{
	uint64_t seed;

	for (seed = 0; seed < seeds; seed += step) {
		char *whole;

		make_trace(&made, seed, is_long);
		whole = write_script(&made, NULL, 0);
		check(seed, whole, &made.options);
		vpt_free(whole);
	}
}

static unsigned claims; /* of findings, about places */

static void check_sums(uint64_t seed, const char *whole, const struct vpa_options *o)
{
	struct vpt_trace *trace = open_script(whole);
	struct vpa_report *r = analyze(trace, o);
	const char *why = parts_differ(r);

	if (!why)
		why = said_places_differ(r, &claims);
	if (why)
		fail_seed(seed, whole, why);
	vpa_report_free(r);
	vpt_trace_close(trace);
}

static void the_parts_of_every_trace_sum_to_the_whole(void **state)
{
	(void)state;
	each_seed(check_sums, SEEDS, 1, 0);
	assert_true(claims > SEEDS);
}

static void check_model(uint64_t seed, const char *whole, const struct vpa_options *o)
{
	struct vpt_trace *trace = open_script(whole);
	struct vpa_report *r = analyze(trace, o);
	const char *why = vpt_model_differs(trace, o, r);

	if (why)
		fail_seed(seed, whole, why);
	vpa_report_free(r);
	vpt_trace_close(trace);
}

static void every_number_equals_the_slow_models(void **state)
{
	(void)state;
	each_seed(check_model, SEEDS, 1, 0);
}

static void check_cuts(uint64_t seed, const char *whole, const struct vpa_options *o)
{
	struct vpt_buffer one = analyze_to_json(whole, o), many;
	uint64_t cuts[CUTS_MAX];
	size_t count = choose_cuts(&made, cuts);
	char *script;
	struct vpa_options jobs = *o;

	/* An op that begins before its launch may come in an earlier chunk, which is not waited for. */
	if (made.skewed)
		count = 0;
	script = write_script(&made, cuts, count);
	for (jobs.jobs = 1; jobs.jobs <= 4; jobs.jobs *= 2) {
		many = analyze_to_json(script, &jobs);
		if (one.size != many.size || memcmp(one.data, many.data, one.size)) {
			size_t at = 0;
			char why[400];

			while (at < one.size && at < many.size && one.data[at] == many.data[at])
				at++;
			at = at > 60 ? at - 60 : 0;
			snprintf(why, sizeof(why), "%u jobs, cut: ...%.120s, whole: ...%.120s",
				jobs.jobs, many.data + at, one.data + at);
			fail_seed(seed, script, why);
		}
		vpt_free(many.data);
		if (seed % 4)
			break;
	}
	vpt_free(one.data);
	vpt_free(script);
}

static void chunks_and_threads_do_not_show_in_the_report(void **state)
{
	(void)state;
	each_seed(check_cuts, SEEDS, 1, 0);
}

/* Minutes of calls: those that nothing can ask for any more are forgotten on the way. */
static void forgetting_does_not_show_in_the_report(void **state)
{
	(void)state;
	each_seed(check_cuts, LONG_SEEDS, 1, 1);
	each_seed(check_sums, LONG_SEEDS, 1, 1);
}

static void check_place(uint64_t seed, const char *whole, const struct vpa_options *o)
{
	struct vpt_buffer here, there;

	here = analyze_to_json(whole, o);
	setlocale(LC_ALL, "");
	setenv("TZ", "Asia/Kolkata", 1);
	tzset();
	there = analyze_to_json(whole, o);
	unsetenv("TZ");
	tzset();
	setlocale(LC_ALL, "C");
	if (here.size != there.size || memcmp(here.data, there.data, here.size))
		fail_seed(seed, whole, "the report depends on place and language");
	vpt_free(here.data);
	vpt_free(there.data);
}

/* A comma for the decimal point, where such a locale is installed. */
static void place_and_language_do_not_show_in_the_report(void **state)
{
	static const char *const comma[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(comma) && !setlocale(LC_ALL, comma[i]); i++)
		;
	setlocale(LC_ALL, "C");
	if (i < COUNT(comma))
		setenv("LC_ALL", comma[i], 1);
	each_seed(check_place, SEEDS, 40, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parts_of_every_trace_sum_to_the_whole),
		cmocka_unit_test(every_number_equals_the_slow_models),
		cmocka_unit_test(chunks_and_threads_do_not_show_in_the_report),
		cmocka_unit_test(forgetting_does_not_show_in_the_report),
		cmocka_unit_test(place_and_language_do_not_show_in_the_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

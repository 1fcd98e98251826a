/* growth.c - writes such traces in memory, and measures. */
#include "tests/support/growth.h"

#include "analysis/analyze.h"
#include "formats/calls.h"
#include "tests/support/traces/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void put_lanes(struct vpt_batch *b)
{
	const struct vpt_lane lanes[] = {{.key = WAITING,
						 .lane_type = VPT_LANETYPE_STREAM,
						 .pid = 1,
						 .tid = (uint64_t)-1,
						 .context = 1,
						 .stream = 8},
		{.key = STREAM,
			.lane_type = VPT_LANETYPE_STREAM,
			.pid = 1,
			.tid = (uint64_t)-1,
			.context = 1,
			.stream = 7},
		{.key = MAIN,
			.lane_type = VPT_LANETYPE_THREAD,
			.pid = 1,
			.tid = 100,
			.device = (uint64_t)-1,
			.stream = (uint64_t)-1},
		{.key = EARLY,
			.lane_type = VPT_LANETYPE_THREAD,
			.pid = 1,
			.tid = 101,
			.device = (uint64_t)-1,
			.stream = (uint64_t)-1}};
	size_t i;

	for (i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++)
		vpt_batch_put(b, VPT_LANE, 0, &lanes[i]);
}

void put_call_of(struct trace *t, uint64_t thread, const char *name, uint64_t at_ns, uint64_t ns)
{
	struct vpt_call call = {.start_ns = at_ns,
		.duration_ns = ns,
		.id = vpt_call_find(name, strlen(name)),
		.correlation = ++t->correlation};

	vpt_batch_put(&t->batch, VPT_CALL, thread, &call);
}

void put_kernel(struct trace *t, const char *name, uint64_t at_ns)
{
	struct vpt_config config = {.name = vpt_batch_string(&t->batch, name, strlen(name))};
	struct vpt_kernel kernel = {.start_ns = at_ns,
		.duration_ns = 5000,
		.config = vpt_batch_config(&t->batch, &config),
		.correlation = t->correlation};

	vpt_batch_put(&t->batch, VPT_KERNEL, STREAM, &kernel);
}

void put_launch(struct trace *t, uint64_t thread, uint64_t at_ns)
{
	put_call_of(t, thread, "cudaLaunchKernel", at_ns, 1000);
	put_kernel(t, "gemm", at_ns + 2000);
}

void put_range(struct trace *t, uint64_t thread, uint64_t kind, uint64_t at_ns)
{
	struct vpt_range range = {.start_ns = at_ns,
		.duration_ns = SECOND / RANGES_A_SECOND / 2,
		.name = vpt_batch_string(&t->batch, "work", 4),
		.range_kind = kind};

	vpt_batch_put(&t->batch, VPT_RANGE, thread, &range);
}

uint64_t range_at(uint64_t second, uint64_t i)
{
	return second * SECOND + i * (SECOND / RANGES_A_SECOND);
}

static void close_chunk(struct trace *t, uint64_t second, int is_last)
{
	struct vpt_clock clock = {.trace_ns = (second + 1) * SECOND};

	put_lanes(&t->batch);
	if (is_last) {
		vpt_batch_put(&t->batch, VPT_CLOCK, 0, &clock);
		t->batch.flags |= VPT_BATCH_LAST;
	}
	assert_int_equal(vpt_batch_error(&t->batch), 0);
	assert_int_equal(vpt_writer_put(t->writer, &t->batch, &t->err), 0);
	vpt_batch_reset(&t->batch);
}

struct vpt_trace *make_trace(happen *happens, uint64_t seconds, int one_chunk)
{
	const struct vpt_header header = {.t0_ns = SECOND, .pid = 1};
	struct trace t = {.writer = NULL, .seconds = seconds};
	struct vpt_buffer bytes;
	struct vpt_source *source;
	struct vpt_trace *trace;
	struct vpt_sink *sink;
	uint64_t second;

	vpt_batch_init(&t.batch);
	assert_int_equal(vpt_sink_memory(&bytes, &sink, &t.err), 0);
	assert_int_equal(vpt_writer_open(sink, &header, 0, &t.writer, &t.err), 0);
	for (second = 1; second <= seconds; second++) {
		happens(&t, second);
		if (!one_chunk || second == seconds)
			close_chunk(&t, second, second == seconds);
	}
	vpt_writer_free(t.writer);
	vpt_batch_free(&t.batch);
	assert_int_equal(sink->finish(sink, 1, &t.err), 0);
	assert_int_equal(vpt_source_own(&bytes, &source, &t.err), 0);
	assert_int_equal(vpt_trace_open_source(source, &trace, &t.err), 0);
	return trace;
}

double time_of(happen *happens, uint64_t seconds, int one_chunk)
{
	enum { TRIES = 3 };
	const struct vpa_options options = {.jobs = 1};
	double least = 0;
	int i;

	for (i = 0; i < TRIES; i++) {
		struct vpt_trace *trace = make_trace(happens, seconds, one_chunk);
		struct vpa_report *report;
		struct timespec from, to;
		struct vpt_err err = {0};
		double took;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		assert_int_equal(vpa_analyze(trace, "case", &options, &report, &err), 0);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		vpa_report_free(report);
		vpt_trace_close(trace);
		took = (double)(to.tv_sec - from.tv_sec) +
		       1e-9 * (double)(to.tv_nsec - from.tv_nsec);
		least = i && least < took ? least : took;
	}
	return least;
}

static void expect_growth(const struct growth *g)
{
	enum { ATTEMPTS = 5 };
	double once = 0, more = 0;
	int k;

	for (k = 0; !k || (k < ATTEMPTS && more > 8 * once); k++) {
		once = time_of(g->happens, g->seconds, g->one_chunk);
		more = time_of(g->happens, 4 * g->seconds, g->one_chunk);
		print_message("%s: %.1f ms, %.1f ms\n", g->name, once * 1e3, more * 1e3);
	}
	if (more > 8 * once)
		fail_msg("%s: %.1f ms, and %.1f ms where it is four times as long", g->name,
			once * 1e3, more * 1e3);
}

void expect_growth_of_each(const struct growth *cases, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		expect_growth(&cases[i]);
}

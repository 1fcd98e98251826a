/* test_host_late.c - gaps that a late host made, which a batch of ops describes in columns: the report is the same where each
 * gap is emitted on its own, as for an exporter, and for any number of threads. */
#include "analysis/analyze.h"
#include "analysis/folds/observer.h"
#include "analysis/render/renderer.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "tests/support/random.h"
#include "tests/support/traces/script.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 150, LAUNCHES = 150, SCRIPT_BYTES = 1 << 16 };

/* A slow host: a program of one or two threads, each with a stream of its own, as lines of a script. */
struct program {
	struct vpt_random random;
	char text[SCRIPT_BYTES];
	size_t used;
	uint64_t end_ns[2], host_ns[2]; /* of each stream; of each thread */
	unsigned id;
};

static uint64_t pick(struct program *p, const uint64_t *of, size_t count)
{
	return of[vpt_random_below(&p->random, count)] + vpt_random_below(&p->random, 3);
}

#define PICK(p, ...)                                                                               \
	pick(p, (const uint64_t[]){__VA_ARGS__},                                                   \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void add(struct program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct program *p, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(p->text + p->used, sizeof(p->text) - p->used, format, args);
	va_end(args);
	assert_true(n > 0 && p->used + (size_t)n < sizeof(p->text));
	p->used += (size_t)n;
}

/* A call of thread `t` from now on, for this long. */
static void add_call(struct program *p, unsigned t, const char *name, uint64_t ns, unsigned id)
{
	add(p, "call t%u %s %" PRIu64 "+%" PRIu64 " corr %u\n", t + 1, name, p->host_ns[t], ns, id);
	p->host_ns[t] += ns;
}

/* Code of the host, a launch, and its kernel or copy; at times a call beside it. */
static void add_launch(struct program *p, unsigned t)
{
	uint64_t called_ns, ns = PICK(p, 500, 3000, 20000), start_ns;
	unsigned kind = (unsigned)vpt_random_below(&p->random, 24), id = ++p->id;

	p->host_ns[t] += PICK(p, 0, 400, 5000, 60000, 99998, 150000, 999998, 2000000);
	called_ns = p->host_ns[t];
	if (kind == 0)
		add_call(p, t, "cudaStreamSynchronize", PICK(p, 300, 30000), ++p->id);
	if (kind == 1)
		add_call(p, t, "cudaEventRecord", 400, ++p->id);
	if (kind == 2)
		add_call(p, t, "cudaMalloc", 50000, ++p->id);
	if (kind <= 2)
		called_ns = p->host_ns[t] += PICK(p, 0, 700);
	add_call(p, t, kind == 3 ? "cudaMemcpyAsync" : "cudaLaunchKernel", ns, id);
	start_ns = called_ns + PICK(p, 100, 2000, 6000, 9998, 25000);
	if (start_ns < p->end_ns[t])
		start_ns = p->end_ns[t] + PICK(p, 0, 900, 4000);
	p->end_ns[t] = start_ns + PICK(p, 700, 8000, 70000);
	if (kind == 3)
		add(p, "copy s%u DtoH device->pageable %" PRIu64 "-%" PRIu64 " corr %u bytes 8\n",
			t + 7, start_ns, p->end_ns[t], id);
	else
		add(p, "kernel s%u %" PRIu64 "-%" PRIu64 " corr %u \"k%u\"\n", t + 7, start_ns,
			p->end_ns[t], id, kind % 5);
}

static void write_program(struct program *p, uint64_t seed)
{
	unsigned threads = 1 + (unsigned)(seed % 3 == 0), i;
	uint64_t step_ns[2] = {20000, 20000};

	*p = (struct program){.random = {seed}, .host_ns = {20000, 20000}};
	add(p, "start 1000\n");
	for (i = 0; i < LAUNCHES; i++) {
		unsigned t = (unsigned)vpt_random_below(&p->random, threads);

		add_launch(p, t);
		if (vpt_random_below(&p->random, 5))
			continue;
		add(p, "range t%u %" PRIu64 "-%" PRIu64 " \"part %u\"\n", t + 1, step_ns[t],
			p->host_ns[t], i % 4);
		p->host_ns[t] += PICK(p, 0, 300);
		step_ns[t] = p->host_ns[t];
		if (!vpt_random_below(&p->random, 6))
			add(p, "chunk %" PRIu64 "\n", p->host_ns[t]);
	}
}

/* Gaps of a pass that came in columns, and their stretches before the last, by what they are; gaps on their own. */
struct seen {
	size_t late, code, calls, latency, alone;
};

static int count_late(void *ctx, const struct vpa_ops *ops)
{
	struct seen *seen = ctx;
	size_t i;

	for (i = 0; i < ops->count; i++) {
		const struct vpa_late *late = &ops->late[i];

		if (!ops->has_late[i])
			continue;
		seen->late++;
		seen->code += late->code_ns != 0;
		seen->calls += late->call_ns != 0;
		seen->latency += late->latency_ns != 0;
		assert_true(
			vpa_ops_last_ns(ops, i) > 0 && vpa_ops_last_ns(ops, i) <= ops->gap_ns[i]);
	}
	return VPT_OK;
}

static int count_alone(void *ctx, const struct vpa_gap *gap)
{
	(void)gap;
	((struct seen *)ctx)->alone++;
	return VPT_OK;
}

/* The report as JSON. */
static struct vpt_buffer report_of(
	uint64_t seed, const char *script, unsigned jobs, int alone, struct seen *seen)
{
	const struct vpa_observer observer = {
		.ctx = seen, .ops = count_late, .gap = alone ? count_alone : NULL};
	struct vpa_options options = {0};
	struct vpt_buffer out = {0};
	struct vpt_err err = {0};
	struct vpt_trace *trace = NULL;
	struct vpa_report *report = NULL;
	struct vpt_sink *sink;

	if (vpt_script_trace(script, &trace, &err))
		fail_msg("seed %" PRIu64 ": %s", seed, err.text);
	options.jobs = jobs;
	options.min_gap_ns = seed % 2;
	options.overview = seed % 3 == 0;
	options.step_parts = seed % 4 == 0;
	options.observer = &observer;
	if (vpa_analyze(trace, "random", &options, &report, &err) ||
		vpt_sink_memory(&out, &sink, &err) || vpa_render_json(report, sink, &err) ||
		sink->finish(sink, 1, &err))
		fail_msg("seed %" PRIu64 ": %s", seed, err.text);
	vpa_report_free(report);
	vpt_trace_close(trace);
	return out;
}

static void expect_same(uint64_t seed, const struct vpt_buffer *expected, struct vpt_buffer *found,
	const char *what)
{
	size_t at = 0, end = expected->size < found->size ? expected->size : found->size;

	while (at < end && expected->data[at] == found->data[at])
		at++;
	if (at < expected->size || at < found->size)
		fail_msg("seed %" PRIu64 ", %s: expected ...%.*s\nfound ...%.*s", seed, what,
			(int)(expected->size - at < 300 ? expected->size - at : 300),
			expected->data + at, (int)(found->size - at < 300 ? found->size - at : 300),
			found->data + at);
	vpt_free(found->data);
}

static void gaps_count_the_same_in_columns_and_alone(void **state)
{
	struct seen columns = {0}, alone = {0};
	struct program *p = vpt_alloc(1, sizeof(*p));
	struct vpt_buffer expected, found;
	uint64_t seed;
	unsigned jobs;

	(void)state;
	assert_non_null(p);
	for (seed = 0; seed < SEEDS; seed++) {
		write_program(p, seed);
		expected = report_of(seed, p->text, 1, 1, &alone);
		for (jobs = 1; jobs <= 8; jobs += 1 + (unsigned)(seed % 7)) {
			found = report_of(seed, p->text, jobs, 0, &columns);
			expect_same(seed, &expected, &found, "in columns");
		}
		vpt_free(expected.data);
	}
	vpt_free(p);
	assert_int_equal(alone.late, 0);
	assert_true(alone.alone > 15000);
	assert_true(columns.late > 20000);
	assert_true(columns.code > 15000);
	assert_true(columns.calls > 8000);
	assert_true(columns.latency > 3000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(gaps_count_the_same_in_columns_and_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

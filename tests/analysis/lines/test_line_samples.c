/* test_line_samples.c - how much time a sample of a line stands for, and samples that come late: on
 * traces whose answers a person can compute, and on random ones against a model. */
#include "tests/support/random.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/lines_rig.h"

/* ---- the time that a sample stands for ---- */

/* Samples after 20 ms each, then five that are 1 ms apart: the first one weighs 5 ms. So 10 ms of 90 are at the other line, by more
 * than half of the samples. */
static void a_sample_weighs_the_time_since_the_one_before(void **state)
{
	struct random_text text = {0};
	const struct vpa_idle_part *part;
	struct vpa_report *r;
	unsigned i;

	(void)state;
	add_script(&text, HOST_CODE);
	random_text_add(&text, "sample t1 4000000 \"%s\"\n", other);
	for (i = 1; i <= 4; i++)
		random_text_add(&text, "sample t1 %u \"%s\"\n", 4000000 + i * 20000000, slow);
	for (i = 1; i <= 5; i++)
		random_text_add(&text, "sample t1 %u \"%s\"\n", 84000000 + i * 1000000, other);
	r = report_of_text(&text);
	part = part_of(r, VPA_CAUSE_HOST_CODE);
	assert_int_equal(part->top->line.number, 40);
	assert_int_equal(part->top->samples, 10);
	assert_true(part->top->share == 88888889.0 / 100000000);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 4), 11111111);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 40), 88888889);
	assert_int_equal(r->lines.idle[0].samples, 4);
	assert_int_equal(r->lines.idle[1].samples, 6);
	vpa_report_free(r);
}

/* After 300 ms without samples one weighs what the one before it does: 5 and 10, 10 and 35 ms. */
static void a_pause_weighs_nothing(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text, "start 0\n"
			  "call t1 cudaLaunchKernel 900000-910000 corr 1\n"
			  "kernel s1 1000000-2000000 corr 1 \"a\"\n"
			  "call t1 cudaLaunchKernel 602000000-602005000 corr 2\n"
			  "kernel s1 602010000-603000000 corr 2 \"b\"\n"
			  "end 603000000\n");
	random_text_add(&text, "sample t1 4000000 \"%s\"\nsample t1 14000000 \"%s\"\n", slow, slow);
	random_text_add(&text, "sample t1 314000000 \"%s\"\n", other);
	random_text_add(
		&text, "sample t1 324000000 \"%s\"\nsample t1 349000000 \"%s\"\n", other, other);
	r = report_of_text(&text);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 40), 600000000 / 4);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 4), 600000000 / 4 * 3);
	vpa_report_free(r);
}

/* ---- samples that come late ---- */

/* What the report says of the host code's 100 ms, three quarters of which were at line 40. */
static void expect_slow_line(const struct vpa_report *r)
{
	const struct vpa_idle_part *part = part_of(r, VPA_CAUSE_HOST_CODE);

	assert_non_null(part->top);
	assert_int_equal(part->top->samples, 20);
	assert_true(part->top->share == 0.75);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 40), 75000000);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 4), 25000000);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 0), 0);
	assert_int_equal(r->verdict.reason_count, 0);
}

static void samples_of_the_next_chunk_count(void **state)
{
	unsigned known;

	(void)state;
	for (known = 1; known <= 20; known++) {
		struct random_text text = {0};
		struct vpa_report *r;

		add_script(&text, HOST_CODE);
		add_samples(&text, 0, known < 15 ? known : 15, slow, "");
		add_samples(&text, 15, known, other, "");
		random_text_add(&text, "chunk\n");
		add_samples(&text, known, 15, slow, "");
		add_samples(&text, known > 15 ? known : 15, 20, other, "");
		/* What comes then is no reason to wait for more. */
		random_text_add(&text, "chunk\nmark t1 102500000 \"m\"\n");
		r = report_of_text(&text);
		expect_slow_line(r);
		vpa_report_free(r);
	}
}

static void each_thread_waits_for_its_own_samples(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;
	unsigned i;

	(void)state;
	add_script(&text, HOST_CODE);
	add_samples(&text, 0, 10, slow, "");
	for (i = 0; i < 30; i++)
		random_text_add(
			&text, "sample t2 %u \"wait (/app/run.py:9)\"\n", 4000000 + i * 5000000);
	random_text_add(&text, "chunk\n");
	add_samples(&text, 10, 15, slow, "");
	add_samples(&text, 15, 20, other, "");
	r = report_of_text(&text);
	expect_slow_line(r);
	vpa_report_free(r);
}

static void gaps_wait_for_one_chunk_only(void **state)
{
	static const char *const reasons[] = {
		"20 samples of Python stacks came too late: no idle time has their lines",
		"1 sample of Python stacks came too late: no idle time has its line"};
	unsigned known;

	(void)state;
	for (known = 0; known <= 19; known += 19) {
		struct random_text text = {0};
		struct vpa_report *r;

		add_script(&text, HOST_CODE);
		add_samples(&text, 0, known, slow, "");
		random_text_add(&text, "chunk\nmark t1 102500000 \"m\"\nchunk\n");
		add_samples(&text, known, 20, slow, "");
		/* After all ops: not late. */
		random_text_add(&text, "sample t1 103000000 \"%s\"\n", slow);
		r = report_of_text(&text);
		assert_int_equal(part_of(r, VPA_CAUSE_HOST_CODE)->ns, 100000000);
		assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 40), known ? 100000000 : 0);
		assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 0), known ? 0 : 100000000);
		assert_int_equal(r->verdict.reason_count, 1);
		assert_string_equal(r->verdict.reasons[0], reasons[known / 19]);
		assert_int_equal(r->verdict.late_samples, known ? 1 : 20);
		assert_int_equal(r->verdict.unsorted_samples, 0);
		vpa_report_free(r);
	}
}

static void samples_that_are_out_of_order_are_counted(void **state)
{
	static const char *const reasons[] = {
		"1 sample of Python stacks was left out: it came after a later one",
		"2 samples of Python stacks were left out: they came after later ones"};
	size_t count;

	(void)state;
	for (count = 1; count <= 2; count++) {
		struct random_text text = {0};
		struct vpa_report *r;

		add_script(&text, HOST_CODE);
		add_samples(&text, 0, 20, slow, "");
		/* A chunk's own are sorted. */
		random_text_add(&text, "chunk\nsample t1 50000000 \"%s\"\n", other);
		if (count == 2)
			random_text_add(&text, "sample t1 60000000 \"%s\"\n", other);
		r = report_of_text(&text);
		assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 40), 100000000);
		assert_int_equal(r->verdict.unsorted_samples, count);
		assert_int_equal(r->verdict.late_samples, 0);
		assert_int_equal(r->verdict.reason_count, 1);
		assert_string_equal(r->verdict.reasons[0], reasons[count - 1]);
		vpa_report_free(r);
	}
}

/* Samples do not slow the host. */
static void a_record_of_all_calls_says_that_it_slowed_the_host(void **state)
{
	static const char reason[] =
		"recording every call of a Python function slowed the host: its times, and idle "
		"time that waits for it, are longer than without";
	int is_exact;

	(void)state;
	for (is_exact = 0; is_exact < 2; is_exact++) {
		struct random_text text = {0};
		struct vpa_report *r;

		add_script(&text, HOST_CODE);
		add_samples(&text, 0, 20, slow, is_exact ? "flags 1" : "");
		r = report_of_text(&text);
		assert_int_equal(r->verdict.complete, 1);
		assert_int_equal(r->verdict.reason_count, is_exact);
		if (is_exact) {
			assert_string_equal(r->verdict.reasons[0], reason);
			assert_string_equal(
				r->verdict.remedies[0], "record without with_stack=True");
		}
		vpa_report_free(r);
	}
}

/* ---- gaps and samples at random ---- */

enum { RANDOM_LINES = 4, RANDOM_GAPS = 120 };

/* What a capture of one thread must show. */
struct expected_lines {
	uint64_t begin[RANDOM_GAPS], end[RANDOM_GAPS]; /* of host code */
	size_t gaps;
	uint64_t ns, weight[RANDOM_LINES + 1], samples[RANDOM_LINES + 1]; /* the last: of all */
};

/* Launches, and host code between them. Ends at the last kernel's end, which is returned. */
static uint64_t add_gaps(struct random_text *text, struct expected_lines *e, struct vpt_random *r,
	size_t gaps, uint64_t least_ns, uint64_t more_ns)
{
	uint64_t t = 1000000;
	size_t i;

	random_text_add(text, "start 0\n");
	e->gaps = gaps;
	for (i = 0; i <= gaps; i++) {
		random_text_add(text,
			"call t1 cudaLaunchKernel %" PRIu64 "-%" PRIu64
			" corr %zu; kernel s1 %" PRIu64 "-%" PRIu64 " corr %zu \"k\"\n",
			t, t + 5000, i + 1, t + 10000, t + 4010000, i + 1);
		t += 4010000;
		if (i == gaps)
			break;
		e->begin[i] = t;
		t += least_ns + vpt_random_below(r, more_ns);
		e->end[i] = t;
		e->ns += e->end[i] - e->begin[i];
	}
	return t;
}

static int is_in_a_gap(const struct expected_lines *e, uint64_t t)
{
	size_t i;

	for (i = 0; i < e->gaps; i++)
		if (t >= e->begin[i] && t < e->end[i])
			return 1;
	return 0;
}

/* A sample at t; the one before was `interval` earlier. */
static void add_sample(struct random_text *text, struct expected_lines *e, uint64_t t,
	uint64_t weight, unsigned line)
{
	random_text_add(text, "sample t1 %" PRIu64 " \"main (/app/run.py:%u)\"\n", t, line + 1);
	if (!is_in_a_gap(e, t))
		return;
	e->weight[line] += weight;
	e->weight[RANDOM_LINES] += weight;
	e->samples[line]++;
	e->samples[RANDOM_LINES]++;
}

/* Each line's time is its part of the weights, but for what rounding moves; together they are exact. */
static void expect_weights(
	uint64_t seed, const struct vpa_report *r, const struct expected_lines *e)
{
	int is_named = e->samples[RANDOM_LINES] >= VPA_LINE_SAMPLES_MIN;
	uint64_t sum = ns_at(r, VPA_CAUSE_HOST_CODE, 0), ns;
	unsigned line;

	assert_int_equal(part_of(r, VPA_CAUSE_HOST_CODE)->ns, e->ns);
	for (line = 0; line < RANDOM_LINES; line++) {
		double wanted = is_named ? (double)e->ns * (double)e->weight[line] /
						   (double)e->weight[RANDOM_LINES]
					 : 0;

		ns = ns_at(r, VPA_CAUSE_HOST_CODE, line + 1);
		sum += ns;
		if ((double)ns < wanted - 2 || (double)ns > wanted + 2)
			fail_msg("seed %" PRIu64 ", line %u: expected %.0f ns, found %" PRIu64,
				seed, line + 1, wanted, ns);
	}
	assert_int_equal(sum, e->ns);
	if (is_named)
		assert_int_equal(
			part_of(r, VPA_CAUSE_HOST_CODE)->top->samples, e->samples[RANDOM_LINES]);
}

static void weights_of_random_samples_are_those_of_a_model(void **state)
{
	struct vpt_random r = {17};
	size_t named = 0;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 200; seed++) {
		struct expected_lines e = {0};
		struct random_text text = {0}, work = {0};
		uint64_t end =
			add_gaps(&work, &e, &r, 1 + vpt_random_below(&r, 8), 300000, 40000000);
		uint64_t t = vpt_random_below(&r, 9000000), weight = 5000000, step;
		struct vpa_report *report;

		while (t < end) {
			add_sample(
				&text, &e, t, weight, (unsigned)vpt_random_below(&r, RANDOM_LINES));
			step = vpt_random_below(&r, 20)
				       ? 1 + vpt_random_below(&r, 25000000)
				       : 240000000 + vpt_random_below(&r, 20000000);
			weight = step > 250000000 ? weight : step;
			t += step;
			if (!vpt_random_below(&r, 6))
				random_text_add(&text, "chunk\n");
		}
		add_script(&text, work.data); /* as in captures, work comes back late */
		vpt_free(work.data);
		random_text_add(&text, "end %" PRIu64 "\n", end);
		report = report_of_text(&text);
		expect_weights(seed, report, &e);
		named += e.samples[RANDOM_LINES] >= VPA_LINE_SAMPLES_MIN;
		vpa_report_free(report);
	}
	assert_in_range(named, 50, 180);
}

/* Text of a chunk and of the next one. */
static void next_chunk(struct random_text *text, struct random_text *late)
{
	random_text_add(text, "chunk\n");
	if (late->data)
		add_script(text, late->data);
	vpt_free(late->data);
	*late = (struct random_text){0};
}

/* A capture whose chunks end at random moments, each a while after a sample; from there on its samples
 * stand in the next chunk, however many gaps they belong to. */
static void random_samples_of_the_next_chunk_count(void **state)
{
	struct vpt_random r = {41};
	size_t named = 0, chunks = 0;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 200; seed++) {
		struct expected_lines e = {0};
		struct random_text text = {0}, work = {0}, late = {0};
		uint64_t end =
			add_gaps(&work, &e, &r, 1 + vpt_random_below(&r, 8), 300000, 40000000);
		uint64_t t = 1 + vpt_random_below(&r, 900000), weight = 5000000;
		const char *line = work.data, *next;
		struct vpa_report *report;
		int is_late = 0;

		/* Each line of work, after the samples up to its end. */
		for (; *line; line = next) {
			const char *kernel = strstr(line, "kernel s1 ");
			uint64_t from = 0;

			next = strchrnul(line, '\n');
			next += *next == '\n';
			if (kernel && kernel < next)
				from = strtoull(kernel + strlen("kernel s1 "), NULL, 10);
			for (; t < from; t += weight) {
				add_sample(is_late ? &late : &text, &e, t, weight,
					(unsigned)vpt_random_below(&r, RANDOM_LINES));
				weight = 1 + vpt_random_below(&r, 9000000);
				is_late = is_late || !vpt_random_below(&r, 4);
			}
			random_text_add(&text, "%.*s", (int)(next - line), line);
			if (!is_late || vpt_random_below(&r, 3))
				continue;
			next_chunk(&text, &late);
			is_late = 0;
			chunks++;
		}
		next_chunk(&text, &late);
		random_text_add(&text, "end %" PRIu64 "\n", end);
		vpt_free(work.data);
		report = report_of_text(&text);
		expect_weights(seed, report, &e);
		assert_int_equal(report->verdict.reason_count, 0);
		named += e.samples[RANDOM_LINES] >= VPA_LINE_SAMPLES_MIN;
		vpa_report_free(report);
	}
	assert_true(named > 50);
	assert_true(chunks > 100);
}

/* A sampler that is slowed down by busy code: a tick in it is 40 ms after the one before, a tick in a sleep 5 ms, and the interval
 * follows slowly, as the tracer's does. Two thirds of the time is busy, but most samples are in the sleeps. */
static void lines_have_their_time_where_samples_cost_differs(void **state)
{
	static const uint64_t period_ns = 3000000000, busy_of_period_ns = 2000000000;
	enum { BUSY, ASLEEP };
	struct vpt_random r = {29};
	struct expected_lines e = {0};
	struct random_text text = {0};
	uint64_t end = add_gaps(&text, &e, &r, RANDOM_GAPS, 90000000, 20000000), at, busy_ns = 0;
	double t = 0, interval = 5e6, share;
	struct vpa_report *report;
	unsigned line;
	size_t i;

	(void)state;
	for (; t < (double)end; t += interval) {
		line = (uint64_t)t % period_ns < busy_of_period_ns ? BUSY : ASLEEP;
		add_sample(&text, &e, (uint64_t)t, 0, line);
		interval += ((line == BUSY ? 40e6 : 5e6) - interval) / 8;
	}
	for (i = 0; i < e.gaps; i++)
		for (at = e.begin[i]; at < e.end[i]; at += 100000)
			busy_ns += at % period_ns < busy_of_period_ns ? 100000 : 0;
	random_text_add(&text, "end %" PRIu64 "\n", end);
	report = report_of_text(&text);
	share = (double)ns_at(report, VPA_CAUSE_HOST_CODE, BUSY + 1) / (double)e.ns;
	assert_true(e.samples[BUSY] < e.samples[ASLEEP]);
	if (share < (double)busy_ns / (double)e.ns - .05 ||
		share > (double)busy_ns / (double)e.ns + .05)
		fail_msg("expected %.3f of the time busy, found %.3f, by %" PRIu64 " of %" PRIu64
			 " samples",
			(double)busy_ns / (double)e.ns, share, e.samples[BUSY],
			e.samples[RANDOM_LINES]);
	vpa_report_free(report);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_weighs_the_time_since_the_one_before),
		cmocka_unit_test(a_pause_weighs_nothing),
		cmocka_unit_test(samples_of_the_next_chunk_count),
		cmocka_unit_test(each_thread_waits_for_its_own_samples),
		cmocka_unit_test(gaps_wait_for_one_chunk_only),
		cmocka_unit_test(samples_that_are_out_of_order_are_counted),
		cmocka_unit_test(a_record_of_all_calls_says_that_it_slowed_the_host),
		cmocka_unit_test(weights_of_random_samples_are_those_of_a_model),
		cmocka_unit_test(random_samples_of_the_next_chunk_count),
		cmocka_unit_test(lines_have_their_time_where_samples_cost_differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

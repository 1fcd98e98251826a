/* test_compare.c - comparisons of reports.
 *
 * Of random captures: the parts of a difference add up to it to the nanosecond, a capture compared with
 * itself is the same, and exchanged sides negate; what is read back from JSON compares like what was written. */
#include "analysis/analyze.h"
#include "analysis/compare/baseline.h"
#include "analysis/compare/comparison.h"
#include "analysis/render/renderer.h"
#include "formats/base/count.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "tests/support/random.h"
#include "tests/support/traces/random_causes.h"
#include "tests/support/traces/script.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct vpa_compare_options usual = {.margin = 0.005};

static struct vpa_comparison *pair(const struct vpa_report *a, const struct vpa_report *b)
{
	struct vpa_side sa = {&a, 1}, sb = {&b, 1};
	struct vpa_comparison *c;
	struct vpt_err err = {0};

	if (vpa_compare(&sa, &sb, &usual, &c, &err))
		fail_msg("%s", err.text);
	return c;
}

/* ---- captures ---- */

static int only_sums; /* of the reports that are made next */

static struct vpa_report *report_of_trace(struct vpt_trace *trace, struct vpa_options *options)
{
	struct vpa_report *r = NULL;
	struct vpt_err err = {0};

	options->all_kernels = 1;
	options->step_parts = 1;
	options->only_sums = only_sums;
	if (vpa_analyze(trace, "random", options, &r, &err))
		r = NULL; /* an empty window */
	vpt_trace_close(trace);
	return r;
}

static struct vpa_report *random_report(uint64_t seed)
{
	struct random_causes how = {.seed = seed};
	struct vpa_options window = {0};
	struct vpt_trace *trace;
	struct vpt_err err = {0};
	char *script = random_causes_script(&how, &window);

	assert_non_null(script);
	if (vpt_script_trace(script, &trace, &err))
		fail_msg("seed %" PRIu64 ": %s", seed, err.text);
	vpt_free(script);
	return report_of_trace(trace, &window);
}

static struct vpa_report *script_report(const char *script)
{
	struct vpa_options options = {0};
	struct vpt_trace *trace;
	struct vpt_err err = {0};

	if (vpt_script_trace(script, &trace, &err))
		fail_msg("%s: %s", script, err.text);
	return report_of_trace(trace, &options);
}

struct text {
	char bytes[60000];
	size_t used;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	t->used += (size_t)vsnprintf(t->bytes + t->used, sizeof(t->bytes) - t->used, format, args);
	va_end(args);
	assert_true(t->used < sizeof(t->bytes));
}

/* Ranges called "`what` 0" ... of kernels on one or two GPUs, with waits and gaps between; some blocks without
 * frames. */
static struct vpa_report *marked_report(const char *what, uint64_t seed)
{
	static const char *const names[] = {"flash_fwd_kernel", "ampere_sgemm_128x64", "mystery"};
	static struct text t;
	struct vpt_random r = {seed};
	struct vpa_options options = {.frames_per_block = 3 * vpt_random_below(&r, 3)};
	unsigned devices = 1 + (unsigned)vpt_random_below(&r, 2), corr = 1;
	uint64_t at = 1000, blocks = 2 + vpt_random_below(&r, 9), i, k;
	struct vpt_trace *trace;
	struct vpt_err err = {0};

	t.used = 0;
	put(&t, "start 1000\n");
	for (i = 0; i < blocks; i++) {
		uint64_t from = at, kernels = 2 + vpt_random_below(&r, 12);

		for (k = 0; k < kernels; k++, corr++) {
			uint64_t ns = 1 + vpt_random_below(&r, 20000),
				 gap = vpt_random_below(&r, 9000);

			at += 1 + vpt_random_below(&r, 300);
			put(&t, "call t1 cudaLaunchKernel %" PRIu64 "+1 corr %u\n", at, corr);
			at += gap;
			put(&t, "kernel s%u.1 %" PRIu64 "+%" PRIu64 " corr %u \"%s\"\n",
				(unsigned)vpt_random_below(&r, devices), at, ns, corr,
				names[vpt_random_below(&r, 3)]);
			at += ns;
			if (vpt_random_below(&r, 4) == 0)
				put(&t, "call t1 cudaStreamSynchronize %" PRIu64 "-%" PRIu64 "\n",
					at - ns / 2, at + 1);
			/* What the host does after a wait, and without one. */
			if (vpt_random_below(&r, 6) == 0)
				put(&t, "call t1 cudaMalloc %" PRIu64 "+%" PRIu64 "\n", at + 2,
					ns / 3 + 1);
			if (vpt_random_below(&r, 6) == 0)
				at += 100000 + ns;
		}
		put(&t, "range t1 %" PRIu64 "-%" PRIu64 " \"%s%" PRIu64 "\"\n", from, ++at, what,
			i);
		at++;
	}
	if (vpt_script_trace(t.bytes, &trace, &err))
		fail_msg("seed %" PRIu64 ": %s", seed, err.text);
	return report_of_trace(trace, &options);
}

static struct vpa_report *block_report(uint64_t seed)
{
	return marked_report("block ", seed);
}

static struct vpa_report *step_report(uint64_t seed)
{
	return marked_report(seed % 4 < 2 ? "step " : "ProfilerStep#", seed);
}

static struct vpa_report *request_report(uint64_t seed)
{
	return marked_report("request ", seed);
}

/* ---- what holds for each pair ---- */

static void adds_up(const struct vpa_comparison *c)
{
	int64_t parts = 0, kinds = 0, rows = 0;
	uint64_t a = 0, b = 0;
	size_t i;

	for (i = 0; i < c->part_count; i++) {
		parts += c->parts[i].times.delta_ns;
		kinds += c->parts[i].kind == VPA_PART_PAUSED ? c->parts[i].times.delta_ns : 0;
		vpt_sat_add_to(&a, c->parts[i].times.a_ns);
		vpt_sat_add_to(&b, c->parts[i].times.b_ns);
	}
	assert_int_equal(parts, c->delta_ns);
	assert_int_equal(kinds + c->busy_delta_ns + c->idle_delta_ns, c->delta_ns);
	assert_int_equal(a, c->a_total_ns);
	assert_int_equal(b, c->b_total_ns);
	for (i = 0; i < c->row_count; i++)
		rows += c->rows[i].times.delta_ns;
	assert_int_equal(rows, c->window_delta_ns);
}

/* What the host did is part of the causes: in the windows each has all of its time. */
static void causes_are_theirs(const struct vpa_comparison *c, const struct vpa_report *a)
{
	uint64_t ns[VPA_CAUSES] = {0}, cause, i;

	for (cause = 0; cause < VPA_CAUSES; cause++) {
		for (i = 0; i < c->row_count; i++)
			if (!strcmp(c->rows[i].name, vpa_cause_text((enum vpa_cause)cause)))
				ns[cause] += c->rows[i].times.a_ns;
		for (i = 0; i < a->devices[0].cause_count && a->device_count == 1; i++)
			if (a->devices[0].causes[i].cause == cause)
				ns[cause] -= a->devices[0].causes[i].ns;
		assert_true(a->device_count > 1 || !ns[cause]);
	}
}

/* The totals are the reports' own: of the paired periods, or of the windows. */
static void totals_are_theirs(const struct vpa_comparison *c, const struct vpa_report *a)
{
	uint64_t window = 0, own = 0;
	size_t i;

	for (i = 0; i < a->device_count; i++)
		window += a->devices[i].busy_ns + a->devices[i].window_idle_ns;
	for (i = 0; i < c->row_count; i++)
		own += c->rows[i].times.a_ns;
	assert_int_equal(own, window);
	if (c->unit == VPA_UNIT_WINDOW)
		assert_int_equal(c->a_total_ns, window);
}

static void negates(const struct vpa_comparison *c, const struct vpa_comparison *turned)
{
	static const enum vpa_verdict_change opposite[] = {[VPA_CHANGE_SAME] = VPA_CHANGE_SAME,
		[VPA_CHANGE_FASTER] = VPA_CHANGE_SLOWER,
		[VPA_CHANGE_SLOWER] = VPA_CHANGE_FASTER,
		[VPA_CHANGE_INCONCLUSIVE] = VPA_CHANGE_INCONCLUSIVE};
	size_t i;

	assert_int_equal(c->delta_ns, -turned->delta_ns);
	assert_int_equal(c->window_delta_ns, -turned->window_delta_ns);
	assert_int_equal(c->part_count, turned->part_count);
	assert_int_equal(c->row_count, turned->row_count);
	for (i = 0; i < c->part_count; i++) {
		assert_string_equal(c->parts[i].name, turned->parts[i].name);
		assert_int_equal(c->parts[i].times.delta_ns, -turned->parts[i].times.delta_ns);
	}
	for (i = 0; i < c->row_count; i++)
		assert_int_equal(c->rows[i].times.delta_ns, -turned->rows[i].times.delta_ns);
	/* The margin is relative to A, so only a change near it may be judged otherwise. */
	if (fabs(c->time_change) > 0.02 || c->level <= 0)
		assert_int_equal(opposite[c->verdict], turned->verdict);
}

static void is_nothing(const struct vpa_comparison *c)
{
	size_t i;

	assert_int_equal(c->verdict, VPA_CHANGE_SAME);
	assert_int_equal(c->delta_ns, 0);
	for (i = 0; i < c->part_count; i++)
		assert_int_equal(c->parts[i].times.delta_ns, 0);
	for (i = 0; i < c->row_count; i++)
		assert_int_equal(c->rows[i].times.delta_ns, 0);
	assert_int_equal(c->fact_count, 0);
	assert_int_equal(c->finding_count, 0);
}

static void holds(const struct vpa_report *a, const struct vpa_report *b)
{
	struct vpa_comparison *c = pair(a, b), *turned = pair(b, a), *own = pair(a, a);

	adds_up(c);
	totals_are_theirs(c, a);
	causes_are_theirs(c, a);
	negates(c, turned);
	is_nothing(own);
	vpa_comparison_free(own);
	vpa_comparison_free(turned);
	vpa_comparison_free(c);
}

static void random_pairs(struct vpa_report *(*make)(uint64_t seed), size_t pairs, size_t least)
{
	size_t done = 0, i;

	for (i = 0; i < pairs; i++) {
		struct vpa_report *a = make(2 * i + 1), *b = make(2 * i + 2);

		if (a && b && a->device_count && b->device_count) {
			holds(a, b);
			done++;
		}
		vpa_report_free(a);
		vpa_report_free(b);
	}
	assert_true(done >= least);
}

static void windows_add_up(void **state)
{
	(void)state;
	random_pairs(random_report, 300, 200);
}

/* The parts of each step fill its period, and steps follow each other. */
static void steps_are_full(const struct vpa_report *r)
{
	size_t i, k;

	for (i = 0; i < r->step_part_count; i++) {
		const struct vpa_step_part *s = &r->step_parts[i];
		uint64_t sum = 0;

		for (k = 0; k < VPA_OVERVIEW_PARTS; k++)
			sum += s->parts_ns[k];
		assert_int_equal(sum, s->busy_ns + s->idle_ns);
		assert_int_equal(sum, s->period_ns * s->devices);
		assert_int_equal(s->paused_ns, 0);
		if (i)
			assert_int_equal(s->start_ns, s[-1].start_ns + s[-1].period_ns);
	}
}

static void steps_add_up(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 200; seed++) {
		struct vpa_report *r = step_report(seed);

		/* The last iteration may count with its own end. */
		assert_true(r->step_part_count > 0);
		assert_true(r->steps_marked == r->step_part_count + 1 ||
			    (r->steps_are_iterations && r->steps_marked == r->step_part_count));
		assert_int_equal(r->steps_are_iterations, seed % 4 >= 2);
		steps_are_full(r);
		vpa_report_free(r);
	}
	random_pairs(step_report, 300, 300);
}

/* A report that is compared with none has the same steps and sums, and no parts of each. */
static void parts_of_each_step_are_for_comparisons(void **state)
{
	uint64_t seed;
	size_t i;

	(void)state;
	for (seed = 1; seed <= 50; seed++) {
		struct vpa_report *all = step_report(seed), *sums;

		only_sums = 1;
		sums = step_report(seed);
		only_sums = 0;
		assert_true(all->step_part_count > 0);
		assert_int_equal(sums->step_part_count, all->step_part_count);
		assert_int_equal(sums->step_totals.work_ns, all->step_totals.work_ns);
		for (i = 0; i < all->step_part_count; i++) {
			assert_non_null(all->step_parts[i].parts_ns);
			assert_null(sums->step_parts[i].parts_ns);
			assert_int_equal(sums->step_parts[i].busy_ns, all->step_parts[i].busy_ns);
			assert_int_equal(sums->step_parts[i].idle_ns, all->step_parts[i].idle_ns);
		}
		vpa_report_free(all);
		vpa_report_free(sums);
	}
}

/* The parts of each request fill the time from its first op to that of the next one, which the last one lacks; of the
 * only one, and of the only one after the first, to its last op. */
static size_t requests_are_full(const struct vpa_report *r)
{
	size_t count = r->request_count > 2 ? r->request_count - 1 : r->request_count, i, k;

	for (i = 0; i < r->request_count; i++) {
		const struct vpa_request_gpu *g = &r->requests[i].gpu;
		uint64_t sum = 0;

		if (i >= count) {
			assert_int_equal(g->period_ns, 0);
			continue;
		}
		for (k = 0; k < g->part_count; k++)
			sum += g->parts[k].ns;
		assert_true(g->period_ns > 0 && g->devices == r->device_count);
		assert_int_equal(sum, g->busy_ns + g->idle_ns);
		assert_int_equal(sum, g->period_ns * g->devices);
		assert_int_equal(g->paused_ns, 0);
	}
	return count;
}

static void requests_add_up(void **state)
{
	size_t several = 0;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 200; seed++) {
		struct vpa_report *r = request_report(seed);
		struct vpa_comparison *c = pair(r, r);
		size_t count = requests_are_full(r);

		assert_int_equal(c->unit, VPA_UNIT_REQUEST);
		/* Without the first, if enough are left. */
		assert_int_equal(c->pairs, count > VPA_UNIT_REQUESTS ? count - 1 : count);
		assert_int_equal(c->level > 0, count >= VPA_UNIT_REQUESTS);
		several += count >= VPA_UNIT_REQUESTS;
		vpa_comparison_free(c);
		vpa_report_free(r);
	}
	assert_true(several > 50 && several < 190);
	random_pairs(request_report, 300, 300);
}

/* Of requests with steps: four or more are compared, unless steps are asked for. Their time is that from their first
 * op's start to that of the next request; where pauses part them, to their last op's end. */
static void several_requests_are_compared_before_steps(void **state)
{
	static const char *const names[] = {
		[VPA_UNIT_REQUEST] = "request", [VPA_UNIT_STEP] = "step"};
	static const struct {
		unsigned requests;
		int is_by_steps, pauses;
		enum vpa_unit_kind unit;
		size_t pairs;
	} cases[] = {{5, 0, 0, VPA_UNIT_REQUEST, 3}, {4, 0, 0, VPA_UNIT_REQUEST, 3},
		{3, 0, 0, VPA_UNIT_STEP, 4}, {5, 1, 0, VPA_UNIT_STEP, 8},
		{5, 0, 1, VPA_UNIT_REQUEST, 4}};
	size_t i, k, at;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		const struct vpa_compare_options how = {
			.kinds = cases[i].is_by_steps ? 1u << VPA_UNIT_STEP : 0};
		struct text t = {.used = 0};
		const struct vpa_report *r;
		struct vpa_report *made;
		struct vpa_comparison *c;
		struct vpt_err err = {0};

		for (k = 0, at = 1000; k < cases[i].requests; k++, at += 500) {
			size_t step;

			for (step = 0; step < 3; step++) {
				size_t from = at + 50 + 100 * step, corr = 3 * k + step + 1;

				put(&t, "call t1 cudaLaunchKernel %zu+2 corr %zu\n", from + 1,
					corr);
				put(&t, "kernel s7 %zu+60 corr %zu \"k\"\n", from + 10, corr);
				put(&t, "range t1 %zu-%zu \"step %zu\"\n", from, from + 90, step);
			}
			put(&t, "range t1 %zu-%zu \"request %zu\"\n", at, at + 400, k);
			if (cases[i].pauses)
				put(&t, "loss all paused %zu-%zu\n", at + 420, at + 480);
		}
		r = made = script_report(t.bytes);
		if (vpa_compare(
			    &(struct vpa_side){&r, 1}, &(struct vpa_side){&r, 1}, &how, &c, &err))
			fail_msg("%s", err.text);
		if (c->unit != cases[i].unit)
			fail_msg("%u requests: compared by %s, not by %s", cases[i].requests,
				vpa_unit_kind_name(c->unit), names[cases[i].unit]);
		assert_int_equal(c->pairs, cases[i].pairs);
		for (k = 0; k < r->request_count; k++) {
			const struct vpa_request_gpu *g = &r->requests[k].gpu;
			uint64_t known = cases[i].pauses || k + 1 < r->request_count;

			assert_int_equal(g->busy_ns, known * 3 * 60);
			assert_int_equal(
				g->idle_ns, known * (cases[i].pauses ? 2 * 40 : 500 - 3 * 60));
			assert_int_equal(g->period_ns, g->busy_ns + g->idle_ns);
		}
		vpa_comparison_free(c);
		vpa_report_free(made);
	}
}

static void blocks_add_up(void **state)
{
	(void)state;
	random_pairs(block_report, 300, 300);
}

/* ---- read back from JSON ---- */

static struct vpt_buffer json_of(const struct vpa_report *r)
{
	struct vpt_buffer text = {0};
	struct vpt_sink *sink;
	struct vpt_err err = {0};

	assert_int_equal(vpt_sink_memory(&text, &sink, &err), 0);
	assert_int_equal(vpa_render_json(r, sink, &err), 0);
	assert_int_equal(sink->finish(sink, 1, &err), 0);
	return text;
}

static int as_page(const struct vpa_comparison *c, struct vpt_sink *sink, struct vpt_err *err)
{
	return vpa_compare_html(c, "vptrace-analyze compare a b", sink, err);
}

static void render_all(const struct vpa_comparison *c)
{
	int (*const renderers[])(const struct vpa_comparison *, struct vpt_sink *,
		struct vpt_err *) = {vpa_compare_json, vpa_compare_markdown, as_page};
	size_t i;

	for (i = 0; i < COUNT(renderers) + 1; i++) {
		struct vpt_buffer text = {0};
		struct vpt_sink *sink;
		struct vpt_err err = {0};

		assert_int_equal(vpt_sink_memory(&text, &sink, &err), 0);
		assert_int_equal(i < COUNT(renderers) ? renderers[i](c, sink, &err)
						      : vpa_compare_text(c, 80, 1, 0, sink, &err),
			0);
		assert_int_equal(sink->finish(sink, 1, &err), 0);
		vpt_free(text.data);
	}
}

/* By the same unit, and by part, as the report with itself. A report in JSON has no time of the only step or iteration. */
static void is_as_fine(const struct vpa_comparison *c, const struct vpa_report *r)
{
	struct vpa_comparison *own = pair(r, r);

	if (!r->step_part_count &&
		(own->unit == VPA_UNIT_STEP || own->unit == VPA_UNIT_ITERATION)) {
		assert_true(c->unit == VPA_UNIT_WINDOW || c->unit == VPA_UNIT_INSTANCE);
		vpa_comparison_free(own);
		return;
	}

	assert_int_equal(c->unit, own->unit);
	assert_int_equal(c->pairs, own->pairs);
	assert_int_equal(c->by_part, own->by_part);
	assert_int_equal(c->part_count, own->part_count);
	vpa_comparison_free(own);
}

/* A report read back is the same as the one that was written, for a comparison. */
static void read_back(struct vpa_report *(*make)(uint64_t seed))
{
	struct vpt_err err = {0};
	uint64_t seed;

	for (seed = 1; seed <= 100; seed++) {
		struct vpa_report *r = make(seed), *back;
		struct vpa_comparison *c;
		struct vpt_buffer text;

		if (r && r->device_count) {
			text = json_of(r);
			if (vpa_baseline_read(
				    (const char *)text.data, text.size, "back", &back, &err))
				fail_msg("seed %" PRIu64 ": %s", seed, err.text);
			c = pair(r, back);
			is_nothing(c);
			is_as_fine(c, r);
			render_all(c);
			vpa_comparison_free(c);
			vpa_report_free(back);
			vpt_free(text.data);
		}
		vpa_report_free(r);
	}
}

static void baselines_read_back(void **state)
{
	(void)state;
	read_back(block_report);
	read_back(step_report);
	read_back(request_report);
	read_back(random_report);
}

/* Whatever is changed in the text, it is read or refused with a sentence, and can be compared. */
static void baseline_with_faults(struct vpa_report *r)
{
	struct vpa_report *back;
	struct vpt_buffer text = json_of(r), changed = json_of(r);
	struct vpt_random random = {3};
	size_t i, k, read = 0, refused = 0;

	for (i = 0; i < 4000; i++) {
		static const char nasty[] = "{}[],:\"\\-0123456789.eEntfu \0\xff";
		struct vpt_err err = {0};
		struct vpa_comparison *c;
		size_t size = vpt_random_below(&random, 8) ? text.size
							   : vpt_random_below(&random, text.size);

		memcpy(changed.data, text.data, text.size);
		for (k = vpt_random_below(&random, 4); k > 0; k--)
			changed.data[100 + vpt_random_below(&random, text.size - 100)] =
				nasty[vpt_random_below(&random, sizeof(nasty))];
		if (vpa_baseline_read((const char *)changed.data, size, "back", &back, &err)) {
			assert_true(err.text[0]);
			refused++;
			continue;
		}
		read++;
		if (back->device_count) {
			c = pair(back, r);
			adds_up(c);
			render_all(c);
			vpa_comparison_free(c);
		}
		vpa_report_free(back);
	}
	assert_true(read > 500 && refused > 500);
	vpt_free(text.data);
	vpt_free(changed.data);
	vpa_report_free(r);
}

static void baselines_with_faults(void **state)
{
	(void)state;
	baseline_with_faults(block_report(5));
	baseline_with_faults(step_report(5));
	baseline_with_faults(request_report(5));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_add_up),
		cmocka_unit_test(blocks_add_up),
		cmocka_unit_test(steps_add_up),
		cmocka_unit_test(parts_of_each_step_are_for_comparisons),
		cmocka_unit_test(requests_add_up),
		cmocka_unit_test(several_requests_are_compared_before_steps),
		cmocka_unit_test(baselines_read_back),
		cmocka_unit_test(baselines_with_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

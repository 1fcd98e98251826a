/* test_overview.c - the overview of a trace: buckets whose sums are exact, and stages in bounded room. */
#include "analysis/report/overview.h"

#include "analysis/analyze.h"
#include "analysis/render/renderer.h"
#include "formats/base/memory.h"
#include "tests/support/traces/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct vpa_report *report_of(const char *script, int overview)
{
	const struct vpa_options options = {.jobs = 1, .overview = overview};

	return vpt_script_report(script, &options);
}

static uint64_t sum_of(const struct vpa_overview_bucket *b, size_t from, size_t to)
{
	uint64_t ns = 0;

	for (; from < to; from++)
		ns += b->ns[from];
	return ns;
}

/* Each bucket adds up to its length in the window less pauses, and all of them to the report's sums. What a device does in a
 * pause is part of its window. */
static void expect_identities(const struct vpa_report *r)
{
	const struct vpa_overview *o = r->overview;
	size_t d, i, k;

	assert_non_null(o);
	assert_int_equal(o->device_count, r->device_count);
	assert_true(o->bucket_count <= VPA_OVERVIEW_BUCKETS);
	for (d = 0; d < o->device_count; d++) {
		uint64_t busy = 0, idle = 0, causes[VPA_CAUSES] = {0}, paused = 0;

		assert_int_equal(o->devices[d].device, r->devices[d].device);
		for (i = 0; i < o->bucket_count; i++) {
			const struct vpa_overview_bucket *b = &o->devices[d].buckets[i];
			uint64_t all = sum_of(b, 0, VPA_OVERVIEW_PARTS), length = o->bucket_ns;

			if (o->start_ns + (i + 1) * o->bucket_ns > r->window_end_ns)
				length = r->window_end_ns - (o->start_ns + i * o->bucket_ns);
			assert_true(all <= length);
			paused += length - all;
			busy += sum_of(b, 0, VPA_OVERVIEW_IDLE);
			idle += sum_of(b, VPA_OVERVIEW_IDLE, VPA_OVERVIEW_PARTS);
			for (k = 0; k < VPA_CAUSES; k++)
				causes[k] += b->ns[VPA_OVERVIEW_IDLE + k];
		}
		assert_int_equal(busy, r->devices[d].busy_ns);
		assert_int_equal(idle, r->devices[d].window_idle_ns);
		assert_int_equal(
			paused, vpa_window_span_ns(r) - vpa_device_window_ns(&r->devices[d]));
		for (k = 0; k < r->devices[d].cause_count; k++)
			causes[r->devices[d].causes[k].cause] -= r->devices[d].causes[k].ns;
		for (k = 0; k < VPA_CAUSES; k++)
			assert_int_equal(causes[k], 0);
	}
}

static void buckets_hold_what_ran_in_them(void **state)
{
	struct vpa_report *r = report_of("start 0; end 4096\n"
					 "call t1 cudaLaunchKernel 10-20 corr 1\n"
					 "kernel s7 24-1524 corr 1 \"sgemm\"\n"
					 "call t1 cudaLaunchKernel 30-40 corr 2\n"
					 "kernel s8 1024-2024 corr 2 \"softmax_warp_forward\"\n",
		1);
	const struct vpa_overview_bucket *b;

	(void)state;
	expect_identities(r);
	assert_int_equal(r->overview->bucket_ns, 1024);
	assert_int_equal(r->overview->bucket_count, 4);
	b = r->overview->devices[0].buckets;
	assert_int_equal(b[0].ns[VPA_FAMILY_GEMM], 1000);
	assert_int_equal(b[1].ns[VPA_FAMILY_GEMM], 250); /* half of 500 */
	assert_int_equal(b[1].ns[VPA_FAMILY_EAGER_SOFTMAX], 750);
	assert_int_equal(b[1].ns[VPA_OVERVIEW_IDLE + VPA_CAUSE_AFTER_LAST_WORK], 24);
	assert_int_equal(b[0].ns[VPA_OVERVIEW_IDLE + VPA_CAUSE_BEFORE_FIRST_WORK], 24);
	assert_int_equal(b[3].ns[VPA_OVERVIEW_IDLE + VPA_CAUSE_AFTER_LAST_WORK], 1024);
	vpa_report_free(r);
}

static void nothing_is_kept_unless_requested(void **state)
{
	struct vpa_report *r = report_of("start 0; end 4096\n"
					 "call t1 cudaLaunchKernel 10-20 corr 1\n"
					 "kernel s7 24-1524 corr 1 \"sgemm\"\n"
					 "series power device 0 unit \"W\" \"GPU power\"\n"
					 "counter power 100 250; counter power 300 270\n",
		0);

	(void)state;
	assert_null(r->overview);
	assert_null(r->counters[0].points);
	vpa_report_free(r);
}

/* Ops on two streams and two devices, waits, a pause, 2,600 steps, over three seconds. */
static char *long_script(void)
{
	enum { BYTES = 1 << 20, STEPS = 2600 };
	char *text = vpt_alloc(BYTES, 1);
	size_t used = 0;
	unsigned i, n = 0;

	assert_non_null(text);
	used += (size_t)snprintf(text, BYTES,
		"start 0; end 3100ms\n"
		"loss all paused 1500100us-1500900us\n");
	for (i = 0; i < STEPS; i++) {
		unsigned long at = 1000UL + i * 1150UL, length = 300 + i * 37 % 500;

		if (at > 1498000 && at < 1502000)
			continue;
		used += (size_t)snprintf(text + used, BYTES - used,
			"call t1 cudaLaunchKernel %luus+9us corr %u\n"
			"kernel s%s %luus+%luus corr %u \"%s\"\n"
			"call t1 cudaLaunchKernel %luus+9us corr %u\n"
			"kernel s2.8 %luus+777us corr %u \"flash_fwd_kernel\"\n"
			"call t1 cudaStreamSynchronize %luus+400us\n"
			"range t1 %luus+900us \"step %u\"\n",
			at + 10, n + 1, i % 3 ? "7" : "8", at + 30, length, n + 1,
			i % 2 ? "sgemm" : "elementwise_kernel", at + 20, n + 2, at + 90, n + 2,
			at + 60, at, i);
		n += 2;
	}
	assert_true(used < BYTES);
	return text;
}

static void sums_stay_exact_when_buckets_grow(void **state)
{
	char *script = long_script();
	struct vpa_report *r = report_of(script, 1);

	(void)state;
	expect_identities(r);
	assert_int_equal(r->overview->bucket_ns, 1 << 21); /* 3.1 s in 2,048 */
	assert_int_equal(r->paused_ns, 800000);
	vpa_report_free(r);
	vpt_free(script);
}

static void stages_keep_a_bounded_number_of_instances(void **state)
{
	char *script = long_script();
	struct vpa_report *r = report_of(script, 1);
	const struct vpa_overview_lane *lane = r->overview->lanes;
	uint64_t count = 0, steps = r->stages[0].count;
	size_t i;

	(void)state;
	assert_int_equal(r->overview->lane_count, 1);
	assert_int_equal(lane->kind, VPA_SCOPE_STEP);
	assert_true(lane->span_count <= VPA_OVERVIEW_SPANS);
	assert_true(lane->span_count > VPA_OVERVIEW_SPANS / 2);
	for (i = 0; i < lane->span_count; i++) {
		count += lane->spans[i].count;
		assert_true(lane->spans[i].start_ns < lane->spans[i].end_ns);
		if (i)
			assert_true(lane->spans[i].start_ns > lane->spans[i - 1].start_ns);
	}
	assert_int_equal(count, steps);
	assert_int_equal(lane->count, steps);
	assert_int_equal(lane->stride, 8);
	assert_int_equal(lane->sample_count, (steps + 7) / 8);
	vpa_report_free(r);
	vpt_free(script);
}

static void a_report_with_an_overview_is_otherwise_the_same(void **state)
{
	char *script = long_script();
	struct vpa_report *with = report_of(script, 1), *without = report_of(script, 0);
	struct vpt_buffer a = {0}, b = {0};
	struct vpt_sink *sink;

	(void)state;
	assert_int_equal(vpt_sink_memory(&a, &sink, NULL), 0);
	assert_int_equal(vpa_render_json(with, sink, NULL), 0);
	sink->finish(sink, 1, NULL);
	assert_int_equal(vpt_sink_memory(&b, &sink, NULL), 0);
	assert_int_equal(vpa_render_json(without, sink, NULL), 0);
	sink->finish(sink, 1, NULL);
	assert_int_equal(a.size, b.size);
	assert_memory_equal(a.data, b.data, a.size);
	vpt_free(a.data);
	vpt_free(b.data);
	vpa_report_free(with);
	vpa_report_free(without);
	vpt_free(script);
}

static struct vpt_buffer render(const char *form, const struct vpa_report *r)
{
	const struct vpa_text layout = {.full = 1, .width = 80, .command = "vptrace-analyze x"};
	struct vpt_buffer out = {0};
	struct vpt_sink *sink;

	assert_int_equal(vpt_sink_memory(&out, &sink, NULL), 0);
	assert_int_equal(vpa_renderer_find(form)->render(r, &layout, sink, NULL), 0);
	assert_int_equal(vpt_sink_write(sink, "", 1, NULL), 0);
	assert_int_equal(sink->finish(sink, 1, NULL), 0);
	return out;
}

/* The number after the first `before` of a text. */
static uint64_t number_after(const struct vpt_buffer *text, const char *before)
{
	const char *at = strstr(text->data, before);

	if (!at)
		fail_msg("no %s", before);
	return strtoull(at + strlen(before), NULL, 10);
}

/* A window that is longer than the capture, or that a pause ends, has the same end and length in JSON and on the page. */
static void the_page_ends_where_the_report_does(void **state)
{
	static const struct {
		const char *rule, *script;
		uint64_t end_ns, window_ns, device_ns[2];
	} cases[] = {
		{"an op that ends after the stop",
			"end 1000\n"
			"call t1 cudaLaunchKernel 10-20 corr 1\n"
			"kernel s7 24-1524 corr 1 \"sgemm\"\n",
			1524, 1524, {1524}},
		{"a pause at the end, and nothing in it",
			"end 1000\n"
			"call t1 cudaLaunchKernel 10-20 corr 1\n"
			"kernel s7 24-524 corr 1 \"sgemm\"\n"
			"loss all paused 800-1000\n",
			1000, 800, {800}},
		{"an op that runs into it",
			"end 1000\n"
			"call t1 cudaLaunchKernel 10-20 corr 1\n"
			"kernel s7 24-900 corr 1 \"sgemm\"\n"
			"loss all paused 800-1000\n",
			1000, 900, {900}},
		{"an op that ends after it and after the stop",
			"end 1000\n"
			"call t1 cudaLaunchKernel 10-20 corr 1\n"
			"kernel s7 24-1200 corr 1 \"sgemm\"\n"
			"loss all paused 800-1000\n",
			1200, 1200, {1200}},
		{"a pause that ends after the stop",
			"end 1000\n"
			"call t1 cudaLaunchKernel 10-20 corr 1\n"
			"kernel s7 24-900 corr 1 \"sgemm\"\n"
			"loss all paused 800-1500\n",
			1000, 900, {900}},
		{"two devices, one of which runs into the pause",
			"end 1000\n"
			"call t1 cudaLaunchKernel 10-20 corr 1\n"
			"kernel s7 24-924 corr 1 \"sgemm\"\n"
			"call t1 cudaLaunchKernel 25-28 corr 2\n"
			"kernel s1.7 30-430 corr 2 \"sgemm\"\n"
			"loss all paused 500-1000\n",
			1000, 924, {924, 500}},
		{"two devices, one of which ends after the stop",
			"end 1000\n"
			"call t1 cudaLaunchKernel 10-20 corr 1\n"
			"kernel s7 24-1300 corr 1 \"sgemm\"\n"
			"call t1 cudaLaunchKernel 25-28 corr 2\n"
			"kernel s1.7 30-430 corr 2 \"sgemm\"\n"
			"loss all paused 500-900\n",
			1300, 1300, {1300, 900}},
	};
	size_t i, d;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char script[512];
		struct vpa_report *r;
		struct vpt_buffer json, page;

		snprintf(script, sizeof(script), "start 0\n%s", cases[i].script);
		r = report_of(script, 1);
		json = render("json", r);
		page = render("html", r);
		print_message("%s\n", cases[i].rule);
		expect_identities(r);
		assert_int_equal(number_after(&json, "\"window_start_ns\": "), 0);
		assert_int_equal(number_after(&json, "\"window_end_ns\": "), cases[i].end_ns);
		assert_int_equal(
			number_after(&page, "id=\"timeline\" data-ns=\""), cases[i].end_ns);
		assert_int_equal(number_after(&json, "\"window_ns\": "), cases[i].window_ns);
		for (d = 0; d < r->device_count; d++)
			assert_int_equal(
				vpa_device_window_ns(&r->devices[d]), cases[i].device_ns[d]);
		vpt_free(json.data);
		vpt_free(page.data);
		vpa_report_free(r);
	}
}

static size_t allocations_left;

static void *some_memory(void *ptr, size_t size)
{
	return allocations_left && allocations_left-- ? realloc(ptr, size) : NULL;
}

static void missing_memory_is_reported(void **state)
{
	static const struct vpt_memory_ops scarce = {some_memory, free};
	const struct vpa_options options = {.jobs = 1, .overview = 1};
	const char *script = "start 0; end 4ms\n"
			     "call t1 cudaLaunchKernel 10-20 corr 1\n"
			     "kernel s7 24-1524 corr 1 \"sgemm\"\n"
			     "call t1 cudaLaunchKernel 30-40 corr 2\n"
			     "kernel s2.8 1024-2024 corr 2 \"softmax_warp_forward\"\n"
			     "range t1 5-100 \"step 1\"\n"
			     "series power device 0 unit \"W\" \"GPU power\"\n"
			     "counter power 100 250; counter power 300 270\n";
	struct vpa_report *r = NULL;
	struct vpt_trace *trace;
	struct vpt_err err;
	size_t n;
	int rc = VPT_ENOMEM;

	(void)state;
	assert_int_equal(vpt_script_trace(script, &trace, &err), VPT_OK);
	for (n = 0; rc && n < 10000; n++) {
		allocations_left = n;
		vpt_memory_use(&scarce);
		rc = vpa_analyze(trace, "scarce", &options, &r, &err);
		vpt_memory_use(NULL);
		assert_true(!rc || rc == VPT_ENOMEM);
	}
	assert_int_equal(rc, VPT_OK);
	assert_int_equal(r->overview->device_count, 2);
	assert_int_equal(r->counters[0].point_count, 2);
	vpa_report_free(r);
	vpt_trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_hold_what_ran_in_them),
		cmocka_unit_test(nothing_is_kept_unless_requested),
		cmocka_unit_test(sums_stay_exact_when_buckets_grow),
		cmocka_unit_test(stages_keep_a_bounded_number_of_instances),
		cmocka_unit_test(a_report_with_an_overview_is_otherwise_the_same),
		cmocka_unit_test(the_page_ends_where_the_report_does),
		cmocka_unit_test(missing_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

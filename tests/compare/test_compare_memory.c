/* test_compare_memory.c - comparing, rendering, and reading a baseline: each allocation fails in turn, see scarce.h. */
#include "analysis/analyze.h"
#include "analysis/compare/baseline.h"
#include "analysis/compare/comparison.h"
#include "analysis/render/renderer.h"
#include "formats/base/count.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "tests/support/scarce.h"
#include "tests/support/traces/script.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- two sides of everything that a comparison reads ---- */

static struct vpa_report *sides[2];

/* Requests, blocks, steps and stages, several kernels and copies, waits; in B more of it. */
static struct vpa_report *analyzed(unsigned slow)
{
	static char text[20000];
	struct vpa_options options = {
		.all_kernels = 1, .step_parts = 1, .frames_per_block = 3 + slow};
	size_t used = 0, at = 1000, i, k;

#define PUT(...) used += (size_t)snprintf(text + used, sizeof(text) - used, __VA_ARGS__)
	PUT("meta host \"machine%u\"; meta batch \"%u\"\n", slow, slow);
	for (i = 0; i < 5 + slow; i++) {
		size_t from = at;

		for (k = 0; k < 6; k++, at += 400) {
			PUT("call t1 cudaLaunchKernel %zu+5 corr %zu\n", at, 10 * i + k + 1);
			PUT("kernel s7 %zu+%u corr %zu \"kernel%zu\" grid %u\n", at + 20,
				200 + 100 * slow, 10 * i + k + 1, k % 3 + slow,
				(unsigned)(k + 1) * (slow + 1));
			PUT("call t1 cudaStreamSynchronize %zu-%zu\n", at + 30, at + 330);
			PUT("range t1 %zu-%zu \"step %zu\"\n", at, at + 390, k);
		}
		PUT("range t1 %zu-%zu \"vae_decode\"\n", at, at + 50);
		PUT("call t1 cudaMemcpyAsync %zu+5 corr %zu\n", at + 1, 10 * i + 9);
		PUT("copy s7 DtoH %zu+30 corr %zu bytes 5000\n", at + 10, 10 * i + 9);
		at += 100;
		PUT("range t1 %zu-%zu \"block %zu\"\n", from, at, i);
		at += 50;
	}
#undef PUT
	assert_true(used < sizeof(text));
	return vpt_script_report(text, &options);
}

static int make_sides(void **state)
{
	(void)state;
	sides[0] = analyzed(0);
	sides[1] = analyzed(1);
	return 0;
}

static int free_sides(void **state)
{
	(void)state;
	vpa_report_free(sides[0]);
	vpa_report_free(sides[1]);
	return 0;
}

static const struct vpa_compare_options usual = {.margin = 0.005};

static int compare_runs(size_t runs, struct vpa_comparison **out, struct vpt_err *err)
{
	const struct vpa_report *a[4] = {sides[0], sides[0], sides[0], sides[0]};
	const struct vpa_report *b[4] = {sides[1], sides[1], sides[1], sides[1]};
	const struct vpa_side sa = {a, runs}, sb = {b, runs};
	int rc = vpa_compare(&sa, &sb, &usual, out, err);

	assert_int_equal(!rc, *out != NULL);
	return rc;
}

/* ---- what is tried ---- */

static int compare_two(struct vpt_err *err)
{
	struct vpa_comparison *c;
	int rc = compare_runs(1, &c, err);

	vpa_comparison_free(c);
	return rc;
}

static int compare_eight(struct vpt_err *err)
{
	struct vpa_comparison *c;
	int rc = compare_runs(4, &c, err);

	vpa_comparison_free(c);
	return rc;
}

static void comparing_survives_each_missing_allocation(void **state)
{
	struct vpt_err err = {0};
	struct vpa_comparison *c;

	(void)state;
	/* There is something of every table. */
	assert_int_equal(compare_runs(4, &c, &err), VPT_OK);
	assert_int_equal(c->unit, VPA_UNIT_BLOCK);
	assert_true(c->part_count && c->row_count && c->fact_count && c->stage_count &&
		    c->count_count && c->between_runs);
	vpa_comparison_free(c);
	vpt_fail_each_allocation(compare_two);
	vpt_fail_each_allocation(compare_eight);
}

static struct vpa_comparison *comparison;
static int (*form)(const struct vpa_comparison *c, struct vpt_sink *sink, struct vpt_err *err);

static int as_text(const struct vpa_comparison *c, struct vpt_sink *sink, struct vpt_err *err)
{
	return vpa_compare_text(c, 80, 1, 1000, sink, err);
}

static int as_page(const struct vpa_comparison *c, struct vpt_sink *sink, struct vpt_err *err)
{
	return vpa_compare_html(c, "vptrace-analyze compare a b", sink, err);
}

static int render(struct vpt_err *err)
{
	struct vpt_buffer text = {0};
	struct vpt_sink *sink;
	int rc = vpt_sink_memory(&text, &sink, err), ended;

	if (rc)
		return rc;
	rc = form(comparison, sink, err);
	ended = sink->finish(sink, !rc, rc ? NULL : err);
	vpt_free(text.data);
	return rc ? rc : ended;
}

static void rendering_survives_each_missing_allocation(void **state)
{
	static int (*const forms[])(const struct vpa_comparison *, struct vpt_sink *,
		struct vpt_err *) = {as_text, vpa_compare_markdown, vpa_compare_json, as_page};
	struct vpt_err err = {0};
	size_t i;

	(void)state;
	assert_int_equal(compare_runs(1, &comparison, &err), VPT_OK);
	for (i = 0; i < COUNT(forms); i++) {
		form = forms[i];
		vpt_fail_each_allocation(render);
	}
	vpa_comparison_free(comparison);
}

static struct vpt_buffer baseline;

static int read_baseline(struct vpt_err *err)
{
	struct vpa_report *r;
	int rc = vpa_baseline_read((const char *)baseline.data, baseline.size, "a.json", &r, err);

	assert_int_equal(!rc, r != NULL);
	if (!rc) {
		const struct vpa_report *a = r, *b = sides[1];
		const struct vpa_side sa = {&a, 1}, sb = {&b, 1};
		struct vpa_comparison *c;

		rc = vpa_compare(&sa, &sb, &usual, &c, err);
		vpa_comparison_free(c);
	}
	vpa_report_free(r);
	return rc;
}

static void reading_a_baseline_survives_each_missing_allocation(void **state)
{
	struct vpt_err err = {0};
	struct vpt_sink *sink;

	(void)state;
	assert_int_equal(vpt_sink_memory(&baseline, &sink, &err), VPT_OK);
	assert_int_equal(vpa_render_json(sides[0], sink, &err), VPT_OK);
	assert_int_equal(sink->finish(sink, 1, &err), VPT_OK);
	vpt_fail_each_allocation(read_baseline);
	vpt_free(baseline.data);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(comparing_survives_each_missing_allocation),
		cmocka_unit_test(rendering_survives_each_missing_allocation),
		cmocka_unit_test(reading_a_baseline_survives_each_missing_allocation),
	};

	return cmocka_run_group_tests(tests, make_sides, free_sides);
}

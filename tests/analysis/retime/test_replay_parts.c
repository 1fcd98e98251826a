/* test_replay_parts.c - a trace that is replayed in parts is as long as it was, and what a change brings is what it brings to
 * the trace as a whole. */
#include "analysis/retime/what_if_parts.h"
#include "analysis/retime/predictions.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "tests/support/traces/script.h"

enum { LAUNCHES = 60000, CHUNK = 1000, LINE = 240, STEP = 500 };

/* A thread that launches kernels of 9,000 ns each 10,000 ns, and a read of a few bytes, with a wait for it, after each 500. Steps of
 * 500 launches, and one range around all. Returns when the last kernel ends. */
static int64_t write_loop(char *script)
{
	int64_t at = 1000, gpu = 0;
	size_t used = 0;
	int i, id = 1;

	for (i = 0; i < LAUNCHES; i++) {
		int64_t step = at;

		if (i && i % CHUNK == 0)
			used += (size_t)sprintf(script + used, "chunk\n");
		gpu = gpu > at + 4000 ? gpu : at + 4000;
		used += (size_t)sprintf(script + used,
			"call t1 cudaLaunchKernel %" PRId64 "-%" PRId64
			" corr %d\nkernel s7 %" PRId64 "-%" PRId64 " corr %d \"gemm\"\n",
			at, at + 2000, id, gpu, gpu + 9000, id);
		gpu += 9000;
		at += 10000;
		id++;
		if (i % STEP < STEP - 1)
			continue;
		used += (size_t)sprintf(script + used,
			"call t1 cudaMemcpyAsync %" PRId64 "-%" PRId64
			" corr %d\ncopy s7 DtoH device->pinned %" PRId64 "-%" PRId64
			" corr %d bytes 4\n"
			"call t1 cudaStreamSynchronize %" PRId64 "-%" PRId64 " corr %d\n",
			at, at + 2000, id, gpu + 4000, gpu + 5000, id, at + 3000, gpu + 8000,
			id + 1);
		at = gpu + 20000;
		id += 2;
		used += (size_t)sprintf(script + used,
			"range t1 %" PRId64 "-%" PRId64 " \"step\"\n",
			step - 500 - 10000 * (STEP - 1), at - 1000);
	}
	used += (size_t)sprintf(
		script + used, "range t1 500-%" PRId64 " \"all of it\"\n", gpu + 30000);
	return gpu;
}

static const char *const texts[] = {"host 1", "scale gemm 0.5", "scale gemm 2", "host 0.1",
	"delete small-reads", "drop syncs", "host 3 in all of it", "skip 1/2 step",
	"host 0 after small-reads", "graph step each all*"};

enum { CHANGES = COUNT(texts), SPANS = 40 };

static struct vpt_trace *trace;
static struct vpa_span spans[SPANS];

static struct vpa_retiming replay(uint64_t most, uint64_t at_once)
{
	struct vpa_change changes[CHANGES];
	struct vpa_change_list lists[CHANGES];
	struct vpa_retiming out;
	struct vpt_err err = {0};
	size_t i;

	for (i = 0; i < CHANGES; i++) {
		assert_int_equal(vpa_change_read(texts[i], &changes[i], NULL), VPT_OK);
		lists[i] = (struct vpa_change_list){&changes[i], 1};
	}
	if (vpa_retime_in_parts(trace, 1, most, at_once, lists, CHANGES, spans, SPANS, &out, &err))
		fail_msg("%s", err.text);
	return out;
}

static double ratio(const struct vpa_retiming *r, size_t world)
{
	double was = 0, is = 0;
	size_t i;

	for (i = 0; i < SPANS; i++) {
		was += (double)vpa_retimed_ns(r, VPA_WORLD_RECORDED, i);
		is += (double)vpa_retimed_ns(r, world, i);
	}
	return is / was;
}

/* A part begins as the recording has it. A graph is captured anew in each, so it is left out. */
static void compare(
	const struct vpa_retiming *whole, const struct vpa_retiming *parts, double tolerance)
{
	size_t w;

	for (w = 0; w < whole->world_count; w++)
		if (w != VPA_WORLD_FIRST + CHANGES - 1 &&
			(ratio(parts, w) > (1 + tolerance) * ratio(whole, w) ||
				ratio(parts, w) < (1 - tolerance) * ratio(whole, w)))
			fail_msg("world %d (%s): %g in parts, %g as a whole", (int)w,
				w < VPA_WORLD_FIRST ? "" : texts[w - VPA_WORLD_FIRST],
				ratio(parts, w), ratio(whole, w));
}

static void test_all_parts(void **state)
{
	struct vpa_retiming whole = replay(UINT64_MAX, UINT64_MAX), parts;
	uint64_t at_once;
	size_t i;

	(void)state;
	assert_int_equal(whole.parts, 1);
	/* The last op begins after the last span. */
	assert_int_equal(whole.ops, LAUNCHES + LAUNCHES / STEP - 1);
	for (at_once = 25000; at_once < 110000; at_once *= 2) {
		parts = replay(UINT64_MAX, at_once);
		assert_true(parts.parts > 120000 / at_once && parts.share > 0.999);
		assert_int_equal(parts.ops, whole.ops);
		assert_int_equal(parts.ops_without_call, 0);
		assert_int_equal(parts.unexplained_ns, whole.unexplained_ns);
		for (i = 0; i < SPANS; i++) {
			assert_int_equal(vpa_retimed_ns(&parts, VPA_WORLD_RECORDED, i),
				spans[i].to_ns - spans[i].from_ns);
			assert_int_equal(vpa_retimed_ns(&parts, VPA_WORLD_FIRST, i),
				spans[i].to_ns - spans[i].from_ns);
		}
		/* Each call and op is meant once; what is skipped, and how many graphs there are, depends on where a part begins. */
		for (i = 0; i < CHANGES - 3; i++)
			assert_int_equal(parts.hits[i], whole.hits[i]);
		compare(&whole, &parts, 0.002);
		vpa_retiming_free(&parts);
	}
	vpa_retiming_free(&whole);
}

/* Of a trace that is too large parts are left out: of each span is measured what is in the others. */
static void test_some_parts(void **state)
{
	struct vpa_retiming whole = replay(UINT64_MAX, UINT64_MAX), parts = replay(90000, 30000);
	uint64_t measured = 0, all = 0;
	size_t i;

	(void)state;
	assert_int_equal(parts.parts, 3);
	assert_true(parts.share > 0.6 && parts.share < 0.9);
	assert_true(parts.ops > LAUNCHES / 4 && parts.ops < LAUNCHES * 3 / 4);
	for (i = 0; i < SPANS; i++) {
		measured += vpa_retimed_ns(&parts, VPA_WORLD_RECORDED, i);
		all += spans[i].to_ns - spans[i].from_ns;
		assert_true(vpa_retimed_ns(&parts, VPA_WORLD_RECORDED, i) <=
			    spans[i].to_ns - spans[i].from_ns);
		assert_int_equal(vpa_retimed_ns(&parts, VPA_WORLD_FIRST, i),
			vpa_retimed_ns(&parts, VPA_WORLD_RECORDED, i));
	}
	assert_true(measured > all / 4 && measured < all * 3 / 4);
	/* The last part ends with the trace. */
	assert_int_equal(vpa_retimed_ns(&parts, VPA_WORLD_RECORDED, SPANS - 1),
		spans[SPANS - 1].to_ns - spans[SPANS - 1].from_ns);
	/* They have so few steps that one more or less of them shows. */
	compare(&whole, &parts, 0.01);
	vpa_retiming_free(&whole);
	vpa_retiming_free(&parts);
}

/* Kernels of many parts, of which those of some chunks alone have calls: a part without calls joins nothing, and the next one keeps its
 * kernels. Without any calls nothing is replayed. */
static void test_parts_without_calls(void **state)
{
	enum { CHUNKS = 8, KERNELS = 4000 };
	char *script = malloc((size_t)CHUNKS * KERNELS * LINE);
	unsigned with, i, k;

	(void)state;
	for (with = 0; with < 1u << CHUNKS; with = with * 3 + 1) {
		struct vpa_retiming out;
		struct vpa_span span = {0, 1000 + (uint64_t)CHUNKS * KERNELS * 1000};
		struct vpt_trace *own;
		struct vpt_err err = {0};
		size_t used = 0;
		int rc;

		for (i = 0; i < CHUNKS; i++, used += (size_t)sprintf(script + used, "chunk\n"))
			for (k = 0; k < KERNELS; k++) {
				unsigned at = 1000 + 1000 * (i * KERNELS + k);

				if (with >> i & 1)
					used += (size_t)sprintf(script + used,
						"call t1 cudaLaunchKernel %u-%u corr %u\n", at,
						at + 100, i * KERNELS + k + 1);
				used += (size_t)sprintf(script + used,
					"kernel s7 %u-%u corr %u \"gemm\"\n", at + 200, at + 900,
					i * KERNELS + k + 1);
			}
		rc = vpt_script_trace(script, &own, &err);
		assert_int_equal(rc, VPT_OK);
		rc = vpa_retime_in_parts(
			own, 1, UINT64_MAX, KERNELS, NULL, 0, &span, 1, &out, &err);
		assert_int_equal(rc, with ? VPT_OK : VPT_EUNSUPPORTED);
		assert_true(with ? out.parts > 0 : !out.parts);
		assert_int_equal(out.ops, CHUNKS * KERNELS);
		assert_int_equal(
			out.ops_without_call, (CHUNKS - __builtin_popcount(with)) * KERNELS);
		vpa_retiming_free(&out);
		vpt_trace_close(own);
	}
	free(script);
}

/* A unit of 100 with a stage of 60 that a part has, and one that none has. */
static void test_stage_in_no_part(void **state)
{
	static struct vpa_spans spans_of = {.unit_count = 1, .count = 1, .request = 1, .active = 1};
	struct vpa_timed_part stages[] = {
		{VPA_PART_OF_STAGE, "here", 0, 1}, {VPA_PART_OF_STAGE, "nowhere", 1, 2}};
	const struct vpa_timed_parts timed = {
		.span_count = 2, .parts = stages, .part_count = COUNT(stages)};
	uint64_t span_ns[] = {100, 60, 0, 50, 30, 0, 90, 60, 0, 80, 40, 0};
	const struct vpa_retiming t = {.world_count = 4, .span_count = 3, .span_ns = span_ns};
	static struct vpa_report r;
	const struct vpa_forecast_stage *rows;

	(void)state;
	r.forecast = (struct vpa_forecast){.base_ms = 10, .host_ms = 5};
	assert_int_equal(
		vpa_unit_stages_write(&r, &spans_of, &timed, &t, 1, VPA_WORLD_FIRST), VPT_OK);
	assert_int_equal(r.forecast.stage_count, 3);
	rows = r.forecast.stages;
	assert_true(
		rows[0].is_replayed && rows[0].recorded_ms > 5.99 && rows[0].recorded_ms < 6.01);
	assert_true(rows[0].predicted_ms > 3.99 && rows[0].predicted_ms < 4.01);
	assert_int_equal(rows[1].is_replayed, 0);
	assert_true(rows[2].is_replayed && !rows[2].name);
	vpa_arena_free(&r.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_parts),
		cmocka_unit_test(test_some_parts),
		cmocka_unit_test(test_parts_without_calls),
		cmocka_unit_test(test_stage_in_no_part),
	};
	char *script = malloc((size_t)LAUNCHES * LINE);
	struct vpt_err err = {0};
	int64_t end, rc;
	size_t i;

	if (!script)
		return 1;
	end = write_loop(script);
	for (i = 0; i < SPANS; i++)
		spans[i] = (struct vpa_span){
			1000 + (uint64_t)end / SPANS * i, 1000 + (uint64_t)end / SPANS * (i + 1)};
	if (vpt_script_trace(script, &trace, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	vpt_trace_close(trace);
	free(script);
	return (int)rc;
}

/* test_stage_lines.c - lines of Python of stages, steps and blocks: on traces whose answers a person
 * can compute, and that lines add up to the causes in all. */
#include "tests/support/random.h"
#include "tests/support/traces/random_causes.h"
#include "tests/support/traces/random_samples.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/lines_rig.h"

static const struct vpa_stage_row *stage_of(const struct vpa_report *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->stage_count; i++)
		if (!strcmp(r->stages[i].name, name))
			return &r->stages[i];
	return NULL;
}

/* Two stages: 40.01 ms in one, of which 40 ms are host code in slow(); 59.01 ms in the other,
 * of which 59 ms are in main(). Launches and their latency have no samples. */
static void a_stage_has_the_lines_that_its_ops_waited_for(void **state)
{
	const struct vpa_stage_row *encode, *vae;
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text, "start 0; range t1 100-42900000 \"text encode\"\n"
			  "range t1 42900000-102900000 \"vae_decode\"\n"
			  "call t1 cudaLaunchKernel 900000-910000 corr 1\n"
			  "kernel s1 1000000-2000000 corr 1 \"a\"\n");
	add_script(&text, "call t1 cudaLaunchKernel 42000000-42005000 corr 2\n"
			  "kernel s1 42010000-43000000 corr 2 \"b\"\n"
			  "call t1 cudaLaunchKernel 102000000-102005000 corr 3\n"
			  "kernel s1 102010000-103000000 corr 3 \"c\"\nend 103000000\n");
	add_samples(&text, 0, 8, slow, "");
	add_samples(&text, 8, 20, other, "");
	r = report_of_text(&text);
	encode = stage_of(r, "text encode");
	vae = stage_of(r, "vae_decode");
	assert_non_null(encode);
	assert_non_null(vae);
	assert_int_equal(encode->waited_ns, 40010000);
	assert_int_equal(encode->line_count, 1);
	assert_string_equal(encode->lines[0].line.function, "slow");
	assert_string_equal(encode->lines[0].line.file, "/app/model.py");
	assert_int_equal(encode->lines[0].line.number, 40);
	assert_int_equal(encode->lines[0].cause, VPA_CAUSE_HOST_CODE);
	assert_int_equal(encode->lines[0].idle_ns, 40000000);
	assert_true(encode->lines[0].share == 40000000.0 / 40010000.0);
	assert_int_equal(vae->waited_ns, 59010000);
	assert_int_equal(vae->line_count, 1);
	assert_int_equal(vae->lines[0].line.number, 4);
	assert_int_equal(vae->lines[0].idle_ns, 59000000);
	vpa_report_free(r);
}

/* The block with an index, which is one of the only request. */
static const struct vpa_block_row *block_of(const struct vpa_report *r, int64_t index)
{
	size_t i;

	assert_int_equal(r->request_count, 1);
	for (i = 0; i < r->requests[0].blocks.count; i++)
		if (r->requests[0].blocks.series[i].index == index)
			return &r->requests[0].blocks.series[i];
	fail_msg("no block %d", (int)index);
	return NULL;
}

/* Host code of 40 ms before the kernel of block 0, with 8 samples in slow(); of 59 ms before that of block 1,
 * with 12 samples in main(), and of 19 ms before that of block 2, with `last` samples. */
static struct vpa_report *three_blocks(unsigned last, const char *more)
{
	struct random_text text = {0};

	add_script(&text, "start 0; range t1 100-800000 \"warm\"\n"
			  "range t1 2000000-42900000 \"block 0\"\n"
			  "range t1 42900000-102900000 \"block 1\"\n"
			  "range t1 102900000-123000000 \"block 2\"\n"
			  "call t1 cudaLaunchKernel 900000-910000 corr 1\n");
	add_script(&text, "kernel s1 1000000-2000000 corr 1 \"a\"\n"
			  "call t1 cudaLaunchKernel 42000000-42005000 corr 2\n"
			  "kernel s1 42010000-43000000 corr 2 \"b\"\n"
			  "call t1 cudaLaunchKernel 102000000-102005000 corr 3\n");
	add_script(&text, "kernel s1 102010000-103000000 corr 3 \"c\"\n"
			  "call t1 cudaLaunchKernel 122000000-122005000 corr 4\n"
			  "kernel s1 122010000-123000000 corr 4 \"d\"\nend 124000000\n");
	add_samples(&text, 0, 8, slow, more);
	add_samples(&text, 8, 20, other, more);
	add_samples(&text, 20, 20 + last, slow, more);
	return report_of_text(&text);
}

/* Each by its own samples, although all host code of the thread is one place. */
static void a_block_has_the_line_of_most_of_its_idle_time(void **state)
{
	struct vpa_report *r = three_blocks(4, "");
	const struct vpa_block_row *block = block_of(r, 0);

	(void)state;
	assert_int_equal(block->waited_ns, 40010000);
	assert_int_equal(block->line_samples, 8);
	assert_non_null(block->line);
	assert_string_equal(block->line->line.file, "/app/model.py");
	assert_int_equal(block->line->line.number, 40);
	assert_int_equal(block->line->cause, VPA_CAUSE_HOST_CODE);
	assert_int_equal(block->line->idle_ns, 40000000);
	assert_true(block->line->share == 40000000.0 / 40010000.0);
	block = block_of(r, 1);
	assert_int_equal(block->waited_ns, 59010000);
	assert_int_equal(block->line_samples, 12);
	assert_int_equal(block->line->line.number, 4);
	assert_int_equal(block->line->idle_ns, 59000000);
	vpa_report_free(r);
}

static void a_block_with_four_samples_has_no_line(void **state)
{
	struct vpa_report *r = three_blocks(4, "");

	(void)state;
	assert_int_equal(block_of(r, 2)->waited_ns, 19010000);
	assert_int_equal(block_of(r, 2)->line_samples, 4);
	assert_null(block_of(r, 2)->line);
	vpa_report_free(r);
	/* Exact stacks need no number. */
	r = three_blocks(1, "flags 1");
	assert_int_equal(block_of(r, 2)->line_samples, 0);
	assert_non_null(block_of(r, 2)->line);
	assert_int_equal(block_of(r, 2)->line->line.number, 40);
	vpa_report_free(r);
}

/* Each scope around a launch counts the gap before it once: the stage, and the step in it. */
static void a_step_and_its_stage_have_the_same_lines(void **state)
{
	const struct vpa_stage_row *step, *encode;
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text, HOST_CODE);
	add_script(&text,
		"range t1 100-102900000 \"text encode\"; range t1 2000000-102800000 \"step 1\"\n");
	random_text_add(&text, "sample t1 1 \"%s\" flags 1\nsample t1 52000000 \"%s\" flags 1\n",
		slow, other);
	r = report_of_text(&text);
	step = stage_of(r, "step");
	encode = stage_of(r, "text encode");
	assert_non_null(step);
	assert_non_null(encode);
	assert_int_equal(step->waited_ns, 100010000);
	assert_int_equal(encode->waited_ns, 100010000);
	assert_int_equal(step->lines[0].line.number, 40);
	assert_int_equal(step->lines[0].idle_ns, 50000000);
	assert_int_equal(step->lines[1].line.number, 4);
	assert_int_equal(step->lines[1].idle_ns, 50000000);
	assert_int_equal(encode->lines[0].idle_ns, 50000000);
	assert_int_equal(encode->lines[1].idle_ns, 50000000);
	vpa_report_free(r);
}

/* ---- gaps between ops that were launched in time ---- */

/* Both launches come before the first kernel; 2 us between the kernels. */
#define IN_TIME                                                                                    \
	"start 0; call t1 cudaLaunchKernel 900000-910000 corr 1\n"                                 \
	"call t1 cudaLaunchKernel 920000-925000 corr 2\n"                                          \
	"kernel s1 1000000-2000000 corr 1 \"a\"; kernel s1 2002000-3000000 corr 2 \"b\"\n"         \
	"end 3000000\n"

/* By device and cause: idle time of all lines and of none, and of all stacks, is the cause's. */
static void expect_sums(uint64_t seed, const struct vpa_report *r)
{
	size_t d, i;
	int cause;

	for (d = 0; d < r->device_count; d++)
		for (cause = 0; cause < VPA_CAUSES; cause++) {
			const struct vpa_device *device = &r->devices[d];
			uint64_t all = 0, lines = 0, stacks = 0;

			for (i = 0; i < device->cause_count; i++)
				if ((int)device->causes[i].cause == cause)
					all += device->causes[i].ns;
			for (i = 0; i < r->lines.idle_count; i++)
				if (r->lines.idle[i].device == device->device &&
					(int)r->lines.idle[i].cause == cause)
					lines += r->lines.idle[i].ns;
			for (i = 0; i < r->lines.idle_stack_count; i++)
				if (r->lines.idle_stacks[i].device == device->device &&
					(int)r->lines.idle_stacks[i].cause == cause)
					stacks += r->lines.idle_stacks[i].ns;
			if (lines != all || stacks != all)
				fail_msg("seed %" PRIu64 ", device %" PRId64
					 ", %s: expected %" PRIu64 " ns, found lines %" PRIu64
					 ", stacks %" PRIu64,
					seed, device->device, vpa_cause_text((enum vpa_cause)cause),
					all, lines, stacks);
		}
}

/* Whatever the host does by then. */
static void a_gap_between_queued_ops_has_the_line_of_the_launch(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text, IN_TIME);
	random_text_add(&text,
		"sample t1 1 \"%s\" flags 1\nsample t1 915000 \"%s\" flags 1\n"
		"sample t1 1500000 \"%s\" flags 1\n",
		slow, other, slow);
	r = report_of_text(&text);
	assert_int_equal(part_of(r, VPA_CAUSE_SCHEDULING)->ns, 2000);
	assert_int_equal(ns_at(r, VPA_CAUSE_SCHEDULING, 4), 2000);
	assert_int_equal(ns_at(r, VPA_CAUSE_SCHEDULING, 40), 0);
	assert_int_equal(ns_at(r, VPA_CAUSE_SCHEDULING, 0), 0);
	assert_int_equal(r->gaps[1].cause, VPA_CAUSE_SCHEDULING);
	assert_int_equal(r->gaps[1].top->line.number, 4);
	assert_true(r->gaps[1].top->share == 1);
	expect_sums(0, r);
	vpa_report_free(r);

	text = (struct random_text){0};
	add_script(&text, IN_TIME);
	random_text_add(&text, "sample t1 915000 \"%s\"\nsample t1 2001000 \"%s\"\n", other, slow);
	r = report_of_text(&text);
	assert_int_equal(ns_at(r, VPA_CAUSE_SCHEDULING, 4), 2000);
	assert_int_equal(ns_at(r, VPA_CAUSE_SCHEDULING, 0), 0);
	expect_sums(0, r);
	vpa_report_free(r);
}

/* The gap is the stage's, although the sample that knows its line comes after the stage. */
static void a_gap_between_queued_ops_is_in_the_lines_of_its_stage(void **state)
{
	const struct vpa_stage_row *vae;
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text, IN_TIME);
	random_text_add(&text,
		"call t1 cudaLaunchKernel 940000-945000 corr 3; kernel s1 3005000-3010000 corr 3 "
		"\"c\"\n"
		"range t1 915000-930000 \"vae_decode\"; end 3020000\n"
		"sample t1 895000 \"%s\"\nsample t1 935000 \"%s\"\n",
		slow, other);
	r = report_of_text(&text);
	vae = stage_of(r, "vae_decode");
	assert_non_null(vae);
	assert_int_equal(vae->waited_ns, 2000);
	assert_int_equal(vae->line_count, 1);
	assert_int_equal(vae->lines[0].line.number, 4);
	assert_int_equal(vae->lines[0].cause, VPA_CAUSE_SCHEDULING);
	assert_int_equal(vae->lines[0].idle_ns, 2000);
	assert_true(vae->lines[0].share == 1);
	assert_int_equal(ns_at(r, VPA_CAUSE_SCHEDULING, 4), 7000);
	vpa_report_free(r);
}

/* ---- of all traces ---- */

/* Of all devices, the time of a cause at a line. */
static uint64_t ns_of_line(const struct vpa_report *r, const struct vpa_stage_line *line)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->lines.idle_count; i++)
		if (r->lines.idle[i].cause == line->cause && r->lines.idle[i].line.file &&
			!strcmp(r->lines.idle[i].line.file, line->line.file) &&
			!strcmp(r->lines.idle[i].line.function, line->line.function) &&
			r->lines.idle[i].line.number == line->line.number)
			ns += r->lines.idle[i].ns;
	return ns;
}

/* A stage around everything has all of each line's time. Returns how many lines it has. */
static size_t expect_stages(uint64_t seed, const struct vpa_report *r)
{
	const struct vpa_stage_row *whole = stage_of(r, "vae_decode");
	uint64_t idle = 0;
	size_t i, k;

	for (i = 0; i < r->device_count; i++)
		idle += r->devices[i].window_idle_ns;
	for (i = 0; i < r->stage_count; i++) {
		const struct vpa_stage_row *stage = &r->stages[i];
		uint64_t sum = 0;

		for (k = 0; k < stage->line_count; k++) {
			uint64_t all = ns_of_line(r, &stage->lines[k]);

			sum += stage->lines[k].idle_ns;
			if (stage->lines[k].idle_ns > all ||
				(stage == whole && stage->lines[k].idle_ns != all))
				fail_msg("seed %" PRIu64 ", %s: expected %" PRIu64
					 " ns, found %" PRIu64,
					seed, stage->name, all, stage->lines[k].idle_ns);
		}
		if (sum > stage->waited_ns || stage->waited_ns > idle)
			fail_msg("seed %" PRIu64 ", %s: lines of %" PRIu64 " ns, waited %" PRIu64
				 ", idle %" PRIu64,
				seed, stage->name, sum, stage->waited_ns, idle);
	}
	return whole ? whole->line_count : 0;
}

/* With exact stacks, the line of a block around everything is the first one of the stage around everything. Returns
 * whether it has one. */
static size_t expect_block(uint64_t seed, const struct vpa_report *r)
{
	const struct vpa_stage_row *whole = stage_of(r, "vae_decode");
	const struct vpa_block_row *block;

	if (!whole || !r->request_count || !r->requests[0].blocks.count)
		return 0;
	block = block_of(r, 7000);
	if (block->waited_ns != whole->waited_ns || !block->line != !whole->line_count)
		fail_msg("seed %" PRIu64 ": block %" PRIu64 " ns, stage %" PRIu64, seed,
			block->waited_ns, whole->waited_ns);
	if (!block->line)
		return 0;
	if (block->line->idle_ns != whole->lines[0].idle_ns ||
		block->line->share != whole->lines[0].share)
		fail_msg("seed %" PRIu64 ": the line of the block has %" PRIu64
			 " ns, that of the stage %" PRIu64,
			seed, block->line->idle_ns, whole->lines[0].idle_ns);
	return 1;
}

static void lines_add_up_to_the_causes(void **state)
{
	struct vpt_random r = {5};
	size_t named = 0, tried = 0, staged = 0, blocks = 0;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 300; seed++) {
		struct random_causes how = {.seed = seed, .cuts = (unsigned)(seed % 5)};
		struct vpa_options options = {0};
		char *script = random_causes_script(&how, &options);
		struct random_text text = {0};
		char *sampled = random_samples(script, &r, &named), *at;
		struct vpa_report *report = vpt_script_report(sampled, &options);

		if (report->lines.idle_count) {
			expect_sums(seed, report);
			tried++;
		}
		vpa_report_free(report);
		/* The same stacks, each until the next. */
		for (at = sampled; (at = strstr(at, "cpu_us 7")) != NULL;)
			memcpy(at, "flags 1 ", 8);
		add_script(&text, sampled);
		random_text_add(&text, "\nstartend t1 1000000-1000000000 \"vae_decode\"\n"
				       "startend t1 1000000-1000000000 \"block 7000\"\n");
		report = vpt_script_report(text.data, &options);
		expect_sums(seed, report);
		staged += expect_stages(seed, report);
		blocks += expect_block(seed, report);
		vpa_report_free(report);
		vpt_free(text.data);
		vpt_free(script);
		vpt_free(sampled);
	}
	assert_true(tried > 200);
	assert_true(staged > 100);
	assert_true(blocks > 30);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gap_between_queued_ops_is_in_the_lines_of_its_stage),
		cmocka_unit_test(a_stage_has_the_lines_that_its_ops_waited_for),
		cmocka_unit_test(a_block_has_the_line_of_most_of_its_idle_time),
		cmocka_unit_test(a_block_with_four_samples_has_no_line),
		cmocka_unit_test(a_step_and_its_stage_have_the_same_lines),
		cmocka_unit_test(a_gap_between_queued_ops_has_the_line_of_the_launch),
		cmocka_unit_test(lines_add_up_to_the_causes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_blocks_steps.c - steps, stages and iterations: how many there are and how long they take. */
#include "formats/base/saturate.h"
#include "tests/support/traces/block_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- steps and stages ---- */

static void stages_are_measured_inside_measured_blocks(void **state)
{
	struct vpa_report *r;
	struct words w = {.len = 0};
	unsigned k;

	(void)state;
	begin();
	annotated("range", 0, 10, "text_encode", "{'kind':'stage'}");
	kernel(0, 0, 10, GEMM);
	for (k = 0; k < 3; k++) {
		unsigned t = 10 + k * 100, slow = k ? 0 : 10;

		block(t, t + 100, k, 12);
		step(t, t + 50, 0, 0);
		kernel(t, t, t + 20 + slow, ATTENTION);
		annotated("range", t + 30, t + 40, "mlp", "{'kind':'stage'}");
		kernel(t + 30, t + 30, t + 50, GEMM);
		annotated("range", t + 60, t + 100, "vae_decode", "{'kind':'stage'}");
		kernel(t + 60, t + 60, t + 100, CONV);
	}
	r = analyze(NULL);
	check_sums(r);
	say_stages(&w, r);
	expect("warm-up apart", &w,
		"text_encode 1x0, 10 ms, busy 10, idle 0, attention 0; denoise step 3x1, 50 ms, "
		"busy 80, "
		"idle 20, attention 40; (mlp 3x1, 20 ms, busy 40, idle 0, attention 0); vae_decode "
		"3x1, 40 "
		"ms, busy 80, idle 0, attention 0");
	assert_true(r->stages[1].share == 0.5);
	vpa_report_free(r);
}

/* Of `count` steps, one every 149 ms, each has 124 ms of work; then the host does something else. */
static void steps_of_149_ms(unsigned from, unsigned count)
{
	unsigned k;

	for (k = 0; k < count; k++) {
		step(from + k * 149, from + k * 149 + 149, k, 0);
		kernel(from + k * 149, from + k * 149, from + k * 149 + 124, GEMM);
	}
}

static void a_step_takes_the_time_from_one_to_the_next(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	steps_of_149_ms(0, 4);
	expect_report("however few steps there are", NULL, "steps 4, steps/s 6.711, s/it 0.149");
	r = analyze(NULL);
	assert_int_equal(r->requests[0].steps.periods, 3);
	vpa_report_free(r);
	begin();
	steps_of_149_ms(0, 1);
	expect_report("a single one its own", NULL, "steps 1, steps/s 8.065, s/it 0.124");
	r = analyze(NULL);
	assert_int_equal(r->requests[0].steps.periods, 0);
	vpa_report_free(r);
	begin();
	block(0, 596, 0, 12);
	steps_of_149_ms(0, 3);
	block(1000, 1596, 1, 12);
	steps_of_149_ms(1000, 3);
	block(2000, 2596, 2, 12);
	steps_of_149_ms(2000, 1);
	r = analyze(NULL);
	expect_request("not from block to block: in block 1", r, 0,
		"blocks 3, warmup 1, frames 24, FPS 14.101, BPS 1.175, busy 48.387, denoise "
		"48.387, latent 3.525, all 36, end to end 16.949, TTFB ms 422, steps 7, a block 2, "
		"steps/s 6.711, s/it 0.149");
	assert_int_equal(r->requests[0].steps.periods, 2);
	vpa_report_free(r);
}

/* Two prompts of 4 steps, each in a stage, with a decoder after them: the time of the decoder is no step's. */
static void a_step_does_not_go_on_from_stage_to_stage(void **state)
{
	struct vpa_report *r;
	unsigned k;

	(void)state;
	begin();
	for (k = 0; k < 2; k++) {
		annotated("range", k * 1000, k * 1000 + 596, "denoise", "{'kind':'stage'}");
		steps_of_149_ms(k * 1000, 4);
		annotated(
			"range", k * 1000 + 600, k * 1000 + 900, "vae_decode", "{'kind':'stage'}");
		kernel(k * 1000 + 600, k * 1000 + 600, k * 1000 + 900, CONV);
	}
	r = analyze(NULL);
	assert_int_equal(r->requests[0].steps.count, 8);
	assert_int_equal(r->requests[0].steps.periods, 6);
	assert_int_equal(r->requests[0].steps.period.max_ns, 149000000);
	vpa_report_free(r);
	/* In stages of one step each, the steps follow each other. */
	begin();
	for (k = 0; k < 4; k++)
		annotated("range", k * 149, k * 149 + 149, "predict", "{'kind':'stage'}");
	steps_of_149_ms(0, 4);
	r = analyze(NULL);
	assert_int_equal(r->requests[0].steps.periods, 3);
	vpa_report_free(r);
}

static void steps_without_blocks_are_steps(void **state)
{
	unsigned k;

	(void)state;
	begin();
	for (k = 0; k < 5; k++) {
		line("range t1 %ums-%ums \"denoise_step\"", at(k * 100), at(k * 100 + 80));
		kernel(k * 100, k * 100, k * 100 + 80, GEMM);
	}
	expect_report("from one step to the next", NULL, "steps 5, steps/s 10, s/it 0.1");
}

/* An iteration of the profiler is a row of the stages: never a step, and no rate is made of it. */
static void an_iteration_of_the_profiler_is_no_step(void **state)
{
	struct vpa_report *r;
	unsigned k;

	(void)state;
	begin();
	for (k = 0; k < 5; k++) {
		line("range t1 %ums-%ums \"ProfilerStep#%u\"", at(k * 100), at(k * 100 + 80), k);
		kernel(k * 100, k * 100, k * 100 + 80, GEMM);
	}
	expect_report("it makes no request", NULL, "");
	expect_stages("it is a stage",
		"iteration (ProfilerStep) 5x0, 80 ms, busy 400, idle 0, attention 0");
	r = analyze(NULL);
	assert_int_equal(r->stages[0].kind, VPA_SCOPE_ITERATION);
	vpa_report_free(r);
	begin();
	line("range t1 %ums-%ums \"ProfilerStep#3\"", at(0), at(500));
	for (k = 0; k < 5; k++) {
		line("range t1 %ums-%ums \"step %u\"", at(k * 100), at(k * 100 + 80), k);
		kernel(k * 100, k * 100, k * 100 + 80, GEMM);
	}
	expect_report("steps are counted alone", NULL, "steps 5, steps/s 10, s/it 0.1");
	expect_stages("and are inside of it",
		"iteration (ProfilerStep) 1x0, 480 ms, busy 400, idle 80, attention 0; (step "
		"5x0, 80 ms, busy 400, idle 0, attention 0)");
}

/* The forward pass is launched by the thread that opens the iteration, the backward pass by autograd's. */
static void an_iteration_has_the_work_of_all_threads(void **state)
{
	unsigned k;

	(void)state;
	begin();
	for (k = 0; k < 3; k++) {
		unsigned t = k * 100;

		line("range t1 %ums-%ums \"ProfilerStep#%u\"", at(t), at(t + 80), k);
		kernel(t, t, t + 20, GEMM);
		script.corr++;
		line("call t2 cudaLaunchKernel %u001us+1us corr %u", at(t + 30), script.corr);
		line("kernel s7 %ums-%ums corr %u \"" GEMM "\"", at(t + 30), at(t + 70),
			script.corr);
		/* Behind its end: nobody's, though it runs before the next one. */
		kernel(t + 85, t + 85, t + 95, GEMM);
	}
	expect_stages("autograd's too",
		"iteration (ProfilerStep) 3x0, 70 ms, busy 180, idle 30, attention 0");
	begin();
	line("thread x pid 2 tid 5");
	line("stream y device 0 context 1 stream 9 pid 2");
	line("range t1 %ums-%ums \"ProfilerStep#0\"", at(0), at(80));
	kernel(0, 0, 20, GEMM);
	line("call x cudaLaunchKernel %u001us+1us corr 7", at(30));
	line("kernel y %ums-%ums corr 7 \"" GEMM "\"", at(30), at(70));
	expect_stages("of its process",
		"iteration (ProfilerStep) 1x0, 20 ms, busy 20, idle 0, attention 0");
}

/* ---- from mark to mark ---- */

static void a_step_ends_with_its_schedulers(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	guide(0, 5, 100);
	/* One every 100 ms, from 50 to 450 ms. */
	expect_report("from the forward pass to the scheduler's end", NULL,
		"steps 5, steps/s 10, s/it 0.1");
	expect_stages("forward, a gap of 20 ms, the scheduler",
		"pipeline_call 1x0, 650 ms, busy 490, idle 160, attention 300; encode_prompt 1x0, "
		"40 ms, busy 40, idle 0, attention 0; denoise step 5x0, 90 ms, busy 350, idle 100, "
		"attention 300; (transformer_forward 5x0, 60 ms, busy 300, idle 0, attention 300); "
		"(scheduler_step 5x0, 10 ms, busy 50, idle 0, attention 0); vae_decode 1x0, 100 "
		"ms, busy 100, idle 0, attention 0");
	r = analyze(NULL);
	assert_int_equal(r->stages[2].source, VPA_SOURCE_MARKS);
	vpa_report_free(r);
	begin();
	guide(0, 2, 100);
	guide(1000, 2, 100);
	r = analyze(NULL);
	assert_int_equal(r->request_count, 2);
	/* 100 ms from the first to the second: the time between the two videos belongs to none. */
	expect_request("of each request", r, 1, "steps 2, steps/s 10, s/it 0.1");
	vpa_report_free(r);
}

/* A span of work of thread t1 under a name. */
static void named(unsigned from, unsigned to, const char *name)
{
	line("range t1 %ums-%ums \"%s\"", at(from), at(to), name);
	kernel(from, from, to, GEMM);
}

/* Four blocks of 100 ms, each of one step. The first `with` of them begin with `ms` of a range that has no meaning, whose work is
 * half attention. */
static void blocks_with_a_part(unsigned with, unsigned ms)
{
	unsigned k;

	begin();
	for (k = 0; k < 4; k++) {
		unsigned t = k * 100, own = k < with ? ms : 0;

		block(t, t + 99, k, 12);
		if (own) {
			line("range t1 %ums-%ums \"update_memory\"", at(t), at(t + own));
			kernel(t, t, t + own / 2, ATTENTION);
			kernel(t, t + own / 2, t + own, GEMM);
		}
		step(t + own, t + 90, 0, 0);
		kernel(t + own, t + own, t + 100, GEMM);
	}
}

static void a_range_directly_in_blocks_is_a_stage(void **state)
{
	struct vpa_report *r;
	const struct vpa_stage_row *s;

	(void)state;
	blocks_with_a_part(4, 20);
	expect_stages("in each block",
		"update_memory 4x1, 20 ms, busy 60, idle 0, attention 30; denoise step 4x1, 80 ms, "
		"busy 240, idle 0, attention 0");
	r = analyze(NULL);
	check_sums(r);
	s = &r->stages[0];
	assert_int_equal(s->source, VPA_SOURCE_PLACE);
	assert_int_equal(s->kind, VPA_SCOPE_STAGE);
	assert_int_equal(s->alone_ns, 60 * MS);
	assert_int_equal(s->nested, 0);
	assert_int_equal(r->stages[1].nested, 0);
	vpa_report_free(r);
	blocks_with_a_part(3, 20);
	expect_stages("in three of four",
		"update_memory 3x0.666667, 20 ms, busy 40, idle 0, attention 20; denoise step 4x1, "
		"86.6667 ms, busy 260, idle 0, attention 0");
	blocks_with_a_part(2, 20);
	expect_stages("in half of them it is none",
		"denoise step 4x1, 93.3333 ms, busy 280, idle 0, attention 0");
	blocks_with_a_part(4, 6);
	expect_stages("with a twentieth of their work or more",
		"update_memory 4x1, 6 ms, busy 18, idle 0, attention 9; denoise step 4x1, 94 ms, "
		"busy 282, idle 0, attention 0");
	blocks_with_a_part(4, 4);
	expect_stages("less is none", "denoise step 4x1, 96 ms, busy 288, idle 0, attention 0");
}

/* What stands in the range, or around it, says more than its place does. */
static void a_range_that_is_not_alone_in_a_block_is_no_stage(void **state)
{
	unsigned k;

	(void)state;
	begin();
	for (k = 0; k < 4; k++) {
		unsigned t = k * 100;

		block(t, t + 99, k, 12);
		line("range t1 %ums-%ums \"denoise all\"", at(t), at(t + 80));
		kernel(t, t, t + 20, GEMM);
		step(t + 10, t + 80, 0, 0);
		named(t + 10, t + 40, "some layers");
		line("range t1 %ums-%ums \"outer\"", at(t + 80), at(t + 92));
		named(t + 81, t + 91, "vae_decode");
	}
	expect_stages("steps in it, a step around it, a stage in it",
		"denoise step 4x1, 30 ms, busy 90, idle 0, attention 0; vae_decode 4x1, 10 ms, "
		"busy 30, idle 0, attention 0");
}

/* Most names are of operators and layers, of which there are many: after eight ranges elsewhere a name is none of a part. */
static void a_name_of_many_ranges_elsewhere_is_no_stage(void **state)
{
	unsigned before, k;

	(void)state;
	for (before = 7; before <= 8; before++) {
		begin();
		for (k = 0; k < before; k++)
			named(k * 10, k * 10 + 5, "update_memory");
		for (k = 1; k <= 4; k++) {
			block(k * 100, k * 100 + 99, k, 12);
			named(k * 100, k * 100 + 40, "update_memory");
			named(k * 100 + 50, k * 100 + 98, "other");
		}
		expect_stages(before == 7 ? "seven" : "eight",
			before == 7 ? "update_memory 4x1, 40 ms, busy 120, idle 0, attention 0; "
				      "other 4x1, 48 ms, busy 144, idle 0, attention 0"
				    : "other 4x1, 48 ms, busy 144, idle 0, attention 0");
	}
}

/* Names of plain parts take no rows away from stages. */
static void many_ranges_in_blocks_leave_room_for_stages(void **state)
{
	unsigned k, i;

	(void)state;
	begin();
	for (k = 0; k < 4; k++) {
		unsigned t = k * 100;

		block(t, t + 99, k, 12);
		for (i = 0; i < 40; i++) {
			line("range t1 %ums-%ums \"part %u of %u\"", at(t + i), at(t + i + 1), i,
				k);
			kernel(t + i, t + i, t + i + 1, GEMM);
		}
		named(t + 50, t + 60, "vae_decode");
	}
	expect_stages("160 names", "vae_decode 4x1, 10 ms, busy 30, idle 0, attention 0");
}

static void steps_from_mark_to_mark(void **state)
{
	unsigned k;

	(void)state;
	begin();
	for (k = 0; k < 3; k++) {
		named(k * 100, k * 100 + 20, "transformer_forward");
		named(k * 100 + 20, k * 100 + 40, "transformer_forward");
		named(k * 100 + 50, k * 100 + 60, "scheduler_step");
		named(k * 100 + 70, k * 100 + 80, "scheduler_step");
		/* Between two schedulers nothing is of the step; this is behind the second. */
		kernel(k * 100 + 85, k * 100 + 85, k * 100 + 95, GEMM);
	}
	expect_report(
		"two passes, two schedulers: one step", NULL, "steps 3, steps/s 10, s/it 0.1");
	begin();
	for (k = 0; k < 4; k++) {
		kernel(k * 100, k * 100, k * 100 + 60, ATTENTION);
		named(k * 100 + 80, k * 100 + 90, "scheduler_step");
	}
	expect_stages("without a forward pass from one scheduler's to the next",
		"scheduler_step 4x0, 10 ms, busy 40, idle 0, attention 0; denoise step 3x0, 90 ms, "
		"busy 210, idle 60, attention 180");
	begin();
	for (k = 0; k < 3; k++) {
		line("range t1 %ums-%ums \"step %u\"", at(k * 100), at(k * 100 + 90), k);
		named(k * 100, k * 100 + 20, "transformer_forward");
		named(k * 100 + 50, k * 100 + 60, "scheduler_step");
	}
	expect_report("not where steps are named", NULL, "steps 3, steps/s 10, s/it 0.1");
	begin();
	named(0, 20, "transformer_forward");
	named(100, 120, "transformer_forward");
	expect_report("not where no scheduler ends them", NULL, "");
	begin();
	named(0, 20, "transformer_forward, op_id = 7");
	named(20, 30, "scheduler_step, op_id = 8");
	expect_report("by names that emit_nvtx() numbers too", NULL,
		"steps 1, steps/s 33.333, s/it 0.03");
}

/* The pass that writes the context has a forward pass and no scheduler: the next block's first step does not begin there. */
static void a_step_does_not_go_on_from_block_to_block(void **state)
{
	unsigned b, k;

	(void)state;
	begin();
	for (b = 0; b < 3; b++) {
		unsigned t = b * 100;

		line("range t1 %ums-%ums \"block %u\"", at(t), at(t + 100), b);
		for (k = 0; k < 2; k++) {
			named(t + k * 40, t + k * 40 + 20, "transformer_forward");
			named(t + k * 40 + 30, t + k * 40 + 40, "scheduler_step");
		}
		named(t + 80, t + 100, "transformer_forward");
	}
	expect_report("two steps a block, the second 40 ms after the first", NULL,
		"blocks 3, warmup 1, BPS 10, TTFB ms 100, steps 6, a block 2, steps/s 25, s/it "
		"0.04");
	expect_stages("and a pass that is none",
		"denoise step 6x2, 40 ms, busy 120, idle 40, attention 0; transformer_forward 9x3, "
		"20 ms, busy 120, idle 0, attention 0; (scheduler_step 6x2, 10 ms, busy 40, idle "
		"0, attention 0)");
}

/* A loop that trains: a batch, the forward pass, the backward pass on a thread of autograd's, the optimizer. */
static void train(unsigned count)
{
	unsigned k, t;

	for (k = 0; k < count; k++) {
		t = k * 100;
		line("range t1 %ums-%ums "
		     "\"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__\"",
			at(t), at(t + 10));
		kernel(t + 10, t + 10, t + 30, GEMM);
		script.corr++;
		line("call t2 cudaLaunchKernel %u001us+1us corr %u", at(t + 30), script.corr);
		line("kernel s7 %ums-%ums corr %u \"" GEMM "\"", at(t + 30), at(t + 70),
			script.corr);
		line("range t1 %ums-%ums \"Optimizer.step#SGD.step\"", at(t + 80), at(t + 90));
		kernel(t + 80, t + 80, t + 90, GEMM);
	}
	line("range t1 %ums-%ums \"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__\"",
		at(count * 100), at(count * 100 + 10));
}

static void loops_that_train_have_iterations(void **state)
{
	unsigned k;

	(void)state;
	begin();
	train(4);
	expect_stages("from one optimizer's step to the next",
		"iteration (Optimizer.step) 3x0, 80 ms, busy 210, idle 30, attention 0");
	expect_report("never a step", NULL, "");
	begin();
	train(4);
	line("range t1 %ums-%ums \"ProfilerStep#1\"", at(0), at(400));
	expect_stages("where nothing else is one",
		"iteration (ProfilerStep) 1x0, 380 ms, busy 280, idle 100, attention 0");
	begin();
	train(4);
	named(500, 520, "step 0");
	expect_stages("no step", "step 1x0, 20 ms, busy 20, idle 0, attention 0");
	begin();
	train(4);
	named(500, 520, "block 0");
	expect_stages("no block", "");
	begin();
	for (k = 0; k < 4; k++) {
		line("range t1 %ums-%ums \"DataLoader.__next__\"", at(k * 100), at(k * 100 + 10));
		kernel(k * 100 + 10, k * 100 + 10, k * 100 + 70, GEMM);
	}
	expect_stages("from one batch to the next: the last one's end is not known",
		"iteration (DataLoader) 3x0, 60 ms, busy 180, idle 0, attention 0");
}

static const struct vpa_stage_row *stage_of(const struct vpa_report *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->stage_count && strcmp(r->stages[i].name, name); i++)
		;
	if (i == r->stage_count)
		fail_msg("no stage %s", name);
	return &r->stages[i];
}

/* Five steps of 100 ms; two threads schedule beside them, each in 90 of 100 ms. */
static void steps_and_schedulers(void)
{
	unsigned k, thread;

	for (k = 0; k < 5; k++) {
		unsigned t = k * 100;

		step(t, t + 100, k, 0);
		kernel(t, t, t + 95, GEMM);
		for (thread = 2; thread < 4; thread++) {
			unsigned corr = 1000 + 10 * k + thread;

			line("range t%u %ums-%ums \"scheduler\" domain vptrace json "
			     "\"{\\\"kind\\\":\\\"stage\\\"}\"",
				thread, at(t), at(t + 90));
			line("call t%u cudaLaunchKernel %u001us+1us corr %u", thread, at(t), corr);
			line("kernel s%u %ums-%ums corr %u \"vectorized_elementwise_kernel\"",
				7 + thread, at(t), at(t + 90), corr);
		}
	}
}

/* Instances in threads beside each other count once in a share, but each in the time. */
static void shares_of_overlapping_stages_are_at_most_all(void **state)
{
	static const struct vpa_options with_steps = {.step_parts = 1};
	const struct vpa_stage_row *s;
	const struct vpa_check *c;
	struct vpa_report *r;
	size_t i;

	(void)state;
	begin();
	annotated("range", 0, 100, "vae_decode", "{'kind':'stage'}");
	kernel(0, 0, 90, CONV);
	line("range t2 1010ms-1100ms \"vae_decode\" domain vptrace json "
	     "\"{\\\"kind\\\":\\\"stage\\\"}\"");
	line("call t2 cudaLaunchKernel 1010001us+1us corr 99");
	line("kernel s8 1020ms-1100ms corr 99 \"" CONV "\"");
	r = analyze(NULL);
	s = stage_of(r, "vae_decode");
	assert_int_equal(s->time.count, 2);
	assert_int_equal(s->time.total_ns, 170 * MS);
	assert_int_equal(s->covered_ns, 100 * MS);
	assert_true(s->share == 1);
	vpa_report_free(r);

	begin();
	steps_and_schedulers();
	r = analyze(&with_steps);
	s = stage_of(r, "scheduler");
	assert_int_equal(s->time.total_ns, 10 * 90 * MS);
	assert_int_equal(s->covered_ns, 5 * 90 * MS);
	for (i = 0; i < r->expert.check_count && strcmp(r->expert.checks[i].id, "scheduler"); i++)
		;
	assert_true(i < r->expert.check_count);
	c = &r->expert.checks[i];
	assert_true(c->value == 0.9);
	for (i = 0; i < r->stage_count; i++)
		assert_in_range(vpt_sat_u64(1e6 * r->stages[i].share), 0, 1000000);
	vpa_report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stages_are_measured_inside_measured_blocks),
		cmocka_unit_test(a_step_takes_the_time_from_one_to_the_next),
		cmocka_unit_test(a_step_does_not_go_on_from_stage_to_stage),
		cmocka_unit_test(steps_without_blocks_are_steps),
		cmocka_unit_test(an_iteration_of_the_profiler_is_no_step),
		cmocka_unit_test(an_iteration_has_the_work_of_all_threads),
		cmocka_unit_test(a_step_ends_with_its_schedulers),
		cmocka_unit_test(a_range_directly_in_blocks_is_a_stage),
		cmocka_unit_test(a_range_that_is_not_alone_in_a_block_is_no_stage),
		cmocka_unit_test(a_name_of_many_ranges_elsewhere_is_no_stage),
		cmocka_unit_test(many_ranges_in_blocks_leave_room_for_stages),
		cmocka_unit_test(steps_from_mark_to_mark),
		cmocka_unit_test(a_step_does_not_go_on_from_block_to_block),
		cmocka_unit_test(loops_that_train_have_iterations),
		cmocka_unit_test(shares_of_overlapping_stages_are_at_most_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

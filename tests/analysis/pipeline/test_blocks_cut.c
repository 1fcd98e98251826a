/* test_blocks_cut.c - blocks, steps and requests that the window or a pause cuts. */
#include "tests/support/traces/block_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- the window ---- */

static void blocks_at_the_edge_are_left_out(void **state)
{
	static const struct vpa_options from = {.has_from = 1, .from_ns = 150 * MS},
					to = {.has_to = 1, .to_ns = 550 * MS},
					to_500 = {.has_to = 1, .to_ns = 500 * MS};
	struct vpa_report *r;

	(void)state;
	begin();
	plain_blocks(7, 12);
	expect_report("the beginning is cut off", &from,
		"blocks 5, warmup 1, left out 1, frames 48, FPS 120, BPS 10, busy 120, latent 30");
	r = analyze(&from);
	expect_note("that is said", r, "1 block is left out: cut off by the window");
	vpa_report_free(r);
	expect_report("the end is cut off", &to,
		"blocks 5, warmup 1, left out 1, frames 48, FPS 120, BPS 10, busy 120, latent 30");

	/* The whole clip's frames did not come in a part of its time. */
	begin();
	annotated("range", 0, 700, "clip", "{'kind':'request','frames':81}");
	plain_blocks(7, 0);
	expect_report("a request that knows its frames", NULL,
		"blocks 7, warmup 1, BPS 10, all 81, end to end 115.714, TTFB ms 100");
	expect_report("a part of it", &to, "blocks 5, warmup 1, left out 1, BPS 10");
	expect_report("a part that no block is cut by", &to_500,
		"blocks 5, warmup 1, BPS 10, TTFB ms 100");

	begin();
	line("open t1 %ums \"clip\" domain vptrace json "
	     "\"{\\\"kind\\\":\\\"request\\\",\\\"frames\\\":81}\"",
		at(0));
	plain_blocks(7, 0);
	expect_report(
		"a request that never ended", NULL, "blocks 7, warmup 1, BPS 10, TTFB ms 100");

	begin();
	plain_blocks(3, 12);
	line("open t1 %ums \"block 3\" domain vptrace json \"{\\\"kind\\\":\\\"block\\\"}\"",
		at(300));
	kernel(300, 300, 350, GEMM);
	expect_report("a block that never ended", NULL,
		"blocks 3, warmup 1, left out 1, frames 24, FPS 120, BPS 10, busy 120, latent 30");

	begin();
	plain_blocks(3, 12);
	block(300, 310, 3, 12);
	line("end %ums", at(400));
	expect_report("a block that launched nothing", NULL,
		"blocks 3, warmup 1, frames 24, FPS 120, BPS 10, busy 120, latent 30, all 36, end "
		"to end 120, "
		"TTFB ms 100");
}

static void the_first_block_of_a_part_is_not_the_first_one(void **state)
{
	static const struct vpa_options from = {.has_from = 1,
		.from_ns = 300 * MS,
		.has_warmup = 1,
		.frames_per_block = 12,
		.first_block_frames = 9};

	(void)state;
	begin();
	plain_blocks(7, 0);
	expect_report("from block 3 on", &from,
		"blocks 4, frames 48, FPS 120, BPS 10, busy 120, all 48, end to end 120, TTFB ms "
		"100");
}

/* The host runs ahead: at the window's end it may have launched blocks that the device has not begun. */
static void a_block_whose_work_is_cut_off_is_left_out(void **state)
{
	static const struct vpa_options to = {.has_to = 1, .to_ns = 1230 * MS},
					between = {.has_to = 1, .to_ns = 130 * MS};

	(void)state;
	begin();
	reference_blocks(0, 7, 10);
	expect_report("in the middle of an op", &to,
		"blocks 2, warmup 1, left out 1, frames 12, FPS 24, BPS 2, busy 24, denoise 30, "
		"latent 6, steps 11, a block 4, steps/s 10, s/it 0.1, context 2");

	begin();
	plain_blocks(1, 12);
	block(100, 110, 1, 12);
	kernel(101, 100, 110, GEMM);
	kernel(102, 110, 120, GEMM);
	kernel(103, 140, 200, GEMM);
	block(110, 120, 2, 12);
	kernel(111, 200, 300, GEMM);
	expect_report("between two ops of it", &between, "blocks 1, warmup 1, left out 1");
}

/* ---- pauses ---- */

/* Three whole blocks; the tracer writes the whole range of a fourth, but of its work what was launched before
 * the pause. */
static void a_block_that_a_pause_cuts_is_left_out(void **state)
{
	static const char whole[] =
		"blocks 3, warmup 1, left out 1, frames 24, FPS 120, BPS 10, busy 120, latent 30";
	struct vpa_report *r;

	(void)state;
	begin();
	plain_blocks(3, 12);
	block(300, 400, 3, 12);
	kernel(300, 300, 320, GEMM);
	line("loss all paused %ums-%ums", at(340), at(900));
	expect_report("its end is in the pause", NULL, whole);
	r = analyze(NULL);
	expect_note("that is said", r, "1 block is left out: cut off by the window or a pause");
	vpa_report_free(r);

	begin();
	plain_blocks(3, 12);
	block(300, 400, 3, 12);
	kernel(300, 300, 320, GEMM);
	line("loss all paused %ums-%ums", at(340), at(390));
	expect_report("its end is not in the pause, its last work may be", NULL, whole);

	begin();
	line("loss all paused %ums-%ums", at(0), at(50));
	block(20, 100, 0, 12);
	kernel(60, 60, 100, GEMM);
	block(100, 200, 1, 12);
	kernel(100, 100, 200, GEMM);
	block(200, 300, 2, 12);
	kernel(200, 200, 300, GEMM);
	expect_report("its beginning is in the pause", NULL,
		"blocks 2, warmup 1, left out 1, frames 12, FPS 120, BPS 10, busy 120, latent 30");

	begin();
	plain_blocks(3, 12);
	block(300, 310, 3, 12);
	kernel(300, 300, 310, GEMM);
	kernel(311, 311, 350, GEMM);
	ready(320, 3, 12);
	line("loss all paused %ums-%ums", at(315), at(900));
	expect_report("its frames are ready in the pause", NULL, whole);

	begin();
	plain_blocks(3, 12);
	block(300, 310, 3, 12);
	kernel(300, 320, 340, GEMM);
	line("loss all paused %ums-%ums", at(305), at(315));
	expect_report("its work runs after the pause, its last work may be missing", NULL, whole);

	begin();
	plain_blocks(3, 12);
	block(300, 310, 3, 12);
	kernel(304, 320, 340, GEMM);
	line("loss all paused %ums-%ums", at(301), at(303));
	expect_report("its first work may be missing", NULL, whole);
}

/* Launched outside of all pauses: nothing of it is missing, whenever it runs. The fourth block is half as long. */
static void a_block_that_runs_in_a_pause_counts(void **state)
{
	static const char four[] =
		"blocks 4, warmup 1, frames 36, FPS 144, BPS 12, busy 144, latent 36, all 48, end "
		"to end 137.143, TTFB ms 100";

	(void)state;
	begin();
	plain_blocks(3, 12);
	block(300, 310, 3, 12);
	kernel(300, 300, 350, GEMM);
	line("loss all paused %ums-%ums", at(340), at(900));
	expect_report("its work ends in the pause", NULL, four);

	begin();
	plain_blocks(3, 12);
	block(300, 310, 3, 12);
	kernel(300, 300, 350, GEMM);
	line("loss all paused %ums-%ums", at(310), at(320));
	expect_report("the pause is over before its work ends", NULL, four);

	begin();
	plain_blocks(3, 12);
	block(300, 310, 3, 12);
	kernel(300, 300, 310, GEMM);
	kernel(311, 311, 350, GEMM);
	ready(320, 3, 12);
	line("loss all paused %ums-%ums", at(340), at(900));
	expect_report("its frames are ready before the pause", NULL,
		"blocks 4, warmup 1, frames 36, FPS 144, BPS 12, busy 144.578, latent 36, all 48, "
		"end to end 137.143, TTFB ms 100, TTFF ms 350");
}

/* The host launches all blocks in 20 ms; the GPU works for 2 s. */
static void a_pause_behind_all_launches_changes_nothing(void **state)
{
	static const char all[] = "blocks 4, warmup 1, frames 36, FPS 24, BPS 2, busy 24, denoise "
				  "30, latent 6, all 45, "
				  "end to end 22.5, TTFB ms 500, steps 16, a block 4, steps/s 10, "
				  "s/it 0.1, context 4";
	struct vpa_report *r;
	int paused;

	(void)state;
	for (paused = 0; paused < 2; paused++) {
		begin();
		request(0, 20, "clip");
		reference_blocks(0, 4, 1);
		if (paused)
			line("loss all paused %ums-%ums", at(20), at(1980));
		line("end %ums", at(2000));
		r = analyze(NULL);
		check_sums(r);
		expect_request(paused ? "a pause" : "no pause", r, 0, all);
		assert_int_equal(r->requests[0].steps.periods, 9);
		vpa_report_free(r);
	}
	begin();
	reference_blocks(0, 5, 1);
	line("loss all paused %ums-%ums", at(22), at(2500));
	expect_report("the fifth block is cut, its first two steps are not", NULL,
		"blocks 4, warmup 1, left out 1, frames 36, FPS 24, BPS 2, busy 24, denoise 30, "
		"latent 6, "
		"steps 18, a block 4, steps/s 10, s/it 0.1, context 4");
}

static void a_pause_next_to_a_block_does_not_cut_it(void **state)
{
	(void)state;
	begin();
	line("loss all paused %ums-%ums", at(0), at(100));
	block(100, 200, 0, 12);
	kernel(100, 100, 200, GEMM);
	block(200, 300, 1, 12);
	kernel(200, 200, 300, GEMM);
	line("loss all paused %ums-%ums", at(300), at(900));
	expect_report("before and after", NULL,
		"blocks 2, warmup 1, frames 12, FPS 120, BPS 10, busy 120, latent 30, all 24, "
		"end to end 80, TTFB ms 200");
}

/* Blocks of nine ops, one every 100 ms; the tracer drops the ops that begin in the pause, and blocks that do
 * as a whole. */
static void blocks_and_pause(unsigned count, unsigned from, unsigned to)
{
	unsigned b, k;

	begin();
	line("loss all paused %ums-%ums", at(from), at(to));
	for (b = 0; b < count; b++) {
		if (from <= 100 * b + 10 && to >= 100 * (b + 1))
			continue;
		block(100 * b + 10, 100 * (b + 1), b, 12);
		for (k = 100 * b + 10; k < 100 * (b + 1); k += 10)
			if (k < from || k >= to)
				kernel(k, k, k + 10, GEMM);
	}
}

static void a_pause_anywhere_changes_no_rate(void **state)
{
	unsigned from, length, rated = 0;

	(void)state;
	for (from = 0; from < 800; from += 5)
		for (length = 5; length < 1000; length = 3 * length) {
			struct vpa_report *r;

			blocks_and_pause(8, from, from + length);
			r = analyze(NULL);
			check_sums(r);
			if (r->request_count && r->requests[0].blocks.fps >= 0 &&
				r->requests[0].blocks.fps != 120)
				fail_msg("a pause at %u ms for %u ms: %g FPS", from, length,
					r->requests[0].blocks.fps);
			rated += r->request_count && r->requests[0].blocks.fps > 0;
			vpa_report_free(r);
		}
	assert_true(rated > 600);
}

/* Blocks 3 and 4 are cut. The end of 3 is not known, nor what was between; that of 4 is. */
static void no_period_spans_a_pause(void **state)
{
	static const struct vpa_options none = {.has_warmup = 1}, target = {.target_millifps = 1};
	struct words w = {.len = 0};
	struct vpa_report *r;

	(void)state;
	blocks_and_pause(8, 350, 450);
	r = analyze(&target);
	check_sums(r);
	say_periods(&w, &r->requests[0]);
	expect("from the end of block 4, which is cut at its beginning", &w,
		"0: 90, 1: 100 (90), 2: 100 (90), 5: 100 (90), 6: 100 (90), 7: 100 (90)");
	expect_request("its frames are in no rate", r, 0,
		"blocks 6, warmup 1, left out 2, frames 60, FPS 120, BPS 10, busy 133.333, latent "
		"30");
	vpa_report_free(r);

	blocks_and_pause(8, 350, 500);
	r = analyze(&target);
	check_sums(r);
	w.len = 0;
	say_periods(&w, &r->requests[0]);
	expect("block 5 is the first one again", &w,
		"0: 90, 1: 100 (90), 2: 100 (90), 5: 90, 6: 100 (90), 7: 100 (90)");
	expect_request("and not measured", r, 0,
		"blocks 6, warmup 2, left out 1, frames 48, FPS 120, BPS 10, busy 133.333, latent "
		"30");
	assert_true(r->requests[0].blocks.series[3].warmup);
	assert_int_equal(r->requests[0].blocks.prebuffer_frames, -1);
	expect_note("that is said", r,
		"1 block is the first after recording was paused: the time since the block before "
		"is not known, so it is not measured");
	vpa_report_free(r);

	blocks_and_pause(8, 350, 500);
	r = analyze(&none);
	check_sums(r);
	expect_request("but by its length where the first one is", r, 0,
		"blocks 6, left out 1, frames 72, FPS 124.138, BPS 10.345, busy 133.333, latent "
		"31.034");
	vpa_report_free(r);

	/* Nothing shows whether there were more blocks between. */
	blocks_and_pause(8, 302, 308);
	expect_report("a pause between two blocks", NULL,
		"blocks 8, warmup 2, frames 72, FPS 120, BPS 10, busy 133.333, latent 30, TTFB ms "
		"100");
}

/* Five steps of two ops, one every 100 ms; the tracer drops the ops that begin in the pause. */
static void steps_and_pause(unsigned from, unsigned to)
{
	unsigned k, t;

	begin();
	line("loss all paused %ums-%ums", at(from), at(to));
	for (k = 0; k < 5; k++) {
		step(k * 100, k * 100 + 80, k, 0);
		for (t = k * 100; t < k * 100 + 80; t += 40)
			if (t < from || t >= to)
				kernel(t, t, t + 30, GEMM);
	}
}

static void a_step_that_a_pause_cuts_is_none(void **state)
{
	struct vpa_report *r;

	(void)state;
	steps_and_pause(235, 290);
	expect_report("its last op is in the pause: no period from 1 to 3", NULL,
		"steps 4, steps/s 10, s/it 0.1");
	expect_stages("nor is it a part of the stage",
		"denoise step 4x0, 70 ms, busy 240, idle 40, attention 0");
	r = analyze(NULL);
	assert_int_equal(r->requests[0].steps.periods, 2);
	expect_note("that is said", r, "1 step or iteration is left out: cut off by a pause");
	vpa_report_free(r);
	steps_and_pause(195, 205);
	expect_report("its first op is in the pause", NULL, "steps 4, steps/s 10, s/it 0.1");
	steps_and_pause(232, 238);
	expect_report(
		"between two ops of it nothing is cut", NULL, "steps 5, steps/s 10, s/it 0.1");
	steps_and_pause(0, 350);
	expect_report("one whole step", NULL, "steps 1, steps/s 14.286, s/it 0.07");
}

static void a_step_from_mark_to_mark_that_a_pause_cuts_is_none(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	guide(0, 5, 100);
	line("loss all paused %ums-%ums", at(342), at(348));
	expect_report(
		"the scheduler's range ends in the pause", NULL, "steps 4, steps/s 10, s/it 0.1");
	r = analyze(NULL);
	assert_int_equal(r->requests[0].steps.periods, 2);
	vpa_report_free(r);
}

static void no_period_of_a_step_spans_a_pause(void **state)
{
	unsigned k;

	(void)state;
	begin();
	line("loss all paused %ums-%ums", at(402), at(698));
	for (k = 0; k < 10; k++) {
		if (k > 3 && k < 7)
			continue;
		step(k * 100, k * 100 + 100, k, 0);
		kernel(k * 100, k * 100, k * 100 + 60, GEMM);
	}
	expect_report("four steps, and three", NULL, "steps 7, steps/s 10, s/it 0.1");
}

/* The whole clip's frames did not come in a part of its time. */
static void a_request_that_a_pause_cuts_has_no_end_to_end_rate(void **state)
{
	(void)state;
	begin();
	annotated("range", 0, 700, "clip", "{'kind':'request','frames':81}");
	plain_blocks(4, 0);
	line("loss all paused %ums-%ums", at(400), at(900));
	expect_report("its end is in the pause", NULL, "blocks 4, warmup 1, BPS 10, TTFB ms 100");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_at_the_edge_are_left_out),
		cmocka_unit_test(the_first_block_of_a_part_is_not_the_first_one),
		cmocka_unit_test(a_block_whose_work_is_cut_off_is_left_out),
		cmocka_unit_test(a_block_that_a_pause_cuts_is_left_out),
		cmocka_unit_test(a_block_that_runs_in_a_pause_counts),
		cmocka_unit_test(a_pause_behind_all_launches_changes_nothing),
		cmocka_unit_test(a_pause_next_to_a_block_does_not_cut_it),
		cmocka_unit_test(a_pause_anywhere_changes_no_rate),
		cmocka_unit_test(no_period_spans_a_pause),
		cmocka_unit_test(a_step_that_a_pause_cuts_is_none),
		cmocka_unit_test(a_step_from_mark_to_mark_that_a_pause_cuts_is_none),
		cmocka_unit_test(no_period_of_a_step_spans_a_pause),
		cmocka_unit_test(a_request_that_a_pause_cuts_has_no_end_to_end_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

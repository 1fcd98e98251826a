/* test_blocks_rates.c - the rates of blocks: frames, warm-up, and playback in real time. */
#include "analysis/folds/blocks/blocks_math.h"
#include "formats/base/count.h"
#include "tests/support/traces/block_rig.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- frames ---- */

static void frames_are_never_guessed(void **state)
{
	static const struct {
		const char *rule;
		struct vpa_options options;
		const char *expected;
	} cases[] = {
		{"nobody says", {.top = 0}, "blocks 7, warmup 1, BPS 10, TTFB ms 100"},
		{"frames per block by option", {.frames_per_block = 12},
			"blocks 7, warmup 1, frames 72, FPS 120, BPS 10, busy 120, all 84, end to "
			"end 120, TTFB "
			"ms 100"},
		{"another number in the first", {.frames_per_block = 12, .first_block_frames = 9},
			"blocks 7, warmup 1, frames 72, FPS 120, BPS 10, busy 120, all 81, end to "
			"end 115.714, "
			"TTFB ms 100"},
		{"latents alone do not say", {.latents_per_block = 3},
			"blocks 7, warmup 1, BPS 10, latent 30, TTFB ms 100"},
		{"latents and a factor: 21 are 81 frames",
			{.latents_per_block = 3, .vae_factor = 4},
			"blocks 7, warmup 1, frames 72, FPS 120, BPS 10, busy 120, latent 30, all "
			"81, end to "
			"end 115.714, TTFB ms 100"},
		{"a number of frames goes first",
			{.frames_per_block = 24, .latents_per_block = 3, .vae_factor = 4},
			"blocks 7, warmup 1, frames 144, FPS 240, BPS 10, busy 240, latent 30, all "
			"168, end to "
			"end 240, TTFB ms 100"},
	};
	struct vpa_report *r;
	size_t i;

	(void)state;
	begin();
	plain_blocks(7, 0);
	for (i = 0; i < COUNT(cases); i++)
		expect_report(cases[i].rule, &cases[i].options, cases[i].expected);
	r = analyze(NULL);
	expect_note(
		"nobody says", r, "FPS is unavailable: 6 of 6 measured blocks have no frame count");
	vpa_report_free(r);

	begin();
	plain_blocks(3, 12);
	expect_report("what a block says goes before options", &cases[5].options,
		"blocks 3, warmup 1, frames 24, FPS 120, BPS 10, busy 120, latent 30, all 36, end "
		"to end 120, "
		"TTFB ms 100");
	begin();
	block(0, 100, 0, 9);
	kernel(0, 0, 100, GEMM);
	block(100, 200, 1, 12);
	kernel(100, 100, 200, GEMM);
	block(200, 300, 2, 0);
	kernel(200, 200, 300, GEMM);
	expect_report(
		"one that does not say is enough", NULL, "blocks 3, warmup 1, BPS 10, TTFB ms 100");
}

static void decoding_at_the_end_makes_it_a_denoise_rate(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	request(0, 5000, "clip");
	reference_blocks(0, 7, 100);
	annotated("range", 3500, 4500, "vae_decode", "{'kind':'stage'}");
	kernel(3500, 3500, 4500, CONV);
	r = analyze(NULL);
	check_sums(r);
	expect_request("a stage called VAE", r, 0,
		"blocks 7, warmup 1, frames 72, denoise rate 24, BPS 2, busy 24, denoise 30, "
		"latent 6, all "
		"81, end to end 18, TTFB ms 500, steps 28, a block 4, steps/s 10, s/it 0.1, "
		"context "
		"7");
	expect_note("it is said", r,
		"steady FPS is unavailable: the VAE's work comes after the last block");
	assert_int_equal(r->stage_count, 3);
	assert_string_equal(r->stages[2].name, "vae_decode");
	assert_int_equal(r->stages[2].in_blocks, 0);
	vpa_report_free(r);

	begin();
	request(0, 5000, "clip");
	reference_blocks(0, 7, 100);
	kernel(3500, 3500, 4500, CONV);
	r = analyze(NULL);
	assert_true(r->requests[0].blocks.fps < 0 && r->requests[0].blocks.denoise_rate == 24);
	vpa_report_free(r);

	begin();
	request(0, 5000, "clip");
	reference_blocks(0, 7, 100);
	line("call t1 cudaMemcpyAsync %ums+1us corr 900", at(3500));
	line("copy s7 DtoH device->pinned %ums-%ums corr 900 bytes 100MiB", at(3500), at(3510));
	r = analyze(NULL);
	expect_note("copies of frames", r, "the copies of frames come after the last block");
	vpa_report_free(r);
}

static void a_vae_between_the_blocks_is_inside_the_fps(void **state)
{
	struct vpa_report *r;
	unsigned k;

	(void)state;
	begin();
	for (k = 0; k < 4; k++) {
		block(k * 100, k * 100 + 60, k, 12);
		kernel(k * 100, k * 100, k * 100 + 60, GEMM);
		annotated("range", k * 100 + 60, k * 100 + 100, "vae_decode", "{'kind':'stage'}");
		kernel(k * 100 + 60, k * 100 + 60, k * 100 + 100, CONV);
	}
	r = analyze(NULL);
	check_sums(r);
	expect_request("three of four", r, 0,
		"blocks 4, warmup 1, frames 36, FPS 120, BPS 10, busy 120, latent 30, all 48, end "
		"to end "
		"120, TTFB ms 60");
	vpa_report_free(r);
}

/* ---- warm-up ---- */

static void warm_up_is_left_out(void **state)
{
	static const unsigned lengths[] = {900, 500, 100, 100, 110, 100, 90, 100};
	static const struct vpa_options none = {.has_warmup = 1},
					three = {.has_warmup = 1, .warmup = 3},
					many = {.has_warmup = 1, .warmup = 99};
	struct vpa_report *r;
	unsigned t = 0;
	size_t i;

	(void)state;
	begin();
	for (i = 0; i < COUNT(lengths); i++) {
		block(t, t + lengths[i], (unsigned)i, 10);
		kernel(t, t, t + lengths[i], GEMM);
		t += lengths[i];
	}
	expect_report("where the period changes", NULL,
		"blocks 8, warmup 2, frames 60, FPS 100, BPS 10, busy 100, latent 30, all 80, end "
		"to end 40, "
		"TTFB ms 900");
	expect_report("none", &none,
		"blocks 8, frames 80, FPS 40, BPS 4, busy 40, latent 12, all 80, end to end 40, "
		"TTFB ms "
		"900");
	expect_report("as many as asked for", &three,
		"blocks 8, warmup 3, frames 50, FPS 100, BPS 10, busy 100, latent 30, all 80, end "
		"to end 40, "
		"TTFB ms 900");
	expect_report("all", &many, "blocks 8, warmup 8, all 80, end to end 40, TTFB ms 900");
	r = analyze(&many);
	expect_note("all", r, "all blocks are warm-up");
	vpa_report_free(r);
	begin();
	plain_blocks(1, 12);
	r = analyze(NULL);
	expect_note("one block", r, "a single block has no period");
	vpa_report_free(r);
	expect_report("one block and no warm-up", &none,
		"blocks 1, frames 12, FPS 120, BPS 10, busy 120, latent 30, all 12, end to end "
		"120, TTFB ms "
		"100");
}

static void warm_up_ends_where_the_period_changes(void **state)
{
	static const struct {
		const char *rule;
		uint64_t periods[12];
		size_t count, expected;
	} cases[] = {
		{"no blocks", {0}, 0, 0},
		{"one", {5}, 1, 1},
		{"all alike", {100, 100, 100, 100, 100, 100}, 6, 1},
		{"the first is slow", {900, 100, 100, 100, 100, 100}, 6, 1},
		{"the first three are slow", {900, 900, 900, 100, 100, 100, 100, 100}, 8, 3},
		{"a fifth more is not slow", {120, 120, 120, 100, 100, 100, 100, 100}, 8, 1},
		{"growth is no warm-up", {100, 110, 120, 130, 140, 150, 160, 170}, 8, 1},
		{"falling slowly is none", {170, 165, 160, 155, 150, 145}, 6, 1},
		{"not more than half", {900, 900, 900, 900, 900, 100}, 6, 1},
		{"a late outlier is none", {100, 100, 100, 900, 100, 100, 100, 100}, 8, 1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		if (vpa_warmup_of(cases[i].periods, cases[i].count) != cases[i].expected)
			fail_msg("%s: %zu", cases[i].rule,
				vpa_warmup_of(cases[i].periods, cases[i].count));
}

/* ---- real time ---- */

static void deadlines_and_the_buffer_that_hides_them(void **state)
{
	/* 12 frames at 120 FPS last 100 ms. Ends: 100, 180, 310, 440, 520, 600, 710. */
	static const unsigned lengths[] = {100, 80, 130, 130, 80, 80, 110};
	static const struct vpa_options target = {.target_millifps = 120000},
					slower = {.target_millifps = 90000};
	struct vpa_report *r;
	const struct vpa_blocks *b;
	unsigned t = 0;
	size_t i;

	(void)state;
	begin();
	for (i = 0; i < COUNT(lengths); i++) {
		block(t, t + lengths[i], (unsigned)i, 12);
		kernel(t, t, t + lengths[i], GEMM);
		t += lengths[i];
	}
	r = analyze(&target);
	b = &r->requests[0].blocks;
	assert_int_equal(b->misses, 3);
	assert_int_equal(b->longest_miss_run, 2);
	assert_int_equal(b->jitter_ns, 50 * MS); /* p50 80, p99 130 */
	/* Block 3 is there 440 ms after the start and due 300 ms after playback begins: that must be 140 ms or
	 * later, which is when block 1 is there. */
	assert_int_equal(b->prebuffer_frames, 24);
	assert_true(b->series[2].missed && b->series[3].missed && b->series[6].missed);
	vpa_report_free(r);
	/* 133.3 ms a block: none is late, and playback can begin with the first. */
	r = analyze(&slower);
	assert_int_equal(r->requests[0].blocks.misses, 0);
	assert_int_equal(r->requests[0].blocks.longest_miss_run, 0);
	assert_int_equal(r->requests[0].blocks.prebuffer_frames, 12);
	vpa_report_free(r);
	r = analyze(NULL);
	assert_int_equal(r->requests[0].blocks.misses, -1);
	assert_int_equal(r->requests[0].blocks.prebuffer_frames, -1);
	vpa_report_free(r);
}

static void the_smallest_buffer_that_never_stalls(void **state)
{
	static const struct {
		const char *rule;
		uint64_t ready_ms[5], frames[5];
		size_t count;
		uint64_t millifps, expected;
	} cases[] = {
		{"one block", {100}, {12}, 1, 24000, 12},
		{"as fast as they are shown", {500, 1000, 1500}, {12, 12, 12}, 3, 24000, 12},
		{"faster", {500, 600, 700}, {12, 12, 12}, 3, 24000, 12},
		{"a short first block needs the second", {500, 1000, 1500}, {9, 12, 12}, 3, 24000,
			21},
		{"half as fast: all but the last must be there", {1000, 2000, 3000, 4000},
			{12, 12, 12, 12}, 4, 24000, 36},
		{"one nanosecond late is late", {0, 501}, {12, 12}, 2, 24000, 24},
		{"one hiccup", {100, 200, 300, 600, 700}, {12, 12, 12, 12, 12}, 5, 120000, 36},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		uint64_t ready_ns[5], found;

		for (k = 0; k < cases[i].count; k++)
			ready_ns[k] = cases[i].ready_ms[k] * MS;
		found = vpa_prebuffer_of(
			ready_ns, cases[i].frames, cases[i].count, cases[i].millifps);
		if (found != cases[i].expected)
			fail_msg("%s: %" PRIu64, cases[i].rule, found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_never_guessed),
		cmocka_unit_test(decoding_at_the_end_makes_it_a_denoise_rate),
		cmocka_unit_test(a_vae_between_the_blocks_is_inside_the_fps),
		cmocka_unit_test(warm_up_is_left_out),
		cmocka_unit_test(warm_up_ends_where_the_period_changes),
		cmocka_unit_test(deadlines_and_the_buffer_that_hides_them),
		cmocka_unit_test(the_smallest_buffer_that_never_stalls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

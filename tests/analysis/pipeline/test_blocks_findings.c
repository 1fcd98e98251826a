/* test_blocks_findings.c - what the report advises about blocks, their steps and their stages. */
#include "formats/base/count.h"
#include "tests/support/traces/block_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct vpa_finding *finding(const struct vpa_report *r, const char *id)
{
	size_t i;

	for (i = 0; i < r->finding_count; i++)
		if (!strcmp(vpa_finding_text(r->findings[i].id), id))
			return &r->findings[i];
	return NULL;
}

static void expect_finding(const char *id, const struct vpa_options *options, const char *measured)
{
	struct vpa_report *r = analyze(options);
	const struct vpa_finding *f = finding(r, id);

	if (!f != !measured || (f && strcmp(f->measured, measured)))
		fail_msg("%s: found %s, expected %s", id, f ? f->measured : "nothing",
			measured ? measured : "nothing");
	vpa_report_free(r);
}

static void findings_are_silent_within_their_thresholds(void **state)
{
	static const struct vpa_options large = {.latents_per_block = 9};
	unsigned k, s;

	(void)state;
	begin();
	request(0, 3500, "clip");
	reference_blocks(0, 7, 100);
	expect_finding("bps", NULL, NULL);
	expect_finding("steps", NULL, NULL);
	expect_finding("block-size", NULL, NULL);
	expect_finding("attention-growth", NULL, NULL);
	expect_finding("stage-share", NULL, NULL);
	expect_finding("syncs-per-step", NULL, NULL);

	begin();
	for (k = 0; k < 4; k++) {
		unsigned t = k * 1000;

		block(t, t + 1000, k, 0);
		for (s = 0; s < 31; s++) {
			step(t + s * 10, t + s * 10 + 10, s, 0);
			kernel(t + s * 10, t + s * 10, t + s * 10 + 5, GEMM);
			line("call t1 cudaStreamSynchronize %u002us-%ums", at(t + s * 10),
				at(t + s * 10 + 6));
		}
		annotated("range", t + 400, t + 1000, "to_host", "{'kind':'stage'}");
		kernel(t + 400, t + 400, t + 1000, GEMM);
	}
	expect_finding("bps", NULL, "1.00 blocks per second");
	expect_finding("steps", NULL, "31 denoising steps per block");
	expect_finding("block-size", &large, "9 latent frames per block");
	expect_finding("stage-share", NULL,
		"to_host: 60.0 % of the blocks' time, with nothing else beside it");
	/* Of each block 31 waits of 1 ms after the work; the code that follows each is the host's own. */
	expect_finding(
		"syncs-per-step", NULL, "1.0 waits per step drain the GPU, 93.0 ms in all blocks");

	/* Steps of one image that is marked are many; of how many images those of a window are, nobody knows. */
	for (k = 0; k < 2; k++) {
		begin();
		if (k)
			request(0, 400, "image");
		for (s = 0; s < 31; s++) {
			step(s * 10, s * 10 + 10, s, 0);
			kernel(s * 10, s * 10, s * 10 + 5, GEMM);
		}
		expect_finding("steps", NULL, k ? "31 denoising steps per request" : NULL);
	}

	begin();
	for (k = 0, s = 0; k < 5; k++) {
		block(s, s + 100 + 10 * k, k, 12);
		kernel(s, s, s + 50 + 10 * k, ATTENTION);
		kernel(s, s + 50 + 10 * k, s + 100 + 10 * k, GEMM);
		s += 100 + 10 * k;
	}
	expect_finding(
		"attention-growth", NULL, "+10.0 ms of attention per block, 8.0 % of the period");
}

/* Seven blocks of 12 frames, `period` ms apart. */
static void blocks_every(unsigned period)
{
	unsigned k;

	begin();
	for (k = 0; k < 7; k++) {
		block(k * period, (k + 1) * period, k, 12);
		kernel(k * period, k * period, (k + 1) * period, GEMM);
	}
}

static void a_rate_is_judged_where_no_target_does_that(void **state)
{
	static const struct vpa_options target = {.target_millifps = 24000};

	(void)state;
	blocks_every(1250);
	expect_finding("fps", NULL, "9.60 frames per second");
	expect_finding("fps", &target, NULL);
	blocks_every(1200);
	expect_finding("fps", NULL, NULL);
	begin();
	annotated("range", 0, 5000, "clip", "{'kind':'request','frames':49}");
	kernel(0, 0, 5000, GEMM);
	expect_finding("fps", NULL, "9.80 frames per second, end to end");
}

/* Seven blocks of 12 frames, 100 ms apart, each with `work` ms of work. */
static void blocks_with_work(unsigned work, const char *name)
{
	unsigned k;

	begin();
	for (k = 0; k < 7; k++) {
		block(k * 100, (k + 1) * 100, k, 12);
		kernel(k * 100, k * 100, k * 100 + work - 1, GEMM);
		kernel(k * 100, k * 100 + work - 1, k * 100 + work, name);
	}
}

/* 120 FPS; 126.3 without idle time, and half as much again is 189.5. */
static void several_gpus_are_said_as_what_they_must_reach(void **state)
{
	static const struct {
		uint64_t target_millifps;
		unsigned work;
		const char *name, *measured;
	} cases[] = {
		{189000, 95, CONV, NULL},
		{190000, 95, CONV,
			"120.00 frames per second, the target is 1.58 times that: 2 GPUs at an "
			"efficiency of 79.2 %, or 3 GPUs at an efficiency of 52.8 %"},
		{240000, 95, CONV,
			"120.00 frames per second, the target is 2.00 times that: 2 GPUs at an "
			"efficiency of 100.0 %, or 3 GPUs at an efficiency of 66.7 %"},
		{7680000, 95, CONV,
			"120.00 frames per second, the target is 64.00 times that: 64 GPUs at an "
			"efficiency of 100.0 %, or 65 GPUs at an efficiency of 98.5 %"},
		{7681000, 95, CONV, NULL},
		/* It mostly waits; it is one of several; nobody said a target. */
		{1200000, 80, CONV, NULL},
		{1200000, 95, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", NULL},
		{0, 95, CONV, NULL},
	};
	struct vpa_options options = {.warmup = 0};
	struct vpa_report *r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		blocks_with_work(cases[i].work, cases[i].name);
		options.target_millifps = cases[i].target_millifps;
		expect_finding("several-gpus", &options, cases[i].measured);
	}
	blocks_with_work(95, CONV);
	line("meta model.parameters \"2000000000\"");
	options.target_millifps = 300000;
	r = analyze(&options);
	assert_string_equal(finding(r, "several-gpus")->title,
		"one GPU that never waits makes 126.32 frames per second: the target needs cheaper "
		"work, or at least 3 GPUs at an efficiency of 83.4 %");
	/* It comes before other advice without a gain. */
	assert_true(finding(r, "several-gpus") < finding(r, "parameters"));
	vpa_report_free(r);
}

static void a_large_model_has_narrow_products(void **state)
{
	static const struct {
		const char *fact, *gemm, *measured;
	} cases[] = {
		{"meta model.parameters \"1300000000\"", GEMM, "model: 1.30 billion parameters"},
		{"meta model.parameters \"1.3e9\"", GEMM, "model: 1.30 billion parameters"},
		{"meta model.transformer.parameters \"14e9\"", GEMM,
			"transformer: 14.00 billion parameters"},
		{"meta model.parameters \"1000000000\"", GEMM, NULL},
		{"meta model.parameters \"many\"", GEMM, NULL},
		{"meta model.xparameters \"2e9\"", GEMM, NULL},
		{"meta parameters \"2e9\"", GEMM, NULL},
		{"meta model.parameters \"2e9\"", "sm90_xmma_gemm_e4m3e4m3_e4m3f32_f32_tn_n", NULL},
		{"meta model.parameters \"2e9\"", CONV, NULL},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		line("%s", cases[i].fact);
		kernel(0, 0, 100, cases[i].gemm);
		expect_finding("parameters", NULL, cases[i].measured);
	}
}

/* Five blocks with an unfused sequence each, whose kernels take 20, 10 and 10 ms in the first and as much more in
 * each that follows: its softmax grows by 10 ms, all of it by 40. */
static void unfused_attention_grows_as_a_whole(void **state)
{
	const struct vpa_options options = {.has_warmup = 1, .warmup = 1};
	const struct vpa_finding *f;
	struct vpa_report *r;
	unsigned k, t = 0;

	(void)state;
	begin();
	for (k = 1; k <= 5; k++) {
		block(t, t + 60 + 40 * k, k, 12);
		kernel(t, t, t + 20 * k, GEMM);
		kernel(t, t + 20 * k, t + 30 * k, "softmax_warp_forward");
		kernel(t, t + 30 * k, t + 40 * k, GEMM);
		kernel(t, t + 40 * k, t + 40 * k + 60, CONV);
		t += 60 + 40 * k;
	}
	expect_finding("attention-growth", &options,
		"+10.0 ms to +40.0 ms of attention per block, 5.0 to 20.0 % of the period");
	r = analyze(&options);
	f = finding(r, "eager-attention");
	assert_non_null(f);
	assert_true(f->gain_from_ms == 150 && f->gain_at_most_ms == 600);
	/* All of it is claimed by the finding above. */
	assert_true(finding(r, "attention-growth")->gain_at_most_ms == 0);
	assert_true(r->requests[0].blocks.attention_drift_ns == 10e6);
	assert_true(r->requests[0].blocks.attention_drift_most_ns == 40e6);
	vpa_report_free(r);
}

/* Five blocks with 20 ms of attention in the first and 20 more in each that follows, after `memory` ms of GEMMs that grow alike: of
 * the last four attention beyond the least is 20 + 40 + 60, and of the others as much of `memory` / 20. */
static void attention_that_does_not_grow_alone(void **state)
{
	const struct vpa_options options = {.has_warmup = 1, .warmup = 1};
	static const struct {
		unsigned memory;
		double from_ms, most_ms;
		int at_least;
	} cases[] = {{0, 0, 120, 0}, {2, 0, 120, 0}, {10, 120, 180, 1}};
	const struct vpa_finding *f;
	struct vpa_report *r;
	unsigned k, i, t;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		for (k = 1, t = 0; k <= 5; k++) {
			unsigned memory = cases[i].memory * k, all = 60 + memory + 20 * k;

			block(t, t + all, k, 12);
			if (memory)
				kernel(t, t, t + memory, GEMM);
			kernel(t, t + memory, t + memory + 20 * k, ATTENTION);
			kernel(t, t + memory + 20 * k, t + all, CONV);
			t += all;
		}
		r = analyze(&options);
		f = finding(r, "attention-growth");
		assert_non_null(f);
		assert_float_equal(f->gain_from_ms, cases[i].from_ms, 1e-6);
		assert_float_equal(f->gain_at_most_ms, cases[i].most_ms, 1e-6);
		assert_int_equal(f->predicted_at_least, cases[i].at_least);
		assert_non_null(f->change);
		vpa_report_free(r);
	}
}

/* Six blocks of 60 ms of denoising, with `attention` ms more of it in each, and a stage of 20 ms in the first that takes `more`
 * longer in each that follows: beyond the first 20 + 40 + ... + 100 of 20 ms. */
static struct vpa_report *blocks_with_a_stage_that_grows(unsigned first_frames, const char *stage,
	const char *kernel_name, unsigned attention, unsigned more)
{
	const struct vpa_options options = {.has_warmup = 1, .warmup = 1};
	unsigned k, t = 0;

	begin();
	for (k = 0; k < 6; k++) {
		unsigned denoise = 60 + attention * k, decode = 20 + more * k;

		block(t, t + denoise + decode, k, k ? 12 : first_frames);
		step(t, t + denoise, 0, 0);
		kernel(t, t, t + 20 + attention * k, ATTENTION);
		kernel(t, t + 20 + attention * k, t + denoise, GEMM);
		annotated("range", t + denoise, t + denoise + decode, stage, "{'kind':'stage'}");
		kernel(t + denoise, t + denoise, t + denoise + decode, kernel_name);
		t += denoise + decode;
	}
	return analyze(&options);
}

static void a_stage_that_grows_has_a_line(void **state)
{
	static const struct {
		const char *rule;
		unsigned first_frames; /* 0: nor a number of latents */
		const char *stage, *kernel;
		unsigned attention, more;
		double gain_ms, attention_ms;
		const char *measured, *words, *change;
	} cases[] = {
		{"a decoder decodes old latents again", 0, "vae_decode", CONV, 0, 20, 200, -1,
			"vae_decode: +20.0 ms per block; 200 ms of 400 ms is beyond what it takes "
			"in the first",
			"decode only the new latents", "scale * 0.500000 in vae_decode"},
		{"with as many latents the warm-up is the first", 12, "vae_decode", CONV, 0, 20,
			300, -1,
			"vae_decode: +20.0 ms per block; 300 ms of 400 ms is beyond what it takes "
			"in the first",
			"decode only the new latents", "scale * 0.250000 in vae_decode"},
		{"a shorter window makes no decoder quicker", 0, "vae_decode", CONV, 5, 20, 200, 50,
			"vae_decode: +20.0 ms per block; 200 ms of 400 ms is beyond what it takes "
			"in the first",
			"decode only the new latents", "scale * 0.500000 in vae_decode"},
		{"convolutions are decoding by whatever name", 0, "to_frames", CONV, 0, 20, 200, -1,
			"to_frames: +20.0 ms per block; 200 ms of 400 ms is beyond what it takes "
			"in the first",
			"decode only the new latents", "scale * 0.500000 in to_frames"},
		{"an encoder is no decoder", 0, "vae_encode", CONV, 0, 20, 200, -1,
			"vae_encode: +20.0 ms per block; 200 ms of 400 ms is beyond what it takes "
			"in the first",
			"compute only what is new in each block", "scale * 0.500000 in vae_encode"},
		{"another stage keeps what it has", 0, "update_memory", GEMM, 0, 20, 200, -1,
			"update_memory: +20.0 ms per block; 200 ms of 400 ms is beyond what it "
			"takes in the first",
			"compute only what is new in each block",
			"scale * 0.500000 in update_memory"},
		{"or follows attention, which has the line", 0, "update_memory", GEMM, 5, 20, 0,
			250, NULL, NULL, NULL},
		{"a stage of attention is no other", 0, "update_memory", ATTENTION, 0, 20, 0, 200,
			NULL, NULL, NULL},
		{"a steady one has none", 0, "vae_decode", CONV, 0, 0, 0, -1, NULL, NULL, NULL},
	};
	const struct vpa_finding *f, *attention;
	struct vpa_report *r;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		r = blocks_with_a_stage_that_grows(cases[i].first_frames, cases[i].stage,
			cases[i].kernel, cases[i].attention, cases[i].more);
		f = finding(r, "stage-growth");
		attention = finding(r, "attention-growth");
		if (!f != !cases[i].measured || (f && strcmp(f->measured, cases[i].measured) != 0))
			fail_msg("%s: %s", cases[i].rule, f ? f->measured : "nothing");
		if ((attention ? attention->gain_at_most_ms : -1) != cases[i].attention_ms)
			fail_msg("%s: %f ms of attention", cases[i].rule,
				attention ? attention->gain_at_most_ms : -1);
		if (f) {
			assert_float_equal(f->gain_at_most_ms, cases[i].gain_ms, 1e-6);
			assert_float_equal(f->base_gain_ms, cases[i].gain_ms / 5, 1e-6);
			assert_string_equal(f->words, cases[i].words);
			assert_string_equal(f->change, cases[i].change);
			assert_null(finding(r, "stage-share"));
		}
		vpa_report_free(r);
	}
}

/* Seven blocks `period` apart: 100 ms of denoising, then 60 ms of a stage on another stream. */
static void blocks_with_a_stage_beside(unsigned period)
{
	unsigned k;

	begin();
	for (k = 0; k < 7; k++) {
		unsigned t = k * period;

		block(t, t + 40, k, 0);
		step(t, t + 20, 0, 0);
		kernel(t, t, t + 100, GEMM);
		annotated("range", t + 20, t + 40, "decode", "{'kind':'stage'}");
		kernel_on(t + 30, "s8", t + 100, t + 160, CONV);
	}
}

/* Seven blocks of 100 ms: 50 of denoising, then a stage with work at its beginning and its end, and 10 ms of
 * work that is not its own between them, or none. */
static void blocks_with_a_stage_that_waits(int has_other)
{
	unsigned k;

	begin();
	for (k = 0; k < 7; k++) {
		unsigned t = k * 100;

		block(t, t + 99, k, 0);
		step(t, t + 20, 0, 0);
		kernel(t, t, t + 50, GEMM);
		annotated("range", t + 20, t + 95, "decode", "{'kind':'stage'}");
		kernel(t + 30, t + 50, t + 60, CONV);
		kernel(t + 60, t + 90, t + 100, CONV);
		if (has_other)
			line("call t2 cudaLaunchKernel %u001us+1us corr %u\n"
			     "kernel s9 %ums+10ms corr %u \"%s\"",
				at(t + 70), 1000 + k, at(t + 70), 1000 + k, GEMM);
	}
}

/* Of the blocks after the first: denoising covers 40 of the stage's 60 ms, in the last one none; or 15. */
static void a_stage_costs_what_it_has_the_device_alone(void **state)
{
	const struct vpa_options options = {.has_warmup = 1, .warmup = 1};
	struct vpa_report *r;
	size_t i;

	(void)state;
	blocks_with_a_stage_beside(120);
	expect_finding("stage-share", &options, NULL);
	r = analyze(&options);
	for (i = 0; i < r->stage_count; i++)
		if (!strcmp(r->stages[i].name, "decode"))
			assert_int_equal(r->stages[i].alone_ns, (5 * 20 + 60) * MS);
	vpa_report_free(r);
	blocks_with_a_stage_beside(145);
	/* (5 x 45 + 60) of 6 x 145 ms */
	expect_finding("stage-share", &options,
		"decode: 32.8 % of the blocks' time, with nothing else beside it");
	blocks_with_a_stage_that_waits(0);
	expect_finding("stage-share", &options,
		"decode: 50.0 % of the blocks' time, with nothing else beside it");
	blocks_with_a_stage_that_waits(1);
	expect_finding("stage-share", &options, NULL);
}

/* A range that only its place makes a stage may be the denoising itself, unless steps are marked beside it. */
static void a_plain_part_may_be_the_denoising(void **state)
{
	const struct vpa_options options = {.has_warmup = 1, .warmup = 0};
	unsigned k, steps;

	(void)state;
	for (steps = 0; steps < 2; steps++) {
		begin();
		for (k = 0; k < 4; k++) {
			unsigned t = k * 100;

			block(t, t + 99, k, 0);
			line("range t1 %ums+59ms \"denoise\"", at(t));
			kernel(t, t, t + 60, GEMM);
			if (steps)
				step(t + 60, t + 98, 0, 0);
			kernel(t + 60, t + 60, t + 100, GEMM);
		}
		expect_finding("stage-share", &options,
			steps ? "denoise: 60.0 % of the blocks' time, with nothing else beside it"
			      : NULL);
	}
}

/* 4 blocks of 100 ms: 30 ms of a text encoder in the first `encoded` of them, the rest denoising. */
static void blocks_that_encode(unsigned encoded)
{
	unsigned k;

	begin();
	for (k = 0; k < 4; k++) {
		unsigned t = k * 100, from = k < encoded ? t + 30 : t;

		block(t, t + 99, k, 0);
		if (k < encoded) {
			line("range t1 %ums+29ms \"text_encode\"", at(t));
			kernel(t, t, t + 30, GEMM);
		}
		step(from, t + 98, 0, 0);
		kernel(from, from, t + 100, GEMM);
	}
}

static void a_prompt_is_encoded_once(void **state)
{
	const struct vpa_options options = {.has_warmup = 1, .warmup = 0};
	struct vpa_report *r;
	const struct vpa_finding *f;

	(void)state;
	blocks_that_encode(4);
	expect_finding("prompt-again", &options,
		"text_encode: 4 times in 4 blocks, 120 ms with nothing else beside it");
	r = analyze(&options);
	f = finding(r, "prompt-again");
	assert_float_equal(f->base_ms, 100, 1e-6);
	assert_float_equal(f->base_gain_ms, 30, 1e-6);
	assert_string_equal(f->change, "skip 1/1 text_encode");
	vpa_report_free(r);
	blocks_that_encode(3);
	expect_finding("prompt-again", &options, NULL);
}

/* `requests` of 4 such blocks each, of which the first `encoded` encode. */
static void requests_that_encode(unsigned requests, unsigned encoded)
{
	unsigned i, k;

	begin();
	for (i = 0; i < requests; i++) {
		request(500 * i, 500 * i + 409, "generate");
		for (k = 0; k < 4; k++) {
			unsigned t = 500 * i + k * 100, from = k < encoded ? t + 30 : t;

			block(t, t + 99, k, 0);
			if (k < encoded) {
				line("range t1 %ums+29ms \"text_encode\"", at(t));
				kernel(t, t, t + 30, GEMM);
			}
			step(from, t + 98, 0, 0);
			kernel(from, from, t + 100, GEMM);
		}
	}
}

/* Stages are summed over all requests, blocks are those of one. */
static void what_blocks_of_several_requests_do_is_shared_among_all(void **state)
{
	const struct vpa_options options = {.has_warmup = 1, .warmup = 0};
	const struct vpa_finding *f;
	struct vpa_report *r;

	(void)state;
	requests_that_encode(3, 4);
	r = analyze(&options);
	f = finding(r, "prompt-again");
	assert_non_null(f);
	assert_string_equal(f->measured,
		"text_encode: 12 times in 12 blocks, 360 ms with nothing else beside it");
	assert_true(f->base_gain_ms > 0.29 * f->base_ms && f->base_gain_ms < 0.31 * f->base_ms);
	vpa_report_free(r);
	/* Once in each request is four times in sixteen blocks. */
	requests_that_encode(4, 1);
	expect_finding("prompt-again", &options, NULL);
}

/* What each of 6 blocks of 100 ms does in 20 ms before or after its step: a kernel in a range, and a few copies. */
static const struct again {
	const char *rule, *stage, *upload; /* upload: a copy before the stage; NULL: none */
	unsigned grows_ms,
		parts; /* from block to block; kernels: 0: as many as blocks came before */
	int is_after, in_steps;
	const char *measured; /* NULL: there is no finding */
} agains[] = {
	{"the same before the steps of each block", "prepare_latents", NULL, 0, 1, 0, 0,
		"prepare_latents: the same 1 op in each of 6 blocks, 120 ms with "
		"nothing else beside it"},
	{"a few bytes may steer it", "prepare_latents", "bytes 1056", 0, 2, 0, 0,
		"prepare_latents: the same 3 ops in each of 6 blocks, 120 ms with "
		"nothing else beside it"},
	{"frames that are copied are new", "prepare_latents", "bytes 4792320", 0, 1, 0, 0, NULL},
	{"sound is little, and new", "prepare_latents", "bytes 65536", 0, 1, 0, 0, NULL},
	{"a context pass goes on with what came before", "recompute_context", NULL, 0, 1, 0, 0,
		NULL},
	{"a decoder gets new latents", "vae_decode", NULL, 0, 1, 1, 0, NULL},
	{"also where it comes first", "vae_decode", NULL, 0, 1, 0, 0, NULL},
	{"what comes after the steps has their result", "prepare_latents", NULL, 0, 1, 1, 0, NULL},
	{"steps denoise", "prepare_latents", NULL, 0, 1, 0, 1, NULL},
	{"the text encoder has its own advice", "text_encode", NULL, 0, 1, 0, 0, NULL},
	{"what grows is not the same", "prepare_latents", NULL, 2, 1, 0, 0, NULL},
	{"nor what has other kernels each time", "prepare_latents", NULL, 0, 0, 0, 0, NULL},
	{"pictures are new", "image_encode", NULL, 0, 1, 0, 0, NULL},
};

static void stage_of(const struct again *a, unsigned t, unsigned until, unsigned index)
{
	unsigned parts = a->parts ? a->parts : index + 1, k;

	annotated("range", t, until - 1, a->stage, "{'kind':'stage'}");
	for (k = 0; k < parts; k++)
		kernel(t, t + (until - t) * k / parts, t + (until - t) * (k + 1) / parts, GEMM);
}

static void blocks_that_prepare(const struct again *a)
{
	unsigned k;

	begin();
	for (k = 0; k < 6; k++) {
		unsigned t = k * 100, stage_ms = 20 + a->grows_ms * k,
			 from = a->is_after || a->in_steps ? t : t + stage_ms,
			 until = a->is_after ? t + 100 - stage_ms : t + 100;

		block(t, t + 99, k, 0);
		if (a->upload)
			line("call t1 cudaMemcpyAsync %ums+5us corr %u\n"
			     "copy s7 HtoD pinned->device %ums+10us corr %u %s",
				at(t), 1000 + k, at(t), 1000 + k, a->upload);
		step(from, until - 1, 0, 0);
		if (a->in_steps || !a->is_after)
			stage_of(a, t, t + stage_ms, k);
		kernel(from, t + (a->is_after ? 0 : stage_ms), until, ATTENTION);
		if (a->is_after)
			stage_of(a, until, t + 100, k);
	}
}

static void what_each_block_does_again_is_done_once(void **state)
{
	const struct vpa_options options = {.has_warmup = 1, .warmup = 0};
	const struct vpa_finding *f;
	struct vpa_report *r;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(agains); i++) {
		blocks_that_prepare(&agains[i]);
		r = analyze(&options);
		f = finding(r, "work-again");
		if (!f != !agains[i].measured || (f && strcmp(f->measured, agains[i].measured)))
			fail_msg("%s: found %s", agains[i].rule, f ? f->measured : "nothing");
		vpa_report_free(r);
	}
	blocks_that_prepare(&agains[0]);
	r = analyze(&options);
	f = finding(r, "work-again");
	assert_string_equal(f->words, "prepare_latents once, if its input stays");
	assert_null(f->change);
	/* The first block has to. */
	assert_float_equal(f->base_gain_ms, (float)(20.0 * 5 / 6), 1e-5);
	vpa_report_free(r);
}

/* Five requests of 100 ms: 40 ms of the host's code in a range, with a copy of a weight, then 60 ms of work. */
static void requests_that_load(const char *range)
{
	unsigned k;

	begin();
	for (k = 0; k < 5; k++) {
		unsigned t = k * 100;

		request(t, t + 99, "generate");
		line("range t1 %ums+39ms \"%s\"\n"
		     "call t1 cudaMemcpyAsync %ums+5us corr %u\n"
		     "copy s7 HtoD pinned->device %ums+4ms corr %u bytes %u",
			at(t), range, at(t + 35), 1000 + k, at(t + 35), 1000 + k, 100000000 + k);
		kernel(t + 40, t + 40, t + 100, GEMM);
	}
}

static void what_each_request_loads_is_kept(void **state)
{
	static const struct {
		const char *range;
		int is_found;
	} cases[] = {{"load_lora_weights", 1}, {"DiffusionPipeline.from_pretrained", 1},
		{"load_video", 0}, {"load_model_inputs", 0}, {"load_transformer_inputs", 0},
		{"offload_model", 0}, {"unload_lora_weights", 0}, {"vae_decode", 0},
		{"load_image", 0}, {"text_encoder.from_pretrained", 1},
		{"VideoProcessor.from_pretrained", 1}, {"load_text_encoder", 1},
		{"load_image_encoder_weights", 1}, {"load_tokenizer", 1}, {"load_tokens", 0},
		{"load_image_for_model", 0}, {"load_state_for_video", 1},
		{"transformer.load_file", 1}, {"model.load_batch", 0}, {"dataset.load_file", 0}};
	const struct vpa_options options = {.step_parts = 1};
	const struct vpa_finding *f;
	struct vpa_report *r;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		requests_that_load(cases[i].range);
		r = analyze(&options);
		f = finding(r, "work-again");
		if (!f != !cases[i].is_found)
			fail_msg("%s: %s", cases[i].range, f ? f->measured : "not found");
		if (f && (f->base_gain_ms < 38 || !f->change))
			fail_msg("%s: %.3f ms", cases[i].range, f->base_gain_ms);
		vpa_report_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(findings_are_silent_within_their_thresholds),
		cmocka_unit_test(a_rate_is_judged_where_no_target_does_that),
		cmocka_unit_test(several_gpus_are_said_as_what_they_must_reach),
		cmocka_unit_test(a_large_model_has_narrow_products),
		cmocka_unit_test(unfused_attention_grows_as_a_whole),
		cmocka_unit_test(attention_that_does_not_grow_alone),
		cmocka_unit_test(a_stage_that_grows_has_a_line),
		cmocka_unit_test(a_stage_costs_what_it_has_the_device_alone),
		cmocka_unit_test(a_plain_part_may_be_the_denoising),
		cmocka_unit_test(a_prompt_is_encoded_once),
		cmocka_unit_test(what_blocks_of_several_requests_do_is_shared_among_all),
		cmocka_unit_test(what_each_block_does_again_is_done_once),
		cmocka_unit_test(what_each_request_loads_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

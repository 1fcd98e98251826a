/* test_blocks_names.c - which names make a range a block, a step or a stage, and where. */
#include "formats/base/count.h"
#include "tests/support/traces/block_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* ---- names ---- */

static void the_names_of_the_guide_are_stages(void **state)
{
	struct vpa_report *r;

	(void)state;
	begin();
	line("range t1 %ums-%ums \"pipeline_call\"", at(0), at(200));
	line("range t1 %ums-%ums \"encode_prompt\"", at(0), at(50));
	kernel(0, 0, 40, GEMM);
	line("range t1 %ums-%ums \"transformer_forward\"", at(50), at(90));
	kernel(50, 50, 90, ATTENTION);
	line("range t1 %ums-%ums \"vae_decode\"", at(100), at(200));
	kernel(100, 100, 200, CONV);
	expect_stages("all of it, and what it is made of",
		"pipeline_call 1x0, 200 ms, busy 180, idle 20, attention 40; encode_prompt 1x0, 40 "
		"ms, busy 40, idle 0, attention 0; transformer_forward 1x0, 40 ms, busy 40, idle "
		"0, attention 40; vae_decode 1x0, 100 ms, busy 100, idle 0, attention 0");
	r = analyze(NULL);
	assert_int_equal(r->request_count, 1);
	assert_string_equal(r->requests[0].name, "pipeline_call");
	assert_int_equal(r->stages[0].kind, VPA_SCOPE_REQUEST);
	vpa_report_free(r);
}

/* ---- where names stand ---- */

static void names_are_blocks_where_they_are_outermost(void **state)
{
	static const char block_rules[] =
		"range block(index,frames)\t^clip ([0-9]+) of ([0-9]+)$\n";
	static const struct vpa_options rules = {
		.rules = block_rules, .rules_len = sizeof(block_rules) - 1};
	unsigned b, s, layer;

	(void)state;
	begin();
	for (b = 0; b < 4; b++) {
		unsigned t = b * 100;

		line("range t1 %ums-%ums \"chunk %u\"", at(t), at(t + 100), b);
		for (s = 0; s < 2; s++) {
			line("range t1 %ums-%ums \"step %u\"", at(t + s * 40), at(t + s * 40 + 40),
				s);
			for (layer = 0; layer < 4; layer++) {
				unsigned from = t + s * 40 + layer * 10;

				/* a layer, and what a cache calls its blocks */
				line("range t1 %ums-%ums \"transformer_block.%u\"", at(from),
					at(from + 10), layer);
				line("range t1 %ums-%ums \"block %u\"", at(from), at(from + 10),
					layer);
				kernel(from, from, from + 10, GEMM);
			}
		}
		line("range t1 %ums-%ums \"vae_decode\"", at(t + 80), at(t + 100));
		line("range t1 %ums-%ums \"chunk 0\"", at(t + 80), at(t + 100)); /* of the VAE */
		kernel(t + 80, t + 80, t + 100, CONV);
	}
	expect_report("by name", NULL,
		"blocks 4, warmup 1, BPS 10, TTFB ms 100, steps 8, a block 2, steps/s 25, s/it "
		"0.04");

	begin();
	for (b = 0; b < 4; b++) {
		line("range t1 %ums-%ums \"clip %u of 12\"", at(b * 100), at(b * 100 + 100), b);
		line("range t1 %ums-%ums \"block 9\"", at(b * 100), at(b * 100 + 50));
		kernel(b * 100, b * 100, b * 100 + 100, GEMM);
	}
	expect_report("by a rule, with frames", &rules,
		"blocks 4, warmup 1, frames 36, FPS 120, BPS 10, busy 120, all 48, end to end 120, "
		"TTFB ms 100");
	expect_report("without it", NULL, "blocks 4, warmup 1, BPS 10, TTFB ms 100");
}

/* Loops that make a video part by part are called in many ways. A part with no verb may be one of anything, and so may a "window". */
static void what_makes_a_part_of_a_video_is_a_block(void **state)
{
	static const struct {
		const char *form; /* with the block's number, or without */
		int is_block;
	} cases[] = {{"generate_chunk", 1}, {"generate_chunk %u", 1}, {"Generate Section", 1},
		{"generate_clip_%u", 1}, {"denoise segment %u of 9", 1}, {"sampling_chunk", 1},
		{"sample section %u/9", 1}, {"video_clip_%u", 1}, {"latent_chunk_%u", 1},
		{"denoising_block", 1}, {"diffusion block %u", 1}, {"video clip", 0},
		{"latent_chunk", 0}, {"chunk", 0}, {"section", 0}, {"generate_window", 0},
		{"generate", 0}, {"generate_chunk_mask", 0}, {"load_chunk", 0}};
	char name[64];
	unsigned b, s;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		begin();
		for (b = 0; b < 4; b++) {
			unsigned t = b * 100;

			snprintf(name, sizeof(name), cases[i].form, b);
			line("range t1 %ums-%ums \"%s\"", at(t), at(t + 100), name);
			for (s = 0; s < 2; s++) {
				line("range t1 %ums-%ums \"denoise_step\"", at(t + s * 40),
					at(t + s * 40 + 40));
				kernel(t + s * 40, t + s * 40, t + s * 40 + 40, GEMM);
			}
			line("range t1 %ums-%ums \"vae_decode\"", at(t + 80), at(t + 100));
			kernel(t + 80, t + 80, t + 100, CONV);
		}
		expect_report(cases[i].form, NULL,
			cases[i].is_block ? "blocks 4, warmup 1, BPS 10, TTFB ms 100, steps 8, a "
					    "block 2, steps/s 25, s/it 0.04"
					  : "steps 8, steps/s 20.588, s/it 0.049");
	}
}

/* A profiler that records Python's stack has a range for each of its frames. */
static void a_block_is_around_any_number_of_other_ranges(void **state)
{
	enum { FRAMES = 200 };
	unsigned b, depth;

	(void)state;
	begin();
	for (b = 0; b < 3; b++) {
		unsigned t = at(b * 100) * 1000;

		line("range t1 %uus-%uus \"block %u\"", t, t + 100000, b);
		for (depth = 1; depth <= FRAMES; depth++)
			line("range t1 %uus-%uus \"frame %u\"", t + depth, t + 100000 - depth,
				depth);
		line("range t1 %uus-%uus \"step 0\"", t + FRAMES + 1, t + 100000 - FRAMES - 1);
		kernel(b * 100 + 1, b * 100 + 10, b * 100 + 100, GEMM);
	}
	expect_report("steps under a stack", NULL,
		"blocks 3, warmup 1, BPS 10, TTFB ms 100, steps 3, a block 1, steps/s 11.111, "
		"s/it 0.09");
}

static void an_annotation_puts_rules_aside(void **state)
{
	unsigned b;

	(void)state;
	begin();
	for (b = 0; b < 4; b++) {
		unsigned t = b * 100;

		line("range t1 %ums-%ums \"chunk 7\"", at(t), at(t + 30));
		kernel(t, t, t + 30, GEMM);
		block(t + 30, t + 100, b, 12);
		line("range t1 %ums-%ums \"chunk 8\"", at(t + 50), at(t + 60));
		kernel(t + 50, t + 50, t + 100, GEMM);
	}
	expect_report("blocks that nobody annotated are none then", NULL,
		"blocks 4, warmup 1, frames 36, FPS 120, BPS 10, busy 150, latent 30, all 48, end "
		"to end "
		"120, TTFB ms 100");
}

static void what_is_no_annotation_is_a_name(void **state)
{
	unsigned b;

	(void)state;
	begin();
	for (b = 0; b < 3; b++) {
		unsigned t = b * 100;

		/* Not our domain, not an object, not a kind: the name remains. */
		line("range t1 %ums-%ums \"block %u\" %s", at(t), at(t + 100), b,
			b == 0   ? "domain other json \"{\\\"kind\\\":\\\"request\\\"}\""
			: b == 1 ? "domain vptrace json \"block\""
				 : "domain vptrace int 5");
		kernel(t, t, t + 100, GEMM);
	}
	expect_report("names", NULL, "blocks 3, warmup 1, BPS 10, TTFB ms 100");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_names_of_the_guide_are_stages),
		cmocka_unit_test(names_are_blocks_where_they_are_outermost),
		cmocka_unit_test(what_makes_a_part_of_a_video_is_a_block),
		cmocka_unit_test(a_block_is_around_any_number_of_other_ranges),
		cmocka_unit_test(an_annotation_puts_rules_aside),
		cmocka_unit_test(what_is_no_annotation_is_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_range_scopes.c - what a range is: annotations, built-in names, a user's rules. */
#include "analysis/names/families.h"
#include "analysis/names/kernel_rules.h"
#include "analysis/names/range_names.h"
#include "analysis/pipeline/range_scopes.h"
#include "formats/base/count.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* "block 3, 12 frames": a label in few words. */
static const char *words_of(const struct vpa_scope_label *l)
{
	static char text[200];
	const struct {
		const char *name;
		int64_t value;
	} numbers[] = {{"index", l->index}, {"frames", l->frames}, {"latents", l->latents},
		{"timestep", l->timestep}};
	size_t used, i;

	used = (size_t)snprintf(text, sizeof(text), "%s", vpa_scope_kind_name(l->kind));
	for (i = 0; i < COUNT(numbers); i++)
		if (numbers[i].value >= 0)
			used += (size_t)snprintf(text + used, sizeof(text) - used, " %s %" PRId64,
				numbers[i].name, numbers[i].value);
	if (l->name)
		used += (size_t)snprintf(text + used, sizeof(text) - used, " called %s", l->name);
	if (l->work == VPA_WORK_VAE)
		snprintf(text + used, sizeof(text) - used, " vae");
	return text;
}

static void expect(const char *rule, const char *input, const struct vpa_scope_label *found,
	const char *expected)
{
	if (strcmp(words_of(found), expected))
		fail_msg("%s: \"%s\" is \"%s\", expected \"%s\"", rule, input, words_of(found),
			expected);
}

/* ---- annotations ---- */

static const struct {
	const char *rule, *json, *expected;
} annotations[] = {
	{"a request", "{\"kind\":\"request\"}", "request"},
	{"with its frames", "{\"kind\":\"request\",\"frames\":81}", "request frames 81"},
	{"a stage", "{\"kind\":\"stage\"}", "stage"},
	{"a block", "{\"kind\":\"block\",\"index\":3,\"frames\":12,\"latents\":3}",
		"block index 3 frames 12 latents 3"},
	{"a step", "{\"kind\":\"step\",\"index\":2,\"timestep\":500}", "step index 2 timestep 500"},
	{"a pass over the context", "{\"kind\":\"step\",\"index\":4,\"timestep\":0,\"context\":1}",
		"context index 4 timestep 0"},
	{"given as true", "{\"kind\":\"step\",\"context\":true}", "context"},
	{"context 0 is a step", "{\"kind\":\"step\",\"context\":0}", "step"},
	{"context false is a step", "{\"kind\":\"step\",\"context\":false}", "step"},
	{"frames are ready", "{\"kind\":\"frames\",\"index\":3,\"frames\":12}",
		"frames index 3 frames 12"},
	{"fields in any order", "{\"frames\":12,\"kind\":\"block\"}", "block frames 12"},
	{"space anywhere", " { \"kind\" : \"block\" ,\n\"index\" :\t3 } ", "block index 3"},
	{"unknown fields are passed over",
		"{\"kind\":\"block\",\"note\":\"a, b}\",\"index\":1,\"x\":1.5,\"y\":null}",
		"block index 1"},
	{"escapes in texts of others", "{\"note\":\"\\\"}\",\"kind\":\"block\"}", "block"},
	{"the last of a key twice", "{\"kind\":\"block\",\"index\":1,\"index\":2}",
		"block index 2"},
	{"the largest number", "{\"kind\":\"block\",\"index\":999999999999999}",
		"block index 999999999999999"},
	{"one digit more is ignored", "{\"kind\":\"block\",\"index\":9999999999999999}", "block"},
	{"a negative number is ignored", "{\"kind\":\"block\",\"index\":-1}", "block"},
	{"a fraction is ignored", "{\"kind\":\"block\",\"index\":1.5}", "block"},
	{"an exponent is ignored", "{\"kind\":\"block\",\"index\":1e3}", "block"},
	{"a number in quotes is ignored", "{\"kind\":\"block\",\"index\":\"1\"}", "block"},
	/* not one */
	{"nothing", "", "none"},
	{"no object", "\"block\"", "none"},
	{"no kind", "{\"index\":3}", "none"},
	{"an empty object", "{}", "none"},
	{"a kind that is not known", "{\"kind\":\"frame\"}", "none"},
	{"a kind in capitals", "{\"kind\":\"BLOCK\"}", "none"},
	{"a kind with an escape", "{\"kind\":\"bl\\u006fck\"}", "none"},
	{"a kind that is a number", "{\"kind\":1}", "none"},
	{"cut off", "{\"kind\":\"block\"", "none"},
	{"cut off in a text", "{\"kind\":\"blo", "none"},
	{"cut off behind a backslash", "{\"kind\":\"block\\", "none"},
	{"something behind it", "{\"kind\":\"block\"}x", "none"},
	{"a comma too many", "{\"kind\":\"block\",}", "none"},
	{"a comma missing", "{\"kind\":\"block\" \"index\":3}", "none"},
	{"a colon missing", "{\"kind\" \"block\"}", "none"},
	{"a nested object", "{\"kind\":\"block\",\"a\":{\"b\":1}}", "none"},
	{"a nested list", "{\"kind\":\"block\",\"a\":[1]}", "none"},
	{"no value", "{\"kind\":\"block\",\"a\":}", "none"},
	{"a line end inside a text", "{\"kind\":\"block\",\"a\":\"\n\"}", "none"},
};

static void annotations_are_flat_objects(void **state)
{
	struct vpa_scope_label label;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(annotations); i++) {
		int rc = vpa_scope_read(annotations[i].json, strlen(annotations[i].json), &label);

		expect(annotations[i].rule, annotations[i].json, &label, annotations[i].expected);
		assert_int_equal(rc, label.kind == VPA_SCOPE_NONE ? VPT_EDATA : VPT_OK);
	}
	/* One that says that the name means nothing. */
	assert_int_equal(vpa_scope_read("{\"kind\":\"range\"}", 16, &label), VPT_OK);
	expect("a range that is nothing else", "", &label, "none");
	/* A NUL ends nothing: the length does. */
	assert_int_equal(vpa_scope_read("{\"kind\":\"block\"}\0", 17, &label), VPT_EDATA);
}

static void a_prefix_of_an_annotation_is_none(void **state)
{
	static const char whole[] = "{\"kind\":\"block\",\"index\":3,\"note\":\"\\\"x\"}";
	struct vpa_scope_label label;
	size_t len;

	(void)state;
	for (len = 0; len < sizeof(whole) - 1; len++)
		assert_int_equal(vpa_scope_read(whole, len, &label), VPT_EDATA);
	assert_int_equal(vpa_scope_read(whole, len, &label), VPT_OK);
}

/* ---- built-in names ---- */

static const struct {
	const char *name, *expected;
} names[] = {
	{"block 3", "block index 3"},
	{"block_3", "block index 3"},
	{"Block-12", "block index 12"},
	{"block#0", "block index 0"},
	{"block3", "block index 3"},
	{"block 3/7", "block index 3"},
	{"block 3 of 7", "block index 3"},
	{"vp.block 3", "block index 3"},
	{"video_block_3", "block index 3"},
	{"chunk 3", "block index 3"},
	{"chunk_3", "block index 3"},
	{"denoise_block", "block"},
	{"denoising block 3", "block index 3"},
	{"step 12", "step index 12"},
	{"step_12", "step index 12"},
	{"vp.step 2 t=500", "step index 2 timestep 500"},
	{"step 3/50", "step index 3"},
	{"step 12 of 50", "step index 12"},
	{"Step 3 to 4", "step index 3"},
	{"Step 190 to 200", "step index 190"},
	{"step_3_to_4", "step index 3"},
	{"denoise step 3/50", "step index 3"},
	{"Denoising step 3 of 50", "step index 3"},
	{"diffusion step 3/50", "step index 3"},
	{"sampling step 3 of 50", "step index 3"},
	{"inference step 3/50", "step index 3"},
	{"denoise_step", "step"},
	{"denoise_step_4", "step index 4"},
	{"denoising step 4", "step index 4"},
	{"denoise 4", "step index 4"},
	{"timestep 999", "step timestep 999"},
	{"ProfilerStep#12", "iteration index 12"},
	{"context pass", "context"},
	{"kv_cache_pass", "context"},
	{"vae_decode", "stage vae"},
	{"VAE decode", "stage vae"},
	{"vae.decode", "none"},
	{"vp.vae", "stage vae"},
	{"vae_encode", "stage"},
	{"text_encode", "stage"},
	{"text_encoder", "stage"},
	{"to_host", "stage"},
	{"scheduler_step", "stage"},
	{"request", "request"},
	{"request 7", "request index 7"},
	{"pipeline_call", "request"},
	{"WanPipeline.__call__", "request"},
	{"LTX2_Pipeline.forward", "request"},
	{"AugmentationPipeline.forward", "none"},
	{"VideoDataPipeline.__call__", "none"},
	{"ImagePreprocessingPipeline.__call__", "none"},
	{"model.WanPipeline.forward", "none"},
	{"PipelineStage.forward", "none"},
	{"WanPipeline.__call__ 2", "none"},
	/* diffusers' profiling guide */
	{"encode_prompt", "stage"},
	{"transformer_forward", "stage"},
	{"vae_encode", "stage"},
	/* FastVideo and SGLang */
	{"TextEncodingStage", "stage"},
	{"DenoisingStage", "stage"},
	{"LTX2DenoisingStage", "stage"},
	{"DecodingStage", "stage vae"},
	{"denoising_step_12", "step index 12"},
	{"minimax_h3.dit", "stage"},
	{"minimax_h3.vae.temporal_chunk.3", "stage called vae.temporal_chunk vae"},
	{"minimax_h3.vae.decode_clip.tile.0.1", "stage called vae.decode_clip.tile vae"},
	{"ltx2.denoise.pass.pos", "stage"},
	{"ltx2.denoise.scheduler_update", "stage"},
	{"fastvideo.region::inference_denoising", "stage"},
	{"fastvideo.region::profiler_region_model_loading", "stage"},
	/* what only looks like one */
	{"minimax_h3.transformer_block.3", "none"},
	{"ltx2.video_self_attn", "none"},
	{"ltx2.", "none"},
	{"my.DecodingStage", "none"},
	{"transformer_block.5", "none"},
	{"transformer_block_5", "none"},
	{"transformer block 5", "none"},
	{"blocks.5", "none"},
	{"blocks.5.attn1", "none"},
	{"block.5", "none"},
	{"model.block 5", "none"},
	{"single_transformer_blocks.5", "none"},
	{"cached_block 5", "none"},
	{"DBCache_Fn_block_5", "none"},
	{"CachedBlock 5", "none"},
	{"block", "none"},
	{"block three", "none"},
	{"blocked 3", "none"},
	{"superblock 3", "none"},
	{"block 3 attn", "none"},
	{"block 3 4 5", "none"},
	{"3 block", "none"},
	{"step", "none"},
	{"footstep 3", "none"},
	{"step to 4", "none"},
	{"step 3 to", "none"},
	{"step 3 to host", "none"},
	{"step three to four", "none"},
	{"steps 3 to 4", "none"},
	{"step 3 to 4 attn", "none"},
	{"one step 3 to 4", "none"},
	{"footstep 3 to 4", "none"},
	{"step 3.5 to 4", "none"},
	{"step 3 up to 4", "none"},
	{"block 3 to 4", "none"},
	{"optimizer step 3 of 10", "none"},
	{"upsampling step 3 of 10", "none"},
	{"Optimizer.step#SGD.step", "none"},
	{"optimizer step 3", "none"},
	{"allocate_slots_3", "none"},
	{"set_0_blocks.3_4680_1560", "none"},
	{"aten::linear", "none"},
	{"", "none"},
	{"###", "none"},
	{"block \xc3\xa4 3", "none"},
	{"a name that is longer than all names of the table can be, block 3 included", "none"},
	{"a b c d e f g h i", "none"},
	{"block 1234567890123456789", "block"},
};

static void whole_names_are_compared_word_by_word(void **state)
{
	struct vpa_scope_label label;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(names); i++) {
		vpa_scope_builtin(names[i].name, strlen(names[i].name), &label);
		expect("built in", names[i].name, &label, names[i].expected);
		vpa_scope_of_name(NULL, names[i].name, strlen(names[i].name), &label);
		expect("without rules", names[i].name, &label, names[i].expected);
	}
}

/* ---- what emit_nvtx() puts behind names ---- */

static const struct {
	const char *name, *summed;
} emitted[] = {
	{"aten::to, op_id = 998949", "aten::to"},
	{"aten::mm, seq = 12", "aten::mm"},
	{"aten::mm, seq = 12, op_id = 7, sizes = [[2, 3], []], input_op_ids = [(3,0), (4,1)]",
		"aten::mm"},
	{"aten::mm, sizes = [[2, 3], [3, 4]]", "aten::mm"},
	{"aten::mm, input_op_ids = [(3,0)]", "aten::mm"},
	{"aten::mm, op_id = 7, sizes = [[2, 3", "aten::mm"}, /* cut off */
	{"f, g, op_id = 7", "f, g"},
	{"a,, seq = 1", "a,"},
	/* what only looks like it */
	{"aten::to", "aten::to"},
	{"f(a, b)", "f(a, b)"},
	{"load, seq = one", "load, seq = one"},
	{"load, seq = ", "load, seq = "},
	{"load, seq = -1", "load, seq = -1"},
	{"load, sizes = 5", "load, sizes = 5"},
	{"load,op_id = 7", "load,op_id = 7"},
	{"my_op_id = 7", "my_op_id = 7"},
	{", seq = 1", ", seq = 1"}, /* nothing would be left */
	{"", ""},
	{",", ","},
};

static void numbers_of_emit_nvtx_are_not_the_name(void **state)
{
	struct vpa_scope_label label;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(emitted); i++) {
		size_t len = vpa_range_name_len(emitted[i].name, strlen(emitted[i].name));

		if (len != strlen(emitted[i].summed) ||
			memcmp(emitted[i].name, emitted[i].summed, len))
			fail_msg("\"%s\" is summed under %.*s", emitted[i].name, (int)len,
				emitted[i].name);
	}
	vpa_scope_of_name(NULL, "vae_decode, op_id = 12", 22, &label);
	expect("without them", "vae_decode, op_id = 12", &label, "stage vae");
}

static void a_number_at_the_end_is_not_the_stem(void **state)
{
	static const struct {
		const char *name, *stem; /* NULL: none */
		uint64_t number;
	} stems[] = {{"section 3", "section", 3}, {"section 03", "section", 3},
		{"tile3", "tile", 3}, {"vp.clip_12", "vp.clip", 12}, {"window 7 of 9", "window", 7},
		{"window 7/9", "window", 7}, {"window (7 / 9)", "window", 7},
		{"Segment [2]", "Segment", 2}, {"h264 clip #0", "h264 clip", 0},
		{"proof 9", "proof", 9}, {"clip 999999999", "clip", 999999999},
		{"clip 9999999999", NULL, 0}, {"section", NULL, 0}, {"3", NULL, 0},
		{"3 of 4", NULL, 0}, {"", NULL, 0}, {" ", NULL, 0}, {"section 3: encode", NULL, 0},
		{"tile 2 3", NULL, 0}, {"t=0.5", NULL, 0}, {"layer 3", NULL, 0},
		{"DecoderLayer_3", NULL, 0}, {"down_blocks.1", NULL, 0}, {"attn.3", NULL, 0},
		{"GPU 1", NULL, 0}, {"Stage 2", NULL, 0}};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(stems); i++) {
		const char *name = stems[i].name, *stem = stems[i].stem ? stems[i].stem : "";
		uint64_t number = 0;
		size_t len = vpa_range_stem(name, strlen(name), &number);

		if (len != strlen(stem) || memcmp(name, stem, len) != 0 ||
			number != stems[i].number)
			fail_msg("\"%s\" is %.*s, %" PRIu64, name, (int)len, name, number);
	}
}

/* ---- a user's rules ---- */

static const struct {
	const char *rule, *rules, *name, *expected;
} rules[] = {
	{"the first group is the index", "range block\t^clip ([0-9]+)$", "clip 3", "block index 3"},
	{"without a group there is none", "range block\t^clip", "clip 3", "block"},
	{"the first that matches decides", "range step\tclip\nrange block\tclip", "clip", "step"},
	{"before the built-in names", "range step\tblock ([0-9]+)", "block 3", "step index 3"},
	{"which still count where no rule matches", "range step\tclip", "block 3", "block index 3"},
	{"none takes a name away", "range none\tblock\nrange block\tblock", "block 3", "none"},
	{"groups by name", "range block(index,frames)\t([0-9]+) of ([0-9]+) frames",
		"part 3 of 12 frames", "block index 3 frames 12"},
	{"in any order, some unused", "range step(timestep,-,index)\tt([0-9]+)(x*)i([0-9]+)",
		"t500xxi2", "step index 2 timestep 500"},
	{"latents", "range block(latents)\tlat([0-9]+)", "lat3", "block latents 3"},
	{"a group that matched nothing is ignored",
		"range block(index,frames)\tclip ([0-9]+)(x[0-9]+)?", "clip 3", "block index 3"},
	{"a group that is no number is ignored", "range block\tclip (.*)", "clip abc", "block"},
	{"a stage with a name", "range stage vae_decode\ttile", "decode tile 3",
		"stage called vae_decode vae"},
	{"a stage with its own name", "range stage\ttile", "decode tile 3", "stage"},
	{"a request", "range request\tgenerate", "generate()", "request"},
	{"a pass over the context", "range context\tcache_update", "cache_update", "context"},
	{"whole words: not inside one", "range block\tblock", "transformer_block.5", "none"},
	{"not at the beginning of one", "range block\tclip", "clipping", "none"},
	{"not at the end of one", "range block\tclip", "eclip", "none"},
	{"a later place may be one", "range block\tclip", "eclip clip", "block"},
	{"anchors stay where they are", "range block\t^clip", "an eclip clip", "none"},
	{"families are passed over", "# mine\n\nattention\tclip\nrange block\tclip\r\n", "clip",
		"block"},
	{"an empty match is one outside words", "range block\tx*", "-", "block"},
	{"what the pattern needs is a tab", "range block\tclip\t3", "clip\t3", "block"},
};

static void rules_go_before_built_in_names(void **state)
{
	struct vpa_scope_label label;
	struct vpt_err err = {0};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rules); i++) {
		struct vpa_range_rules *r =
			vpa_range_rules_read(rules[i].rules, strlen(rules[i].rules), &err);

		if (!r)
			fail_msg("%s: %s", rules[i].rule, err.text);
		vpa_scope_of_name(r, rules[i].name, strlen(rules[i].name), &label);
		expect(rules[i].rule, rules[i].name, &label, rules[i].expected);
		vpa_range_rules_free(r);
	}
}

static const struct {
	const char *rules, *why;
} wrong[] = {
	{"range\tclip", NULL}, /* of the families: no such one */
	{"range \tclip", "line 1 of the rules: expected \"range\" and request"},
	{"attention\tx\nrange clip\tclip", "line 2 of the rules: expected \"range\" and request"},
	{"range block", "line 1"},
	{"range block\t", "line 1"},
	{"range block(\tclip", "line 1"},
	{"range block()\tclip", "line 1"},
	{"range block(size)\tclip", "line 1"},
	{"range block(index,index,index,index,index)\tclip", "line 1"},
	{"range block(index\tclip", "line 1"},
	{"range block name\tclip", "line 1"},
	{"range stage \tclip", "line 1"},
	{"range stage a_name_that_is_longer_than_sixty_three_bytes_is_none_for_a_stage_\tclip",
		"line 1"},
	{"range frames\tclip", "line 1"},
	{"range iteration\tclip", "line 1"},
	{"range block\t(clip", "line 1 of the rules: expected a POSIX extended regular expression"},
};

static void wrong_rules_are_refused_with_their_line(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(wrong); i++) {
		struct vpt_err err = {0};
		struct vpa_range_rules *r =
			vpa_range_rules_read(wrong[i].rules, strlen(wrong[i].rules), &err);

		assert_true((r == NULL) == (wrong[i].why != NULL));
		vpa_range_rules_free(r);
		if (!wrong[i].why)
			continue;
		assert_int_equal(err.code, VPT_EDATA);
		if (!strstr(err.text, wrong[i].why))
			fail_msg("%s: %s", wrong[i].rules, err.text);
	}
}

/* ---- what stands where ----
 *
 * Ranges from the outermost in: a letter says what its name would make of each, ! after it that an annotation says so;
 * b is a block with a start and an end of its own, D a part that holds the denoising. What is misplaced is a - in what is expected. */
static const struct {
	const char *ranges, *expected;
} places[] = {
	{"RBS", "RBS"},
	{"RBSB", "RBS-"},   /* a layer */
	{"RBSBB", "RBS--"}, /* layers in a layer */
	{"PB", "P-"},       /* a layer of an encoder */
	{"BPB", "BP-"},
	{"BB", "B-"},
	{"bB", "bB"}, /* they may overlap, so one is not in the other */
	{"Bb", "Bb"},
	{"Sb", "S-"},
	{"SS", "S-"},
	{"SC", "S-"},
	{"CS", "C-"},
	{"LS", "LS"}, /* a profiler's step around the pipeline's */
	{"LB", "LB"},
	{"SL", "S-"},
	{"RR", "R-"},
	{"RBR", "RB-"},
	{"SB!", "SB!"},   /* annotations mean what they say */
	{"SB!S", "SB!S"}, /* and a block is a new beginning */
	{"PB!PS", "PB!PS"},
	{"PPS", "PPS"},
	{"DB", "DB"}, /* what holds all of the denoising holds its blocks */
	{"DPB", "DP-"},
	{"PDB", "PDB"},
	{"P!DB", "P!D-"}, /* a name does not put an annotation aside */
	{"D!PB", "D!PB"},
	{"B!bB", "B!b-"},
};

static struct vpa_scope_label label_of(char letter, int is_annotation)
{
	static const char letters[] = "RBbSCLPD";
	static const enum vpa_scope_kind kinds[] = {VPA_SCOPE_REQUEST, VPA_SCOPE_BLOCK,
		VPA_SCOPE_BLOCK, VPA_SCOPE_STEP, VPA_SCOPE_CONTEXT, VPA_SCOPE_ITERATION,
		VPA_SCOPE_STAGE, VPA_SCOPE_STAGE};

	assert_non_null(strchr(letters, letter));
	return (struct vpa_scope_label){.kind = kinds[strchr(letters, letter) - letters],
		.work = letter == 'D' ? VPA_WORK_WHOLE : VPA_WORK_OTHER,
		.source = is_annotation ? VPA_SOURCE_ANNOTATION : VPA_SOURCE_RULE};
}

static void a_name_means_something_else_inside_of_others(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(places); i++) {
		const char *p = places[i].ranges;
		char found[20] = "";
		size_t len = 0;
		unsigned inside = 0;

		for (; *p; p++) {
			int is_annotation = p[1] == '!', nests = *p != 'b';
			struct vpa_scope_label label = label_of(*p, is_annotation);
			int misplaced = vpa_scope_is_misplaced(&label, inside, nests);

			if (!misplaced)
				inside = vpa_scope_inside(&label, inside, nests);
			found[len++] = misplaced ? '-' : *p;
			if (is_annotation)
				found[len++] = *++p;
		}
		if (strcmp(found, places[i].expected))
			fail_msg("%s: found %s, expected %s", places[i].ranges, found,
				places[i].expected);
	}
}

static void families_pass_rules_for_ranges_over(void **state)
{
	static const char text[] = "range block\t(((\ngemm\tmine\nrange nonsense";
	struct vpa_kernel_class klass;
	struct vpt_err err = {0};
	struct vpa_rules *r = vpa_rules_read(text, sizeof(text) - 1, &err);

	(void)state;
	assert_non_null(r);
	vpa_rules_classify(r, "mine", 4, &klass);
	assert_int_equal(klass.family, VPA_FAMILY_GEMM);
	vpa_rules_free(r);
	/* "range" and a tab is a family that does not exist. */
	assert_null(vpa_rules_read("range\tx", 7, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(annotations_are_flat_objects),
		cmocka_unit_test(a_prefix_of_an_annotation_is_none),
		cmocka_unit_test(whole_names_are_compared_word_by_word),
		cmocka_unit_test(numbers_of_emit_nvtx_are_not_the_name),
		cmocka_unit_test(a_number_at_the_end_is_not_the_stem),
		cmocka_unit_test(rules_go_before_built_in_names),
		cmocka_unit_test(wrong_rules_are_refused_with_their_line),
		cmocka_unit_test(a_name_means_something_else_inside_of_others),
		cmocka_unit_test(families_pass_rules_for_ranges_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

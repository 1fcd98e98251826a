/* test_findings_moves.c - what is said of kernels that only move data: what joins tensors, casts them, or packs their numbers. */
#include "formats/base/count.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/retime/predictions.h"
#include "analysis/retime/retime.h"
#include "tests/support/traces/findings_rig.h"

#define MATRIX "\"ampere_bf16_s16816gemm_bf16_128x64_nn\""
#define CAT    "\"void at::native::CatArrayBatchedCopy_contig<OpaqueType<2u>>(int)\""
#define COPY   "\"vectorized_elementwise_kernel<4, direct_copy_kernel_cuda>\""
#define NARROW "\"vectorized_elementwise_kernel<4, bfloat16_copy_kernel_cuda>\""
#define WIDE   "\"vectorized_elementwise_kernel<4, bfloat16tofloat32_copy_kernel_cuda>\""
#define ANY                                                                                        \
	"\"unrolled_elementwise_kernel<direct_copy_kernel_cuda, LoadWithCast<1>, "                 \
	"StoreWithCast<1>>\""

#define LISTS                                                                                      \
	"\"void at::native::(anonymous "                                                           \
	"namespace)::multi_tensor_apply_kernel<TensorListMetadata<2>, "                            \
	"CopyFunctor<c10::BFloat16, c10::BFloat16, 2, 1, 1>>\""
#define DEQUANT "\"void dequantize_block_q4_K<c10::BFloat16>(void const*, c10::BFloat16*)\""
#define QUANT   "\"void vllm::dynamic_per_token_scaled_fp8_quant_kernel<c10::BFloat16>(int)\""

#define FP8   "\"sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x64\""
#define INT8  "\"cutlass_80_tensorop_i16832gemm_s8_128x128_64x3_tn_align16\""
#define FLASH "\"flash_fwd_kernel<Flash_fwd_kernel_traits<128>>\""
#define RSHIFT                                                                                     \
	"\"elementwise_kernel<128, 4, gpu_kernel_impl<rshift_kernel_cuda(TensorIteratorBase&), "   \
	"int>>\""
#define ABS     "\"vectorized_elementwise_kernel<4, abs_kernel_cuda>\""
#define AMAX    "\"reduce_kernel<512, 1, MaxNanFunctor<c10::BFloat16>>\""
#define CLAMP   "\"vectorized_elementwise_kernel<4, launch_clamp_scalar>\""
#define FLOAT8  "\"unrolled_elementwise_kernel<float8_copy_kernel_cuda>\""
#define FILL    "\"vectorized_elementwise_kernel<4, FillFunctor<c10::BFloat16>>\""
#define COLUMNS "\"vol2col_kernel<c10::BFloat16>\""
#define BIAS    "\"vectorized_elementwise_kernel<4, CUDAFunctor_add<c10::BFloat16>>\""

/* A kernel of another stream, of the same launches. */
#define BESIDE(n, at, us)                                                                          \
	"call t1 cudaLaunchKernel " #at "us+0us corr 9" #n "\n"                                    \
	"kernel s8 " #at "us+" #us "us corr 9" #n " " FLASH "\n"

/* A kernel and its launch, `at` us after the start, in a range of `range`. */
#define RUN(n, at, us, range, name)                                                                \
	"range t1 " #at "us+4us \"" range "\"\n"                                                   \
	"call t1 cudaLaunchKernel " #at "us+3us corr " #n "\nkernel s7 " #at "us+" #us             \
	"us corr " #n " " name "\n"

static const struct {
	const char *rule, *script;
	const char *id, *measured; /* NULL: there is no such finding */
	const char *title, *where; /* of the title, a part; where NULL: nowhere most */
	double gain_ms;
} cases[] = {
	{"a cache of keys that is joined anew",
		RUN(1, 1000, 600, "attention", MATRIX) RUN(2, 1600, 300, "kv_cache", CAT)
			RUN(3, 1900, 100, "kv_cache", CAT),
		"tensor-joins", "2 kernels, 400 us, 40.0 % of busy", "write into one buffer",
		"in kv_cache", 0.4},
	{"joins of many places have none",
		RUN(1, 1000, 600, "attention", MATRIX) RUN(2, 1600, 200, "up", CAT)
			RUN(3, 1800, 200, "down", CAT),
		"tensor-joins", "2 kernels, 400 us, 40.0 % of busy", "write into one buffer", NULL,
		0.4},
	{"few joins are worth no line",
		RUN(1, 1000, 960, "attention", MATRIX) RUN(2, 1960, 40, "kv_cache", CAT),
		"tensor-joins", NULL, NULL, NULL, 0},
	{"copies that join nothing are none",
		RUN(1, 1000, 600, "attention", MATRIX) RUN(2, 1600, 400, "kv_cache", COPY),
		"tensor-joins", NULL, NULL, NULL, 0},
	{"what a decoder joins is a part of its own finding",
		RUN(1, 1000, 600, "vae_decode", MATRIX) RUN(2, 1600, 400, "vae_decode", CAT),
		"tensor-joins", NULL, NULL, NULL, 0},
	{"the rest is not",
		RUN(1, 1000, 600, "vae_decode", MATRIX) RUN(2, 1600, 400, "vae_decode", CAT)
			RUN(3, 2000, 200, "unet", CAT),
		"tensor-joins", "2 kernels, 600 us, 50.0 % of busy", "write into one buffer",
		"mostly in vae_decode", 0.2},
	{"casts to 16 bits alone are of weights",
		RUN(1, 1000, 800, "linear", MATRIX) RUN(2, 1800, 200, "linear", NARROW),
		"type-casts", "1 kernel, 200 us, 20.0 % of busy", "load the weights in BF16",
		"in linear", 0.2},
	{"few in the other direction are not counted",
		RUN(1, 1000, 800, "linear", MATRIX) RUN(2, 1800, 200, "linear", NARROW)
			RUN(3, 2000, 50, "norm", WIDE),
		"type-casts", "1 kernel, 200 us, 19.0 % of busy", "load the weights in BF16",
		"mostly in linear", 0.2},
	{"casts to and fro are of operators in FP32",
		RUN(1, 1000, 800, "linear", MATRIX) RUN(2, 1800, 100, "norm", WIDE)
			RUN(3, 1900, 100, "norm", NARROW),
		"type-casts", "2 kernels, 200 us, 20.0 % of busy", "fuse the casts", "in norm",
		0.2},
	{"casts of types that no name shows may be such",
		RUN(1, 1000, 800, "linear", MATRIX) RUN(2, 1800, 200, "norm", ANY), "type-casts",
		"1 kernel, 200 us, 20.0 % of busy", "fuse the casts", "in norm", 0.2},
	{"an operator is no place",
		RUN(1, 1000, 800, "aten::linear", MATRIX) RUN(2, 1800, 200, "aten::copy_", NARROW),
		"type-casts", "1 kernel, 200 us, 20.0 % of busy", "load the weights in BF16", NULL,
		0.2},
	{"what fuses a chain fuses its casts",
		RUN(1, 1000, 800, "linear", MATRIX) RUN(2, 1800, 200, "norm", ANY)
			RUN(3, 2000, 200, "norm", "\"vectorized_elementwise_kernel\""),
		"type-casts", NULL, NULL, NULL, 0},
	{"copies in one type are none",
		RUN(1, 1000, 800, "linear", MATRIX) RUN(2, 1800, 200, "norm", COPY), "type-casts",
		NULL, NULL, NULL, 0},
	{"few casts are worth no line",
		RUN(1, 1000, 960, "linear", MATRIX) RUN(2, 1960, 40, "linear", NARROW),
		"type-casts", NULL, NULL, NULL, 0},
	{"a cache that is copied into a graph's memory and back",
		RUN(1, 1000, 800, "linear", MATRIX) RUN(2, 1800, 100, "linear", LISTS)
			RUN(3, 1900, 100, "linear", COPY),
		"tensor-copies", "2 kernels, 200 us, 20.0 % of busy", "write in place", NULL, 0.2},
	{"a few copies are usual",
		RUN(1, 1000, 910, "linear", MATRIX) RUN(2, 1910, 90, "linear", LISTS),
		"tensor-copies", NULL, NULL, NULL, 0},
	{"casts and joins have findings of their own",
		RUN(1, 1000, 600, "linear", MATRIX) RUN(2, 1600, 200, "linear", ANY)
			RUN(3, 1800, 200, "linear", CAT),
		"tensor-copies", NULL, NULL, NULL, 0},
	{"weights that are unpacked before each product",
		RUN(1, 1000, 300, "linear", DEQUANT) RUN(2, 1300, 600, "linear", MATRIX)
			RUN(3, 1900, 100, "linear", DEQUANT),
		"quantising", "2 kernels, 400 us, 40.0 % of busy", "products that read packed",
		NULL, 0.4},
	{"words that are shifted for a product",
		RUN(1, 1000, 200, "linear", RSHIFT) RUN(2, 1200, 200, "linear", CLAMP)
			RUN(3, 1400, 600, "linear", MATRIX),
		"quantising", "2 kernels, 400 us, 40.0 % of busy", "at every use", NULL, 0.4},
	{"words that are shifted for something else",
		RUN(1, 1000, 200, "linear", RSHIFT) RUN(2, 1200, 200, "linear", FLASH)
			RUN(3, 1400, 600, "linear", MATRIX),
		"quantising", NULL, NULL, NULL, 0},
	{"activations that are packed by themselves",
		RUN(1, 1000, 600, "linear", MATRIX) RUN(2, 1600, 400, "linear", QUANT),
		"quantising", "1 kernel, 400 us, 40.0 % of busy", "fuse that into the", NULL, 0.4},
	{"a little of it is worth no line",
		RUN(1, 1000, 960, "linear", MATRIX) RUN(2, 1960, 40, "linear", QUANT), "quantising",
		NULL, NULL, NULL, 0},
	{"activations that PyTorch's own operators pack",
		RUN(1, 1000, 100, "linear", ABS) RUN(2, 1100, 50, "linear", AMAX)
			RUN(3, 1150, 100, "linear", CLAMP) RUN(4, 1250, 150, "linear", FLOAT8)
				RUN(5, 1400, 600, "linear", FP8),
		"quantising", "4 kernels, 400 us, 40.0 % of busy", "in several kernels", NULL, 0.4},
	{"both operands, in whole numbers",
		RUN(1, 1000, 100, "linear", ABS) RUN(2, 1100, 100, "linear", CLAMP)
			RUN(3, 1200, 100, "linear", ABS) RUN(4, 1300, 100, "linear", CLAMP)
				RUN(5, 1400, 600, "linear", INT8),
		"quantising", "4 kernels, 400 us, 40.0 % of busy", "in several kernels", NULL, 0.4},
	{"a cast alone, by a scale that is known",
		RUN(1, 1000, 200, "linear", FLOAT8) RUN(2, 1200, 200, "linear", FLOAT8)
			RUN(3, 1400, 600, "linear", FP8),
		"quantising", "2 kernels, 400 us, 40.0 % of busy",
		"kernels of their own: fuse that into the kernels before", NULL, 0.4},
	{"they are no chain to be fused besides",
		RUN(1, 1000, 100, "linear", ABS) RUN(2, 1100, 50, "linear", AMAX)
			RUN(3, 1150, 100, "linear", CLAMP) RUN(4, 1250, 150, "linear", FLOAT8)
				RUN(5, 1400, 600, "linear", FP8),
		"unfused-elementwise", NULL, NULL, NULL, 0},
	{"limits before a product of 16 bits pack nothing",
		RUN(1, 1000, 200, "linear", ABS) RUN(2, 1200, 200, "linear", CLAMP)
			RUN(3, 1400, 600, "linear", MATRIX),
		"quantising", NULL, NULL, NULL, 0},
	{"nor do those of something else before a product of 8 bits",
		RUN(1, 1000, 200, "linear", ABS) RUN(2, 1200, 200, "linear", CLAMP)
			RUN(3, 1400, 300, "linear", FLASH) RUN(4, 1700, 300, "linear", FP8),
		"quantising", NULL, NULL, NULL, 0},
	{"a convolution of columns is its product, too",
		RUN(1, 1000, 20, "vae", FILL) RUN(2, 1020, 300, "vae", COLUMNS)
			RUN(3, 1320, 200, "vae", MATRIX) RUN(4, 1520, 80, "vae", BIAS)
				RUN(5, 1600, 400, "vae", MATRIX),
		"vol2col", "1 convolution, 600 us with products, of it 300 us in vol2col",
		"not in cuDNN", NULL, 0.6},
	{"a product that comes later is none of it",
		RUN(1, 1000, 300, "vae", COLUMNS) RUN(2, 1300, 300, "vae", FLASH)
			RUN(3, 1600, 400, "vae", MATRIX),
		"vol2col", "1 convolution, 300 us with products, of it 300 us in vol2col",
		"not in cuDNN", NULL, 0.3},
	{"a product with a bias is no convolution",
		RUN(1, 1000, 20, "vae", FILL) RUN(2, 1020, 900, "vae", MATRIX)
			RUN(3, 1920, 80, "vae", BIAS),
		"vol2col", NULL, NULL, NULL, 0},
};

static void expect_place(const char *rule, const struct vpa_finding *f, const char *wanted)
{
	char where[100] = "";

	if (f->where)
		snprintf(where, sizeof(where), "%s%s", f->is_mostly ? "mostly " : "", f->where);
	if (strcmp(where, wanted ? wanted : "") != 0)
		fail_msg("%s: expected the place \"%s\", found \"%s\"", rule, wanted ? wanted : "",
			where);
}

static void what_joins_or_casts_is_worth_a_finding_where_it_takes_long(void **state)
{
	char script[4000];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		const char *measured = cases[i].measured;
		const struct vpa_finding *f;
		struct vpa_report *r;

		snprintf(script, sizeof(script), "start 1ms\n%s", cases[i].script);
		r = vpt_script_report(script, NULL);
		f = finding(r, cases[i].id);
		if (!f != !measured || (f && strcmp(f->measured, measured) != 0))
			fail_msg("%s: expected \"%s\", found \"%s\"", cases[i].rule,
				measured ? measured : "nothing", f ? f->measured : "nothing");
		if (f && !strstr(f->title, cases[i].title))
			fail_msg("%s: %s", cases[i].rule, f->title);
		if (f && fabs(f->gain_at_most_ms - cases[i].gain_ms) > 1e-6)
			fail_msg("%s: expected a gain of %.3f ms, found %.3f", cases[i].rule,
				cases[i].gain_ms, f->gain_at_most_ms);
		if (f)
			expect_place(cases[i].rule, f, cases[i].where);
		vpa_report_free(r);
	}
}

/* One kernel that packs takes as long as the longest of those that do, and a convolution has to be made. */
static void what_is_likely_saved_leaves_what_must_be_done(void **state)
{
	static const char *const packed[] = {
		"start 1ms\n" RUN(1, 1000, 50, "linear", ABS) RUN(2, 1050, 100, "linear", FLOAT8)
			RUN(3, 1150, 50, "linear", ABS) RUN(4, 1200, 200, "linear", FLOAT8)
				RUN(5, 1400, 600, "linear", FP8),
		/* Another stream runs between each two of them. */
		"start 1ms\n" RUN(1, 1000, 50, "linear", ABS) BESIDE(1, 1040, 1) RUN(2, 1050, 100,
			"linear", FLOAT8) BESIDE(2, 1140, 1) RUN(3, 1150, 50, "linear", ABS)
			BESIDE(3, 1190, 1) RUN(4, 1200, 200, "linear", FLOAT8) BESIDE(4, 1390, 1)
				RUN(5, 1400, 600, "linear", FP8)};
	struct vpa_report *r;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(packed); i++) {
		r = vpt_script_report(packed[i], NULL);
		assert_float_equal(finding(r, "quantising")->base_likely_ms, 0.1, 1e-6);
		expect_page("packed", r,
			"40.0 % of the work in the window quantises operands, in several kernels",
			1);
		vpa_report_free(r);
	}
	r = vpt_script_report("start 1ms\n" RUN(1, 1000, 300, "vae", COLUMNS)
				      RUN(2, 1300, 300, "vae", MATRIX),
		NULL);
	assert_float_equal(finding(r, "vol2col")->base_likely_ms, 0.3, 1e-6);
	expect_page("columns", r, "100.0 % of the work in the window is convolutions", 1);
	vpa_report_free(r);
}

/* Steps of 10 ms, 3 of them casts of operands, of which the name of a family says nothing. */
static void what_packs_is_a_part_of_its_steps(void **state)
{
	static char script[8000];
	struct vpa_report *r;
	size_t used = (size_t)snprintf(script, sizeof(script), "start 1s\n"), i;

	(void)state;
	for (i = 0; i < 10; i++)
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %zuus-%zuus \"step %zu\"\n"
			"call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
			"kernel s7 %zuus+3000us corr %zu " FLOAT8 "\n"
			"call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
			"kernel s7 %zuus+7000us corr %zu " FP8 "\n",
			10000 * (i + 1), 10000 * (i + 1) + 9990, i, 10000 * (i + 1) + 1, 2 * i + 1,
			10000 * (i + 1) + 3, 2 * i + 1, 10000 * (i + 1) + 4, 2 * i + 2,
			10000 * (i + 1) + 3003, 2 * i + 2);
	r = vpt_script_report(script, &(struct vpa_options){.step_parts = 1});
	expect_page("of the step", r, "3.00 ms of the mean 10.0 ms from one step to the next", 1);
	expect_page("in one kernel", r, "quantises operands, in a kernel each", 1);
	vpa_report_free(r);
}

/* A convolution of columns takes all of each step, so nothing bounds its gain; its product in FP32 has a rate. Line 1 has no rate, but no
 * time either in a column of rates. */
static void lines_have_one_unit(void **state)
{
	static char script[8000];
	struct vpa_report *r;
	size_t used = (size_t)snprintf(script, sizeof(script), "start 1s\n"), i;

	(void)state;
	for (i = 0; i < 10; i++)
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %zuus-%zuus \"step %zu\"\n"
			"call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
			"kernel s7 %zuus+7000us corr %zu " COLUMNS "\n"
			"call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
			"kernel s7 %zuus+3000us corr %zu \"volta_sgemm_128x64_nn\"\n",
			10000 * (i + 1), 10000 * (i + 1) + 9990, i, 10000 * (i + 1) + 1, 2 * i + 1,
			10000 * (i + 1) + 3, 2 * i + 1, 10000 * (i + 1) + 4, 2 * i + 2,
			10000 * (i + 1) + 7003, 2 * i + 2);
	r = vpt_script_report(script, &(struct vpa_options){.step_parts = 1});
	expect_page("head", r, "FIX FIRST, now 100 steps/s", 1);
	expect_page("all of it", r, " 1 conv3d in cuDNN, not as vol2col - 10.0 ms of the mean", 1);
	expect_page(
		"a part", r, " 2 matrix products in 16 bits, or TF32 (as 1) 139 1.50-2.81 ms", 1);
	expect_page("what it means", r, "at most: if nothing else limits; - where that is all", 1);
	vpa_report_free(r);
}

/* The casts of a decoder are no changes of layout. */
static void a_decoder_does_not_claim_its_casts(void **state)
{
	struct vpa_report *r =
		vpt_script_report("start 1ms\n" RUN(1, 1000, 500, "vae_decode", MATRIX)
					  RUN(2, 1500, 300, "vae_decode", NARROW)
						  RUN(3, 1800, 200, "vae_decode", COPY),
			NULL);
	const struct vpa_finding *f = finding(r, "decoder-work");

	(void)state;
	assert_non_null(f);
	assert_float_equal(f->gain_at_most_ms, 0.2, 1e-6);
	assert_float_equal(finding(r, "type-casts")->gain_at_most_ms, 0.3, 1e-6);
	assert_float_equal(finding(r, "type-casts")->adds_ms, 0.3, 1e-6);
	assert_float_equal(f->adds_ms, 0.2, 1e-6);
	vpa_report_free(r);
}

/* The GPU works all the time; what is left of joins is a twentieth, of casts nothing. */
static void a_replay_says_what_they_bring(void **state)
{
	static const struct {
		const char *rule, *id, *kernel;
		double left_ms; /* of 1.6 */
	} kinds[] = {
		{"joins", "tensor-joins", CAT, 0.8 + 0.04},
		{"casts of weights", "type-casts", NARROW, 0.8},
		{"casts of types that no name shows", "type-casts", ANY, 0.8},
		{"weights unpacked", "quantising", DEQUANT, 0.8},
		{"columns of convolutions", "vol2col", COLUMNS, 0.8},
	};
	char script[4000];
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(kinds); i++) {
		int at = snprintf(script, sizeof(script), "start 0us\n");
		struct vpt_trace *trace = NULL;
		struct vpa_report *r = NULL;
		struct vpt_err err = {0};

		for (k = 0; k < 16; k++)
			at += snprintf(script + at, sizeof(script) - (size_t)at,
				"call t1 cudaLaunchKernel %zuus+3us corr %zu\n"
				"kernel s7 %zuus+100us corr %zu %s\n",
				10 * k, k + 1, 100 + 100 * k, k + 1,
				k % 2 ? kinds[i].kernel : MATRIX);
		if (vpt_script_trace(script, &trace, &err) ||
			vpa_analyze(trace, "case", NULL, &r, &err) ||
			vpa_predict(trace, 1, VPA_REPLAYED_MOST, r, &err))
			fail_msg("%s: %s\n%s", kinds[i].rule, err.text, script);
		if (!finding(r, kinds[i].id))
			fail_msg("%s: no finding", kinds[i].rule);
		if (fabs(finding(r, kinds[i].id)->predicted_ms - kinds[i].left_ms) > 0.001)
			fail_msg("%s: expected %g ms, found %g", kinds[i].rule, kinds[i].left_ms,
				finding(r, kinds[i].id)->predicted_ms);
		vpa_report_free(r);
		vpt_trace_close(trace);
	}
}

/* Blocks of 10 ms of products, and of something that takes a millisecond more in each. RESULT says what, if it is most of the
 * growth. */
static void what_grows_from_block_to_block_has_a_name(void **state)
{
	static const struct {
		const char *rule, *kernel, *words;
		unsigned grows_us, rest_us; /* the kernel; the products */
	} kinds[] = {
		{"a cache that is joined anew", CAT,
			"Each block takes 1.00 ms longer than the one before: torch.cat takes 1.00 "
			"ms of "
			"it.",
			1000, 0},
		{"copies of another kind", COPY,
			"Each block takes 1.00 ms longer than the one before: layout takes 1.00 ms "
			"of it.",
			1000, 0},
		{"of several the largest", COPY,
			"Each block takes 1.00 ms longer than the one before: layout takes 600 us "
			"of it.",
			600, 400},
	};
	static char script[8000];
	size_t k, i;

	(void)state;
	for (k = 0; k < COUNT(kinds); k++) {
		int at = snprintf(script, sizeof(script), "start 0us\n");
		unsigned t = 1000;
		struct vpa_report *r;

		for (i = 0; i < 8; i++) {
			unsigned product = 10000 + kinds[k].rest_us * (unsigned)i,
				 other = kinds[k].grows_us * (unsigned)(i + 1);

			at += snprintf(script + at, sizeof(script) - (size_t)at,
				"range t1 %uus+%uus \"block %zu\"\n"
				"call t1 cudaLaunchKernel %uus+3us corr %zu\n"
				"kernel s7 %uus+%uus corr %zu %s\n"
				"call t1 cudaLaunchKernel %uus+3us corr %zu\n"
				"kernel s7 %uus+%uus corr %zu %s\n",
				t, product + other, i, t + 1, 2 * i + 1, t + 10, product, 2 * i + 1,
				MATRIX, t + 5, 2 * i + 2, t + 10 + product, other - 10, 2 * i + 2,
				kinds[k].kernel);
			t += product + other;
		}
		r = vpt_script_report(script, NULL);
		expect_page(kinds[k].rule, r, kinds[k].words, 1);
		vpa_report_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_joins_or_casts_is_worth_a_finding_where_it_takes_long),
		cmocka_unit_test(what_is_likely_saved_leaves_what_must_be_done),
		cmocka_unit_test(what_packs_is_a_part_of_its_steps),
		cmocka_unit_test(lines_have_one_unit),
		cmocka_unit_test(a_decoder_does_not_claim_its_casts),
		cmocka_unit_test(a_replay_says_what_they_bring),
		cmocka_unit_test(what_grows_from_block_to_block_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

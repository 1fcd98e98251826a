/* test_findings_kernels.c - what is said of the work of a GPU that is the limit: products in FP32,
 * elementwise kernels, a decoder, attention with its helpers, the largest kernels. */
#include "formats/base/count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/findings_rig.h"

#define SGEMM "\"ampere_sgemm_128x64_nn\""
#define BGEMM "\"ampere_bf16_s16816gemm_bf16_128x64_nn\""
#define PLUS  "\"vectorized_elementwise_kernel\""
#define SAGE  "\"qk_int_sv_f16_attn_kernel\""
#define FLASH "\"flash_fwd_kernel\""
#define COPY  "\"direct_copy_kernel_cuda\""
#define CONV  "\"sm80_xmma_fprop_implicit_gemm\""

/* The finding's words; fails the test where they differ. `wanted` NULL: there is none. */
static void expect(const char *rule, const struct vpa_report *r, const char *id, const char *wanted,
	double gain_ms)
{
	const struct vpa_finding *f = finding(r, id);

	if (!f != !wanted || (f && strcmp(f->measured, wanted) != 0))
		fail_msg("%s: expected \"%s\", found \"%s\"", rule, wanted ? wanted : "nothing",
			f ? f->measured : "nothing");
	if (f && (f->gain_at_most_ms > gain_ms + 0.001 || f->gain_at_most_ms < gain_ms - 0.001))
		fail_msg("%s: expected a gain of %.3f ms, found %.3f", rule, gain_ms,
			f->gain_at_most_ms);
}

/* ---- fallbacks ---- */

#define NAIVE "\"naive_conv_ab_nonpacked_fwd_ncdhw_ushort_double_ushort\""
#define ANY   "\"Cijk_Ailk_Bljk_HB_MT64x64x16_SE_1LDSB0_ISA000_K1\""
#define IGEMM "\"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt256x128x32\""

/* Five kernels back to back, of 100 us each. */
static void kernels_that_libraries_fall_back_to_are_named(void **state)
{
	static const struct {
		const char *rule, *kernels[5], *measured;
		double gain_ms;
		const char *screen;
	} cases[] = {
		{"MIOpen's reference convolution", {NAIVE, NAIVE, NAIVE, IGEMM, BGEMM},
			"naive_conv_ab_nonpacked_fwd_ncdhw_ushort_double_ushort: 3 calls, 300 us, "
			"60.0 % of busy",
			0.3, " 1 no naive_conv: type, layout, MIOPEN_FIND_MODE"},
		{"Tensile's products for any GPU", {NAIVE, ANY, ANY, IGEMM, BGEMM},
			"Cijk_Ailk_Bljk_HB_MT64x64x16_SE_1LDSB0_ISA000_K1: 2 calls, 200 us, "
			"40.0 % of busy",
			0.2, " 1 rocBLAS kernels for this GPU, not for any"},
		{"others are none", {IGEMM, IGEMM, IGEMM, IGEMM, BGEMM}, NULL, 0,
			"since conv is 80.0 % of it. Its largest kernel is igemm_fwd_gtcx3"},
		{"half of the work is not most of it", {IGEMM, IGEMM, BGEMM, BGEMM, PLUS}, NULL, 0,
			"is 40.0 % of it. THE WINDOW"},
	};
	char script[1200], *screen;
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		int at = snprintf(script, sizeof(script), "start 0us\n");
		struct vpa_report *r;

		for (k = 0; k < 5; k++)
			at += snprintf(script + at, sizeof(script) - (size_t)at,
				"call t1 cudaLaunchKernel %zuus+1us corr %zu\n"
				"kernel s7 %zuus+100us corr %zu %s\n",
				10 + 2 * k, k + 1, 100 + 100 * k, k + 1, cases[i].kernels[k]);
		r = vpt_script_report(script, NULL);
		expect(cases[i].rule, r, "fallback-kernels", cases[i].measured, cases[i].gain_ms);
		screen = text_of(r, 0);
		if (!strstr(screen, cases[i].screen))
			fail_msg("%s: no \"%s\" in\n%s", cases[i].rule, cases[i].screen, screen);
		vpt_free(screen);
		vpa_report_free(r);
	}
}

/* ---- FP32 ---- */

static void products_in_fp32_get_the_advice_of_their_gpu(void **state)
{
	static const struct {
		const char *rule, *gpu, *words;
		double gain_ms; /* of 0.47, by the peaks of FP32 and 16 bits */
	} cases[] = {
		{"an Ampere has TF32", "\"GPU\" cc 8.0 sms 108", "allow TF32", 0.470 * 15 / 16},
		{"a Hopper too", "\"NVIDIA H100 80GB HBM3\" cc 9.0 sms 132", "allow TF32",
			0.470 * (1 - 67 / 989.5)},
		{"one for games has half the rate", "\"NVIDIA GeForce RTX 4090\" cc 8.9 sms 128",
			"allow TF32", 0.470 / 2},
		{"a Turing has none", "\"GPU\" cc 7.5 sms 40", "run the model in FP16",
			0.470 * 15 / 16},
		{"a Volta has none", "\"GPU\" cc 7.0 sms 80", "run the model in FP16",
			0.470 * 15 / 16},
	};
	char script[400];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_report *r;

		snprintf(script, sizeof(script),
			"start 1ms\ndevice 0 %s\nkernel s7 1ms-1470us " SGEMM
			"\nkernel s7 1470us-2257us \"softmax\"\n",
			cases[i].gpu);
		r = vpt_script_report(script, NULL);
		expect(cases[i].rule, r, "fp32-gemm", "470 us in FP32, 37.4 % of busy",
			cases[i].gain_ms);
		if (!strstr(finding(r, "fp32-gemm")->title, cases[i].words))
			fail_msg("%s: %s", cases[i].rule, finding(r, "fp32-gemm")->title);
		vpa_report_free(r);
	}
}

/* ---- elementwise kernels ---- */

static const struct {
	const char *rule, *script, *measured;
	double gain_ms;
} chains[] = {
	{"five in a row could be one",
		"kernel s7 1000us+300us " BGEMM "\nkernel s7 1300us+40us " PLUS
		"\nkernel s7 1340us+40us " PLUS "\nkernel s7 1380us+40us " PLUS
		"\nkernel s7 1420us+40us " PLUS "\nkernel s7 1460us+40us " PLUS,
		"5 kernels in 1 chain take 200 us; the longest of each "
		"chain, 40.0 us in all, would be left",
		0.160},
	{"another kernel between them ends the chain",
		"kernel s7 1000us+40us " PLUS "\nkernel s7 1040us+300us " BGEMM
		"\nkernel s7 1340us+40us " PLUS,
		NULL, 0},
	{"a stream has its own chain",
		"kernel s7 1000us+40us " PLUS "\nkernel s8 1040us+40us " PLUS
		"\nkernel s7 1080us+40us " BGEMM "\nkernel s8 1120us+40us " BGEMM,
		NULL, 0},
	{"what a compiler fused is in none",
		"kernel s7 1000us+40us \"triton_poi_fused_add_0\"\n"
		"kernel s7 1040us+40us \"triton_poi_fused_add_1\"",
		NULL, 0},
	{"the longest stays",
		"kernel s7 1000us+10us " PLUS "\nkernel s7 1010us+90us " PLUS
		"\nkernel s7 1100us+20us " BGEMM,
		"2 kernels in 1 chain take 100 us; the longest of each "
		"chain, 90.0 us in all, would be left",
		0.010},
	{"casts, reductions and norms are fused too",
		"kernel s7 1000us+20us " COPY "\nkernel s7 1020us+30us " PLUS
		"\nkernel s7 1050us+25us \"reduce_kernel\"\nkernel s7 1075us+15us "
		"\"vectorized_layer_norm_kernel\"\nkernel s7 1090us+100us " BGEMM,
		"4 kernels in 1 chain take 90.0 us; the longest of each chain, 30.0 us in all, "
		"would be left",
		0.060},
	{"copies alone are no chain",
		"kernel s7 1000us+40us " COPY "\nkernel s7 1040us+40us " COPY
		"\nkernel s7 1080us+40us \"CatArrayBatchedCopy\"",
		NULL, 0},
	{"the layouts of cuDNN end one",
		"kernel s7 1000us+40us " PLUS
		"\nkernel s7 1040us+40us \"void cudnn::nchwToNhwcKernel<float>\"\nkernel s7 "
		"1080us+40us " PLUS,
		NULL, 0},
	{"what is little is not said",
		"kernel s7 1000us+4us " PLUS "\nkernel s7 1004us+4us " PLUS
		"\nkernel s7 1008us+300us " BGEMM,
		NULL, 0},
};

static void chains_of_elementwise_kernels_are_found(void **state)
{
	char script[800];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(chains); i++) {
		struct vpa_report *r;

		snprintf(script, sizeof(script), "start 1ms\n%s\n", chains[i].script);
		r = vpt_script_report(script, NULL);
		expect(chains[i].rule, r, "unfused-elementwise", chains[i].measured,
			chains[i].gain_ms);
		vpa_report_free(r);
	}
}

/* Batches hold 240 ops: a chain may be longer. */
static void a_chain_is_of_any_length(void **state)
{
	char script[64 * 1024];
	size_t n = (size_t)snprintf(script, sizeof(script), "start 1us\n");
	struct vpa_report *r;
	unsigned i;

	(void)state;
	for (i = 0; i < 600; i++)
		n += (size_t)snprintf(
			script + n, sizeof(script) - n, "kernel s7 %uus+1us " PLUS "\n", i + 1);
	r = vpt_script_report(script, NULL);
	assert_int_equal(r->chains.count, 1);
	assert_int_equal(r->chains.kernels, 600);
	assert_int_equal(r->chains.total_ns, 600000);
	assert_int_equal(r->chains.longest_ns, 1000);
	assert_string_equal(r->chains.kernel, "vectorized_elementwise_kernel");
	vpa_report_free(r);
}

/* A kernel that stands alone, or among copies, may take more. */
static void a_chain_is_named_by_its_largest_elementwise_kernel(void **state)
{
	struct vpa_report *r =
		vpt_script_report("start 1ms\nkernel s7 1000us+500us \"vectorized_elementwise_"
				  "kernel<Alone>\"\nkernel s7 1500us+10us " BGEMM
				  "\nkernel s7 1510us+40us \"vectorized_elementwise_kernel<"
				  "First>\"\nkernel s7 1550us+90us " COPY
				  "\nkernel s7 1640us+30us \"vectorized_elementwise_kernel<"
				  "Last>\"\nkernel s7 1670us+10us " BGEMM,
			NULL);

	(void)state;
	assert_int_equal(r->chains.kernels, 3);
	assert_int_equal(r->chains.total_ns, 160000);
	assert_int_equal(r->chains.longest_ns, 90000);
	assert_string_equal(r->chains.kernel, "vectorized_elementwise_kernel<First>");
	vpa_report_free(r);
}

/* ---- decoders ---- */

#define LAUNCHED(n, from, us, name)                                                                \
	"call t1 cudaLaunchKernel 1000us+0us corr " #n "\nkernel s7 " #from "us+" #us              \
	"us corr " #n " " name "\n"

static const struct {
	const char *rule, *script, *measured;
	const char *words; /* of the title */
	double gain_ms;
} decoders[] = {
	{"one that moves data",
		LAUNCHED(1, 1000, 500, CONV) LAUNCHED(2, 1500, 300, COPY)
			LAUNCHED(3, 1800, 200, "\"CatArrayBatchedCopy\""),
		"vae_decode: GPU work 1.00 ms, of which convolutions 500 us (50.0 %), torch.cat "
		"200 us (20.0 %), layout changes 300 us (30.0 %)",
		"the decoder changes layouts", 0.5},
	{"one that joins tensors",
		LAUNCHED(1, 1000, 500, CONV) LAUNCHED(2, 1500, 100, COPY) LAUNCHED(
			3, 1600, 400, "\"void at::native::CatArrayBatchedCopy_contig<float>\""),
		"vae_decode: GPU work 1.00 ms, of which convolutions 500 us (50.0 %), torch.cat "
		"400 us (40.0 %), layout changes 100 us (10.0 %)",
		"the decoder joins tensors", 0.5},
	{"one that copies",
		LAUNCHED(1, 1000, 500, CONV) LAUNCHED(
			2, 1500, 100, COPY) "call t1 cudaMemcpyAsync 1000us+0us corr 3\n"
					    "copy s7 DtoD 1600us+400us corr 3 bytes 4096\n",
		"vae_decode: GPU work 1.00 ms, of which convolutions 500 us (50.0 %), layout "
		"changes 100 us (10.0 %), copies 400 us (40.0 %)",
		"the decoder copies", 0.5},
	{"one that computes", LAUNCHED(1, 1000, 900, CONV) LAUNCHED(2, 1900, 100, COPY),
		"vae_decode: GPU work 1.00 ms, of which convolutions 900 us (90.0 %), layout "
		"changes 100 us (10.0 %)",
		"limited by its convolutions", 0},
	{"an encoder", LAUNCHED(1, 1000, 900, CONV) LAUNCHED(2, 1900, 100, COPY),
		"vae_encode: GPU work 1.00 ms, of which convolutions 900 us (90.0 %), layout "
		"changes 100 us (10.0 %)",
		"the encoder is limited by its convolutions", 0},
	{"one that does neither",
		LAUNCHED(1, 1000, 100, CONV) LAUNCHED(2, 1100, 900, "\"RowwiseMomentsCUDAKernel\""),
		"vae_decode: GPU work 1.00 ms, of which convolutions 100 us (10.0 %); most is "
		"norm, 900 us",
		"neither by convolutions nor", 0},
};

static void a_decoder_computes_or_moves_data(void **state)
{
	char script[1000];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(decoders); i++) {
		struct vpa_report *r;

		snprintf(script, sizeof(script), "start 1ms\n%srange t1 1000us-1001us \"%.*s\"\n",
			decoders[i].script, (int)strcspn(decoders[i].measured, ":"),
			decoders[i].measured);
		r = vpt_script_report(script, NULL);
		expect(decoders[i].rule, r, "decoder-work", decoders[i].measured,
			decoders[i].gain_ms);
		if (!strstr(finding(r, "decoder-work")->title, decoders[i].words))
			fail_msg("%s: %s", decoders[i].rule, finding(r, "decoder-work")->title);
		vpa_report_free(r);
	}
}

/* ---- attention ---- */

static const struct {
	const char *rule, *script, *measured;
} costs[] = {
	{"copies and quantisations right before a call are part of it",
		"kernel s7 1000us+50us " COPY
		"\nkernel s7 1050us+30us \"quant_per_block_int8_kernel\""
		"\nkernel s7 1080us+20us " COPY "\nkernel s7 1100us+300us " SAGE
		"\nkernel s7 1400us+500us " FLASH,
		"flash-attn-2 500 us a call, 0 ns of it quantising, converting and copying, 1 "
		"call; sage 400 us a call, 100 us of it quantising, converting and copying, 1 "
		"call"},
	{"other work between is not",
		"kernel s7 1000us+50us " COPY "\nkernel s7 1050us+300us " BGEMM
		"\nkernel s7 1350us+300us " FLASH,
		NULL},
	{"nor is that of another stream",
		"kernel s8 1000us+50us " COPY "\nkernel s7 1050us+300us " FLASH, NULL},
	{"one back-end is said where its helpers are dear",
		"kernel s7 1000us+100us " COPY "\nkernel s7 1100us+100us " FLASH,
		"flash-attn-2 200 us a call, 100 us of it quantising, converting and copying, 1 "
		"call"},
};

static void attention_costs_what_it_needs(void **state)
{
	char script[800];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(costs); i++) {
		struct vpa_report *r;

		snprintf(script, sizeof(script), "start 1ms\n%s\n", costs[i].script);
		r = vpt_script_report(script, NULL);
		expect(costs[i].rule, r, "attention-cost", costs[i].measured, 0);
		vpa_report_free(r);
	}
}

/* ---- convolutions in FP32 ---- */

static const struct {
	const char *rule, *gpu, *kernel, *measured, *words;
	double gain_ms;
} convs[] = {
	{"with cores for FP32 only", "cc 8.0 sms 108", "ampere_scudnn_128x64_relu_medium_nn_v1",
		"600 us in FP32, 60.0 % of busy", "torch.backends.cudnn.allow_tf32 = True", 0.5625},
	{"by an implicit product", "cc 8.0 sms 108", "implicit_convolve_sgemm<float, float>",
		"600 us in FP32, 60.0 % of busy", "torch.backends.cudnn.allow_tf32 = True", 0.5625},
	{"on a GPU without TF32", "cc 7.5 sms 40", "volta_scudnn_128x64_relu_medium_nn_v1",
		"600 us in FP32, 60.0 % of busy", "run them in FP16", 0.5625},
	{"BF16 is none", "cc 8.0 sms 108", "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32",
		NULL, NULL, 0},
};

static void convolutions_in_fp32_get_the_advice_of_their_gpu(void **state)
{
	char script[400];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(convs); i++) {
		struct vpa_report *r;

		snprintf(script, sizeof(script),
			"start 1ms\ndevice 0 \"GPU\" %s\nkernel s7 1000us+600us \"%s\"\n"
			"kernel s7 1600us+400us \"softmax\"\n",
			convs[i].gpu, convs[i].kernel);
		r = vpt_script_report(script, NULL);
		expect(convs[i].rule, r, "fp32-conv", convs[i].measured, convs[i].gain_ms);
		if (convs[i].words && !strstr(finding(r, "fp32-conv")->title, convs[i].words))
			fail_msg("%s: %s", convs[i].rule, finding(r, "fp32-conv")->title);
		vpa_report_free(r);
	}
}

/* ---- products and convolutions in TF32 ---- */

#define TF32_CONV "\"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32\""
#define TF32_GEMM "\"ampere_s1688gemm_fp32_tf32_128x128\""
#define WIDE_ADD                                                                                   \
	"\"void at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>(int)\""
#define NARROW_ADD                                                                                 \
	"\"void at::native::vectorized_elementwise_kernel<4, "                                     \
	"CUDAFunctor_add<c10::BFloat16>>(int)\""

/* Kernels of 600 us and 400 us. Half of the products' time is saved at least; and half of that of what may be FP32 beside them. */
static const struct {
	const char *rule, *id, *kernel, *beside, *measured;
	double from_ms, to_ms;
} tf32[] = {
	{"convolutions", "tf32-conv", TF32_CONV, BGEMM, "600 us in TF32, 60.0 % of busy", 0.3, 0.3},
	{"products", "tf32-gemm", TF32_GEMM, "\"softmax\"", "600 us in TF32, 60.0 % of busy", 0.3,
		0.3},
	{"products beside narrow ones", "tf32-gemm", TF32_GEMM, BGEMM,
		"600 us in TF32, 60.0 % of busy, and 400 us in 16 bits or fewer", 0.3, 0.3},
	{"what is beside them may get shorter", "tf32-conv", TF32_CONV, WIDE_ADD,
		"600 us in TF32, 60.0 % of busy", 0.3, 0.5},
	{"but not if it has 16 bits", "tf32-conv", TF32_CONV, NARROW_ADD,
		"600 us in TF32, 60.0 % of busy", 0.3, 0.3},
	{"TF32 is no FP32", "fp32-conv", TF32_CONV, BGEMM, NULL, 0, 0},
	{"16 bits are narrow", "tf32-gemm", BGEMM, "\"softmax\"", NULL, 0, 0},
};

static void products_in_tf32_take_half_as_long_in_16_bits(void **state)
{
	char script[600];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(tf32); i++) {
		const struct vpa_finding *f;
		struct vpa_report *r;

		snprintf(script, sizeof(script),
			"start 1ms\ndevice 0 \"GPU\" cc 8.0 sms 108\nkernel s7 1000us+600us %s\n"
			"kernel s7 1600us+400us %s\n",
			tf32[i].kernel, tf32[i].beside);
		r = vpt_script_report(script, NULL);
		expect(tf32[i].rule, r, tf32[i].id, tf32[i].measured, tf32[i].to_ms);
		f = finding(r, tf32[i].id);
		if (f && fabs(f->gain_from_ms - tf32[i].from_ms) > 1e-9)
			fail_msg("%s: from %g ms", tf32[i].rule, f->gain_from_ms);
		vpa_report_free(r);
	}
}

/* ---- memory ---- */

#define H100 "device 0 \"NVIDIA H100 80GB HBM3\" cc 9.0 sms 132\n"
/* A kernel of `us` that moves `bytes`. */
#define MOVES(n, at, us, bytes, name)                                                              \
	"range t1 " #n "us-" #n "500 \"aten::add\" domain cpu_op json "                            \
	"\"{\\\"bytes\\\":" bytes "}\"\n"                                                          \
	"call t1 cudaLaunchKernel " #n "us+100 corr " #n "\nkernel s7 " #at "us+" #us              \
	"us corr " #n " " name " grid 4096\n"
#define SPREAD "\"void at::native::elementwise_kernel<128, 4, Mul>(int)\""
#define DENSE  "\"void at::native::vectorized_elementwise_kernel<4, Mul>(int)\""
#define JOINED "\"void at::native::CatArrayBatchedCopy<OpaqueType<2u>>(int)\""

/* At 3,350 GB/s, 335 MB take 100 us. */
static const struct {
	const char *rule, *script, *measured;
	double gain_ms;
} scattered[] = {
	{"the time beyond what the bytes take could be saved",
		MOVES(1001, 2000, 400, "335000000", SPREAD) "kernel s7 2400us+600us " BGEMM,
		"400 us in such kernels; at the memory's peak 100 us would be left", 0.3},
	{"what joins tensors has a finding of its own",
		MOVES(1001, 2000, 400, "335000000", JOINED) "kernel s7 2400us+600us " BGEMM, NULL,
		0},
	{"those of other kernels are something else",
		MOVES(1001, 2000, 400, "335000000", DENSE) "kernel s7 2400us+600us " BGEMM, NULL,
		0},
	{"near the peak there is nothing to gain",
		MOVES(1001, 2000, 400, "1200000000", SPREAD) "kernel s7 2400us+600us " BGEMM, NULL,
		0},
	{"without bytes nothing is known",
		"kernel s7 2000us+400us " SPREAD "\nkernel s7 2400us+600us " BGEMM, NULL, 0},
	{"a call of 5 us shows nothing",
		MOVES(1001, 2000, 5, "4187500", SPREAD) "kernel s7 2005us+20us " BGEMM, NULL, 0},
	{"chains have that time already",
		MOVES(1001, 2000, 400, "335000000", SPREAD)
			MOVES(1002, 2400, 400, "335000000", SPREAD) "kernel s7 2800us+600us " BGEMM,
		NULL, 0},
};

static void memory_that_is_not_contiguous_costs_time(void **state)
{
	char script[1200];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(scattered); i++) {
		struct vpa_report *r;

		snprintf(script, sizeof(script), "start 1ms\n" H100 "%s\n", scattered[i].script);
		r = vpt_script_report(script, NULL);
		expect(scattered[i].rule, r, "scattered-memory", scattered[i].measured,
			scattered[i].gain_ms);
		vpa_report_free(r);
	}
}

/* 500 MB in 1 ms are 500 GB/s, of which each byte is read and written. */
static void copies_inside_a_gpu_have_a_share_of_its_memory(void **state)
{
	static const struct {
		const char *gpu, *kind, *words;
		int there;
	} cases[] = {
		{H100, "DtoD device->device", "500.0 GB/s, 1000 of the memory's 3350 with", 1},
		{"device 0 \"GPU\" cc 9.0 sms 132\n", "DtoD device->device", "of the memory's", 0},
		{H100, "HtoD pinned->device", "of the memory's", 0},
	};
	char script[400];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		const struct vpa_finding *f;
		struct vpa_report *r;

		snprintf(script, sizeof(script),
			"start 1ms\n%scopy s7 %s 1000us+1000us bytes 500000000\nkernel s7 "
			"2000us+500us " BGEMM "\n",
			cases[i].gpu, cases[i].kind);
		r = vpt_script_report(script, NULL);
		f = finding(r, "exposed-copy");
		assert_non_null(f);
		if ((strstr(f->note, cases[i].words) != NULL) != cases[i].there)
			fail_msg("%s on %s%s", f->note, cases[i].gpu, cases[i].kind);
		vpa_report_free(r);
	}
}

/* ---- the largest kernels ---- */

static const struct {
	const char *rule, *script, *measured; /* the GPU is busy from 2 to 3 ms */
} largest[] = {
	{"precision, grid and data that only move",
		"kernel s7 2000us+500us " SGEMM " grid 432\nkernel s7 2500us+300us " CONV
		" grid 24\nkernel s7 2800us+160us " COPY " grid 4096\nkernel s7 2960us+40us " FLASH
		" grid 4096",
		"K1, gemm, 50 % of busy: in FP32, without tensor cores; K2, conv, 30 % of busy: 24 "
		"thread blocks for 132 SMs; K3, layout, 16 % of busy: only moves data"},
	{"limited by memory",
		MOVES(1001, 2000, 400, "1206000000", DENSE) "kernel s7 2400us+600us " BGEMM
							    " grid 432",
		"K2, elementwise, 40 % of busy: limited by memory, 3015 of 3350 GB/s"},
	{"less than the memory could",
		MOVES(1001, 2000, 400, "335000000", SPREAD) "kernel s7 2400us+600us " BGEMM
							    " grid 432",
		"K2, elementwise, 40 % of busy: of operands that are not contiguous, only 838 of "
		"the memory's 3350 GB/s"},
	{"neither",
		MOVES(1001, 2000, 400, "804000000", DENSE) "kernel s7 2400us+600us " BGEMM
							   " grid 432",
		"K2, elementwise, 40 % of busy: 2010 of the memory's 3350 GB/s"},
	{"more than the memory gives",
		MOVES(1001, 2000, 400, "2010000000", DENSE) "kernel s7 2400us+600us " BGEMM
							    " grid 432",
		"K2, elementwise, 40 % of busy: 5025 GB/s, more than the memory's 3350: its data "
		"stay in a cache"},
	{"nothing is unusual", "kernel s7 2000us+1000us " BGEMM " grid 432", NULL},
	{"few blocks in many short launches are not few in the long ones",
		"kernel s7 2000us+600us " BGEMM " grid 132\nkernel s7 2600us+100us " BGEMM
		" grid 8\nkernel s7 2700us+100us " BGEMM " grid 8\nkernel s7 2800us+200us " FLASH
		" grid 4096",
		NULL},
	{"few blocks in most of its time",
		"kernel s7 2000us+300us " BGEMM " grid 432\nkernel s7 2300us+400us " BGEMM
		" grid 24\nkernel s7 2700us+100us " BGEMM " grid 8\nkernel s7 2800us+200us " FLASH
		" grid 4096",
		"K1, gemm, 80 % of busy: in 62 % of its time 24 thread blocks and fewer for 132 "
		"SMs"},
	{"a GPU that waits is not limited by its kernels",
		"kernel s7 2000us+100us " SGEMM " grid 432\nkernel s7 2900us+100us " SGEMM
		" grid 432",
		NULL},
};

static void the_largest_kernels_are_named_with_what_is_unusual(void **state)
{
	char script[1200];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(largest); i++) {
		struct vpa_report *r;

		snprintf(script, sizeof(script), "start 1ms\n" H100 "%s\n", largest[i].script);
		r = vpt_script_report(script, NULL);
		expect(largest[i].rule, r, "largest-kernels", largest[i].measured, 0);
		vpa_report_free(r);
	}
}

/* Six steps of a product, and all-reduces one after the other, with nothing beside them; `late_us`: the last one of a
 * step waits so long for another rank. */
static const char *collectives(size_t count, unsigned us, unsigned late_us)
{
	static char script[1 << 16];
	size_t used = (size_t)snprintf(script, sizeof(script), "start 1ms\n"), i, k, id = 0;
	unsigned at = 1000;

	for (i = 0; i < 6; i++) {
		used += (size_t)snprintf(script + used, sizeof(script) - used,
			"range t1 %uus+50us \"step %zu\"\n", at, i);
		for (k = 0; k <= count; k++, id++) {
			unsigned takes = k ? us + (k == count ? late_us : 0) : 500;

			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"call t1 cudaLaunchKernel %uus+1us corr %zu\n"
				"kernel s7 %uus+%uus corr %zu%s",
				1000 + (unsigned)(i * 60 + k), id + 1, at, takes, id + 1,
				k ? REDUCE "\n" : GEMM);
			at += takes;
		}
	}
	return script;
}

static void many_small_collectives_are_joined(void **state)
{
	static const struct {
		const char *rule;
		size_t count;
		unsigned us, late_us;
		const char *id, *words;
	} cases[] = {
		{"as short as any", 20, 20, 0, "small-collectives",
			"join small collectives: buckets"},
		{"how many, and how short", 20, 20, 0, "small-collectives",
			"about 20 small calls in each step on a GPU, 20.0 us each without waiting"},
		{"what is waiting makes no call large", 20, 20, 300, "small-collectives",
			"20.0 us each without waiting: fewer and larger ones wait less often"},
		{"they take longer: overlap them", 20, 60, 0, "exposed-comm",
			"overlap communication, or send less"},
		{"few: overlap them", 5, 30, 0, "exposed-comm",
			"overlap communication, or send less"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_report *r = vpt_script_report(
			collectives(cases[i].count, cases[i].us, cases[i].late_us),
			&(struct vpa_options){.step_parts = 1});
		const struct vpa_finding *f = finding(r, cases[i].id);

		if (!f)
			fail_msg("%s: no %s", cases[i].rule, cases[i].id);
		assert_null(finding(r, f->id == VPA_FOUND_SMALL_COLLECTIVES ? "exposed-comm"
									    : "small-collectives"));
		expect_page(cases[i].rule, r, cases[i].words, 1);
		vpa_report_free(r);
	}
}

/* ---- kernels that do not fill the GPU ---- */

/* An H100 has 132 SMs. */
static const struct {
	const char *rule, *script;
	double gain_ms; /* 0: no finding */
} fillings[] = {
	{"33 and 66 blocks leave three quarters and a half idle",
		"kernel s7 2000us+400us " BGEMM " grid 33\nkernel s7 2400us+600us " FLASH
		" grid 66",
		0.4 * 3 / 4 + 0.6 / 2},
	{"full kernels beside them count as they are",
		"kernel s7 2000us+400us " BGEMM " grid 33\nkernel s7 2400us+600us " FLASH
		" grid 4096",
		0.4 * 3 / 4},
	{"less than a quarter of the work",
		"kernel s7 2000us+300us " BGEMM " grid 33\nkernel s7 2300us+700us " FLASH
		" grid 4096",
		0},
	{"of a kernel, those of its launches that have few",
		"kernel s7 2000us+400us " BGEMM " grid 33\nkernel s7 2400us+600us " BGEMM
		" grid 4096",
		0.4 * 3 / 4},
	{"one block for each SM", "kernel s7 2000us+1000us " BGEMM " grid 132", 0},
	{"collectives have few blocks",
		"kernel s7 2000us+500us " BGEMM " grid 4096\nkernel s7 2500us+500us" REDUCE
		" grid 24",
		0},
	{"a GPU that waits gains nothing from fuller kernels",
		"kernel s7 2000us+300us " BGEMM " grid 33\nkernel s7 2800us+200us " BGEMM
		" grid 33",
		0},
};

static void small_grids_leave_a_part_of_the_gpu_idle(void **state)
{
	char script[600];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(fillings); i++) {
		const struct vpa_finding *f;
		struct vpa_report *r;

		snprintf(script, sizeof(script), "start 2ms\n" H100 "%s\n", fillings[i].script);
		r = vpt_script_report(script, NULL);
		f = finding(r, "few-blocks");
		if ((f != NULL) != (fillings[i].gain_ms > 0))
			fail_msg("%s: %s finding", fillings[i].rule, f ? "a" : "no");
		if (f) {
			assert_float_equal(f->gain_at_most_ms, fillings[i].gain_ms, 1e-6);
			assert_float_equal(f->base_likely_ms, f->base_gain_ms / 2, 1e-9);
		}
		vpa_report_free(r);
	}
}

/* Ten steps of 10 ms of one kernel, of which nothing is wasted. */
static void what_is_in_8_bits_is_not_to_be_so(void **state)
{
	static const struct {
		const char *rule, *gpu, *kernel, *words;
	} cases[] = {
		{"products in 16 bits", "cc 9.0 sms 132", BGEMM, "or FP8, since gemm is"},
		{"products in FP8", "cc 9.0 sms 132",
			"\"sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x64\"",
			"steps, or steps that reuse others' results, since gemm is"},
		{"an Ampere multiplies whole numbers", "cc 8.0 sms 108", BGEMM, "or INT8, since"},
		{"a Volta has neither", "cc 7.0 sms 80", BGEMM,
			"steps, or steps that reuse others' results, since gemm is"},
		{"attention in 16 bits", "cc 9.0 sms 132", "\"flash::FlashAttnFwdSm90\"",
			"or sparse or quantised attention, since"},
		{"attention in 8 bits", "cc 9.0 sms 132", SAGE, "or sparse attention, since"},
	};
	static char script[4000];
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		size_t used = (size_t)snprintf(
			script, sizeof(script), "start 1ms\ndevice 0 \"GPU\" %s\n", cases[i].gpu);
		struct vpa_report *r;
		char *screen;

		for (k = 1; k <= 10; k++)
			used += (size_t)snprintf(script + used, sizeof(script) - used,
				"range t1 %zu0ms+9990us \"step %zu\"\n"
				"call t1 cudaLaunchKernel %zu0ms+1us corr %zu\n"
				"kernel s7 %zu0ms+9999us corr %zu %s grid 100000\n",
				k, k, k, k, k, k, cases[i].kernel);
		r = vpt_script_report(script, &(struct vpa_options){.step_parts = 1});
		screen = text_of(r, 0);
		if (!strstr(screen, cases[i].words))
			fail_msg("%s: no \"%s\" in\n%s", cases[i].rule, cases[i].words, screen);
		vpt_free(screen);
		vpa_report_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_that_libraries_fall_back_to_are_named),
		cmocka_unit_test(products_in_fp32_get_the_advice_of_their_gpu),
		cmocka_unit_test(chains_of_elementwise_kernels_are_found),
		cmocka_unit_test(a_chain_is_of_any_length),
		cmocka_unit_test(a_chain_is_named_by_its_largest_elementwise_kernel),
		cmocka_unit_test(a_decoder_computes_or_moves_data),
		cmocka_unit_test(attention_costs_what_it_needs),
		cmocka_unit_test(convolutions_in_fp32_get_the_advice_of_their_gpu),
		cmocka_unit_test(products_in_tf32_take_half_as_long_in_16_bits),
		cmocka_unit_test(memory_that_is_not_contiguous_costs_time),
		cmocka_unit_test(copies_inside_a_gpu_have_a_share_of_its_memory),
		cmocka_unit_test(the_largest_kernels_are_named_with_what_is_unusual),
		cmocka_unit_test(many_small_collectives_are_joined),
		cmocka_unit_test(small_grids_leave_a_part_of_the_gpu_idle),
		cmocka_unit_test(what_is_in_8_bits_is_not_to_be_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

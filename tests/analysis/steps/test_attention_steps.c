/* test_attention_steps.c - back-ends that change at one place of a step, and matrix products by their numbers, on traces whose
 * answers a person can compute. */
#include "analysis/analyze.h"
#include "analysis/names/number_format.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "tests/support/traces/script.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/findings_rig.h"

/* ---- scripts: a letter is an attention call of a length in us; a step is a word ---- */

static const struct {
	char letter;
	const char *name;
} backends[] = {{'F', "flash_fwd_kernel"}, {'M', "fmha_cutlassF_bf16_aligned_64x64_rf_sm80"},
	{'C', "cudnn_generated_fort_native_sdpa_sm90_flash_fprop"}};

static const char *name_of(char letter)
{
	size_t i;

	for (i = 0; i < COUNT(backends) && backends[i].letter != letter; i++)
		;
	assert_in_range(i, 0, COUNT(backends) - 1);
	return backends[i].name;
}

/* "F2M5 F2F1": two steps, the first of 2 us of F and 5 of M. `/`: what follows is in no step. */
static char *make_script(const char *steps)
{
	size_t cap = 65536, len = 0;
	char *script = calloc(1, cap);
	unsigned us = 1000, corr = 0, step = 0;

	assert_non_null(script);
	len += (size_t)snprintf(script, cap, "start 1ms\n");
	for (; *steps; steps++) {
		unsigned begin = us, length;
		int outside = *steps == '/';

		for (steps += outside; *steps && *steps != ' '; steps += 2) {
			assert_in_range(steps[1], '1', '9');
			length = (unsigned)(steps[1] - '0');
			corr++;
			len += (size_t)snprintf(script + len, cap - len,
				"call t1 cudaLaunchKernel %uus+1us corr %u\n"
				"kernel s7 %uus+%uus corr %u \"%s\"\n",
				us, corr, us + 1, length, corr, name_of(*steps));
			us += 10;
		}
		if (!outside)
			len += (size_t)snprintf(script + len, cap - len,
				"range t1 %uus-%uus \"step %u\"\n", begin, us, step++);
		assert_in_range(len, 0, cap - 200);
		if (!*steps)
			break;
	}
	return script;
}

static const struct {
	const char *rule, *steps, *expected;
} cases[] = {
	{"always the same", "F2M5 F2M5 F2M5", ""},
	{"another one for one step", "F2F3 F2M9 F2F3",
		"flash-attn-2 2x3.0us, mem-efficient 1x9.0us, 1 places, gain 6.0us; "},
	{"the faster one may be the rare one", "M9 M9 F3 M9",
		"flash-attn-2 1x3.0us, mem-efficient 3x9.0us, 1 places, gain 18.0us; "},
	{"self and cross attention each have their own place", "F2M5F2M5 F2M5F2M5", ""},
	{"two places change", "F1F2F3 M5F2M7",
		"flash-attn-2 2x2.0us, mem-efficient 2x6.0us, 2 places, gain 8.0us; "},
	{"steps of other lengths are not compared", "F2F2 M9 F2F2", ""},
	{"but with those of their own length", "F2F2 M9 F2F2 F1",
		"flash-attn-2 1x1.0us, mem-efficient 1x9.0us, 1 places, gain 8.0us; "},
	{"what is in no step is not looked at", "F2 /M9 F2 /M9", ""},
	{"three back-ends at one place: each slower one by itself", "F1 M5 C3",
		"flash-attn-2 1x1.0us, mem-efficient 1x5.0us, 1 places, gain 4.0us; "
		"flash-attn-2 1x1.0us, cudnn 1x3.0us, 1 places, gain 2.0us; "},
	{"each place decides which is faster", "F2M9 M1F5",
		"flash-attn-2 1x5.0us, mem-efficient 1x9.0us, 1 places, gain 4.0us; "
		"mem-efficient 1x1.0us, flash-attn-2 1x2.0us, 1 places, gain 1.0us; "},
};

static void places_of_a_step_are_compared(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		char *script = make_script(cases[i].steps), found[1000] = "";
		struct vpa_report *r = vpt_script_report(script, NULL);
		const struct vpa_attention *a = &r->attention;
		size_t len = 0;

		for (k = 0; k < a->change_count; k++) {
			const struct vpa_backend_change *c = &a->changes[k];

			len += (size_t)snprintf(found + len, sizeof(found) - len,
				"%s %" PRIu64 "x%.1fus, %s %" PRIu64 "x%.1fus, %" PRIu64
				" places, gain %.1fus; ",
				vpa_backend_name(c->fast), c->fast_calls,
				(double)c->fast_ns / (double)c->fast_calls / 1e3,
				vpa_backend_name(c->slow), c->slow_calls,
				(double)c->slow_ns / (double)c->slow_calls / 1e3, c->places,
				c->gain_ns / 1e3);
			assert_in_range(len, 0, sizeof(found) - 1);
		}
		if (strcmp(found, cases[i].expected))
			fail_msg("%s: found %s, expected %s", cases[i].rule, found,
				cases[i].expected);
		vpa_report_free(r);
		free(script);
	}
}

/* One that began before the window is not reported when it ends: its state is freed with it. Each step is a chunk half
 * a minute long, so that the memory of its range soon is another's. */
static void a_step_that_began_before_the_window_is_left_out(void **state)
{
	enum { STEPS = 8 };
	const struct vpa_options options = {.has_from = 1, .from_ns = 1000000000};
	char script[4096] = "start 1ms\n";
	struct vpa_report *r;
	size_t len = strlen(script);
	unsigned i;

	(void)state;
	for (i = 0; i < STEPS; i++) {
		unsigned ms = i * 30000 + 500;

		len += (size_t)snprintf(script + len, sizeof(script) - len,
			"call t1 cudaLaunchKernel %ums+1us corr %u\n"
			"kernel s7 %ums+%uus corr %u \"%s\"\n"
			"range t1 %ums-%ums \"step %u\"\nchunk\n",
			ms + 1000, i + 1, ms + 1001, i % 2 ? 9 : 2, i + 1,
			name_of(i % 2 ? 'M' : 'F'), ms, ms + 2000, i);
		assert_in_range(len, 0, sizeof(script) - 1);
	}
	r = vpt_script_report(script, &options);
	assert_int_equal(r->attention.change_count, 1);
	assert_int_equal(r->attention.changes[0].fast_calls, STEPS / 2 - 1);
	assert_int_equal(r->attention.changes[0].slow_calls, STEPS / 2);
	vpa_report_free(r);
}

static void a_change_is_a_finding_and_a_fallback(void **state)
{
	char *script = make_script("F2F3 F2M9 F2F3");
	struct vpa_report *r = vpt_script_report(script, NULL);
	const struct vpa_finding *f = finding(r, "attention-change");

	(void)state;
	assert_non_null(f);
	assert_string_equal(f->measured,
		"1 place of a step: 1 call of mem-efficient, 9.00 us each, and 2 of "
		"flash-attn-2, 3.00 us each");
	assert_true(f->gain_at_most_ms > 0.00599 && f->gain_at_most_ms < 0.00601);
	assert_int_equal(r->attention.fallback_count, 2);
	vpa_report_free(r);
	free(script);
	/* Nothing is reported below one per cent of busy time. */
	script = make_script("F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9 "
			     "F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9F9M1");
	r = vpt_script_report(script, NULL);
	assert_int_equal(r->attention.change_count, 1);
	vpa_report_free(r);
	free(script);
}

/* ---- numbers ---- */

static const struct {
	const char *name;
	enum vpa_precision precision;
} kernels[] = {
	{"ampere_sgemm_128x64_nn", VPA_PRECISION_FP32},
	{"volta_sgemm_32x32_sliced1x4_nt", VPA_PRECISION_FP32},
	{"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>()", VPA_PRECISION_FP32},
	{"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8_ffma_aligna4__5x_cublas",
		VPA_PRECISION_FP32},
	{"sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x16", VPA_PRECISION_TF32},
	{"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x128_32x3_nt_align1>()",
		VPA_PRECISION_TF32},
	{"cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1", VPA_PRECISION_16},
	{"ampere_bf16_s16816gemm_bf16_64x64_ldg8_f2f_stages_64x5_tn", VPA_PRECISION_16},
	{"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", VPA_PRECISION_16},
	{"_ZN7cutlass7Kernel2I63cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128_64x3_tn_align8EEv",
		VPA_PRECISION_16},
	{"gemvx::kernel<int, int, __nv_bfloat16, __nv_bfloat16, float, false>", VPA_PRECISION_16},
	{"ampere_fp16_s16816gemm_fp16_256x128_ldg8_f2f_stages_32x3_tn", VPA_PRECISION_16},
	{"turing_h1688gemm_128x128_ldg8_nn", VPA_PRECISION_16},
	{"nvjet_sm90_tst_192x208_64x4_2x1_v_bz_coopB_bias_TNT", VPA_PRECISION_16},
	{"nvjet_tst_144x128_64x6_2x1_v_bz_bias_TNN", VPA_PRECISION_16},
	{"nvjet_sm100_qqtst_128x256_128x6_2x1_2cta_v_bz_Avec32UE8M0_TNT", VPA_PRECISION_8},
	{"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16", VPA_PRECISION_8},
	{"bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3", VPA_PRECISION_8},
	{"void gemv2T_kernel_val<int, int, double, double, double, double, (int)128>",
		VPA_PRECISION_FP64},
	{"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt256x128x32", VPA_PRECISION_16},
	{"igemm_bwd_gtcx35_nhwc_fp32_bx0_ex0_bt128x128x32", VPA_PRECISION_FP32},
	{"turing_igemm_128x128_ldg4_nn", VPA_PRECISION_8},
	{"Cijk_Ailk_Bljk_BBS_BH_Bias_AS_SAV_UserArgs_MT256x256x64", VPA_PRECISION_16},
	{"Cijk_Alik_Bjlk_HHS_BH_MT128x64x32", VPA_PRECISION_16},
	{"Cijk_Alik_Bljk_F8BS_BH_MT256x256x128", VPA_PRECISION_8},
	{"Cijk_Ailk_Bljk_S_MX_B_Bias_HA_S_SAV", VPA_PRECISION_TF32},
	{"Cijk_Ailk_Bljk_SB_MT64x64x16", VPA_PRECISION_FP32},
	{"Cijk_Ailk_Bljk_DB_MT64x64x16", VPA_PRECISION_FP64},
	{"triton_tem_fused_mm_0", VPA_PRECISION_UNKNOWN},
	{"", VPA_PRECISION_UNKNOWN},
};

static void names_tell_what_is_multiplied(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(kernels); i++) {
		enum vpa_precision found =
			vpa_precision_of(kernels[i].name, strlen(kernels[i].name));

		if (found != kernels[i].precision)
			fail_msg("%s: found %s, expected %s", kernels[i].name,
				vpa_precision_name(found),
				vpa_precision_name(kernels[i].precision));
	}
	assert_int_equal(vpa_precision_of("sgemm", 4), VPA_PRECISION_UNKNOWN);
}

static void fp32_beside_bf16_is_a_finding(void **state)
{
	static const struct {
		const char *rule;
		unsigned fp32_us, bf16_us, other_us;
		const char *measured; /* NULL: no finding */
	} mixes[] = {
		{"both are more than a twentieth", 60, 440, 500,
			"60.0 us in FP32, 6.0 % of busy, and 440 us in 16 bits or fewer"},
		{"little FP32", 40, 460, 500, NULL},
		{"a model of FP32", 500, 10, 490, "500 us in FP32, 50.0 % of busy"},
	};
	char script[600];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(mixes); i++) {
		const struct vpa_finding *f;
		struct vpa_report *r;

		snprintf(script, sizeof(script),
			"start 1ms\nkernel s7 1ms+%uus \"ampere_sgemm_128x64_nn\"\n"
			"kernel s7 2ms+%uus \"ampere_bf16_s16816gemm_bf16_64x64_tn\"\n"
			"kernel s7 3ms+%uus \"softmax\"\n",
			mixes[i].fp32_us, mixes[i].bf16_us, mixes[i].other_us);
		r = vpt_script_report(script, NULL);
		assert_int_equal(r->precision_count, 2);
		f = finding(r, "fp32-gemm");
		if ((f != NULL) != (mixes[i].measured != NULL))
			fail_msg("%s: %s", mixes[i].rule, f ? f->measured : "nothing");
		if (f) {
			assert_string_equal(f->measured, mixes[i].measured);
			assert_true(
				f->gain_at_most_ms * 1000 > mixes[i].fp32_us * 15.0 / 16 - 0.1 &&
				f->gain_at_most_ms * 1000 < mixes[i].fp32_us * 15.0 / 16 + 0.1);
		}
		vpa_report_free(r);
	}
}

/* ---- FlashAttention 2 on a Hopper ---- */

static void old_flash_is_found_on_a_hopper_alone(void **state)
{
	static const struct {
		const char *rule, *gpu, *other;
		unsigned flash_us, other_us;
		int expected;
	} traces[] = {
		{"on a Hopper", "device 0 \"NVIDIA H100\" cc 9.0 sms 132\n", "gemm", 50, 50, 1},
		{"not on an A100", "device 0 \"NVIDIA A100\" cc 8.0 sms 108\n", "gemm", 50, 50, 0},
		{"not on an A100, whatever kernels are called",
			"device 0 \"NVIDIA A100\" cc 8.0 sms 108\n", "sm90_xmma_gemm_bf16", 50, 50,
			0},
		{"not on an MI300, which is 9.4",
			"device 0 \"AMD Instinct MI300X\" cc 9.4 sms 304\n", "gemm", 50, 50, 0},
		{"a kernel that runs nowhere else tells it too", "", "sm90_xmma_gemm_bf16", 50, 50,
			1},
		{"so does cuBLASLt's", "", "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NTT", 50, 50, 1},
		{"but not one that Blackwell has too", "", "nvjet_tst_256x128_64x5_2x1_2cta_v_bz",
			50, 50, 0},
		{"nor one of Ampere", "", "ampere_bf16_s16816gemm_bf16_64x64_tn", 50, 50, 0},
		{"a two hundredth is not worth the words", "", "sm90_xmma_gemm_bf16", 1, 199, 0},
		{"a fiftieth is", "", "sm90_xmma_gemm_bf16", 2, 98, 1},
	};
	char script[600];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(traces); i++) {
		const struct vpa_finding *f;
		struct vpa_report *r;

		snprintf(script, sizeof(script),
			"start 1ms\n%skernel s7 1ms+%uus \"void flash::flash_fwd_kernel<128>()\"\n"
			"kernel s7 %uus+%uus \"%s\"\n",
			traces[i].gpu, traces[i].flash_us, 1000 + traces[i].flash_us,
			traces[i].other_us, traces[i].other);
		r = vpt_script_report(script, NULL);
		f = finding(r, "flash-2-on-hopper");
		if ((f != NULL) != traces[i].expected)
			fail_msg("%s: %s", traces[i].rule, f ? f->measured : "nothing");
		assert_int_equal(r->attention.fallback_count, traces[i].expected);
		vpa_report_free(r);
	}
}

/* Of calls that last long, a third to a half goes, or to two thirds, where two newer kernels follow: as others measured. */
static void a_newer_back_end_saves_a_part_of_long_calls(void **state)
{
	static const struct {
		const char *rule, *id, *gpu, *kernel;
		unsigned us;
		double from_ms, to_ms;
	} calls[] = {
		{"a long one", "flash-2-on-hopper", "cc 9.0 sms 132", "flash::flash_fwd_kernel<1>",
			600, 0.2, 0.3},
		{"one of 200 us", "flash-2-on-hopper", "cc 9.0 sms 132",
			"flash::flash_fwd_kernel<1>", 200, 0.2 / 3, 0.1},
		{"a shorter one: who knows", "flash-2-on-hopper", "cc 9.0 sms 132",
			"flash::flash_fwd_kernel<1>", 199, 0, 0},
		{"memory-efficient, on a Hopper", "mem-efficient-attention", "cc 9.0 sms 132",
			"fmha_cutlassF_bf16_aligned_64x128_rf_sm80", 600, 0.2, 0.402},
		{"memory-efficient, before Hopper", "mem-efficient-attention", "cc 8.0 sms 108",
			"fmha_cutlassF_bf16_aligned_64x128_rf_sm80", 600, 0.2, 0.3},
	};
	char script[600];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(calls); i++) {
		const struct vpa_finding *f;
		struct vpa_report *r;

		snprintf(script, sizeof(script),
			"start 1ms\ndevice 0 \"NVIDIA GPU\" %s\n"
			"kernel s7 1ms+%uus \"%s\"\nkernel s7 %uus+400us \"gemm\"\n",
			calls[i].gpu, calls[i].us, calls[i].kernel, 1000 + calls[i].us);
		r = vpt_script_report(script, NULL);
		f = finding(r, calls[i].id);
		if (!f)
			fail_msg("%s: no %s", calls[i].rule, calls[i].id);
		if (fabs(f->gain_from_ms - calls[i].from_ms) > 1e-5 ||
			fabs(f->gain_at_most_ms - calls[i].to_ms) > 1e-5)
			fail_msg("%s: %g to %g ms", calls[i].rule, f->gain_from_ms,
				f->gain_at_most_ms);
		assert_int_equal(f->change != NULL, calls[i].to_ms > 0);
		vpa_report_free(r);
	}
}

/* 600 us of 1,000, or 400 beside as long ones of a newer back-end. */
static void an_old_back_end_is_named_where_a_newer_one_runs(void **state)
{
	static const struct {
		const char *rule, *gpu, *kernel, *words;
		unsigned us, newer_us;
	} traces[] = {
		{"memory-efficient", "cc 8.0 sms 108", "fmha_cutlassF_bf16_aligned_64x128_rf_sm80",
			"60.0 % of the work in the window is memory-efficient attention, slower "
			"than flash or cuDNN's.",
			600, 0},
		{"flash 2 on a Hopper", "cc 9.0 sms 132", "flash::flash_fwd_kernel<1>",
			"60.0 % of the work in the window is FlashAttention 2, slower on this GPU "
			"than 3.",
			600, 0},
		{"flash 2 elsewhere", "cc 8.9 sms 128", "flash::flash_fwd_kernel<1>", NULL, 600, 0},
		{"no flash before Ampere", "cc 7.5 sms 40",
			"fmha_cutlassF_f16_aligned_64x64_rf_sm75", NULL, 600, 0},
		{"most is another back-end", "cc 8.0 sms 108",
			"fmha_cutlassF_bf16_aligned_64x128_rf_sm80", NULL, 200, 400},
	};
	char script[600];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(traces); i++) {
		struct vpa_report *r;

		snprintf(script, sizeof(script),
			"start 1ms\ndevice 0 \"NVIDIA GPU\" %s\nkernel s7 1ms+%uus \"%s\"\n"
			"kernel s7 %uus+%uus \"flash::flash_fwd_kernel<1>\"\n"
			"kernel s7 1600us+400us \"gemm\"\n",
			traces[i].gpu, traces[i].us, traces[i].kernel, 1000 + traces[i].us,
			traces[i].newer_us);
		r = vpt_script_report(script, NULL);
		expect_page(traces[i].rule, r,
			traces[i].words ? traces[i].words : "of the work in the window is",
			traces[i].words != NULL);
		assert_int_equal(
			r->attention.fallback_count, traces[i].words || traces[i].newer_us);
		vpa_report_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_of_a_step_are_compared),
		cmocka_unit_test(a_step_that_began_before_the_window_is_left_out),
		cmocka_unit_test(a_change_is_a_finding_and_a_fallback),
		cmocka_unit_test(old_flash_is_found_on_a_hopper_alone),
		cmocka_unit_test(a_newer_back_end_saves_a_part_of_long_calls),
		cmocka_unit_test(an_old_back_end_is_named_where_a_newer_one_runs),
		cmocka_unit_test(names_tell_what_is_multiplied),
		cmocka_unit_test(fp32_beside_bf16_is_a_finding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

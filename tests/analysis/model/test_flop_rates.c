/* test_flop_rates.c - operations per second: of operators by their shapes, of ranges by their kernels, and
 * of GPUs at most. */
#include "analysis/analyze.h"
#include "analysis/model/gpu_peak.h"
#include "formats/base/count.h"
#include "formats/base/error.h"
#include "tests/support/traces/script.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- ranges ---- */

#define H100 "start 1us\ndevice 0 \"NVIDIA H100 80GB HBM3\" cc 9.0 sms 132 memory 80GiB\n"
#define GEMM "\"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas\""
#define FLASH                                                                                      \
	"\"void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, "          \
	"cutlass::bfloat16_t>>(Flash_fwd_params)\""
/* An operator around a launch. */
#define OPERATOR(from, to, name, flop)                                                             \
	"range t1 " from "-" to " \"" name "\" domain cpu_op json \"{\\\"flop\\\":" flop "}\"\n"
#define LAUNCH(from, to, corr) "call t1 cudaLaunchKernel " from "-" to " corr " corr "\n"

/* Each row: family, precision, calls, operations, nanoseconds of kernels, TFLOP/s. */
static const struct {
	const char *rule, *script, *rows;
} cases[] = {
	/* 5e8 in 1,000 ns are 500 TFLOP/s; of 989.5. */
	{"a product",
		H100 OPERATOR("1100", "1200", "aten::mm", "500000000")
			LAUNCH("1110", "1120", "1") "kernel s7 2000-3000 corr 1 " GEMM "\n",
		"gemm, 16 bit: 1, 500000000 in 1000 ns, 500.0 of 989.5; "},
	{"all kernels of an operator count, those of others do not",
		H100 OPERATOR("1100", "1200", "aten::mm", "500000000") LAUNCH("1110", "1120", "1")
			LAUNCH("1130", "1140", "2") LAUNCH("1210", "1220",
				"3") "kernel s7 2000-2900 corr 1 " GEMM
				     "\nkernel s7 2900-3000 corr 2 \"splitKreduce_kernel\"\n"
				     "kernel s7 3000-4000 corr 3 " GEMM "\n",
		"gemm, 16 bit: 1, 500000000 in 1000 ns, 500.0 of 989.5; "},
	{"the innermost range that knows",
		H100
		"range t1 1050-1300 \"layer\" domain vptrace json \"{\\\"flop\\\": 7}\"\n" OPERATOR(
			"1100", "1200", "aten::_scaled_dot_product_flash_attention",
			"200000000") "range t1 1105-1195 \"aten::_flash_attention_forward\" domain "
				     "cpu_op\n" LAUNCH("1110", "1120",
					     "1") "kernel s7 2000-3000 corr 1 " FLASH "\n",
		"attention, 16 bit: 1, 200000000 in 1000 ns, 200.0 of 989.5; "},
	{"an annotation of one's own, over kernels of two kinds",
		H100 "range t1 1050-1300 \"layer\" domain vptrace json "
		     "\"{\\\"kind\\\":\\\"stage\\\",\\\"flop\\\":600000000}\"\n" LAUNCH(
			     "1110", "1120", "1")
			     LAUNCH("1130", "1140", "2") "kernel s7 2000-3000 corr 1 " FLASH "\n"
							 "kernel s7 3000-4000 corr 2 " GEMM "\n",
		"several, 16 bit: 1, 600000000 in 2000 ns, 300.0 of 989.5; "},
	{"equal ones are added",
		H100 OPERATOR("1100", "1200", "aten::mm", "500000000") LAUNCH("1110", "1120", "1")
			OPERATOR("1200", "1300", "aten::bmm", "100000000") LAUNCH(
				"1210", "1220", "2") "kernel s7 2000-3000 corr 1 " GEMM
						     "\nkernel s7 3000-4000 corr 2 " GEMM "\n",
		"gemm, 16 bit: 2, 600000000 in 2000 ns, 300.0 of 989.5; "},
	{"a precision that the name does not show has no peak",
		H100 OPERATOR("1100", "1200", "aten::mm", "500000000")
			LAUNCH("1110", "1120", "1") "kernel s7 2000-3000 corr 1 \"some_gemm\"\n",
		"gemm, unknown: 1, 500000000 in 1000 ns, 500.0 of -1.0; "},
	{"a GPU of no data sheet has none",
		"start 1us\ndevice 0 \"GPU\" cc 9.0 sms 132 memory 80GiB\n" OPERATOR(
			"1100", "1200", "aten::mm", "500000000")
			LAUNCH("1110", "1120", "1") "kernel s7 2000-3000 corr 1 " GEMM "\n",
		"gemm, 16 bit: 1, 500000000 in 1000 ns, 500.0 of -1.0; "},
	{"a range without kernels does nothing",
		H100 OPERATOR("1100", "1200", "aten::mm", "500000000")
			LAUNCH("1210", "1220", "1") "kernel s7 2000-3000 corr 1 " GEMM "\n",
		""},
	{"a number that is none",
		H100 OPERATOR("1100", "1200", "aten::mm", "-5")
			LAUNCH("1110", "1120", "1") "kernel s7 2000-3000 corr 1 " GEMM "\n",
		""},
	{"a number beyond all",
		H100 OPERATOR("1100", "1200", "aten::mm", "99999999999999999999")
			LAUNCH("1110", "1120", "1") "kernel s7 2000-3000 corr 1 " GEMM "\n",
		""},
	{"without shapes nothing is known",
		H100 "range t1 1100-1200 \"aten::mm\" domain cpu_op\n" LAUNCH(
			"1110", "1120", "1") "kernel s7 2000-3000 corr 1 " GEMM "\n",
		""},
};

static void operations_of_ranges_are_divided_by_their_kernels(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct vpa_report *r = vpt_script_report(cases[i].script, NULL);
		char rows[1024] = "";
		size_t used = 0;

		for (k = 0; k < r->expert.flop_rate_count; k++) {
			const struct vpa_flop_row *f = &r->expert.flop_rates[k];

			used += (size_t)snprintf(rows + used, sizeof(rows) - used,
				"%s, %s: %" PRIu64 ", %" PRIu64 " in %" PRIu64
				" ns, %.1f of %.1f; ",
				f->family, vpa_precision_name(f->precision), f->calls, f->flop,
				f->kernel_ns, f->tflops, f->peak_tflops);
			if (f->peak_tflops > 0)
				assert_true(f->share_of_peak > f->tflops / f->peak_tflops - 1e-9 &&
					    f->share_of_peak < f->tflops / f->peak_tflops + 1e-9);
			else
				assert_true(f->share_of_peak < 0);
		}
		if (strcmp(rows, cases[i].rows) != 0)
			fail_msg("%s:\n%s\nexpected\n%s", cases[i].rule, rows, cases[i].rows);
		vpa_report_free(r);
	}
}

/* ---- stages ---- */

#define ADD   "\"void at::native::vectorized_elementwise_kernel<4, Add>(int)\""
#define SGEMM "\"ampere_sgemm_128x64_nn\""
/* A product of 500 GFLOP/ms in a step, and an addition as long; in a decoder a product of the usual cores that says nothing. */
#define STEP                                                                                       \
	"range t1 1050-1300 \"step 1\"\n" OPERATOR("1100", "1200", "aten::mm", "500000000")        \
		LAUNCH("1110", "1120", "1") "kernel s7 2000-3000 corr 1 " GEMM "\n" LAUNCH(        \
			"1210", "1220", "2") "kernel s7 3000-4000 corr 2 " ADD "\n"
#define DECODER                                                                                    \
	"range t1 1400-1500 \"vae_decode\"\n" LAUNCH(                                              \
		"1410", "1420", "3") "kernel s7 4000-4500 corr 3 " SGEMM "\n"

/* Each row: stage, busy time, share of tensor cores, ranges, 10^9 operations, TFLOP/s, share of the peak. */
static const struct {
	const char *rule, *script, *rows;
} stage_cases[] = {
	{"without stages all ops are one row",
		H100 OPERATOR("1100", "1200", "aten::mm", "500000000")
			LAUNCH("1110", "1120", "1") "kernel s7 2000-3000 corr 1 " GEMM "\n" LAUNCH(
				"1210", "1220", "2") "kernel s7 3000-4000 corr 2 " ADD "\n",
		"all: 2000 ns, 0.500; 1, 0.500, 250.0, 0.2527\n"},
	{"stages, one of which says nothing", H100 STEP DECODER,
		"denoise step: 2000 ns, 0.500; 1, 0.500, 250.0, 0.2527\n"
		"vae_decode: 500 ns, 0.000; 0, -1.000, -1.0, -1.0000\n"},
	{"a range whose kernels are of two stages",
		H100 "range t1 1040-1600 \"layer\" domain vptrace json \"{\\\"flop\\\": "
		     "9000000000}\"\n" STEP DECODER,
		"denoise step: 2000 ns, 0.500; 1, 0.500, 250.0, 0.2527\n"
		"vae_decode: 500 ns, 0.000; 0, -1.000, -1.0, -1.0000\n"
		"in several stages: 0 ns, -1.000; 1, 9.000, -1.0, -1.0000\n"},
	{"a peak that is not known",
		H100 STEP "range t1 1400-1500 \"vae_decode\"\n" OPERATOR(
			"1405", "1430", "aten::mm", "100000000")
			LAUNCH("1410", "1420", "3") "kernel s7 4000-4500 corr 3 \"some_gemm\"\n",
		"denoise step: 2000 ns, 0.500; 1, 0.500, 250.0, 0.2527\n"
		"vae_decode: 500 ns, 0.000; 1, 0.100, 200.0, -1.0000\n"},
	{"nothing ran", "start 1us\n", ""},
};

static void stages_use_the_multipliers(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(stage_cases); i++) {
		struct vpa_report *r = vpt_script_report(stage_cases[i].script, NULL);
		char rows[1024] = "";
		size_t used = 0;

		for (k = 0; k < r->expert.stage_work_count; k++) {
			const struct vpa_stage_work_row *w = &r->expert.stage_work[k];

			used += (size_t)snprintf(rows + used, sizeof(rows) - used,
				"%s: %" PRIu64 " ns, %.3f; %" PRIu64 ", %.3f, %.1f, %.4f\n",
				w->stage, w->busy_ns, w->tensor_share, w->calls,
				w->tflop < 0 ? -1 : w->tflop * 1e3, w->tflops, w->share_of_peak);
		}
		if (strcmp(rows, stage_cases[i].rows) != 0)
			fail_msg("%s:\n%s\nexpected\n%s", stage_cases[i].rule, rows,
				stage_cases[i].rows);
		vpa_report_free(r);
	}
}

/* An operator's number is no annotation of the pipeline: its name still counts. */
static void an_operator_with_shapes_stays_what_it_is(void **state)
{
	struct vpa_report *r = vpt_script_report(H100
		"range t1 1050-1300 \"step 1\"\n" OPERATOR("1100", "1200", "aten::mm", "500000000")
			LAUNCH("1110", "1120", "1") "kernel s7 2000-3000 corr 1 " GEMM "\n",
		NULL);

	(void)state;
	assert_int_equal(r->request_count, 1);
	assert_int_equal(r->requests[0].steps.count, 1);
	vpa_report_free(r);
}

/* ---- GPUs ---- */

static void peaks_are_of_whole_products(void **state)
{
	static const struct {
		const char *name;
		uint32_t major, minor;
		int simulated;
		enum vpa_precision precision;
		double tflops;
	} gpus[] = {
		{"NVIDIA H100 80GB HBM3", 9, 0, 0, VPA_PRECISION_16, 989.5},
		{"NVIDIA H100 80GB HBM3", 9, 0, 1, VPA_PRECISION_16, -1},
		{"NVIDIA H100 PCIe", 9, 0, 0, VPA_PRECISION_16, 756},
		{"NVIDIA H100 80GB HBM3 MIG 1g.10gb", 9, 0, 0, VPA_PRECISION_16, -1},
		{"NVIDIA H100", 9, 0, 0, VPA_PRECISION_16, -1}, /* which of them? */
		{"NVIDIA GB200", 10, 0, 0, VPA_PRECISION_16, -1},
		{"NVIDIA B200", 10, 0, 0, VPA_PRECISION_16, 2250},
		{"NVIDIA A100-SXM4-80GB", 8, 0, 0, VPA_PRECISION_TF32, 156},
		{"Tesla V100-SXM2-32GB", 7, 0, 0, VPA_PRECISION_TF32, -1},
		{"Tesla V100-SXM2-32GB", 7, 0, 0, VPA_PRECISION_16, 125},
		{"NVIDIA L40S", 8, 9, 0, VPA_PRECISION_16, 362},
		{"NVIDIA L40", 8, 9, 0, VPA_PRECISION_16, -1},
		{"NVIDIA L4", 8, 9, 0, VPA_PRECISION_16, 121},
		{"AMD Instinct MI250X", 9, 0, 0, VPA_PRECISION_16, 191.5},
		{"AMD Instinct MI250X", 9, 0, 0, VPA_PRECISION_FP32, 47.85},
		{"AMD Instinct MI250X / MI250", 9, 0, 0, VPA_PRECISION_16, -1}, /* which of them? */
		{"AMD Instinct MI300X", 9, 4, 0, VPA_PRECISION_FP32, 163.4},
		{"AMD Instinct MI300X", 9, 4, 0, VPA_PRECISION_TF32, 653.7},
		{"AMD Instinct MI300X", 9, 4, 0, VPA_PRECISION_16, 1307.4},
		{"AMD Instinct MI300X", 9, 4, 0, VPA_PRECISION_8, 2614.9},
		{"AMD Instinct MI325X", 9, 4, 0, VPA_PRECISION_16, 1307.4},
		{"AMD Instinct MI355X", 9, 5, 0, VPA_PRECISION_FP32, 157.3},
		{"AMD Instinct MI355X", 9, 5, 0, VPA_PRECISION_TF32, -1},
		{"AMD Instinct MI355X", 9, 5, 0, VPA_PRECISION_16, 2516.6},
		{"AMD Instinct MI355X", 9, 5, 0, VPA_PRECISION_8, 5033.2},
		{"AMD Instinct MI300A", 9, 4, 0, VPA_PRECISION_16, -1},
		{"NVIDIA A100-SXM4-80GB", 8, 0, 0, VPA_PRECISION_UNKNOWN, -1},
		{NULL, 9, 0, 0, VPA_PRECISION_16, -1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(gpus); i++) {
		struct vpa_gpu gpu = {.name = gpus[i].name,
			.compute_major = gpus[i].major,
			.compute_minor = gpus[i].minor,
			.simulated = gpus[i].simulated};
		double tflops = vpa_gpu_peak_tflops(&gpu, gpus[i].precision);

		if (tflops < gpus[i].tflops - 1e-6 || tflops > gpus[i].tflops + 1e-6)
			fail_msg("%s: %f, expected %f", gpus[i].name ? gpus[i].name : "none",
				tflops, gpus[i].tflops);
	}
}

/* ---- operators ---- */

#ifdef VPT_HAVE_KINETO

#include "formats/import/kineto/text/kineto_work.h"
#include "formats/import/kineto/text/kineto_json.h"

#define SDPA  "aten::_scaled_dot_product_flash_attention"
#define CUDNN "aten::cudnn_convolution"
#define Q     "[2,8,100,64]"
#define K     "[2,4,50,64]"
#define V     "[2,4,50,32]"

static void shapes_give_the_operations(void **state)
{
	static const struct {
		const char *rule, *name, *args;
		uint64_t flop;
	} operators[] = {
		{"a product", "aten::mm", "{\"Input Dims\":[[3,4],[4,5]]}", 2 * 3 * 4 * 5},
		{"its other spelling", "aten::mm", "{\"Input dims\":[[3,4],[4,5]]}", 120},
		{"after the sum's first part", "aten::addmm",
			"{\"Input Dims\":[[5],[3,4],[4,5],[],[]]}", 120},
		{"a batch", "aten::bmm", "{\"Input Dims\":[[7,3,4],[7,4,5]]}", 7 * 120},
		/* 2 x 8 heads, 100 queries, 50 keys: 64 for the scores, 32 for the sum. */
		{"attention", SDPA,
			"{\"Input Dims\":[" Q "," K "," V
			",[],[]],\"Concrete Inputs\":[\"\",\"\",\"\",\"0.\",\"False\"]}",
			UINT64_C(2) * 2 * 8 * 100 * 50 * 96},
		{"a causal one has half", SDPA,
			"{\"Input Dims\":[" Q "," K "," V
			",[],[]],\"Concrete Inputs\":[\"\",\"\",\"\",\"0.\",\"True\"]}",
			UINT64_C(2) * 8 * 100 * 50 * 96},
		{"one that does not say so", SDPA, "{\"Input Dims\":[" Q "," K "," V "]}", 0},
		{"heads after the length", "flash_attn::_flash_attn_forward",
			"{\"Input Dims\":[[2,100,8,64],[2,50,4,64],[2,50,4,32]],"
			"\"Concrete Inputs\":[\"\",\"\",\"\",\"0.\",\"0.1\",\"False\"]}",
			UINT64_C(2) * 2 * 8 * 100 * 50 * 96},
#define CONV(input, weight, padding, stride, dilation, groups)                                     \
	"{\"Input Dims\":[" input "," weight "],\"Concrete Inputs\":[\"\",\"\",\"" padding         \
	"\",\"" stride "\",\"" dilation "\",\"" groups "\"]}"
		/* 2 images of 3 channels, 4 of the result, a kernel of 3 x 3 at 8 x 6 places. */
		{"a convolution", CUDNN,
			CONV("[2,3,8,6]", "[4,3,3,3]", "[1, 1]", "[1, 1]", "[1, 1]", "1"),
			UINT64_C(2) * 2 * 4 * 3 * 9 * 8 * 6},
		{"without padding: 6 x 4 places", CUDNN,
			CONV("[2,3,8,6]", "[4,3,3,3]", "[0, 0]", "[1, 1]", "[1, 1]", "1"),
			UINT64_C(2) * 2 * 4 * 3 * 9 * 6 * 4},
		{"every second place: 4 x 2", CUDNN,
			CONV("[2,3,8,6]", "[4,3,3,3]", "[1, 0]", "[2, 2]", "[1, 1]", "1"),
			UINT64_C(2) * 2 * 4 * 3 * 9 * 4 * 2},
		{"a dilated kernel reaches 5: 4 x 2 places", CUDNN,
			CONV("[2,3,8,6]", "[4,3,3,3]", "[0, 0]", "[1, 1]", "[2, 2]", "1"),
			UINT64_C(2) * 2 * 4 * 3 * 9 * 4 * 2},
		{"two groups have half of the channels each", CUDNN,
			CONV("[2,6,8,6]", "[4,3,3,3]", "[1, 1]", "[1, 1]", "[1, 1]", "2"),
			UINT64_C(2) * 2 * 4 * 3 * 9 * 8 * 6},
		{"of a video", CUDNN,
			CONV("[1,3,5,8,6]", "[4,3,3,1,1]", "[0, 0, 0]", "[1, 1, 1]", "[1, 1, 1]",
				"1"),
			UINT64_C(2) * 4 * 3 * 3 * 3 * 8 * 6},
		{"one number for all dimensions", CUDNN,
			CONV("[1,3,5,8,6]", "[4,3,3,3,3]", "[1]", "[1]", "[1]", "1"),
			UINT64_C(2) * 4 * 3 * 27 * 5 * 8 * 6},
		{"of a sound", CUDNN, CONV("[1,3,8]", "[4,3,3]", "[1]", "[1]", "[1]", "1"),
			UINT64_C(2) * 4 * 3 * 3 * 8},
		{"other groups than it says", CUDNN,
			CONV("[2,6,8,6]", "[4,3,3,3]", "[1, 1]", "[1, 1]", "[1, 1]", "1"), 0},
		{"a kernel that is larger than the image", CUDNN,
			CONV("[2,3,2,6]", "[4,3,3,3]", "[0, 0]", "[1, 1]", "[1, 1]", "1"), 0},
		{"a stride of 0", CUDNN,
			CONV("[2,3,8,6]", "[4,3,3,3]", "[1, 1]", "[0, 1]", "[1, 1]", "1"), 0},
		{"too many strides", CUDNN,
			CONV("[2,3,8,6]", "[4,3,3,3]", "[1, 1]", "[1, 1, 1]", "[1, 1]", "1"), 0},
		{"padding below 0", CUDNN,
			CONV("[2,3,8,6]", "[4,3,3,3]", "[-1, 1]", "[1, 1]", "[1, 1]", "1"), 0},
		{"a stride that nothing holds", CUDNN,
			CONV("[2,3,8,6]", "[4,3,3,3]", "[1, 1]", "[99999999999999999999, 1]",
				"[1, 1]", "1"),
			0},
		{"a convolution that does not say how", CUDNN,
			"{\"Input Dims\":[[2,3,8,6],[4,3,3,3]]}", 0},
		/* Each of the 8 x 6 places of the input is multiplied with all of the kernel. */
		{"a transposed one", "aten::cudnn_convolution_transpose",
			"{\"Input Dims\":[[2,3,8,6],[3,4,3,3]],\"Concrete "
			"Inputs\":[\"\",\"\",\"[1, "
			"1]\",\"[0, 0]\",\"[2, 2]\",\"[1, 1]\",\"1\"]}",
			UINT64_C(2) * 2 * 3 * 4 * 9 * 8 * 6},
		{"one for each channel", "aten::_conv_depthwise2d",
			"{\"Input Dims\":[[2,3,8,6],[3,1,3,3]],\"Concrete "
			"Inputs\":[\"\",\"\",\"[3, "
			"3]\",\"\",\"[1, 1]\",\"[1, 1]\",\"[1, 1]\"]}",
			UINT64_C(2) * 2 * 3 * 9 * 8 * 6},
		{"AMD's, after the bias", "aten::miopen_convolution",
			"{\"Input Dims\":[[2,3,8,6],[4,3,3,3],[4]],\"Concrete "
			"Inputs\":[\"\",\"\",\"\","
			"\"[0, 0]\",\"[2, 1]\",\"[1, 1]\",\"1\"]}",
			UINT64_C(2) * 2 * 4 * 3 * 9 * 3 * 4},
		{"what calls it", "aten::convolution",
			"{\"Input Dims\":[[2,3,8,6],[4,3,3,3]],\"Concrete "
			"Inputs\":[\"\",\"\",\"\",\"[1, "
			"1]\",\"[1, 1]\",\"[1, 1]\",\"False\",\"[0, 0]\",\"1\"]}",
			0},
		{"only calls others", "aten::linear", "{\"Input Dims\":[[3,4],[5,4]]}", 0},
		{"another operator", "aten::relu", "{\"Input Dims\":[[3,4],[4,5]]}", 0},
		{"no shapes", "aten::mm", "{}", 0},
		{"not arrays", "aten::mm", "{\"Input Dims\":7}", 0},
		{"one too few", "aten::mm", "{\"Input Dims\":[[3,4]]}", 0},
		{"that do not fit", "aten::mm", "{\"Input Dims\":[[3,4],[5,5]]}", 0},
		{"of different batches", "aten::bmm", "{\"Input Dims\":[[7,3,4],[6,4,5]]}", 0},
		{"of different ranks", "aten::bmm", "{\"Input Dims\":[[7,3,4],[4,5]]}", 0},
		{"vectors", "aten::mm", "{\"Input Dims\":[[4],[4]]}", 0},
		{"nothing at all", "aten::mm", "{\"Input Dims\":[[0,4],[4,5]]}", 0},
		{"less than nothing", "aten::mm", "{\"Input Dims\":[[-3,4],[4,-5]]}", 0},
		{"fractions", "aten::mm", "{\"Input Dims\":[[1.5,4],[4,5]]}", 0},
		{"texts", "aten::mm", "{\"Input Dims\":[[\"a\",4],[4,5]]}", 0},
		{"more than numbers hold", "aten::mm",
			"{\"Input Dims\":[[4000000000,4000000000],[4000000000,4000000000]]}", 0},
		{"more dimensions than any", "aten::bmm",
			"{\"Input Dims\":[[1,1,1,1,1,2,2],[1,1,1,1,1,2,2]]}", 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(operators); i++) {
		struct vpt_kineto_parser parser = {0};
		char text[512] = {0}; /* more than VPT_SCAN_BYTES longer than each */
		const unsigned char *p = (const unsigned char *)text;
		struct vpt_text name = {operators[i].name, strlen(operators[i].name)};
		uint64_t flop;

		snprintf(text, sizeof(text) / 2, "%s", operators[i].args);
		assert_int_equal(vpt_kineto_parse(&parser, &p, p + strlen(text)), 0);
		flop = vpt_kineto_flop(name, parser.values);
		vpt_kineto_parser_free(&parser);
		if (flop != operators[i].flop)
			fail_msg("%s: %" PRIu64 ", expected %" PRIu64, operators[i].rule, flop,
				operators[i].flop);
	}
	assert_int_equal(vpt_kineto_flop((struct vpt_text){"aten::mm", 8}, NULL), 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stages_use_the_multipliers),
		cmocka_unit_test(operations_of_ranges_are_divided_by_their_kernels),
		cmocka_unit_test(an_operator_with_shapes_stays_what_it_is),
		cmocka_unit_test(peaks_are_of_whole_products),
#ifdef VPT_HAVE_KINETO
		cmocka_unit_test(shapes_give_the_operations),
#endif
	};

	return cmocka_run_group_tests_name("flop_rates", tests, NULL, NULL);
}

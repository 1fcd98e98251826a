/* test_byte_rates.c - bytes per second: of operators by their shapes, of kernels by their ranges, and of GPUs'
 * memory at most. */
#include "analysis/model/gpu_peak.h"
#include "formats/base/count.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/rows_rig.h"

/* ---- ranges ---- */

#define H100 "start 1us\ndevice 0 \"NVIDIA H100 80GB HBM3\" cc 9.0 sms 132 memory 80GiB\n"
#define CAT  "\"CatArrayBatchedCopy<OpaqueType<2u>, unsigned int>\""
#define OPERATOR(from, to, key, number)                                                            \
	"range t1 " from "-" to " \"aten::add\" domain cpu_op json \"{\\\"" key "\\\":" number     \
	"}\"\n"
#define LAUNCH(from, to, corr) "call t1 cudaLaunchKernel " from "-" to " corr " corr "\n"
#define ONE(key, number, name)                                                                     \
	H100 OPERATOR("1100", "1200", key, number)                                                 \
		LAUNCH("1110", "1120", "1") "kernel s7 2000-3000 corr 1 " name "\n"

/* Each row: calls, bytes, nanoseconds of kernels, GB/s. */
static const struct rows_case cases[] = {
	{"1.675 million bytes in 1 us are half of the peak", ONE("bytes", "1675000", "\"add\""),
		"add: 1, 1675000 in 1000 ns, 1675 of 3350; "},
	{"elements of two bytes each, as the name says", ONE("elements", "1000000", CAT),
		"CatArrayBatchedCopy<OpaqueType<2u>, unsigned int>: 1, 2000000 in 1000 ns, 2000 of "
		"3350; "},
	{"elements of a kernel that does not say", ONE("elements", "1000000", "\"add\""), ""},
	{"the type of several at once is not that of one",
		ONE("elements", "1000000", "\"CatArrayBatchedCopy_vectorized<OpaqueType<16u>>\""),
		""},
	{"elements as large as nothing is",
		ONE("elements", "1000000", "\"CatArrayBatchedCopy<OpaqueType<999u>>\""), ""},
	{"a number beyond all", ONE("bytes", "99999999999999999999", "\"add\""), ""},
	{"several calls of one kernel are added",
		H100 OPERATOR("1100", "1200", "bytes", "1000000") LAUNCH("1110", "1120", "1")
			LAUNCH("1130", "1140", "2") OPERATOR("1200", "1300", "bytes", "500000")
				LAUNCH("1210", "1220",
					"3") "kernel s7 2000-3000 corr 1 \"add\"\nkernel s7 "
					     "3000-4000 corr 2 \"add\"\nkernel s7 4000-5000 corr 3 "
					     "\"add\"\n",
		"add: 2, 1500000 in 3000 ns, 500 of 3350; "},
	{"of two different kernels nothing says what each moves",
		H100 OPERATOR("1100", "1200", "bytes", "1000000") LAUNCH("1110", "1120", "1")
			LAUNCH("1130", "1140",
				"2") "kernel s7 2000-3000 corr 1 \"add\"\nkernel s7 3000-4000 corr "
				     "2 \"mul\"\n",
		""},
	{"a GPU of no data sheet has no peak",
		"start 1us\n" OPERATOR("1100", "1200", "bytes", "1000000")
			LAUNCH("1110", "1120", "1") "kernel s7 2000-3000 corr 1 \"add\"\n",
		"add: 1, 1000000 in 1000 ns, 1000 of -1; "},
	{"without shapes nothing is known",
		H100 "range t1 1100-1200 \"aten::add\" domain cpu_op\n" LAUNCH(
			"1110", "1120", "1") "kernel s7 2000-3000 corr 1 \"add\"\n",
		""},
};

static void list_rows(struct rows_text *to, const struct vpa_report *r)
{
	size_t k;

	for (k = 0; k < r->expert.byte_rate_count; k++) {
		const struct vpa_byte_row *b = &r->expert.byte_rates[k];

		add_row(to, "%s: %" PRIu64 ", %" PRIu64 " in %" PRIu64 " ns, %.0f of %.0f; ",
			b->kernel, b->calls, b->bytes, b->kernel_ns, b->gb_per_s, b->peak_gb_per_s);
	}
}

static void bytes_of_ranges_are_divided_by_their_kernels(void **state)
{
	(void)state;
	expect_rows(cases, COUNT(cases), list_rows);
}

static void at_most_top_rows_are_listed_by_time(void **state)
{
	struct vpa_options options = {.top = 1};
	struct vpa_report *r = vpt_script_report(
		H100 OPERATOR("1100", "1200", "bytes", "1000") LAUNCH("1110", "1120", "1")
			OPERATOR("1200", "1300", "bytes", "1000")
				LAUNCH("1210", "1220", "2") "kernel s7 2000-3000 corr 1 \"add\"\n"
							    "kernel s7 3000-5000 corr 2 \"mul\"\n",
		&options);

	(void)state;
	assert_int_equal(r->expert.byte_rates_used, 2);
	assert_int_equal(r->expert.byte_rate_count, 1);
	assert_string_equal(r->expert.byte_rates[0].kernel, "mul");
	vpa_report_free(r);
}

/* ---- GPUs ---- */

static void memories_are_of_whole_products(void **state)
{
	static const struct {
		const char *name;
		uint32_t major, minor;
		int simulated;
		double gb_per_s;
	} gpus[] = {
		{"NVIDIA H100 80GB HBM3", 9, 0, 0, 3350},
		{"NVIDIA H100 80GB HBM3", 9, 0, 1, -1},
		{"NVIDIA H100 PCIe", 9, 0, 0, 2000},
		{"NVIDIA H100 80GB HBM3 MIG 1g.10gb", 9, 0, 0, -1},
		{"NVIDIA H200", 9, 0, 0, 4800},
		{"NVIDIA A100-SXM4-80GB", 8, 0, 0, 2039},
		{"NVIDIA A100-SXM4-40GB", 8, 0, 0, 1555},
		{"NVIDIA A100 80GB PCIe", 8, 0, 0, 1935},
		{"NVIDIA A100-PG509-200", 8, 0, 0, -1}, /* which of them? */
		{"Tesla T4", 7, 5, 0, 320},
		{"AMD Instinct MI250X", 9, 0, 0, 1638.4},
		{"AMD Instinct MI250X / MI250", 9, 0, 0, -1}, /* which of them? */
		{"AMD Instinct MI300X", 9, 4, 0, 5300},
		{"AMD Instinct MI325X", 9, 4, 0, 6000},
		{"AMD Instinct MI355X", 9, 5, 0, 8000},
		{"AMD Instinct MI300A", 9, 4, 0, -1},
		{NULL, 9, 0, 0, -1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(gpus); i++) {
		struct vpa_gpu gpu = {.name = gpus[i].name,
			.compute_major = gpus[i].major,
			.compute_minor = gpus[i].minor,
			.simulated = gpus[i].simulated};
		double found = vpa_gpu_peak_gb_per_s(&gpu);

		if (found < gpus[i].gb_per_s - 1e-6 || found > gpus[i].gb_per_s + 1e-6)
			fail_msg("%s: %f, expected %f", gpus[i].name ? gpus[i].name : "none", found,
				gpus[i].gb_per_s);
	}
}

/* ---- operators ---- */

#ifdef VPT_HAVE_KINETO

#include "formats/import/kineto/text/kineto_json.h"
#include "formats/import/kineto/text/kineto_work.h"

#define BF16 "\"c10::BFloat16\""
#define A    "[2,3,100]"

static void shapes_give_the_bytes(void **state)
{
	static const struct {
		const char *rule, *name, *dims, *types, *strides; /* NULL: none recorded */
		uint64_t number;
		int is_elements;
	} operators[] = {
		/* 600 elements of 2 bytes: two are read, one is written. */
		{"a sum", "aten::add", "[" A "," A ",[]]", "[" BF16 "," BF16 ",\"Scalar\"]", NULL,
			3600, 0},
		{"in place", "aten::add_", "[" A "," A ",[]]", "[" BF16 "," BF16 ",\"Scalar\"]",
			NULL, 3600, 0},
		{"of a number", "aten::mul", "[" A ",[]]", "[" BF16 ",\"double\"]", NULL, 2400, 0},
		{"what is broadcast is read once", "aten::mul", "[" A ",[100]]",
			"[" BF16 "," BF16 "]", NULL, 1200 + 200 + 1200, 0},
		{"both may be", "aten::add", "[[2,1,100],[3,1]]", "[" BF16 "," BF16 "]", NULL,
			400 + 6 + 1200, 0},
		{"what was expanded is read once", "aten::mul", "[" A "," A "]",
			"[" BF16 "," BF16 "]", "[[300,100,1],[0,0,1]]", 1200 + 200 + 1200, 0},
		{"the result has the wider type", "aten::mul", "[" A "," A "]",
			"[" BF16 ",\"float\"]", NULL, 1200 + 2400 + 2400, 0},
		{"in place it has the first one", "aten::mul_", "[" A "," A "]",
			"[" BF16 ",\"float\"]", NULL, 1200 + 2400 + 1200, 0},
		{"integers become what they are added to", "aten::add", "[" A "," A "]",
			"[\"long int\"," BF16 "]", NULL, 4800 + 1200 + 1200, 0},
		{"a comparison gives booleans", "aten::lt", "[" A "," A "]", "[" BF16 "," BF16 "]",
			NULL, 2400 + 600, 0},
		{"a copy into another type", "aten::copy_", "[" A "," A ",[]]",
			"[\"float\"," BF16 ",\"Scalar\"]", NULL, 2400 + 1200, 0},
		{"a copy of what was expanded", "aten::copy_", "[" A "," A ",[]]",
			"[" BF16 "," BF16 ",\"Scalar\"]", "[[300,100,1],[0,0,1],[]]", 1200 + 200,
			0},
		{"a fill only writes", "aten::fill_", "[" A ",[]]", "[" BF16 ",\"Scalar\"]", NULL,
			1200, 0},
		{"a mean only reads", "aten::mean", "[" A ",[],[],[]]",
			"[" BF16 ",\"ScalarList\",\"Scalar\",\"\"]", NULL, 1200, 0},
		{"a norm reads its weights too", "aten::native_layer_norm",
			"[" A ",[],[100],[100],[]]",
			"[" BF16 ",\"ScalarList\"," BF16 "," BF16 ",\"Scalar\"]", NULL,
			1200 + 200 + 200 + 1200, 0},
		{"videos have five dimensions", "aten::silu", "[[1,16,21,60,104]]", "[" BF16 "]",
			NULL, 2 * 2 * 16 * 21 * 60 * 104, 0},
		{"the type of a list is not recorded", "aten::cat", "[[" A "," A "],[]]",
			"[\"TensorList\",\"Scalar\"]", NULL, 2400, 1},
		{"an old list without sizes", "aten::cat", "[[],[]]", "[\"TensorList\",\"Scalar\"]",
			NULL, 0, 1},
		{"only calls others", "aten::to", "[" A ",[]]", "[" BF16 ",\"Scalar\"]", NULL, 0,
			0},
		{"a product in place is none of these", "aten::mm_", "[[3,4],[4,5]]",
			"[" BF16 "," BF16 "]", NULL, 0, 0},
		{"a norm has no form in place", "aten::native_layer_norm_", "[" A "]", "[" BF16 "]",
			NULL, 0, 0},
		{"of another library", "mine::add", "[" A "," A "]", "[" BF16 "," BF16 "]", NULL, 0,
			0},
		{"only numbers", "aten::add", "[[],[]]", "[\"double\",\"double\"]", NULL, 0, 0},
		{"that do not fit", "aten::add", "[[2,3],[4,5]]", "[" BF16 "," BF16 "]", NULL, 0,
			0},
		{"of an unknown type", "aten::add", "[" A "," A "]", "[" BF16 ",\"c10::New\"]",
			NULL, 0, 0},
		{"without types", "aten::add", "[" A "," A "]", "[]", NULL, 0, 0},
		{"types that are no list", "aten::add", "[" A "," A "]", "7", NULL, 0, 0},
		{"sizes that are none", "aten::add", "[[-2,3],[2,3]]", "[" BF16 "," BF16 "]", NULL,
			0, 0},
		{"dims that are no list", "aten::add", "7", "[" BF16 "]", NULL, 0, 0},
		{"a list of no list", "aten::cat", "[7]", "[\"TensorList\"]", NULL, 0, 1},
		{"no inputs", "aten::cat", "[]", "[]", NULL, 0, 1},
		{"a copy from a number", "aten::copy_", "[" A ",[],[]]",
			"[" BF16 ",\"double\",\"Scalar\"]", NULL, 0, 0},
		{"more than numbers hold", "aten::add", "[[4000000000,2000000000],[1]]",
			"[\"double\",\"double\"]", NULL, 0, 0},
		{"a list of more than that", "aten::cat",
			"[[[4000000000,1000000000],[4000000000,1000000000]]]", "[\"TensorList\"]",
			NULL, 0, 1},
		{"more dimensions than any", "aten::add", "[[1,1,1,1,1,1,1,1,2]]", "[" BF16 "]",
			NULL, 0, 0},
		{"strides of another number", "aten::silu", "[" A "]", "[" BF16 "]", "[[0,0]]",
			2400, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(operators); i++) {
		struct vpt_text name = {operators[i].name, strlen(operators[i].name)};
		struct vpt_kineto_parser parser = {0};
		char text[512] = {0}; /* more than VPT_SCAN_BYTES longer than each */
		const unsigned char *p = (const unsigned char *)text;
		uint64_t number;
		int is_elements;

		snprintf(text, sizeof(text) / 2,
			"{\"Input Dims\":%s,\"Input type\":%s,\"Input Strides\":%s}",
			operators[i].dims, operators[i].types,
			operators[i].strides ? operators[i].strides : "null");
		assert_int_equal(vpt_kineto_parse(&parser, &p, p + strlen(text)), 0);
		number = vpt_kineto_traffic(name, parser.values, &is_elements);
		vpt_kineto_parser_free(&parser);
		if (number != operators[i].number || is_elements != operators[i].is_elements)
			fail_msg("%s: %" PRIu64 " (%d), expected %" PRIu64, operators[i].rule,
				number, is_elements, operators[i].number);
	}
	assert_int_equal(vpt_kineto_traffic((struct vpt_text){"aten::add", 9}, NULL, &(int){0}), 0);
	assert_int_equal(vpt_kineto_traffic((struct vpt_text){"add", 3}, NULL, &(int){0}), 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_of_ranges_are_divided_by_their_kernels),
		cmocka_unit_test(at_most_top_rows_are_listed_by_time),
		cmocka_unit_test(memories_are_of_whole_products),
#ifdef VPT_HAVE_KINETO
		cmocka_unit_test(shapes_give_the_bytes),
#endif
	};

	return cmocka_run_group_tests_name("byte_rates", tests, NULL, NULL);
}

/* test_operators.c - operators by name and shapes: their own time on the GPU and the host, and the shapes as text. */
#include "formats/base/count.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/rows_rig.h"

#define START "start 1us\n"
#define OPERATOR(from, to, name, payload)                                                          \
	"range t1 " from "-" to " \"" name "\" domain cpu_op" payload "\n"
#define SHAPES(text) " json \"{\\\"shapes\\\":\\\"" text "\\\"}\""
#define WORK(key, number, text)                                                                    \
	" json \"{\\\"" key "\\\":" number ",\\\"shapes\\\":\\\"" text "\\\"}\""
#define LAUNCH(from, to, corr)     "call t1 cudaLaunchKernel " from "-" to " corr " corr "\n"
#define KERNEL(from, to, corr)     "kernel s7 " from "-" to " corr " corr " \"add\"\n"
#define GRAPH(from, to, corr)      "call t1 cudaGraphLaunch " from "-" to " corr " corr "\n"
#define NODE(from, to, corr, node) "kernel s7 " from "-" to " corr " corr " \"add\" node " node "\n"
#define CREATED(thread, at, node)  "graph " thread " " at " \"node created\" graph 1 node " node "\n"
#define CLONED(at, node, origin)                                                                   \
	"graph t1 " at " \"node cloned\" graph 2 node " node " origin " origin "\n"

/* Each row: name, shapes, calls, ops, own time on the GPU, own time on the host, time on the host; in graphs: ops
 * and their time. */
static const struct rows_case cases[] = {
	{"an operator has the kernels that it launches, and its time",
		START OPERATOR("1100", "1200", "aten::mm", SHAPES("2x3 3x4"))
			LAUNCH("1110", "1120", "1") KERNEL("2000", "3000", "1"),
		"aten::mm 2x3 3x4: 1 1 1000 100 100; "},
	{"one inside has its own kernels, and its time is not that of the one around",
		START OPERATOR("1100", "1200", "aten::linear", "") OPERATOR("1110", "1170",
			"aten::mm", "") LAUNCH("1120", "1130", "1") LAUNCH("1180", "1190", "2")
			KERNEL("2000", "3000", "1") KERNEL("3000", "3500", "2"),
		"aten::mm: 1 1 1000 60 60; aten::linear: 1 1 500 40 100; "},
	{"a range that is no operator is looked through",
		START OPERATOR("1100", "1200", "aten::linear",
			"") "range t1 1105-1195 \"mine\"\n" OPERATOR("1110", "1170", "aten::mm", "")
			LAUNCH("1175", "1180", "1") KERNEL("2000", "3000", "1"),
		"aten::linear: 1 1 1000 40 100; aten::mm: 1 0 0 60 60; "},
	{"other shapes are another row",
		START OPERATOR("1100", "1200", "aten::mm", SHAPES("2x3 3x4")) LAUNCH("1110", "1120",
			"1") OPERATOR("1200", "1300", "aten::mm", SHAPES("9x9")) LAUNCH("1210",
			"1220", "2") OPERATOR("1300", "1330", "aten::mm", SHAPES("2x3 3x4"))
			LAUNCH("1310", "1320", "3") KERNEL("2000", "2700", "1")
				KERNEL("3000", "3900", "2") KERNEL("4000", "4300", "3"),
		"aten::mm 2x3 3x4: 2 2 1000 130 130; aten::mm 9x9: 1 1 900 100 100; "},
	{"names of emit_nvtx() say the sizes, and lists of no sizes nothing",
		START
		"range t1 1100-1200 \"aten::mm, seq = 3, op_id = 7, sizes = [[2, 3], [], [4]], "
		"input_op_ids = [(1,0)]\"\n"
		"range t1 1210-1220 \"aten::mm, op_id = 8, sizes = [[2, 3], [4]]\"\n"
		"range t1 1230-1235 \"aten::mm, op_id = 9\"\n" LAUNCH("1110", "1120", "1")
			KERNEL("2000", "3000", "1"),
		"aten::mm 2x3 4: 2 1 1000 110 110; aten::mm: 1 0 0 5 5; "},
	{"a range of the program that says shapes is one too, whatever is around it",
		START "range t1 1100-1300 \"step 1\" json \"{\\\"kind\\\":\\\"step\\\"}\"\n"
		      "range t1 1105-1200 \"DiT.forward\"" SHAPES("1x16x60") "\n" LAUNCH(
			      "1110", "1120", "1") LAUNCH("1210", "1220", "2")
			      KERNEL("2000", "3000", "1") KERNEL("3000", "3500", "2"),
		"DiT.forward 1x16x60: 1 1 1000 95 95; "},
	{"a node of a graph is of the operator that it was captured in, in each launch",
		START OPERATOR("1100", "1200", "aten::mm", SHAPES("2x3 3x4"))
			CREATED("t1", "1150", "7") CLONED("1250", "9", "7")
				GRAPH("1300", "1310", "1") NODE("2000", "3000", "1", "9")
					GRAPH("1400", "1410", "2") NODE("4000", "4500", "2", "9"),
		"aten::mm 2x3 3x4: 1 0 0 100 100, in graphs 2 1500; "},
	{"of the innermost one",
		START OPERATOR("1100", "1200", "aten::linear", "") OPERATOR("1110", "1170",
			"aten::mm", "") CREATED("t1", "1120", "7") CREATED("t1", "1180", "8")
			CLONED("1250", "9", "7") CLONED("1260", "10", "8") GRAPH("1300", "1310",
				"1") NODE("2000", "3000", "1", "9") NODE("3000", "3300", "1", "10"),
		"aten::mm: 1 0 0 60 60, in graphs 1 1000; aten::linear: 1 0 0 40 100, in graphs 1 "
		"300; "},
	{"a clone's clone is the same work; a launch of the node itself too",
		START OPERATOR("1100", "1200", "aten::mm", "") CREATED("t1", "1150", "7") CLONED(
			"1250", "9", "7") CLONED("1260", "11", "9") GRAPH("1300", "1310", "1")
			NODE("2000", "3000", "1", "11") NODE("3000", "3001", "1", "7"),
		"aten::mm: 1 0 0 100 100, in graphs 2 1001; "},
	{"a clone is created too, also in another operator",
		START OPERATOR("1100", "1200", "aten::mm", "") CREATED("t1", "1150", "7")
			OPERATOR("1240", "1290", "aten::other", "") CREATED("t1", "1250", "9")
				CLONED("1250", "9", "7") GRAPH("1300", "1310", "1")
					NODE("2000", "3000", "1", "9"),
		"aten::mm: 1 0 0 100 100, in graphs 1 1000; aten::other: 1 0 0 50 50; "},
	{"a capture may end in a later chunk; who is around the launch has the work too",
		START CREATED("t1", "1150", "7") CLONED("1160", "9", "7") GRAPH("1170", "1180", "1")
			NODE("1190", "1290", "1", "9") "chunk 1300\n" OPERATOR(
				"1100", "1400", "aten::mm", "") NODE("1500", "1600", "1", "9"),
		"aten::mm: 1 2 200 300 300, in graphs 2 200; "},
	{"of another thread, before, after, or cloned in a circle: of none",
		START OPERATOR("1100", "1200", "aten::mm", "") CREATED("t2", "1150", "7") CREATED(
			"t1", "1090", "5") CREATED("t1", "1200", "6") CLONED("1250", "20", "21")
			CLONED("1260", "21", "20") GRAPH("1300", "1310", "1")
				NODE("2000", "2100", "1", "7") NODE("2100", "2200", "1", "5") NODE(
					"2200", "2300", "1", "6") NODE("2300", "2400", "1", "20")
					NODE("2400", "2500", "1", "99"),
		"aten::mm: 1 0 0 100 100; "},
	{"what no operator launches belongs to none",
		START "range t1 1100-1200 \"mine\"\n" LAUNCH("1110", "1120", "1")
			KERNEL("2000", "3000", "1"),
		""},
};

static void list_rows(struct rows_text *to, const struct vpa_report *r)
{
	size_t k;

	for (k = 0; k < r->expert.operator_count; k++) {
		const struct vpa_operator_row *o = &r->expert.operators[k];

		add_row(to, "%s%s%s: %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
			o->name, o->shapes ? " " : "", o->shapes ? o->shapes : "", o->calls, o->ops,
			o->gpu_ns, o->host_own_ns, o->host_ns);
		if (o->graph_ops)
			add_row(to, ", in graphs %" PRIu64 " %" PRIu64, o->graph_ops, o->graph_ns);
		add_row(to, "; ");
	}
}

static void operators_have_their_own_time(void **state)
{
	(void)state;
	expect_rows(cases, COUNT(cases), list_rows);
}

/* 4,000 operations or bytes in 1,000 ns; of copies nothing is said, nor of a call that the window cuts. */
static void rates_are_those_of_whole_calls_of_kernels(void **state)
{
	static const struct {
		const char *script;
		uint64_t to_ns; /* 0: all */
		double tflops, gb_per_s;
	} rates[] = {
		{START OPERATOR("1100", "1200", "aten::mm", WORK("flop", "4000", "2x3"))
				LAUNCH("1110", "1120", "1") KERNEL("2000", "3000", "1"),
			0, 0.004, -1},
		{START OPERATOR("1100", "1200", "aten::add", WORK("bytes", "4000", "2x3"))
				LAUNCH("1110", "1120", "1") KERNEL("2000", "3000", "1"),
			0, -1, 4},
		{START OPERATOR("1100", "1200", "aten::cudnn_convolution",
			 WORK("flop", "4000", "2x3")) LAUNCH("1110", "1120",
			 "1") "memset s7 2000-2200 corr 1 bytes 16\n" KERNEL("2200", "3000", "1"),
			0, 0.004, -1},
		{START OPERATOR("1100", "1200", "aten::copy_", WORK("bytes", "4000", "2x3")) LAUNCH(
			 "1110", "1120", "1") "copy s7 HtoD 2000-3000 corr 1 bytes 2000\n",
			1500, -1, -1},
		{START OPERATOR("1100", "1200", "aten::add", WORK("bytes", "4000", "2x3"))
				LAUNCH("1110", "1120", "1") KERNEL("2000", "3000", "1"),
			1500, -1, -1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rates); i++) {
		struct vpa_options options = {
			.has_to = rates[i].to_ns != 0, .to_ns = rates[i].to_ns};
		struct vpa_report *r = vpt_script_report(rates[i].script, &options);
		const struct vpa_operator_row *o = r->expert.operators;

		assert_int_equal(r->expert.operator_count, 1);
		assert_int_equal(o->gpu_ns, rates[i].to_ns ? 500 : 1000);
		if (o->tflops < rates[i].tflops - 1e-9 || o->tflops > rates[i].tflops + 1e-9 ||
			o->gb_per_s < rates[i].gb_per_s - 1e-9 ||
			o->gb_per_s > rates[i].gb_per_s + 1e-9)
			fail_msg("%zu: %f TFLOP/s, %f GB/s", i, o->tflops, o->gb_per_s);
		vpa_report_free(r);
	}
}

static void at_most_top_rows_are_listed(void **state)
{
	struct vpa_options options = {.top = 1};
	struct vpa_report *r = vpt_script_report(cases[1].script, &options);

	(void)state;
	assert_int_equal(r->expert.operators_used, 2);
	assert_int_equal(r->expert.operator_count, 1);
	assert_string_equal(r->expert.operators[0].name, "aten::mm");
	vpa_report_free(r);
}

#ifdef VPT_HAVE_KINETO

#include "formats/import/kineto/text/kineto_json.h"
#include "formats/import/kineto/text/kineto_shapes.h"

static size_t shapes_of(const char *json, char out[VPT_KINETO_SHAPES_BYTES])
{
	struct vpt_kineto_parser parser = {0};
	char text[2048] = {0}; /* more than VPT_SCAN_BYTES longer than each */
	const unsigned char *p = (const unsigned char *)text;
	size_t len;

	snprintf(text, sizeof(text) / 2, "%s", json);
	assert_int_equal(vpt_kineto_parse(&parser, &p, p + strlen(text)), 0);
	len = vpt_kineto_shapes_text(parser.values, out);
	vpt_kineto_parser_free(&parser);
	return len;
}

static void shapes_are_written_without_what_is_no_tensor(void **state)
{
	static const struct {
		const char *json, *text;
	} shapes[] = {
		{"[[3,4],[],[5]]", "3x4 5"},
		{"[[[2,3],[4]],[],[]]", "(2x3 4)"},
		{"[[7],[[2,3],[]]]", "7 (2x3)"},
		{"[[0,5]]", "0x5"},
		{"[[],[[]],[]]", ""},
		{"[[1.5],[true],\"x\",{}]", ""},
		{"[[1,\"x\"],[2]]", "2"},
		{"{}", ""},
	};
	char out[VPT_KINETO_SHAPES_BYTES];
	size_t i, len;

	(void)state;
	for (i = 0; i < COUNT(shapes); i++) {
		len = shapes_of(shapes[i].json, out);
		if (len != strlen(shapes[i].text) || memcmp(out, shapes[i].text, len) != 0)
			fail_msg("%s: %.*s", shapes[i].json, (int)len, out);
	}
	assert_int_equal(vpt_kineto_shapes_text(NULL, out), 0);
}

/* A part of them would be another operator's. */
static void shapes_that_do_not_fit_are_left_out(void **state)
{
	char json[1024] = "[", out[VPT_KINETO_SHAPES_BYTES];
	size_t i, used = 1;

	(void)state;
	for (i = 0; i < VPT_KINETO_SHAPES_BYTES / 4; i++)
		used += (size_t)snprintf(json + used, sizeof(json) - used, "%s[123]", i ? "," : "");
	snprintf(json + used, sizeof(json) - used, "]"); /* a blank less than the bytes are */
	assert_int_equal(shapes_of(json, out), VPT_KINETO_SHAPES_BYTES - 1);
	snprintf(json + used, sizeof(json) - used, ",[1]]");
	assert_int_equal(shapes_of(json, out), 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_have_their_own_time),
		cmocka_unit_test(rates_are_those_of_whole_calls_of_kernels),
		cmocka_unit_test(at_most_top_rows_are_listed),
#ifdef VPT_HAVE_KINETO
		cmocka_unit_test(shapes_are_written_without_what_is_no_tensor),
		cmocka_unit_test(shapes_that_do_not_fit_are_left_out),
#endif
	};

	return cmocka_run_group_tests_name("operators", tests, NULL, NULL);
}

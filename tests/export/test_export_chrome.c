/* test_export_chrome.c - what is exported as Chrome's JSON and read back gives the same report, text and JSON.
 *
 * Traces of a few lines, one for each thing that the profiler's form has no word for, and real ones where they are there.
 * What the form cannot carry has cases too: they say what becomes of it.
 * Long, since each trace is an entry of one table. */
#include "analysis/export/export_pass.h"

#include "analysis/analyze.h"
#include "analysis/render/renderer.h"
#include "formats/base/memory.h"
#include "tests/support/traces/script.h"
#include "tests/support/skip.h"
#include "tests/support/outputs/strip_lines.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct vpa_options plain = {.jobs = 1, .top = 1000};

/* Both renderings of the report of a trace, one after the other, without what names its kind of file, and, if asked, without
 * lines of Python: the form has no samples of stacks. */
static char *report_of(
	const struct vpt_trace *trace, const struct vpa_options *options, int is_sampled)
{
	struct vpt_buffer text = {0};
	struct vpa_report *report;
	struct vpt_sink *sink;
	struct vpt_err err = {0};

	if (vpa_analyze(trace, "trace", options, &report, &err))
		fail_msg("%s", err.text);
	report->format = "some";
	report->is_import = 1;
	if (is_sampled)
		strip_lines(report);
	assert_int_equal(vpt_sink_memory(&text, &sink, &err), 0);
	assert_int_equal(
		vpa_render_text(report, &(struct vpa_text){.full = 1, .width = 120}, sink, &err),
		0);
	assert_int_equal(vpa_render_json(report, sink, &err), 0);
	assert_int_equal(vpt_sink_write(sink, "", 1, &err), 0);
	assert_int_equal(sink->finish(sink, 1, &err), 0);
	vpa_report_free(report);
	return text.data;
}

static const struct vpa_export_options how = {.container = VPT_CONTAINER_NONE, .jobs = 1};

static int export_chrome(const struct vpt_trace *trace, const struct vpa_options *options,
	struct vpt_sink *sink, struct vpa_export_totals *totals, struct vpt_err *err)
{
	const struct vpa_export_job job = {.exporter = &vpa_exporter_chrome,
		.trace = trace,
		.path = "trace",
		.analysis = options,
		.options = &how,
		.sink = sink};

	return vpa_export(&job, totals, err);
}

static int export_jsonl(const struct vpt_trace *trace, const struct vpa_options *options,
	const char *folder, struct vpt_err *err)
{
	const struct vpa_export_job job = {.exporter = &vpa_exporter_jsonl,
		.trace = trace,
		.path = "trace",
		.analysis = options,
		.options = &how,
		.folder = folder};
	struct vpa_export_totals totals;

	return vpa_export(&job, &totals, err);
}

static struct vpt_buffer export(const struct vpt_trace *trace, const struct vpa_options *options)
{
	struct vpa_export_totals totals;
	struct vpt_buffer out = {0};
	struct vpt_sink *sink;
	struct vpt_err err = {0};

	assert_int_equal(vpt_sink_memory(&out, &sink, &err), 0);
	if (export_chrome(trace, options, sink, &totals, &err))
		fail_msg("%s", err.text);
	assert_int_equal(vpt_sink_write(sink, "", 1, &err), 0); /* a NUL behind it */
	assert_int_equal(sink->finish(sink, 1, &err), 0);
	out.size--;
	assert_int_equal(totals.raw_bytes, out.size);
	return out;
}

/* The exported text as a trace; the text stays, for vpt_free(). */
static struct vpt_trace *read_back(const struct vpt_buffer *text)
{
	struct vpt_source *src;
	struct vpt_trace *trace;
	struct vpt_err err = {0};

	assert_int_equal(vpt_source_memory(text->data, text->size, &src, &err), 0);
	if (vpt_trace_open_source(src, &trace, &err))
		fail_msg("%s", err.text);
	return trace;
}

/* Fails with the first line that differs. */
static void same_reports(const char *rule, const char *before, const char *after)
{
	const char *line = before;
	size_t i;

	for (i = 0; before[i] && before[i] == after[i]; i++)
		if (before[i] == '\n')
			line = before + i + 1;
	if (before[i] != after[i])
		fail_msg("%s: expected\n%.*s\nfound\n%.*s", rule, (int)strcspn(line, "\n"), line,
			(int)strcspn(after + (line - before), "\n"), after + (line - before));
}

/* The trace is closed. Returns what was exported, the caller's to free. */
static char *round_trip_of(const char *rule, struct vpt_trace *trace,
	const struct vpa_options *options, int is_sampled)
{
	char *before = report_of(trace, options, is_sampled), *after;
	struct vpt_buffer text = export(trace, options);
	struct vpt_trace *back = read_back(&text);

	assert_int_equal(vpt_trace_import_stats(back)->malformed, 0);
	assert_int_equal(vpt_trace_import_stats(back)->unknown_category, 0);
	assert_int_equal(vpt_trace_import_stats(back)->bad_numbers, 0);
	/* The window of the first report is all that there is of the second. */
	after = report_of(back, &plain, is_sampled);
	same_reports(rule, before, after);
	vpt_free(before);
	vpt_free(after);
	vpt_trace_close(back);
	vpt_trace_close(trace);
	return text.data;
}

static char *round_trip(
	const char *rule, struct vpt_trace *trace, const struct vpa_options *options)
{
	return round_trip_of(rule, trace, options, 0);
}

static struct vpt_trace *script(const char *lines)
{
	struct vpt_trace *trace;
	struct vpt_err err = {0};

	if (vpt_script_trace(lines, &trace, &err))
		fail_msg("%s", err.text);
	return trace;
}

/* ---- captures by hand ---- */

static const struct {
	const char *rule, *lines;
	const char *holds; /* the text holds this; NULL: does not matter */
} cases[] = {
	{"nothing at all", "start 1000; end 2000", "\"traceEvents\":[\n],"},
	{"the window begins before the first event and ends after the last",
		"start 1000 unix 1700000000000000000\nkernel s7 5000-6000 \"k\"; end 9000",
		"\"baseTimeNanoseconds\":1699999999999999000"},
	{"a trace with times of day",
		"start 1700000000000000000 unix 1700000000000000000\n"
		"kernel s7 1700000000000001000-1700000000000002000 \"k\"",
		"\"unix_offset_ns\":0},\n\"displayTimeUnit\":\"ms\",\n\"baseTimeNanoseconds\":"
		"1700000000000000000"},
	{"one of which the time of day is not known", "start 1000; kernel s7 5000-6000 \"k\"",
		"\"shift_ns\":0},\n\"displayTimeUnit\""},
	{"a kernel's launch, its configuration and its flow",
		"start 1000; call t1 cudaLaunchKernel 1100-1200 corr 5\n"
		"kernel s7 2001-3002 corr 5 \"gemm\" grid 132x2 block 128 shared 48KiB regs 64 "
		"node 9",
		"\"ts\":2.001,\"dur\":1.001,\"args\":{\"device\":0,\"context\":1,\"stream\":7,"
		"\"process\":1,\"correlation\":5,\"registers per thread\":64"},
	{"a mangled name is shown demangled, and kept",
		"start 1000; kernel s7 2000-3000 \"_Z4gemmPf\"",
		"\"name\":\"gemm(float*)\",\"pid\":0"},
	{"all kinds of copies",
		"start 1000; copy s7 HtoD pageable->device 2000-3000 corr 1 bytes 4096 async\n"
		"copy s7 DtoH device->pinned 3000-3500 bytes 8\n"
		"copy s7 PtoP device->device 4000-4100 bytes 100 peer 2\n"
		"memset s7 5000-5001 bytes 16 value 255\n"
		"copy s7 DtoD managed->array 6000-6001 bytes 1",
		"\"name\":\"Memcpy HtoD (Pageable -> Device)\""},
	{"calls of both interfaces, one without a number, one that failed",
		"start 1000; call t1 cudaMalloc 1100-1200 corr 1 ret 2; call t1 cuMemAlloc_v2 "
		"1210-1220\n"
		"call t1 someNewCall 1230-1240; call t1 cudaDeviceSynchronize 1300-1900 corr 3",
		"\"cat\":\"cuda_driver\",\"name\":\"cuMemAlloc\""},
	{"domains, annotations, categories and payloads of ranges and marks",
		"start 1000; call t1 cudaLaunchKernel 1110-1120 corr 1; kernel s7 1200-1300 corr 1 "
		"\"k\"\n"
		"range t1 1100-1400 \"block\" domain vptrace json "
		"\"{\\\"kind\\\":\\\"block\\\",\\\"index\\\":3,\\\"frames\\\":12}\"\n"
		"range t1 1105-1390 \"x\" domain other category 3 colour 0xff00ff00 int -5\n"
		"range t1 1106-1380 \"y\" double 0.1; range t1 1107-1370 \"aten::mm\" domain "
		"cpu_op\n"
		"mark t1 1399 \"frames\" domain vptrace json "
		"\"{\\\"kind\\\":\\\"frames\\\",\\\"index\\\":3}\"\n"
		"mark t1 1399 \"seed\" int 42",
		"\"payload type\":\"json\",\"payload\":\"{\\\"kind\\\":\\\"block\\\""},
	{"ranges of one length: the inner one stays inside",
		"start 1000; call t1 cudaLaunchKernel 1100-1200 corr 1; kernel s7 1300-1400 corr 1 "
		"\"k\"\n"
		"range t1 1100-1200 \"inner\"; range t1 1100-1200 \"outer\"",
		NULL},
	{"process-wide ranges that end on another thread, unmatched and open ones",
		"start 1000; call t1 cudaLaunchKernel 1110-1120 corr 1; kernel s7 1200-1300 corr 1 "
		"\"k\"\n"
		"startend t1 1050-1500 \"request\" end_thread t2; range t2 1100-2000 \"cut\" "
		"unmatched\n"
		"open t1 1090 \"block 3\"; openstartend t2 1060 \"request 2\"\nend 2000",
		"\"args\":{\"open\":1},\"pid\":1,\"tid\":1,\"ts\":1.090,\"dur\":0.910}"},
	{"waits of all kinds",
		"start 1000; call t1 cudaStreamWaitEvent 1010-1020 corr 2; sync s7 \"stream waits "
		"for event\" "
		"1010-1020 corr 2 event 4 sync_id 2\n"
		"sync s7 stream 1300-1310 corr 5; sync - context 1400-1500 corr 6; sync t1 event "
		"1600-1700 corr 7 event 0\n"
		"event s9 1005 event 4 sync_id 2 corr 1\n"
		"call t1 cudaLaunchKernel 1100-1105 corr 3; kernel s7 1800-1900 corr 3 \"k\"; "
		"kernel s9 1001-1799 \"j\"",
		"\"wait_on_stream\":9,\"wait_on_cuda_event_record_corr_id\":1,"
		"\"wait_on_cuda_event_id\":3,\"cuda_event_sync_id\":2"},
	{"the profiling library's own time, on a thread and on none",
		"start 1000; overhead t1 \"buffer flush\" 1100-1200; overhead - \"module loading\" "
		"1300-1500\n"
		"kernel s7 1000-1050 \"k\"; kernel s7 1600-1700 \"k\"",
		"\"name\":\"Buffer Flush\""},
	{"losses and pauses",
		"start 1000; kernel s7 1000-1100 \"k\"; kernel s7 3000-3100 \"k\"\n"
		"loss all paused 1200-1500 count 0; loss s7 dropped 1600-1700 count 5; loss t1 "
		"\"ring full\" 2000-2000 count 7\n"
		"stats all received 17 dropped 12 invalid 0",
		"\"name\":\"loss: paused\""},
	{"counters, memory, graphs",
		"start 1000; series power device 0 unit \"W\" \"GPU power\"; counter power 1100 "
		"250.5; counter power 1200 0.1\n"
		"memory s7 1300 allocate memory_kind device bytes 1MiB address "
		"18446744073709551615\n"
		"graph t1 1400 \"node created\" graph 1 node 7 origin 3 range \"capture\"; kernel "
		"s7 1500-1600 \"k\"",
		"\"address\":\"18446744073709551615\""},
	{"devices and facts",
		"start 1000; kernel s7 1000-1100 \"k\"; kernel s2.7 1000-1100 \"k\"\n"
		"device 0 \"Sim GPU\" cc 9.0 sms 132 memory 80GiB simulated; device 2 \"B\" cc 8.0 "
		"sms 108\n"
		"meta rank \"0\"; meta world_size \"2\"; meta command \"/usr/bin/python3 x.py\"; "
		"meta odd \"a\\xc3\\xa9\\nb\"",
		"\"distributedInfo\":{\"rank\":0,\"world_size\":2}"},
	{"two processes with the same correlation ids",
		"start 1000; thread t1 pid 1 tid 1; thread t2 pid 2 tid 1\n"
		"stream s7 device 0 context 1 stream 7 pid 1; stream s8 device 0 context 2 stream "
		"7 pid 2\n"
		"call t1 cudaLaunchKernel 1100-1110 corr 1; call t2 cudaLaunchKernel 1100-1120 "
		"corr 1\n"
		"range t1 1050-1150 \"first\"; range t2 1050-1160 \"second\"\n"
		"kernel s7 1200-1300 corr 1 \"k\"; kernel s8 1250-1350 corr 1 \"k\"",
		NULL},
	{"a clock that doubles could not tell to the nanosecond",
		"start 1700000000000000001 unix 1700000000000000001\n"
		"kernel s7 1700000000000000101-1700000000000000202 \"k\"; end 1700000000000000303",
		"\"ts\":0.100,\"dur\":0.101"},
	{"invalid times",
		"start 1000; kernel s7 1000-1100 \"k\"; kernel s7 0-50 \"zero\"; kernel s7 "
		"1500-1400 \"backwards\"; kernel s7 1600-1600 \"empty\"",
		"\"name\":\"zero\",\"pid\":0,\"tid\":7,\"ts\":1.000,\"no time\":1,\"dur\":0.050,"},
	{"an event without a device time, and a clock far from 0",
		"start 1700000000000000001; kernel s7 1700000000000000101-1700000000000000202 "
		"\"k\"\n"
		"event s7 0 event 1 sync_id 2 corr 3; end 1700000000000000303",
		"\"cat\":\"cuda_event\",\"name\":\"cudaEvent\",\"pid\":0,\"tid\":7,\"ts\":0.000,"
		"\"no time\":1,"},
	{"several chunks",
		"start 1000; call t1 cudaLaunchKernel 1100-1110 corr 1; chunk 1150\n"
		"kernel s7 1200-1300 corr 1 \"k\"; range t1 1050-1400 \"over it all\"",
		NULL},
	{"a stream and a thread with names, and text that JSON must escape",
		"start 1000; thread t1 pid 1 tid 100 \"main \\\"x\\\"\"; stream s7 device 0 "
		"context 1 stream 7 pid 1 \"copies\"\n"
		"call t1 cudaLaunchKernel 1100-1110 corr 1; kernel s7 1200-1300 corr 1 \"a\\\\b "
		"\\xe2\\x80\\xa8\"",
		"\"args\":{\"name\":\"main \\\"x\\\"\"}"},
	{"exact stacks are calls of functions, also over chunks",
		"start 1000; call t1 cudaLaunchKernel 1010-1020 corr 1; kernel s7 1030-1050 corr 1 "
		"\"k\"\n"
		"sample t1 1005 \"main (run.py:3)\" flags 1\n"
		"sample t1 1200 \"main (run.py:3);step (m.py:40);item\" flags 1\n"
		"sample t2 1250 \"other (run.py:9)\" flags 1; sample t2 8000 flags 1\n"
		"chunk 1280; sample t1 1300 \"main (run.py:3);step (m.py:41)\" flags 1\n"
		"sample t1 1400 flags 1\n"
		"call t1 cudaLaunchKernel 1500-1510 corr 2; kernel s7 1520-1600 corr 2 \"k\"; end "
		"9000",
		"{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"item\",\"pid\":1,\"tid\":1,"
		"\"ts\":1.200,"
		"\"dur\":0.100,\"args\":{\"Python parent id\":2,\"Python id\":3}},\n"
		"{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"m.py(40): "
		"step\",\"pid\":1,\"tid\":1,"
		"\"ts\":1.200,\"dur\":0.100,\"args\":{\"Python parent id\":1,\"Python id\":2}},\n"
		"{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"m.py(41): "
		"step\",\"pid\":1,\"tid\":1,"
		"\"ts\":1.300,\"dur\":0.100,\"args\":{\"Python parent id\":1,\"Python id\":5}},\n"
		"{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"run.py(3): "
		"main\",\"pid\":1,\"tid\":1,"
		"\"ts\":1.005,\"dur\":0.395,\"args\":{\"Python parent id\":null,\"Python id\":1}}"},
	{"a call goes on while its line moves, and the calls that it makes have their line",
		"start 1000; meta \"torch_call_lines\" \"1\"\n"
		"call t1 cudaLaunchKernel 1010-1020 corr 1; kernel s7 1030-1050 corr 1 \"k\"\n"
		"sample t1 1100 \"main (run.py:3)\" flags 1\n"
		"sample t1 1200 \"main (run.py:5);step (m.py:44);item\" flags 1\n"
		"sample t1 1300 \"main (run.py:5);step (m.py:40)\" flags 1\n"
		"sample t1 1400 \"main (run.py:6);item\" flags 1\n"
		"sample t1 1500 \"main (run.py:3)\" flags 1; sample t1 1600 flags 1; end 9000",
		"{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"item\",\"pid\":1,\"tid\":1,"
		"\"ts\":1.200,"
		"\"dur\":0.100,\"args\":{\"CallFrom\":\"m.py:44\",\"Python parent id\":2,\"Python "
		"id\":3}},\n"
		"{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"m.py(40): "
		"step\",\"pid\":1,\"tid\":1,"
		"\"ts\":1.200,\"dur\":0.200,\"args\":{\"CallFrom\":\"run.py:5\",\"Python parent "
		"id\":1,\"Python id\":2}},\n"
		"{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"item\",\"pid\":1,\"tid\":1,"
		"\"ts\":1.400,"
		"\"dur\":0.100,\"args\":{\"CallFrom\":\"run.py:6\",\"Python parent id\":1,\"Python "
		"id\":4}},\n"
		"{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"run.py(3): "
		"main\",\"pid\":1,\"tid\":1,"
		"\"ts\":1.100,\"dur\":0.500,\"args\":{\"Python parent id\":null,\"Python id\":1}}"},
	{"two functions with one name are two calls, also where lines move",
		"start 1000; meta \"torch_call_lines\" \"1\"\n"
		"call t1 cudaLaunchKernel 1010-1020 corr 1; kernel s7 1030-1050 corr 1 \"k\"\n"
		"sample t1 1100 \"main (run.py:3);f (m.py:40)\" flags 1\n"
		"sample t1 1200 \"main (run.py:3);f (m.py:90)\" flags 1\n"
		"sample t1 1300 flags 1; end 9000",
		"m.py(90): f"},
	{"stream 0 has a name as any other",
		"start 1000; stream s1 device 0 stream 0 \"copies\"; kernel s1 1200-1300 corr 1 "
		"\"k\"",
		"\"name\":\"thread_name\",\"pid\":0,\"tid\":0,\"args\":{\"name\":\"copies\"}"},
};

static void hand_made_captures(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = round_trip(cases[i].rule, script(cases[i].lines), &plain);

		if (cases[i].holds && !strstr(text, cases[i].holds))
			fail_msg("%s: expected %s in\n%s", cases[i].rule, cases[i].holds, text);
		vpt_free(text);
	}
}

/* Without those that no sample has. Samples do not come back. */
static void samples_name_their_stack_frames(void **state)
{
	static const char *const expected[] = {
		"{\"ph\":\"P\",\"cat\":\"python_function\",\"name\":\"Python "
		"stack\",\"pid\":1,\"tid\":1,\"ts\":1.700,\"sf\":4}",
		"\n],\n\"stackFrames\":{\n\"2\":{\"category\":\"python\",\"name\":\"main "
		"(run.py:3)\"},\n"
		"\"3\":{\"category\":\"python\",\"name\":\"item\",\"parent\":\"2\"},\n"
		"\"4\":{\"category\":\"python\",\"name\":\"<lambda> "
		"(<string>)\",\"parent\":\"2\"}},\n"
		"\"deviceProperties\""};
	char *text = round_trip_of("samples",
		script("start 1000; kernel s7 1030-1050 \"k\"\n"
		       "sample t1 1500 \"main (run.py:3);item\"; sample t1 1600\n"
		       "sample t1 1700 \"main (run.py:3);<lambda> (<string>)\"\n"
		       "sample t2 1100 \"other (run.py:9)\" flags 1; sample t2 1200 flags 1; end "
		       "2000"),
		&plain, 1);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		if (!strstr(text, expected[i]))
			fail_msg("expected %s in\n%s", expected[i], text);
	vpt_free(text);
}

static void ranges_are_shown_on_each_stream(void **state)
{
	static const char *const expected[] = {
		"\"cat\":\"gpu_user_annotation\",\"name\":\"outer\",\"pid\":0,\"tid\":7,\"ts\":1."
		"200,\"dur\":0.500}",
		"\"cat\":\"gpu_user_annotation\",\"name\":\"outer\",\"pid\":0,\"tid\":8,\"ts\":1."
		"250,\"dur\":0.100}",
		"\"cat\":\"gpu_user_annotation\",\"name\":\"inner\",\"pid\":0,\"tid\":7,\"ts\":1."
		"200,\"dur\":0.100}",
	};
	char *text = round_trip("three ops",
		script("start 1000; range t1 1050-1180 \"outer\"; range t1 1090-1120 \"inner\"; "
		       "range t1 1095-1111 \"op\" domain cpu_op\n"
		       "call t1 cudaLaunchKernel 1100-1110 corr 1; call t1 cudaLaunchKernel "
		       "1130-1140 corr 2; call t1 cudaLaunchKernel 1150-1160 corr 3\n"
		       "kernel s7 1200-1300 corr 1 \"k\"; kernel s8 1250-1350 corr 2 \"k\"; kernel "
		       "s7 1600-1700 corr 3 \"k\""),
		&plain);
	size_t i, count = 0;
	const char *p = text;

	(void)state;
	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		if (!strstr(text, expected[i]))
			fail_msg("expected %s in\n%s", expected[i], text);
	while ((p = strstr(p, "gpu_user_annotation")) != NULL) {
		p++;
		count++;
	}
	assert_int_equal(count, 3);
	vpt_free(text);
}

static size_t count_of(const char *text, const char *words)
{
	size_t count = 0;

	for (; (text = strstr(text, words)) != NULL; text++)
		count++;
	return count;
}

/* As TensorBoard and HTA look for them. The round trip finds the same report: they are no ranges of ours. */
static void blocks_or_steps_are_iterations(void **state)
{
	static const char *const blocks =
		"start 1000; range t1 1050-1180 \"block 4\"; range t1 1060-1100 \"step 0\"\n"
		"range t2 1010-1300 \"block 3\"; range t1 1200-1250 \"step 1\"; kernel s7 "
		"1200-1300 \"k\"";
	char *text = round_trip("blocks", script(blocks), &plain);

	(void)state;
	assert_int_equal(count_of(text, "ProfilerStep#"), 2);
	assert_non_null(strstr(text,
		"\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#0\",\"pid\":1,\"tid\":2,"
		"\"ts\":1.010,\"dur\":0.290,\"args\":{\"iteration\":1}}"));
	assert_non_null(strstr(text,
		"\"name\":\"ProfilerStep#1\",\"pid\":1,\"tid\":1,\"ts\":1.050,\"dur\":0.130,"));
	vpt_free(text);
	text = round_trip("steps",
		script("start 1000; range t1 1060-1100 \"step 0\"; range t1 1200-1250 \"step 1\"; "
		       "kernel s7 "
		       "1200-1300 \"k\""),
		&plain);
	assert_int_equal(count_of(text, "ProfilerStep#"), 2);
	assert_non_null(strstr(text,
		"\"name\":\"ProfilerStep#1\",\"pid\":1,\"tid\":1,\"ts\":1.200,\"dur\":0.050,"));
	vpt_free(text);
	text = round_trip("its own",
		script("start 1000; range t1 1060-1100 \"step 0\"; range t1 1050-1250 "
		       "\"ProfilerStep#7\"; kernel s7 "
		       "1200-1300 \"k\""),
		&plain);
	assert_int_equal(count_of(text, "\"name\":\"ProfilerStep#"), 1);
	vpt_free(text);
}

/* Ranges that overlap without nesting: what was launched when one had ended is not in it. */
static void ranges_that_have_ended_are_left_as_they_are(void **state)
{
	static const char *const expected[] = {
		"\"cat\":\"gpu_user_annotation\",\"name\":\"first\",\"pid\":0,\"tid\":7,\"ts\":1."
		"200,\"dur\":0.100}",
		"\"cat\":\"gpu_user_annotation\",\"name\":\"second\",\"pid\":0,\"tid\":7,\"ts\":1."
		"250,\"dur\":0.350}",
	};
	char *text = round_trip("two of four ops",
		script("start 1000; range t1 1050-1140 \"first\"; range t1 1110-1180 \"second\"\n"
		       "call t1 cudaLaunchKernel 1060-1070 corr 1; call t1 cudaLaunchKernel "
		       "1120-1130 corr 2\n"
		       "call t1 cudaLaunchKernel 1150-1155 corr 3; call t1 cudaLaunchKernel "
		       "1160-1165 corr 4\n"
		       "kernel s7 1200-1250 corr 1 \"k\"; kernel s7 1250-1300 corr 2 \"k\"\n"
		       "kernel s7 1300-1400 corr 3 \"k\"; kernel s7 1500-1600 corr 4 \"k\""),
		&plain);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		if (!strstr(text, expected[i]))
			fail_msg("expected %s in\n%s", expected[i], text);
	vpt_free(text);
}

static void a_window_takes_the_rows_that_touch_it(void **state)
{
	struct vpa_options options = plain;
	struct vpt_trace *trace;
	char *text;

	(void)state;
	options.has_from = options.has_to = 1;
	options.from_ns = 1000;
	options.to_ns = 2000;
	trace = script(
		"start 1000; kernel s7 1100-1200 \"before\"; kernel s7 1900-2100 \"across\"\n"
		"kernel s7 2500-2600 \"inside\"; kernel s7 3000-3100 \"after\"; end 5000\n"
		"open t1 1500 \"still open\"; open t1 3500 \"opened later\"");
	text = export(trace, &options).data;
	vpt_trace_close(trace);
	assert_null(strstr(text, "before"));
	assert_non_null(strstr(text, "across"));
	assert_non_null(strstr(text, "inside"));
	assert_null(strstr(text, "after"));
	assert_non_null(strstr(text, "still open"));
	assert_null(strstr(text, "opened later"));
	assert_non_null(strstr(text, "\"start_ns\":2000"));
	assert_non_null(strstr(text, "\"end_ns\":3000"));
	vpt_free(text);
}

static void what_is_not_utf8_is_lost(void **state)
{
	struct vpt_trace *trace = script("start 1000; kernel s7 1000-1100 \"a\\xff\"; end 2000");
	struct vpt_buffer text = export(trace, &plain);
	struct vpt_trace *back = read_back(&text);

	(void)state;
	assert_non_null(strstr(text.data, "\"name\":\"a\xef\xbf\xbd\""));
	vpt_trace_close(back);
	vpt_trace_close(trace);
	vpt_free(text.data);
}

/* A member "vptrace" in a file of somebody else's must not take anything apart. */
static void members_of_ours_are_not_believed(void **state)
{
	static const char *const texts[] = {
		"{\"vptrace\":{\"version\":1,\"start_ns\":-5,\"shift_ns\":9223372036854775807},"
		"\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":"
		"9223372036854775,\"dur\":1,\"args\":{\"device\":0,\"stream\":7}}]}",
		"{\"vptrace\":7,\"traceEvents\":[],\"vptraceEnd\":[1,2]}",
		"{\"vptrace\":{\"version\":1},\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"vptrace\","
		"\"name\":\"x\",\"ts\":1,\"dur\":1,\"args\":{\"kind\":\"kernel\",\"config\":99}},"
		"{\"ph\":\"i\",\"cat\":\"vptrace\",\"name\":\"x\",\"ts\":1,\"args\":{\"kind\":"
		"\"string\"}},"
		"{\"ph\":\"C\",\"cat\":\"counter\",\"name\":\"x\",\"ts\":1},"
		"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"x\",\"ts\":1,\"pid\":1,"
		"\"tid\":1,\"args\":{\"payload type\":\"blob\",\"payload\":\"0g\",\"open\":1}}],"
		"\"vptraceEnd\":{\"end_ns\":1,\"meta\":[1,[],[\"a\"],[\"a\",2],[\"k\",\"v\"]]}}",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct vpt_buffer text = {(char *)(uintptr_t)texts[i], strlen(texts[i]), 0};
		struct vpt_trace *trace = read_back(&text);

		vpt_free(report_of(trace, &plain, 0));
		vpt_trace_close(trace);
	}
}

/* ---- no memory ---- */

static int allocations_left;

static void *failing_resize(void *ptr, size_t size)
{
	return allocations_left-- > 0 ? realloc(ptr, size) : NULL;
}

static const struct vpt_memory_ops failing_memory = {failing_resize, free};

static const char *const many_things =
	"start 1000; device 0 \"Sim GPU\" cc 9.0 sms 132; meta command \"python x.py\"\n"
	"call t1 cudaLaunchKernel 1110-1120 corr 1; kernel s7 1200-1300 corr 1 \"_Z4gemmPf\"\n"
	"range t1 1100-1400 \"vae_decode\" domain other int -5; open t2 1090 \"block 3\"\n"
	"sync s7 stream 1300-1310 corr 5; event s9 1005 event 4 sync_id 2 corr 1\n"
	"chunk; copy s7 HtoD pageable->device 1500-1600 corr 2 bytes 4096; mark t1 1399 \"m\"\n"
	"sample t1 1115 \"main (a.py:1);f\" flags 1; sample t2 1116 \"g\"";

/* The export says so, or is the same to the byte: never a part of it. */
static void no_memory_is_reported_wherever_it_runs_out(void **state)
{
	struct vpt_trace *trace = script(many_things);
	struct vpt_buffer whole = export(trace, &plain);
	int allowed, rc = VPT_ENOMEM;

	(void)state;
	for (allowed = 0; rc; allowed++) {
		struct vpa_export_totals totals;
		struct vpt_buffer out = {0};
		struct vpt_err err = {0};
		struct vpt_sink *sink;

		assert_int_equal(vpt_sink_memory(&out, &sink, &err), 0);
		allocations_left = allowed;
		vpt_memory_use(&failing_memory);
		rc = export_chrome(trace, &plain, sink, &totals, &err);
		vpt_memory_use(NULL);
		sink->finish(sink, !rc, NULL);
		if (rc && rc != VPT_ENOMEM)
			fail_msg("%d allocations: %d %s", allowed, rc, err.text);
		if (!rc && (out.size != whole.size || memcmp(out.data, whole.data, out.size) != 0))
			fail_msg("%d allocations gave a part of it", allowed);
		vpt_free(out.data);
	}
	assert_true(allowed > 20);
	vpt_free(whole.data);
	vpt_trace_close(trace);
}

static void no_memory_leaves_no_folder(void **state)
{
	struct vpt_trace *trace = script(many_things);
	char folder[] = "/tmp/vptrace-rows-XXXXXX", path[64], command[128];
	int allowed, rc = VPT_ENOMEM;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/tables", folder);
	for (allowed = 0; rc; allowed++) {
		struct vpt_err err = {0};

		allocations_left = allowed;
		vpt_memory_use(&failing_memory);
		rc = export_jsonl(trace, &plain, path, &err);
		vpt_memory_use(NULL);
		if (rc && rc != VPT_ENOMEM)
			fail_msg("%d allocations: %d %s", allowed, rc, err.text);
		if (rc && rmdir(folder) == 0)
			assert_int_equal(mkdir(folder, 0700), 0);
		else if (rc)
			fail_msg("%d allocations left something behind", allowed);
	}
	assert_true(allowed > 20);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
	vpt_trace_close(trace);
}

/* The first rows of an exported table end so; as many as there are before NULL. */
static void expect_rows(const char *lines, const char *table, const char *const *expected)
{
	struct vpt_trace *trace = script(lines);
	char folder[] = "/tmp/vptrace-rows-XXXXXX", path[64], command[128], line[2048];
	struct vpt_err err = {0};
	FILE *rows;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/tables", folder);
	assert_int_equal(export_jsonl(trace, &plain, path, &err), 0);
	snprintf(path, sizeof(path), "%s/tables/%s.jsonl", folder, table);
	rows = fopen(path, "r");
	assert_non_null(rows);
	for (; *expected; expected++) {
		assert_non_null(fgets(line, sizeof(line), rows));
		if (!strstr(line, *expected))
			fail_msg("expected %s in %s", *expected, line);
	}
	fclose(rows);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
	vpt_trace_close(trace);
}

/* Rows say in which block and step an op was launched: in none that had ended by then, though what it was launched in began
 * inside of it. */
static void rows_are_placed_in_what_was_open(void **state)
{
	static const char *const expected[] = {
		"\"range\":\"step 1\",\"stage\":null,\"block\":3,\"step\":1}\n",
		"\"range\":\"step 1\",\"stage\":null,\"block\":null,\"step\":1}\n", NULL};

	(void)state;
	expect_rows("start 1000; range t1 2000-3000 \"block 3\"; range t1 2500-4000 \"step 1\"\n"
		    "call t1 cudaLaunchKernel 2600-2610 corr 1; kernel s7 4500-4600 corr 1 \"a\"\n"
		    "call t1 cudaLaunchKernel 3500-3510 corr 2; kernel s7 4600-4700 corr 2 \"b\"",
		"kernel", expected);
	/* When the first was launched nobody knew when the block ends. */
	expect_rows("start 1000; call t1 cudaLaunchKernel 2600-2610 corr 1\n"
		    "kernel s7 2650-2700 corr 1 \"a\"; chunk 2800\n"
		    "range t1 2000-3000 \"block 3\"; range t1 2500-4000 \"step 1\"\n"
		    "call t1 cudaLaunchKernel 3500-3510 corr 2; kernel s7 4600-4700 corr 2 \"b\"",
		"kernel", expected);
}

/* As in the report: a name that is a block's outside of steps and stages is a layer's inside of them. */
static void rows_are_not_placed_in_layers(void **state)
{
	static const char *const layers[] = {
		"\"range\":\"block 7\",\"stage\":null,\"block\":3,\"step\":1}\n",
		"\"range\":\"block 8\",\"stage\":\"vae_decode\",\"block\":3,\"step\":null}\n",
		"\"range\":\"step 9\",\"stage\":null,\"block\":3,\"step\":2}\n",
		"\"range\":\"block 6\",\"stage\":null,\"block\":3,\"step\":null}\n",
		"\"range\":\"block 5\",\"stage\":null,\"block\":null,\"step\":4}\n", NULL};
	static const char *const wide[] = {
		"\"range\":\"step 1\",\"stage\":null,\"block\":3,\"step\":1}\n", NULL};

	(void)state;
	expect_rows("start 1000; range t1 2000-7000 \"block 3\"\n"
		    "range t1 2500-3000 \"step 1\"; range t1 2550-2800 \"block 7\"\n"
		    "range t1 3000-4000 \"vae_decode\"; range t1 3100-3900 \"block 8\"\n"
		    "range t1 4000-5000 \"step 2\"; range t1 4100-4900 \"step 9\"\n"
		    "range t1 5000-6000 \"block 6\"\n"
		    "range t1 8000-9000 \"step 4\"; range t1 8100-8900 \"block 5\"\n"
		    "call t1 cudaLaunchKernel 2600-2610 corr 1; kernel s7 2700-2750 corr 1 \"a\"\n"
		    "call t1 cudaLaunchKernel 3200-3210 corr 2; kernel s7 3300-3350 corr 2 \"b\"\n"
		    "call t1 cudaLaunchKernel 4200-4210 corr 3; kernel s7 4300-4350 corr 3 \"c\"\n"
		    "call t1 cudaLaunchKernel 5200-5210 corr 4; kernel s7 5300-5350 corr 4 \"d\"\n"
		    "call t1 cudaLaunchKernel 8200-8210 corr 5; kernel s7 8300-8350 corr 5 \"e\"",
		"kernel", layers);
	expect_rows("start 1000; startend t1 2000-7000 \"block 3\"; range t1 2500-3000 \"step 1\"\n"
		    "call t1 cudaLaunchKernel 2600-2610 corr 1; kernel s7 2700-2750 corr 1 \"a\"",
		"call", wide);
}

/* A gap has the line that its exact stacks give it; where stacks are samples its place has one. */
static void gaps_and_places_have_lines(void **state)
{
	static const char *const gaps[] = {"\"cause\":\"before first work\"",
		"\"duration_ns\":16400,\"cause\":\"launch "
		"rate\",\"call\":null,\"range\":\"part\",\"pid\":1,"
		"\"tid\":1,\"after\":\"a\",\"before\":\"b\",\"correlation\":2,\"place\":\"before "
		"part\","
		"\"function\":\"slow\",\"file\":\"m.py\",\"line\":40,\"line_share\":0.75}\n",
		NULL};
	static const char *const sampled_gaps[] = {"\"cause\":\"before first work\"",
		"\"place\":null,\"function\":null,\"file\":null,\"line\":null,\"line_share\":null}"
		"\n",
		NULL};
	static const char *const places[] = {
		"{\"device\":0,\"cause\":\"launch "
		"rate\",\"place\":null,\"call\":null,\"idle_ns\":97900,"
		"\"gaps\":1,\"function\":\"slow\",\"file\":\"m.py\",\"line\":40,\"line_share\":0.8,"
		"\"samples\":5}\n",
		NULL};

	(void)state;
	expect_rows("start 1000; call t1 cudaLaunchKernel 1500-1510 corr 1\n"
		    "kernel s7 2000-2100 corr 1 \"a\"; range t1 18100-18200 \"part\"\n"
		    "sample t1 1400 \"main (run.py:3);slow (m.py:40)\" flags 1\n"
		    "sample t1 14100 \"main (run.py:3)\" flags 1\n"
		    "call t1 cudaLaunchKernel 18100-18110 corr 2; kernel s7 18500-18600 corr 2 "
		    "\"b\"",
		"gap", gaps);
#define SAMPLED                                                                                    \
	"start 1000; call t1 cudaLaunchKernel 1500-1510 corr 1; sample t1 1500 \"main "            \
	"(run.py:3)\"\n"                                                                           \
	"kernel s7 2000-2100 corr 1 \"a\"; sample t1 11500 \"slow (m.py:40)\"\n"                   \
	"sample t1 21500 \"slow (m.py:40)\"; sample t1 31500 \"slow (m.py:40)\"\n"                 \
	"sample t1 41500 \"slow (m.py:40)\"; sample t1 51500 \"main (run.py:3)\"\n"                \
	"call t1 cudaLaunchKernel 100000-100010 corr 2\n"                                          \
	"kernel s7 100500-100600 corr 2 \"b\""
	expect_rows(SAMPLED, "gap", sampled_gaps);
	expect_rows(SAMPLED, "idle", places);
}

/* ---- real traces ---- */

static void real_traces(void **state)
{
	const char *source = getenv("VPT_SOURCE_DIR");
	char folder[512], path[1024];
	struct dirent *entry;
	size_t count = 0;
	struct vpt_trace *trace;
	struct vpt_err err = {0};
	DIR *dir;

	(void)state;
	snprintf(folder, sizeof(folder), "%s/../shared/traces", source ? source : ".");
	dir = opendir(folder);
	if (!dir)
		vpt_skip("no real traces: %s is not there", folder);
	while ((entry = readdir(dir)) != NULL) {
		if (!strstr(entry->d_name, ".json.gz") && !strstr(entry->d_name, ".sqlite"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (vpt_trace_open(path, &trace, &err))
			fail_msg("%s", err.text);
		vpt_free(round_trip(entry->d_name, trace, &plain));
		count++;
	}
	closedir(dir);
	if (!count)
		vpt_skip("no real traces in %s", folder);
}

static int needs_kineto(void)
{
#ifdef VPT_HAVE_KINETO
	return 1;
#else
	return 0;
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hand_made_captures),
		cmocka_unit_test(samples_name_their_stack_frames),
		cmocka_unit_test(ranges_are_shown_on_each_stream),
		cmocka_unit_test(blocks_or_steps_are_iterations),
		cmocka_unit_test(ranges_that_have_ended_are_left_as_they_are),
		cmocka_unit_test(a_window_takes_the_rows_that_touch_it),
		cmocka_unit_test(what_is_not_utf8_is_lost),
		cmocka_unit_test(members_of_ours_are_not_believed),
		cmocka_unit_test(no_memory_is_reported_wherever_it_runs_out),
		cmocka_unit_test(no_memory_leaves_no_folder),
		cmocka_unit_test(rows_are_placed_in_what_was_open),
		cmocka_unit_test(rows_are_not_placed_in_layers),
		cmocka_unit_test(gaps_and_places_have_lines),
		cmocka_unit_test(real_traces),
	};

	if (!needs_kineto()) {
		fprintf(stderr, "SKIPPED: built without the importer that reads exports back\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

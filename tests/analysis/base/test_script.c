/* test_script.c - the trace scripts that other tests stand on say what they seem to say. */
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/calls.h"
#include "tests/support/traces/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct vpt_decoder *decoder;
static struct vpt_batch batch;

static struct vpt_trace *open_script(const char *script)
{
	struct vpt_trace *t;
	struct vpt_err err = {0};

	if (vpt_script_trace(script, &t, &err))
		fail_msg("%s", err.text);
	return t;
}

static void decode(const struct vpt_trace *t, size_t index)
{
	struct vpt_err err = {0};

	if (vpt_trace_chunk(t, decoder, index, &batch, &err))
		fail_msg("%s", err.text);
}

/* One value of the chunk in `batch` as text: "kind.column[row]", in the order of the file. */
static const char *value_text(
	const char *kind_name, const char *column, uint32_t row, char buf[128])
{
	const struct vpt_kind_desc *kind = vpt_kind_by_name(kind_name);
	const struct vpt_section *s = NULL;
	size_t i;
	int c;

	for (i = 0; i < batch.section_count; i++) {
		if (batch.sections[i].kind != kind->type)
			continue;
		s = &batch.sections[i];
		if (row < s->row_count)
			break;
		row -= s->row_count;
	}
	if (i == batch.section_count)
		return "none";
	for (c = 0; c < kind->n_columns; c++)
		if (!strcmp(kind->columns[c].name, column))
			break;
	if (!strcmp(column, "@lane")) {
		snprintf(buf, 128, "%llu", (unsigned long long)s->lane);
	} else if (kind->columns[c].unit == VPT_UNIT_STRING) {
		struct vpt_text t = vpt_batch_text(&batch, s->col[c][row]);

		snprintf(buf, 128, "%.*s", (int)t.len, t.text);
	} else if (kind->columns[c].unit == VPT_UNIT_F64) {
		double real;

		memcpy(&real, &s->col[c][row], sizeof(real));
		snprintf(buf, 128, "%g", real);
	} else {
		snprintf(buf, 128, "%lld", (long long)s->col[c][row]);
	}
	return buf;
}

/* A value that a row has, of those that a script makes. */
struct made {
	const char *script, *kind, *column;
	uint32_t row;
	const char *value;
};

static void expect_made(const struct made *cases, size_t count)
{
	char buf[128];
	size_t i;

	for (i = 0; i < count; i++) {
		struct vpt_trace *t;
		const char *found;

		t = open_script(cases[i].script);
		decode(t, 0);
		found = value_text(cases[i].kind, cases[i].column, cases[i].row, buf);
		if (strcmp(found, cases[i].value))
			fail_msg("%s: %s is %s, expected %s", cases[i].script, cases[i].column,
				found, cases[i].value);
		vpt_trace_close(t);
	}
}

static void each_statement_about_work_makes_its_row(void **state)
{
	static const struct made cases[] = {
		{"kernel s7 1.5us-2us \"gemm\"", "kernel", "start_ns", 0, "1500"},
		{"kernel s7 1.5us+2us \"gemm\"", "kernel", "duration_ns", 0, "2000"},
		{"kernel s7 20-10 \"reversed\"", "kernel", "duration_ns", 0, "-10"},
		{"kernel s7 1-2 \"gemm\" node 5", "kernel", "graph_node", 0, "5"},
		{"kernel s7 1-2 \"gemm\" grid 132 block 128", "config", "name", 0, "gemm"},
		{"kernel s7 1-2 \"gemm\" grid 132 block 128", "config", "grid_x", 0, "132"},
		{"kernel s7 1-2 \"gemm\" grid 132 block 128", "config", "grid_y", 0, "1"},
		{"kernel s7 1-2 \"gemm\" grid 8x4x2", "config", "grid_z", 0, "2"},
		{"kernel s7 1-2 \"gemm\" shared 48KiB", "config", "dynamic_shared", 0, "49152"},
		{"kernel s7 1-2 \"b\"; kernel s7 3-4 \"a\"; kernel s7 5-6 \"b\"", "kernel",
			"config", 2, "0"},
		{"copy s7 HtoD pinned->device 1-2 bytes 4096 async", "copy", "copy_kind", 0, "1"},
		{"copy s7 HtoD pinned->device 1-2 bytes 4096 async", "copy", "source_memory", 0,
			"2"},
		{"copy s7 HtoD pinned->device 1-2 bytes 4096 async", "copy", "target_memory", 0,
			"3"},
		{"copy s7 HtoD pinned->device 1-2 bytes 4096 async", "copy", "asynchronous", 0,
			"1"},
		{"copy s7 DtoH 1-2 bytes 7", "copy", "bytes", 0, "7"},
		{"memset s7 1-2 bytes 7 value 0xff", "copy", "copy_kind", 0, "15"},
		{"memset s7 1-2 bytes 7 value 0xff", "copy", "value", 0, "255"},
		{"memory s7 5 free memory_kind device bytes 1MiB", "memory", "memory_op", 0, "2"},
		{"memory s7 5 free memory_kind device bytes 1MiB", "memory", "bytes", 0, "1048576"},
		{"kernel s7 10-20 \"late\"; kernel s7 1-2 \"early\"", "kernel", "start_ns", 0, "1"},
	};

	(void)state;
	expect_made(cases, sizeof(cases) / sizeof(cases[0]));
}

static void each_statement_about_the_host_makes_its_row(void **state)
{
	static const struct made cases[] = {
		{"call t1 cudaLaunchKernel 100-110 corr 9", "call", "start_ns", 0, "100"},
		{"call t1 cudaLaunchKernel 100-110 corr 9", "call", "duration_ns", 0, "10"},
		{"call t1 cudaLaunchKernel 100-110 corr 9", "call", "correlation", 0, "9"},
		{"call t1 cudaLaunchKernel 100-110 corr 9", "call", "id", 0, "1"},
		{"call t1 cudaNovelty 100-110", "call", "name", 0, "cudaNovelty"},
		{"call t1 cudaMalloc 100-110 ret -2", "call", "result", 0, "-2"},
		{"range t1 1-2 \"step 1\" domain cpu_op", "range", "name", 0, "step 1"},
		{"range t1 1-2 \"step 1\" domain cpu_op", "range", "domain", 0, "cpu_op"},
		{"range t1 1-2 \"a\\\"b\\\\\\x41\"", "range", "name", 0, "a\"b\\A"},
		{"range t1 1-2 \"x\" unmatched end_thread t2", "range", "unmatched", 0, "1"},
		{"range t1 1-2 \"x\" unmatched end_thread t2", "range", "end_thread", 0, "2"},
		{"startend t1 1-2 \"x\"", "range", "range_kind", 0, "1"},
		{"range t1 1-2 \"x\" int -5", "range", "payload", 0, "2"},
		{"range t1 1-2 \"x\" int -5", "range", "value", 0, "-5"},
		{"open t1 1 \"block 3\"", "open", "name", 0, "block 3"},
		{"open t1 1 \"block 3\"", "open", "lane", 0, "1"},
		{"mark t1 5 \"seed\"", "mark", "time_ns", 0, "5"},
		{"sync t1 stream 1-2 corr 3 waits s9", "sync", "sync_kind", 0, "3"},
		{"sync t1 stream 1-2 corr 3 waits s9", "sync", "stream", 0, "2"},
		{"event s7 5 event 4 sync_id 2", "event", "event", 0, "4"},
		{"overhead t1 \"buffer flush\" 1-2", "overhead", "overhead_kind", 0, "2"},
		{"loss all dropped 1-2 count 5", "loss", "@lane", 0, "0"},
		{"loss all dropped 1-2 count 5", "loss", "count", 0, "5"},
		{"graph t1 5 \"node created\" graph 1 node 7", "graph", "node", 0, "7"},
		{"sample t1 5 \"f (a.py:3);g\" state sleeping", "sample", "stack", 0, "2"},
		{"sample t1 5 \"f (a.py:3);g\" state sleeping", "frame", "line", 0, "3"},
		{"sample t1 5 \"f (a.py:3);g\" state sleeping", "sample", "state", 0, "3"},
		{"range t1 1-9 \"outer\"; range t1 5-9 \"inner\"", "range", "start_ns", 0, "5"},
	};

	(void)state;
	expect_made(cases, sizeof(cases) / sizeof(cases[0]));
}

static void each_statement_about_the_run_makes_its_row(void **state)
{
	static const struct made cases[] = {
		{"series p unit W; counter p 5 250.5", "counter", "value", 0, "250.5"},
		{"series p unit W \"power\"; counter p 5 250.5", "lane", "lane_unit", 0, "W"},
		{"device 1 \"Sim GPU\" cc 9.0 sms 132 simulated", "device", "compute_major", 0,
			"9"},
		{"device 1 \"Sim GPU\" cc 8.6 sms 132 simulated", "device", "compute_minor", 0,
			"6"},
		{"device 1 \"Sim GPU\" cc 9.0 sms 132 simulated", "device", "simulated", 0, "1"},
		{"meta rank \"0\"", "meta", "value", 0, "0"},
		{"stats s7 received 10 dropped 2", "stats", "dropped", 0, "2"},
		{"stream a device 2 context 9 stream 7 \"copies\"; kernel a 1-2 \"k\"", "lane",
			"context", 0, "9"},
		{"thread a pid 4 tid 100 \"main\"; mark a 5 \"m\"", "lane", "name", 0, "main"},
		{"thread a pid 4 tid 100; thread b pid 4 tid 101; mark b 5 \"m\"", "lane", "tid", 0,
			"101"},
		{"kernel s2.7 1-2 \"k\"", "lane", "device", 0, "2"},
		{"kernel s2.7 1-2 \"k\"", "lane", "stream", 0, "7"},
		{"kernel s7 1-2 \"k\"", "lane", "context", 0, "1"},
		{"kernel s7 1-900 \"k\"", "clock", "trace_ns", 0, "900"},
		{"kernel s7 1-900 \"k\"\nend 2us", "clock", "trace_ns", 0, "2000"},
		{"start 10 unix 1000; end 30", "clock", "realtime_ns", 0, "1020"},
		{"kernel s7 1-900 \"k\"; killed", "clock", "trace_ns", 0, "none"},
	};

	(void)state;
	expect_made(cases, sizeof(cases) / sizeof(cases[0]));
}

static void mistakes_name_their_line(void **state)
{
	static const struct {
		const char *script, *message;
	} cases[] = {
		{"nonsense", "script line 1: no such statement: \"nonsense\""},
		{"# one\n\nkernel", "script line 3: expected a lane, found the end of the line"},
		{"range t1 1-2 \"\\n\"\nkernel q", "script line 2: expected a lane, found \"q\""},
		{"kernel s7 5", "script line 1: expected START-END or START+DURATION, found \"5\""},
		{"kernel s7 5-6h",
			"script line 1: expected START-END or START+DURATION, found \"5-6h\""},
		{"kernel s7 5-6 \"open", "script line 1: expected a closing quote"},
		{"kernel s7 5-6 \"\\q\"",
			"script line 1: expected \\\" \\\\ \\n or \\xHH in quoted text"},
		{"kernel s7 5-6 bytes 7", "script line 1: a kernel has no \"bytes\""},
		{"kernel s7 5-6 \"k\" grid 1x2x3x4",
			"script line 1: expected a size as 8x4x1, found \"1x2x3x4\""},
		{"copy s7 Sideways 1-2", "script line 1: copy_kind cannot be \"Sideways\""},
		{"copy s7 HtoD near->far 1-2",
			"script line 1: expected memories as pinned->device, found \"near->far\""},
		{"sync t1 stream 1-2 \"name\"", "script line 1: a sync has no name"},
		{"thread a tid 1; thread a tid 2", "script line 1: lane \"a\" is there already"},
		{"device 0 \"x\" cc 9", "script line 1: expected cc 9.0, found \"9\""},
		{"start 5 unix 6 7", "script line 1: nothing is expected after \"6\""},
		{"meta key", "script line 1: expected a value, found the end of the line"},
	};
	struct vpt_trace *t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpt_err err = {0};
		int rc = vpt_script_trace(cases[i].script, &t, &err);

		assert_null(t);
		if (rc != VPT_EINVAL || strcmp(err.text, cases[i].message))
			fail_msg("%s: %d, %s", cases[i].script, rc, err.text);
	}
}

static void chunks_carry_the_ranges_open_at_their_end(void **state)
{
	static const char script[] = "start 10 unix 5000\n"
				     "open t1 20 \"block\"\n"
				     "kernel s7 30-40 \"a\"\n"
				     "chunk 50\n"
				     "range t1 50-90 \"began as the chunk closed\"\n"
				     "range t1 51-80 \"began later\"\n"
				     "lost 3\n"
				     "chunk\n"
				     "startend t2 25-95 \"two chunks long\"\n"
				     "end 100\n";
	struct vpt_trace *t = open_script(script);
	char buf[128];

	(void)state;
	assert_int_equal(vpt_trace_chunks(t), 3);
	assert_int_equal(vpt_trace_header(t)->t0_ns, 10);
	assert_int_equal(vpt_trace_header(t)->t0_unix_ns, 5000);

	decode(t, 0);
	assert_int_equal(vpt_batch_find(&batch, VPT_OPEN)->row_count, 3);
	assert_string_equal(value_text("open", "name", 0, buf), "block");
	assert_string_equal(value_text("open", "name", 1, buf), "began as the chunk closed");
	assert_string_equal(value_text("open", "name", 2, buf), "two chunks long");
	assert_string_equal(value_text("open", "range_kind", 2, buf), "1");
	assert_int_equal(batch.flags & VPT_BATCH_LAST, 0);

	decode(t, 1);
	assert_int_equal(vpt_batch_find(&batch, VPT_OPEN)->row_count, 2);
	assert_int_equal(batch.lost_events, 3);

	decode(t, 2);
	assert_int_equal(vpt_batch_find(&batch, VPT_OPEN)->row_count, 1);
	assert_string_equal(value_text("clock", "realtime_ns", 0, buf), "5090");
	assert_int_equal(batch.flags & VPT_BATCH_LAST, VPT_BATCH_LAST);
	vpt_trace_close(t);
}

static void a_chunk_may_have_an_open_row_of_its_own(void **state)
{
	struct vpt_trace *t = open_script("opened t1 20 \"a\" domain early\n"
					  "opened t2 20 \"b\"\n"
					  "chunk 50\nchunk 60\n"
					  "range t1 20-90 \"a\" domain late\n");
	static const size_t rows[] = {2, 1};
	char buf[128];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		decode(t, i);
		assert_int_equal(vpt_batch_find(&batch, VPT_OPEN)->row_count, rows[i]);
		assert_string_equal(value_text("open", "domain", 0, buf), i ? "late" : "early");
	}
	decode(t, 2);
	assert_null(vpt_batch_find(&batch, VPT_OPEN));
	vpt_trace_close(t);
}

static void an_empty_script_is_a_capture_with_nothing_in_it(void **state)
{
	struct vpt_trace *t = open_script("");

	(void)state;
	assert_int_equal(vpt_trace_chunks(t), 1);
	decode(t, 0);
	assert_int_equal(batch.event_count, 0);
	assert_int_equal(batch.t_min_ns, UINT64_MAX);
	vpt_trace_close(t);
}

static int setup(void **state)
{
	(void)state;
	vpt_batch_init(&batch);
	decoder = vpt_decoder_new();
	return !decoder;
}

static int teardown(void **state)
{
	(void)state;
	vpt_batch_free(&batch);
	vpt_decoder_free(decoder);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_statement_about_work_makes_its_row),
		cmocka_unit_test(each_statement_about_the_host_makes_its_row),
		cmocka_unit_test(each_statement_about_the_run_makes_its_row),
		cmocka_unit_test(mistakes_name_their_line),
		cmocka_unit_test(chunks_carry_the_ranges_open_at_their_end),
		cmocka_unit_test(a_chunk_may_have_an_open_row_of_its_own),
		cmocka_unit_test(an_empty_script_is_a_capture_with_nothing_in_it),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

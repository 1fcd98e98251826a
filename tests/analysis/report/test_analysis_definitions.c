/* test_analysis_definitions.c - every rule of the analyzer's definitions on a trace whose answer a person can
 * compute. A case is a rule, a script (tests/support/traces/script.h), and what the report says.
 * Long, since each definition is one entry of one table. */
#include "analysis/advice/finding.h"
#include "analysis/analyze.h"
#include "analysis/render/renderer.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "tests/support/traces/script.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct vpa_report *analyze(const char *script, const struct vpa_options *options)
{
	struct vpt_trace *trace = NULL;
	struct vpa_report *report = NULL;
	struct vpt_err err = {0};

	if (vpt_script_trace(script, &trace, &err) ||
		vpa_analyze(trace, "case", options, &report, &err))
		fail_msg("%s\n%s", err.text, script);
	vpt_trace_close(trace);
	return report;
}

/* ---- a report in few words ---- */

struct words {
	char text[900];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *w, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(w->text + w->len, sizeof(w->text) - w->len, format, args);
	va_end(args);
	assert_in_range(n, 0, sizeof(w->text) - w->len - 1);
	w->len += (size_t)n;
}

/* Members of the report that a case asks for by name. */
static void say_number(struct words *w, const char *name, uint64_t value)
{
	if (value)
		say(w, "%s%s %" PRIu64, w->len ? ", " : "", name, value);
}

static void expect(
	const char *rule, const char *script, const struct words *found, const char *expected)
{
	if (strcmp(found->text, expected))
		fail_msg("%s:\n  found    %s\n  expected %s\n%s", rule, found->text, expected,
			script);
}

/* ---- device time ---- */

static const struct {
	const char *rule, *script, *device;
} device_times[] = {
	{"two ops one after the other",
		"start 100\nend 200\nkernel s7 110-120 \"a\"\nkernel s7 150-160 \"b\"",
		"ops 2, streams 1, active 50, busy 20, idle 30, gaps 1, longest 30, kernels 20, "
		"compute 20, window idle 80"},
	{"ops that touch leave no gap",
		"start 100\nend 130\nkernel s7 100-120 \"a\"\nkernel s7 120-130 \"b\"",
		"ops 2, streams 1, active 30, busy 30, kernels 30, compute 30"},
	{"two streams at once are busy once",
		"start 100\nend 140\nkernel s7 100-130 \"a\"\nkernel s8 120-140 \"b\"",
		"ops 2, streams 2, active 40, busy 40, kernels 50, compute 40"},
	{"two processes at once are busy once",
		"stream x device 0 context 1 stream 7 pid 2\nstart 100\nend 140\n"
		"kernel s7 100-130 \"a\"\nkernel x 120-140 \"b\"",
		"ops 2, streams 2, active 40, busy 40, kernels 50, compute 40"},
	{"a long op covers the gaps of others",
		"start 100\nend 200\nkernel s7 100-200 \"a\"\nkernel s8 110-120 \"b\"\n"
		"kernel s8 150-160 \"b\"",
		"ops 3, streams 2, active 100, busy 100, kernels 120, compute 100"},
	{"ops that overlap on one stream are counted and covered once",
		"start 100\nend 140\nkernel s7 100-130 \"a\"\n"
		"kernel s7 120-140 \"b\"",
		"ops 2, streams 1, active 40, busy 40, kernels 50, overlaps 1, compute 40"},
	{"communication under compute is not exposed",
		"start 100\nend 150\nkernel s7 100-130 \"gemm\"\n"
		"kernel s8 120-150 \"ncclDevKernel_AllReduce\"",
		"ops 2, streams 2, active 50, busy 50, kernels 60, compute 30, exposed "
		"communication 20"},
	{"copies under any kernel are not exposed",
		"start 100\nend 170\nkernel s7 100-120 \"gemm\"\n"
		"kernel s8 120-130 \"ncclDevKernel_AllReduce\"\ncopy s9 HtoD 110-150 bytes "
		"1\nmemset s9 160-170 bytes 1",
		"ops 4, streams 3, active 70, busy 60, idle 10, gaps 1, longest 10, kernels 30, "
		"compute 20, "
		"exposed communication 10, exposed copies 30, window idle 10"},
	{"an op without duration covers nothing and is no op of the device",
		"start 100\nend 140\nkernel s7 100-110 \"a\"\n"
		"kernel s7 120-120 \"b\"\nkernel s7 130-140 \"c\"",
		"ops 2, streams 1, active 40, busy 20, idle 20, gaps 1, longest 20, kernels 20, "
		"compute 20, window idle 20"},
	{"reversed and untimed ops are left out",
		"start 100\nend 140\nkernel s7 100-110 \"a\"\nkernel s7 130-120 \"b\"\n"
		"kernel s7 0-135 \"c\"\nkernel s7 130-140 \"d\"",
		"ops 2, streams 1, active 40, busy 20, idle 20, gaps 1, longest 20, kernels 20, "
		"compute 20, window idle 20"},
	{"overhead of the profiler is no busy time",
		"start 100\nend 200\nkernel s7 100-110 \"a\"\n"
		"overhead - \"buffer flush\" 120-190",
		"ops 1, streams 1, active 10, busy 10, kernels 10, compute 10, window idle 90"},
	{"work before the capture's start is cut",
		"start 100\nend 200\nkernel s7 50-120 \"a\"\nkernel s7 40-60 \"b\"",
		"ops 1, streams 1, active 20, busy 20, kernels 20, compute 20, window idle 80"},
	{"fewer thread blocks than the device has SMs",
		"device 0 \"GPU\" sms 10\nstart 100\nend 150\n"
		"kernel s7 100-120 grid 9 \"a\"\nkernel s7 120-150 grid 5x2 \"b\"",
		"ops 2, streams 1, active 50, busy 50, kernels 50, compute 50, small grids 20"},
};

static void say_device(struct words *w, const struct vpa_device *d)
{
	say_number(w, "ops", d->ops);
	say_number(w, "streams", d->streams);
	say_number(w, "active", d->active_ns);
	say_number(w, "busy", d->busy_ns);
	say_number(w, "idle", d->idle_ns);
	say_number(w, "gaps", d->gaps);
	say_number(w, "longest", d->longest_gap_ns);
	say_number(w, "kernels", d->kernel_ns);
	say_number(w, "overlaps", d->same_stream_overlaps);
	say_number(w, "compute", d->compute_ns);
	say_number(w, "exposed communication", d->exposed_comm_ns);
	say_number(w, "exposed copies", d->exposed_copy_ns);
	say_number(w, "window idle", d->window_idle_ns);
	say_number(w, "small grids", d->small_grid_ns);
}

static void device_time_is_the_union_of_its_ops(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(device_times); i++) {
		struct vpa_report *r = analyze(device_times[i].script, NULL);
		struct words w = {0};

		assert_int_equal(r->device_count, 1);
		say_device(&w, &r->devices[0]);
		expect(device_times[i].rule, device_times[i].script, &w, device_times[i].device);
		vpa_report_free(r);
	}
}

static void devices_are_apart(void **state)
{
	const char *script = "start 100\nend 200\nkernel s1.7 120-140 \"a\"\nkernel s0.7 100-110 "
			     "\"b\"\nkernel s0.7 190-200 \"b\"";
	struct vpa_report *r = analyze(script, NULL);
	struct words w = {0};
	size_t i;

	(void)state;
	for (i = 0; i < r->device_count; i++)
		say(&w, "%sdevice %" PRId64 " busy %" PRIu64 " idle %" PRIu64, i ? ", " : "",
			r->devices[i].device, r->devices[i].busy_ns, r->devices[i].window_idle_ns);
	expect("one device's work does not cover another's", script, &w,
		"device 0 busy 20 idle 80, device 1 busy 20 idle 80");
	vpa_report_free(r);
}

/* One gap of `ns` in a script; returns the bucket it was counted in. */
static const char *bucket_of(uint64_t ns)
{
	char script[200];
	struct vpa_report *r;
	const char *name = "none";
	unsigned b;

	snprintf(script, sizeof(script),
		"start 100\nkernel s7 100-200 \"a\"\nkernel s7 %" PRIu64 "+10 \"b\"", 200 + ns);
	r = analyze(script, NULL);
	for (b = 0; b < VPA_GAP_BUCKETS; b++)
		if (r->devices[0].histogram[b])
			name = vpa_gap_bucket_names[b];
	vpa_report_free(r);
	return name;
}

static void the_histogram_is_cut_at_its_exact_edges(void **state)
{
	static const struct {
		uint64_t ns;
		const char *bucket;
	} cases[] = {{1, "lt_1us"}, {999, "lt_1us"}, {1000, "1_5us"}, {4999, "1_5us"},
		{5000, "5_20us"}, {19999, "5_20us"}, {20000, "20_100us"}, {99999, "20_100us"},
		{100000, "100us_1ms"}, {999999, "100us_1ms"}, {1000000, "1_10ms"},
		{9999999, "1_10ms"}, {10000000, "gt_10ms"}};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		assert_string_equal(bucket_of(cases[i].ns), cases[i].bucket);
}

/* ---- time by family and name ---- */

static void overlapped_time_is_shared_out(void **state)
{
	/* gemm alone 100-120, three at once 120-150, gemm and copy 150-160, copy alone 160-180 */
	const char *script = "start 100\nend 200\nkernel s7 100-160 \"ampere_sgemm\"\nkernel s8 "
			     "120-150 \"mystery\"\n"
			     "copy s9 HtoD 120-180 bytes 60\nmemset s9 190-200 bytes 1";
	struct vpa_report *r = analyze(script, NULL);
	struct words w = {0};
	size_t i;

	(void)state;
	for (i = 0; i < r->family_count; i++)
		say(&w, "%s%s %" PRIu64 " of %" PRIu64, i ? ", " : "",
			vpa_family_name(r->families[i].family), r->families[i].exclusive_ns,
			r->families[i].total_ns);
	expect("each of the ops that overlap has an equal part", script, &w,
		"gemm 35 of 60, memcpy 35 of 60, memset 10 of 10, unknown 10 of 30");
	vpa_report_free(r);
}

/* ---- NVTX ranges on the GPU ---- */

/* A launch of 1 ns; the op is far behind, as the host runs ahead. */
#define RUN(thread, at, op, corr)                                                                  \
	"call " thread " cudaLaunchKernel " at "+1 corr " corr "\nkernel s7 " op " corr " corr     \
	" \"k\"\n"

static const struct {
	const char *rule, *script, *range, *is;
} range_cases[] = {
	{"an op belongs to the range around its launch, not to the one it runs in",
		"start 100\nend 500\n" RUN("t1", "110", "250-260",
			"1") "range t1 105-120 \"launching\"\nrange t1 240-270 \"later\"",
		"launching", "n 1, host 15, ops 1, launches 1, envelope 10, busy 10, lag 145"},
	{"a range in which nothing was launched has no work",
		"start 100\nend 500\n" RUN("t1", "110", "250-260",
			"1") "range t1 105-120 \"launching\"\nrange t1 240-270 \"later\"",
		"later", "n 1, host 30"},
	{"work counts for all ranges around",
		"start 100\nend 500\n" RUN("t1", "120", "250-260", "1") RUN("t1", "140", "260-290",
			"2") "range t1 110-130 \"inner\"\nrange t1 105-150 \"outer\"",
		"outer", "n 1, host 45, ops 2, launches 2, envelope 40, busy 40, lag 145"},
	{"and for the inner one",
		"start 100\nend 500\n" RUN("t1", "120", "250-260", "1") RUN("t1", "140", "260-290",
			"2") "range t1 110-130 \"inner\"\nrange t1 105-150 \"outer\"",
		"inner", "n 1, host 20, ops 1, launches 1, envelope 10, busy 10, lag 140"},
	{"another thread's launches are not its own",
		"start 100\nend 500\n" RUN(
			"t2", "110", "250-260", "1") "range t1 105-120 \"launching\"",
		"launching", "n 1, host 15"},
	{"a process-wide range has the launches of all threads",
		"start 100\nend 500\n" RUN(
			"t2", "110", "250-260", "1") "startend t1 105-120 \"request\"",
		"request", "n 1, host 15, ops 1, launches 1, envelope 10, busy 10, lag 145"},
	{"so has an iteration of a profiler, which one thread opens and closes",
		"start 100\nend 500\n" RUN(
			"t2", "110", "250-260", "1") "range t1 105-120 \"ProfilerStep#3\"",
		"ProfilerStep#3", "n 1, host 15, ops 1, launches 1, envelope 10, busy 10, lag 145"},
	{"but not what only looks like one",
		"start 100\nend 500\n" RUN(
			"t2", "110", "250-260", "1") "range t1 105-120 \"ProfilerStep#x\"",
		"ProfilerStep#x", "n 1, host 15"},
	{"but not those of another process",
		"thread x pid 2 tid 5\nstart 100\nend 500\n"
		"stream y device 0 context 1 stream 7 pid 2\ncall x cudaLaunchKernel 110-111 corr "
		"1\n"
		"kernel y 250-260 corr 1 \"k\"\nstartend t1 105-120 \"request\"",
		"request", "n 1, host 15"},
	{"a launch at the range's start is inside, one at its end is not",
		"start 100\nend 500\n" RUN("t1", "105", "250-260", "1")
			RUN("t1", "120", "260-290", "2") "range t1 105-120 \"r\"",
		"r", "n 1, host 15, ops 1, launches 1, envelope 10, busy 10, lag 145"},
	{"ranges of several domains may overlap: whatever is open has the work",
		"start 100\nend 500\n" RUN("t1", "115", "250-260",
			"1") "range t1 105-120 \"a\"\nrange t1 110-130 \"b\" domain other",
		"a", "n 1, host 15, ops 1, launches 1, envelope 10, busy 10, lag 145"},
	{"its envelope is its own time, others' time and idle time",
		"start 100\nend 500\n" RUN("t1", "110", "200-220", "1") RUN("t1", "112", "270-300",
			"2") RUN("t1", "150", "210-250", "3") "range t1 105-120 \"r\"",
		"r",
		"n 1, host 15, ops 2, launches 2, envelope 100, busy 50, foreign 30, idle 20, lag "
		"95"},
	{"the nodes of a graph belong to the range around its launch",
		"start 100\nend 500\n"
		"call t1 cudaGraphLaunch 110-111 corr 1\nkernel s7 200-220 corr 1 node 1 \"a\"\n"
		"kernel s7 230-240 corr 1 node 2 \"b\"\nrange t1 105-120 \"replay\"",
		"replay", "n 1, host 15, ops 2, launches 1, envelope 40, busy 30, idle 10, lag 95"},
	{"a graph whose first node takes no time was launched all the same",
		"start 100\nend 500\n"
		"call t1 cudaGraphLaunch 110-111 corr 1\nkernel s7 200-200 corr 1 node 1 \"a\"\n"
		"kernel s7 230-240 corr 1 node 2 \"b\"\nrange t1 105-120 \"replay\"",
		"replay", "n 1, host 15, ops 1, launches 1, envelope 10, busy 10, lag 125"},
	{"of two calls with one number, the outer one is the launch",
		"start 100\nend 500\n"
		"call t1 cuLaunchKernel 112-113 corr 1\ncall t1 cudaLaunchKernel 110-115 corr 1\n"
		"kernel s7 200-220 corr 1 \"a\"\nrange t1 111-114 \"inside the call\"",
		"inside the call", "n 1, host 3"},
	{"a range that is open while chunks are written",
		"start 100\nend 500\n" RUN("t1", "110", "130-140", "1") "chunk 200\n" RUN(
			"t1", "210", "230-260", "2") "chunk 300\n" RUN("t1", "310", "330-340",
			"3") "range t1 105-350 \"step\"",
		"step",
		"n 1, host 245, ops 3, launches 3, envelope 210, busy 50, idle 160, lag 25"},
	{"an op that comes a chunk after its launch",
		"start 100\nend 500\ncall t1 cudaLaunchKernel 110-111 corr 1\n"
		"range t1 105-120 \"r\"\nchunk 200\nrange t1 205-220 \"other\"\nkernel s7 230-240 "
		"corr 1 \"k\"",
		"r", "n 1, host 15, ops 1, launches 1, envelope 10, busy 10, lag 125"},
	{"an op that comes a chunk before its launch",
		"start 100\nend 500\nkernel s7 130-140 corr 1 \"k\"\n"
		"range t1 105-106 \"before\"\nchunk 150\ncall t1 cudaLaunchKernel 110-160 corr "
		"1\nrange t1 107-170 \"r\"",
		"r", "n 1, host 63, ops 1, launches 1, envelope 10, busy 10, lag 23"},
	{"a range that ends a chunk before its launch does, beside an op that goes on",
		"start 100\nend 500\n" RUN("t2", "100", "101-140",
			"1") "range t1 105-120 \"r\"\nchunk 150\ncall t1 cudaLaunchKernel 110-160 "
			     "corr 2\nkernel s7 200-210 corr 2 \"k\"",
		"r", "n 1, host 15, ops 1, launches 1, envelope 10, busy 10, lag 95"},
	{"an op that comes longer after its launch than others are waited for",
		"start 100\nend 40s\ncall t1 cudaLaunchKernel 110-111 corr 1\nrange t1 105-120 "
		"\"r\"\n" RUN("t2", "200", "1s-12s", "2") "chunk 12s\n" RUN(
			"t2", "12s", "13s-24s", "3") "chunk 24s\n" RUN("t2", "24s", "25s-36s",
			"4") "chunk 36s\nkernel s7 37s+10 corr 1 \"k\"",
		"r", "n 1, host 15, ops 1, launches 1, envelope 10, busy 10, lag 36999999895"},
	{"a range that was never closed ends with the window",
		"start 100\nend 500\n" RUN("t1", "110", "230-240", "1") "open t1 105 \"step\"",
		"step",
		"n 1, host 395, ops 1, launches 1, envelope 10, busy 10, lag 125, unmatched 1"},
	{"a process-wide range that was never closed",
		"start 100\nend 500\n" RUN(
			"t2", "110", "230-240", "1") "openstartend t1 105 \"request\"",
		"request",
		"n 1, host 395, ops 1, launches 1, envelope 10, busy 10, lag 125, unmatched 1"},
	{"a range on two devices has an envelope on each",
		"start 100\nend 500\n" RUN("t1", "110", "200-220",
			"1") "call t1 cudaLaunchKernel 112-113 corr 2\nkernel s1.7 300-340 corr 2 "
			     "\"b\"\nrange t1 105-120 \"r\"",
		"r", "n 1, host 15, ops 2, launches 2, envelope 60, busy 60, lag 95"},
	{"instances are added up",
		"start 100\nend 500\n" RUN("t1", "110", "200-220", "1") RUN("t1", "130", "300-330",
			"2") "range t1 105-120 \"r\"\nrange t1 125-135 \"r\"",
		"r", "n 2, host 25, ops 2, launches 2, envelope 50, busy 50, lag 270"},
	{"of operators too whose names emit_nvtx() numbers",
		"start 100\nend 500\n" RUN("t1", "110", "200-220", "1") RUN("t1", "130", "300-330",
			"2") "range t1 105-120 \"aten::mm, seq = 3, op_id = 7\"\n"
			     "range t1 125-135 \"aten::mm, op_id = 8, sizes = [[2, 3]]\"",
		"aten::mm", "n 2, host 25, ops 2, launches 2, envelope 50, busy 50, lag 270"},
};

static void say_range(struct words *w, const struct vpa_report *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->range_count; i++) {
		const struct vpa_range_row *row = &r->ranges[i];

		if (strcmp(row->name, name))
			continue;
		say_number(w, "n", row->host.count);
		say_number(w, "host", row->host.total_ns);
		say_number(w, "ops", row->ops);
		say_number(w, "launches", row->launches);
		say_number(w, "envelope", row->envelope_ns);
		say_number(w, "busy", row->busy_ns);
		say_number(w, "foreign", row->foreign_ns);
		say_number(w, "idle", row->idle_ns);
		say_number(w, "lag", row->lag.total_ns);
		say_number(w, "unmatched", row->unmatched);
	}
}

static void ranges_have_the_work_launched_in_them(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(range_cases); i++) {
		struct vpa_report *r = analyze(range_cases[i].script, NULL);
		struct words w = {0};

		say_range(&w, r, range_cases[i].range);
		expect(range_cases[i].rule, range_cases[i].script, &w, range_cases[i].is);
		vpa_report_free(r);
	}
}

/* Idle time of a range: of its envelope, and of its time on the host. */
static const struct {
	const char *rule, *script, *range;
	uint64_t idle_ns, idle_host_ns;
} host_idle_cases[] = {
	{"a range that launched nothing: the idle time of the device meanwhile",
		"start 100\nend 900\n" RUN("t1", "110", "120-200", "1")
			RUN("t1", "700", "710-800", "2") "range t1 150-650 \"DataLoader.__next__\"",
		"DataLoader.__next__", 0, 450},
	{"before the first op too",
		"start 100\nend 900\n" RUN(
			"t1", "700", "710-800", "2") "range t1 150-650 \"DataLoader.__next__\"",
		"DataLoader.__next__", 0, 500},
	{"and after the last one",
		"start 100\nend 900\n" RUN("t1", "110", "120-200", "1") "range t1 300-800 \"save\"",
		"save", 0, 500},
	{"the host's span and the envelope behind it, the time between is not its own",
		"start 100\nend 900\n" RUN("t1", "110", "120-130", "1") RUN("t1", "150", "300-400",
			"2") RUN("t1", "160", "450-500", "3") "range t1 140-170 \"r\"",
		"r", 50, 80},
	{"where both overlap a gap counts once",
		"start 100\nend 900\n" RUN("t1", "110", "120-130", "1") RUN("t1", "150", "200-300",
			"2") RUN("t1", "160", "400-500", "3") "range t1 140-350 \"r\"",
		"r", 100, 160},
	{"only on the devices that it launched on",
		"start 100\nend 900\n" RUN("t1", "110", "120-130", "1")
			RUN("t1", "150", "160-300", "2") "call t1 cudaLaunchKernel 112-113 corr "
							 "9\nkernel s1.7 120-140 corr 9 \"b\"\n"
							 "range t1 140-350 \"r\"",
		"r", 0, 70},
	{"on all of its process if it launched nothing",
		"start 100\nend 900\n" RUN("t1", "110", "120-130", "1")
			RUN("t1", "150", "160-300", "2") "call t1 cudaLaunchKernel 112-113 corr "
							 "9\nkernel s1.7 120-140 corr 9 \"b\"\n"
							 "range t2 140-350 \"r\"",
		"r", 0, 70 + 210},
	{"not on another process's",
		"start 100\nend 900\nthread x pid 2 tid 5\n"
		"stream y device 1 context 1 stream 7 pid 2\n" RUN("t1", "110", "120-130", "1")
			RUN("t1", "150", "160-300", "2") "call x cudaLaunchKernel 112-113 corr "
							 "9\nkernel y 120-140 corr 9 \"b\"\n"
							 "range t2 140-350 \"r\"",
		"r", 0, 70},
	{"nor while recording was switched off",
		"start 100\nend 900\n" RUN("t1", "110", "120-130", "1") RUN("t1", "700", "710-800",
			"2") "loss all paused 300-400 count 0\nrange t1 140-650 \"r\"",
		"r", 0, 410},
	{"nor behind the window's end",
		"start 100\nend 500\n" RUN("t1", "110", "120-200", "1") "open t1 300 \"r\"", "r", 0,
		200},
};

static void idle_time_of_a_range_is_the_hosts_too(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < COUNT(host_idle_cases); i++) {
		struct vpa_report *r = analyze(host_idle_cases[i].script, NULL);

		for (k = 0; strcmp(r->ranges[k].name, host_idle_cases[i].range); k++)
			assert_in_range(k, 0, r->range_count - 1);
		if (r->ranges[k].idle_ns != host_idle_cases[i].idle_ns ||
			r->ranges[k].idle_host_ns != host_idle_cases[i].idle_host_ns)
			fail_msg("%s: idle %" PRIu64 ", with the host %" PRIu64 "\n%s",
				host_idle_cases[i].rule, r->ranges[k].idle_ns,
				r->ranges[k].idle_host_ns, host_idle_cases[i].script);
		vpa_report_free(r);
	}
}

/* Every table has the one name; a window may be asked for by either. */
static void emitted_names_are_one_name(void **state)
{
	static const char script[] = "start 100\nend 900\n" RUN("t1", "110", "200-220", "1")
		RUN("t1", "130", "300-330", "2")
			RUN("t1", "500", "600-700", "3") "range t1 105-120 \"to, op_id = 7\"\n"
							 "range t1 125-135 \"to, op_id = 8\"\n"
							 "range t1 450-520 \"to, op_id = 9\"";
	static const struct vpa_options listed = {.min_gap_ns = 1}, first = {.range = "to"},
					third = {.range = "to, op_id = 9"};
	struct vpa_report *r = analyze(script, &listed);
	size_t named = 0, i;

	(void)state;
	assert_int_equal(r->range_names, 1);
	for (i = 0; i < r->gap_count; i++) {
		const char *range = r->gaps[i].place.text;

		named += range != NULL;
		assert_true(!range || !strcmp(range, "to") || !strcmp(range, "before to"));
	}
	assert_in_range(named, 1, r->gap_count);
	vpa_report_free(r);
	r = analyze(script, &first);
	assert_int_equal(r->window_start_ns, 105);
	assert_int_equal(r->window_end_ns, 220);
	vpa_report_free(r);
	r = analyze(script, &third);
	assert_int_equal(r->window_start_ns, 450);
	assert_int_equal(r->window_end_ns, 700);
	vpa_report_free(r);
}

/* ---- eager attention ---- */

/* A letter a kernel, 10 ns apart: g GEMM, s softmax, e elementwise, n norm, l log-softmax, c copy; upper case:
 * on another stream. */
static const struct {
	const char *rule, *kernels;
	unsigned sequences;
} eager[] = {
	{"GEMM, softmax, GEMM", "gsg", 1},
	{"with elementwise kernels between", "geseeg", 1},
	{"copies between do not count", "gcsccg", 1},
	{"seven kernels between still belong together", "geeeeeeeseeeeeeeg", 1},
	{"nine between the first two do not", "geeeeeeeeesg", 0},
	{"nine between the last two do not", "gseeeeeeeeeg", 0},
	{"a norm ends the sequence", "gnsg", 0},
	{"a norm after the softmax ends it too", "gsng", 0},
	{"a softmax without a GEMM before it is a sampler's", "sg", 0},
	{"a softmax without a GEMM behind it is a sampler's", "gse", 0},
	{"log-softmax is a loss", "glg", 0},
	{"two in a row share the GEMM between them", "gsgsg", 2},
	{"another stream's softmax is not of this sequence", "gSg", 0},
	{"another stream's GEMM is not of this sequence", "gsG", 0},
	{"another stream's kernels do not disturb a sequence", "gNsNNg", 1},
};

static uint64_t eager_sequences(const char *kernels)
{
	static const struct {
		char letter;
		const char *name;
	} names[] = {{'g', "ampere_sgemm_128x64"}, {'s', "softmax_warp_forward"},
		{'e', "vectorized_elementwise_kernel"}, {'n', "layer_norm_kernel"},
		{'l', "cunn_LogSoftMaxForward"}};
	struct words w = {0};
	struct vpa_report *r;
	uint64_t sequences = 0;
	size_t i, k;

	say(&w, "start 100\n");
	for (i = 0; kernels[i]; i++) {
		unsigned stream = kernels[i] < 'a' ? 8 : 7;

		if (kernels[i] == 'c')
			say(&w, "copy s7 DtoD %zu+8\n", 100 + 10 * i);
		for (k = 0; k < COUNT(names); k++)
			if ((kernels[i] | 0x20) == names[k].letter)
				say(&w, "kernel s%u %zu+8 \"%s\"\n", stream, 100 + 10 * i,
					names[k].name);
	}
	r = analyze(w.text, NULL);
	for (i = 0; i < r->attention.eager_count; i++)
		sequences += r->attention.eager[i].count;
	assert_int_equal(r->attention.calls, sequences);
	vpa_report_free(r);
	return sequences;
}

static void eager_attention_is_a_sequence_of_kernels(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(eager); i++)
		if (eager_sequences(eager[i].kernels) != eager[i].sequences)
			fail_msg("%s (%s): expected %u", eager[i].rule, eager[i].kernels,
				eager[i].sequences);
}

/* ---- the window, and what is listed ---- */

#define WINDOW                                                                                     \
	"start 100\nend 1100\n" RUN("t1", "110", "200-300", "1") RUN("t1", "210", "500-600", "2")  \
		RUN("t1", "610", "900-1000",                                                       \
			"3") "range t1 205-215 \"step\"\nrange t1 120-140 \"empty\"\nrange t1 "    \
			     "105-116 \"twice\"\n"                                                 \
			     "range t1 605-615 \"twice\"\nstartend t1 104-700 \"request\"\n"

static const struct {
	const char *rule;
	struct vpa_options options;
	const char *is; /* window, busy and idle time, kernels, calls, ranges; or the error */
} windows[] = {
	{"the whole capture", {0}, "100-1100, busy 300, idle 700, kernels 3, calls 3, ranges 5"},
	{"--from cuts ops at its edge", {.has_from = 1, .from_ns = 150},
		"250-1100, busy 250, idle 600, kernels 3, calls 1, ranges 1"},
	{"--to cuts ops at its edge", {.has_to = 1, .to_ns = 150},
		"100-250, busy 50, idle 100, kernels 1, calls 2, ranges 4"},
	{"--from and --to", {.has_from = 1, .from_ns = 150, .has_to = 1, .to_ns = 450},
		"250-550, busy 100, idle 200, kernels 2"},
	{"--to beyond the end is the end", {.has_to = 1, .to_ns = 9999},
		"100-1100, busy 300, idle 700, kernels 3, calls 3, ranges 5"},
	{"--from beyond the end is refused", {.has_from = 1, .from_ns = 9999}, "refused"},
	{"--from at the end is refused", {.has_from = 1, .from_ns = 1000}, "refused"},
	{"--from just before the end leaves that", {.has_from = 1, .from_ns = 999}, "1099-1100"},
	{"--from behind --to is refused",
		{.has_from = 1, .from_ns = 200, .has_to = 1, .to_ns = 200}, "refused"},
	{"--range: from its start to the end of its last op", {.range = "step"},
		"205-600, busy 195, idle 200, kernels 2, calls 1, ranges 1"},
	{"--range: its own end, where it launched nothing", {.range = "empty"}, "120-140"},
	{"--range of several instances: the first", {.range = "twice"},
		"105-300, busy 100, idle 95, kernels 1, calls 2, ranges 3"},
	{"--range of a process-wide range", {.range = "request"},
		"104-1000, busy 300, idle 596, kernels 3, calls 3, ranges 5"},
	{"--range of no range is refused", {.range = "nothing"}, "refused"},
};

static void say_window(struct words *w, const struct vpa_report *r)
{
	say(w, "%" PRIu64 "-%" PRIu64, r->window_start_ns, r->window_end_ns);
	if (r->device_count) {
		say_number(w, "busy", r->devices[0].busy_ns);
		say_number(w, "idle", r->devices[0].window_idle_ns);
		say_number(w, "kernels", r->counts.kernels);
		say_number(w, "calls", r->counts.calls);
		say_number(w, "ranges", r->counts.ranges);
	}
}

static void the_window_is_what_was_asked_for(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(windows); i++) {
		struct vpt_trace *trace;
		struct vpa_report *r;
		struct vpt_err err = {0};
		struct words w = {0};

		assert_int_equal(vpt_script_trace(WINDOW, &trace, &err), 0);
		if (!vpa_analyze(trace, "case", &windows[i].options, &r, &err))
			say_window(&w, r);
		else
			say(&w, err.code == VPT_EINVAL ? "refused" : "failed");
		expect(windows[i].rule, WINDOW, &w, windows[i].is);
		vpa_report_free(r);
		vpt_trace_close(trace);
	}
}

/* `count` gaps of `ns` between ops of 1 us, and one of a millisecond. */
static void expect_listed(
	uint64_t ns, unsigned count, uint64_t asked, uint64_t min, uint64_t listed)
{
	const struct vpa_options options = {.min_gap_ns = asked};
	struct vpa_report *r;
	struct words w = {0};
	uint64_t at = 1000;
	unsigned i;

	say(&w, "start 1000\n");
	for (i = 0; i <= count; i++, at += 1000 + ns)
		say(&w, "kernel s7 %" PRIu64 "+1us \"a\"\n", at);
	say(&w, "kernel s7 %" PRIu64 "+1us \"b\"\n", at - ns + 1000000);
	r = analyze(w.text, &options);
	assert_int_equal(r->min_gap_ns, min);
	assert_int_equal(r->gaps_listed_of, listed);
	assert_int_equal(r->gap_count, listed);
	vpa_report_free(r);
}

static void short_gaps_are_summed_and_not_listed(void **state)
{
	(void)state;
	expect_listed(1000, 9, 0, 10000, 1);     /* 5 times the median is less than 10 us */
	expect_listed(3000, 9, 0, 15000, 1);     /* 5 times the median */
	expect_listed(10000, 0, 0, 1000000, 1);  /* of one gap, the median is itself */
	expect_listed(900000, 9, 0, 1000000, 1); /* a millisecond is listed in any case */
	expect_listed(3000, 9, 3000, 3000, 10);
	expect_listed(3000, 9, 3001, 3001, 1);
}

/* Busy time of the only device. */
static uint64_t busy_of(const char *script)
{
	static const struct vpa_options plain = {.jobs = 1};
	struct vpa_report *r = analyze(script, &plain);
	uint64_t ns = r->devices[0].busy_ns;

	assert_int_equal(r->device_count, 1);
	vpa_report_free(r);
	return ns;
}

static void times_beyond_the_middle_of_their_range(void **state)
{
	(void)state;
	/* The second ends before it starts. */
	assert_int_equal(
		busy_of("start 1\nend 100000\n"
			"call t1 cudaLaunchKernel 100-110 corr 1\n"
			"call t1 cudaLaunchKernel 120-130 corr 2\n"
			"kernel s7 200-300 corr 1 \"a\"\n"
			"kernel s7 9223372036854775808+9223372036854775808 corr 2 \"b\"\n"),
		100);
	/* The third runs during the second. */
	assert_int_equal(busy_of("start 1\nend 18446744073709551000\n"
				 "call t1 cudaLaunchKernel 100-110 corr 1\n"
				 "call t1 cudaLaunchKernel 120-130 corr 2\n"
				 "call t1 cudaLaunchKernel 130-140 corr 3\n"
				 "kernel s7 200-300 corr 1 \"a\"\n"
				 "kernel s7 1000-18446744073709550000 corr 2 \"b\"\n"
				 "kernel s7 2000-3000 corr 3 \"c\"\n"),
		100 + 18446744073709549000u);
}

static void processes_may_use_the_same_numbers(void **state)
{
	/* The gap before b is of process 1's thread, the one before c of process 2's. */
	const char *script =
		"thread x pid 2 tid 200\nstream y device 1 context 1 stream 7 pid 2\nstart 1ms\n"
		"call t1 cudaLaunchKernel 1000us-1001us corr 1\nkernel s7 1002us-1003us corr 1 "
		"\"a\"\n"
		"call x cudaMemcpyAsync 1000us-1001us corr 1\nkernel y 1002us-1003us corr 1 \"a\"\n"
		"call t1 cudaLaunchKernel 1101us-1102us corr 2\nkernel s7 1103us-1104us corr 2 "
		"\"b\"\n"
		"call x cudaLaunchKernelExC 1201us-1202us corr 2\nkernel y 1203us-1204us corr 2 "
		"\"c\"\n";
	const struct vpa_options all = {.min_gap_ns = 1};
	struct vpa_report *r = analyze(script, &all);
	struct words w = {0};
	size_t i;

	(void)state;
	for (i = 0; i < r->gap_count; i++)
		if (r->gaps[i].after && r->gaps[i].before)
			say(&w, "%s%" PRId64 ":%" PRId64 " before %s", w.len ? ", " : "",
				r->gaps[i].pid, r->gaps[i].tid, r->gaps[i].before);
	expect("a launch is looked for in the op's process", script, &w,
		"2:200 before c, 1:1 before b");
	vpa_report_free(r);
}

/* ---- the verdict ---- */

#define WORK                                                                                       \
	"start 1ms\nend 2ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\nkernel s7 "            \
	"1000us-1100us corr 1 \"a\"\n"

#define LAUNCH(at)                                                                                 \
	"call t1 cudaLaunchKernel " at "0us-" at "1us corr " at "\nkernel s7 " at "2us-" at        \
	"5us corr " at " \"b\"\n"

static const struct {
	const char *rule, *script;
	int complete;
	const char *reason; /* begins the first one; NULL: there is none */
} verdicts[] = {
	{"all is there", WORK, 1, NULL},
	{"records are known to be lost", WORK "loss all dropped 1200us-1300us count 5\n", 0,
		"5 records lost"},
	{"records are lost, nobody knows how many", WORK "loss all dropped 1200us-1300us\n", 0,
		"records are missing"},
	{"a chunk says that records were lost", WORK "lost 3\n", 0, "3 records lost"},
	{"the tracer dropped records", WORK "stats all received 10 dropped 2\n", 0,
		"2 records lost"},
	{"an op without launch", WORK "kernel s7 1200us-1300us corr 7 \"b\"\n", 0,
		"1 operation has no launch record"},
	{"a launch without op is shown; it may have launched nothing, or in vain",
		WORK "call t1 cudaLaunchKernel 1010us-1011us corr 2\n", 1,
		"1 launch has no op: not recorded, or run after the end"},
	{"a kernel is lost if a later launch has one on the only stream",
		WORK "call t1 cudaLaunchKernel 1010us-1011us corr 2\n"
		     "call t1 cudaLaunchKernel 1020us-1021us corr 3\nkernel s7 1200us-1210us "
		     "corr 3 \"b\"\n",
		0, "1 kernel is missing"},
	{"or if the thread waited for the device",
		WORK "call t1 cudaLaunchKernel 1010us-1011us corr 2\n"
		     "call t1 cudaLaunchKernel 1012us-1013us corr 3\n"
		     "call t1 cudaDeviceSynchronize 1020us-1500us corr 4\n",
		0, "2 kernels are missing"},
	{"not if another thread's launch has one",
		WORK "call t1 cudaLaunchKernel 1010us-1011us corr 2\n"
		     "call t2 cudaLaunchKernel 1020us-1021us corr 3\nkernel s7 1200us-1210us "
		     "corr 3 \"b\"\n",
		1, "1 launch has no op"},
	{"not if it may still run on another stream",
		WORK "call t1 cudaLaunchKernel 1150us-1151us corr 2\n"
		     "call t1 cudaLaunchKernel 1160us-1161us corr 3\nkernel s8 1200us-1210us "
		     "corr 3 \"b\"\n",
		1, "1 launch has no op"},
	{"but if it would have taken longer there than all others",
		WORK "call t1 cudaLaunchKernel 1150us-1151us corr 2\n"
		     "call t1 cudaLaunchKernel 1160us-1161us corr 3\nkernel s8 1200us-1210us "
		     "corr 3 \"b\"\ncall t1 cudaLaunchKernel 1260us-1261us corr 4\nkernel s8 "
		     "1270us-1280us corr 4 \"b\"\n",
		0, "1 kernel is missing"},
	{"not if another thread captured a stream then",
		"call t2 cudaStreamBeginCapture_v10000 1001us-1002us corr 5\n" WORK
		"call t1 cudaLaunchKernel 1010us-1011us corr 2\n"
		"call t2 cudaStreamEndCapture_v10000 1012us-1013us corr 6\n"
		"call t1 cudaLaunchKernel 1020us-1021us corr 3\nkernel s7 1200us-1210us corr 3 "
		"\"b\"\n",
		1, "1 launch has no op"},
	{"not if the stream may have been captured before the recording began",
		"start 1ms\nend 2ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 2\n"
		"call t1 cudaLaunchKernel 1020us-1021us corr 3\nkernel s7 1200us-1210us corr 3 "
		"\"b\"\n",
		1, "1 launch has no op"},
	{"an op that ended before the recording's start is left out, and said",
		WORK "kernel s7 300us-400us corr 90 \"b\"\nkernel s7 500us-600us corr 91 \"b\"\n",
		0,
		"2 operations are left out: they ended before the start that the file's header "
		"gives"},
	{"what was launched in a window is missing if it ran after it",
		"start 1ms\nend 2ms\nloss all paused 1030us-2000us\n"
		"call t1 cudaLaunchKernel 1000us-1001us corr 2\n"
		"kernel s7 1010us-1020us corr 2 \"b\"\n"
		"call t1 cudaLaunchKernel 1011us-1012us corr 3\n"
		"call t1 cudaLaunchKernel 1013us-1014us corr 4\n",
		0, "2 kernels are missing: launched in a window, run while recording was off"},
	{"and is not if it is there, in the pause",
		"start 1ms\nend 2ms\nloss all paused 1030us-2000us\n"
		"call t1 cudaLaunchKernel 1000us-1001us corr 2\n"
		"kernel s7 1010us-1020us corr 2 \"b\"\n"
		"call t1 cudaLaunchKernel 1011us-1012us corr 3\n"
		"kernel s7 1500us-1600us corr 3 \"b\"\n",
		1, NULL},
	{"however few they are",
		"start 1ms\nend 2ms\nloss all paused 1900us-2000us\n" LAUNCH("120") LAUNCH("121")
			LAUNCH("122") LAUNCH("123") LAUNCH("124") LAUNCH("125") LAUNCH("126")
				LAUNCH("127") LAUNCH("128") LAUNCH(
					"129") "call t1 cudaLaunchKernel 1850us-1851us corr 99\n",
		0, "1 kernel is missing: launched in a window, run while recording was off"},
	{"but what was launched after the last pause may still run",
		"start 1ms\nend 2ms\nloss all paused 1030us-1500us\n"
		"call t1 cudaLaunchKernel 1000us-1001us corr 2\n"
		"kernel s7 1010us-1020us corr 2 \"b\"\n"
		"call t1 cudaLaunchKernel 1900us-1901us corr 3\n",
		1, "1 launch has no op"},
	{"not if a copy is what has no op",
		WORK "call t1 cudaMemcpyAsync 1010us-1011us corr 2\n"
		     "call t1 cudaLaunchKernel 1020us-1021us corr 3\nkernel s7 1200us-1210us "
		     "corr 3 \"b\"\n",
		1, "1 launch has no op"},
	{"captured launches have none",
		WORK "call t1 cudaStreamBeginCapture_v10000 1009us-1010us corr 2\n"
		     "call t1 cudaLaunchKernel 1010us-1011us corr 3\n"
		     "call t1 cudaMemcpyAsync 1011us-1012us corr 4\n"
		     "call t1 cudaStreamEndCapture_v10000 1012us-1013us corr 5\n",
		1, NULL},
	{"what the thread launches before and after a capture is none of it",
		WORK "call t1 cudaLaunchKernel 1008us-1009us corr 2\n"
		     "call t1 cudaStreamBeginCapture_v10000 1009us-1010us corr 3\n"
		     "call t1 cudaLaunchKernel 1010us-1011us corr 4\n"
		     "call t1 cudaStreamEndCapture_v10000 1012us-1013us corr 5\n"
		     "call t1 cudaLaunchKernel 1014us-1015us corr 6\n",
		1, "2 launches have no op"},
	{"an op that ends before it begins is missing",
		WORK "call t1 cudaLaunchKernel 1010us-1011us corr 2\nkernel s7 1300us-1200us corr "
		     "2 \"b\"\n",
		0, "1 operation has invalid times"},
	{"an op without time is missing",
		WORK
		"call t1 cudaLaunchKernel 1010us-1011us corr 2\nkernel s7 0-1200us corr 2 \"b\"\n",
		0, "1 operation has invalid times"},
	{"an op without duration is fine",
		WORK "call t1 cudaLaunchKernel 1010us-1011us corr 2\nkernel s7 1200us-1200us corr "
		     "2 \"b\"\n",
		1, NULL},
	{"a range that was never closed is shown", WORK "open t1 1050us \"step\"\n", 1,
		"1 range was never closed"},
	{"a range that comes after a later one is missing",
		WORK "range t1 1002us-1004us \"b\"\nchunk 0\nrange t1 1001us-1005us \"a\"\n", 0,
		"1 range was left out: recorded too late"},
	{"not if it was known to be open",
		WORK "range t1 1002us-1004us \"b\"\nchunk\nrange t1 1001us-1005us \"a\"\n", 1,
		NULL},
	{"a process that was killed", WORK "killed\n", 0, "the capture ends without a stop"},
	{"no GPU work is said before the launches that had it",
		"start 1ms\nend 2ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n", 1,
		"no GPU work was recorded"},
	{"no GPU work is no fault",
		"start 1ms\nend 2ms\ncall t1 cudaGetDevice 1000us-1001us corr 1\n", 1,
		"no GPU work was recorded"},
};

static void the_verdict_says_whether_all_is_there(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(verdicts); i++) {
		struct vpa_report *r = analyze(verdicts[i].script, NULL);
		const char *first = r->verdict.reason_count ? r->verdict.reasons[0] : NULL;

		if (r->verdict.complete != verdicts[i].complete || !first != !verdicts[i].reason ||
			(first && strncmp(first, verdicts[i].reason, strlen(verdicts[i].reason))))
			fail_msg("%s: complete %d, %s", verdicts[i].rule, r->verdict.complete,
				first ? first : "no reason");
		vpa_report_free(r);
	}
}

static const struct {
	const char *rule, *script, *is;
} counts[] = {
	{"ops are counted by kind, whatever their times",
		"start 100\nend 900\nkernel s7 100-110 \"a\"\n"
		"kernel s7 120-120 \"b\"\nkernel s7 140-130 \"c\"\nkernel s7 0-150 \"d\"\ncopy s7 "
		"HtoD 160-170\n"
		"memset s7 180-190",
		"kernels 4, memcpy 1, memset 1, empty 1, reversed 1, untimed 1, no launch 4"},
	{"launches that put nothing on a device",
		"start 100\nend 900\ncall t1 cudaLaunchKernel 110-111 corr 1\n"
		"call t1 cudaMemcpyAsync 120-121 corr 2\ncall t1 cudaGraphLaunch 130-131 corr 3\n"
		"call t1 cudaDeviceSynchronize 140-141 corr 4\nkernel s7 200-210 corr 3 \"a\"",
		"kernels 1, calls 4, no op 2"},
	{"ranges by domain; unmatched ones apart",
		"start 100\nend 900\nrange t1 110-120 \"a\"\n"
		"range t1 130-140 \"b\" domain cpu_op\nrange t1 150-160 \"c\" unmatched\nopen t1 "
		"170 \"d\"",
		"ranges 1, operators 1, unmatched 2"},
	{"a range that began twice at one time in different threads",
		"start 100\nend 900\nrange t1 110-120 \"a\"\n"
		"range t2 110-120 \"a\"\nchunk 130\nrange t1 110-500 \"late\"",
		"ranges 3"},
};

/* Above 5 % of the window the profiling library's own work makes gaps degraded, not incomplete. */
static void profiling_work_is_added_up(void **state)
{
	static const struct {
		const char *overhead;
		uint64_t ns;
		enum vpa_metric_state gaps;
	} cases[] = {
		{"overhead - \"buffer flush\" 1200us-1250us\n", 50000, VPA_OK},
		{"overhead - \"buffer flush\" 1200us-1251us\n", 51000, VPA_DEGRADED},
		{"overhead - \"buffer flush\" 1200us-1230us\noverhead t1 \"buffer flush\" "
		 "1220us-1250us\n",
			50000, VPA_OK},
		{"overhead - \"buffer flush\" 900us-1010us\n", 10000, VPA_OK},
		{"overhead - \"buffer flush\" 1990us-2100us\n", 10000, VPA_OK},
		{"overhead - \"command buffer full\" 1200us-1900us\n", 0, VPA_OK},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		char script[512];
		struct vpa_report *r;

		snprintf(script, sizeof(script),
			"start 1ms\nend 2ms\ncall t1 cudaLaunchKernel 1000us-1001us corr 1\n"
			"kernel s7 1000us-1100us corr 1 \"a\"\n%s",
			cases[i].overhead);
		r = analyze(script, NULL);
		assert_int_equal(r->verdict.overhead_ns, cases[i].ns);
		assert_int_equal(r->verdict.gaps, cases[i].gaps);
		assert_true(r->verdict.complete);
		vpa_report_free(r);
	}
}

/* What lies outside of the window is in the trace all the same. */
static void a_window_without_work_does_not_say_that_there_was_none(void **state)
{
	static const struct vpa_options behind = {.has_from = 1, .from_ns = 500000};
	struct vpa_report *r =
		analyze("start 1ms; end 2ms\nkernel s7 1100us-1200us \"k\"\n", &behind);
	struct vpt_buffer text = {0};
	struct vpt_sink *sink;
	struct vpt_err err = {0};

	(void)state;
	assert_int_equal(r->verdict.reason_count, 1);
	assert_string_equal(r->verdict.reasons[0],
		"no GPU work is in the window: device times are unavailable");
	assert_int_equal(vpt_sink_memory(&text, &sink, &err), 0);
	assert_int_equal(
		vpa_render_text(r, &(struct vpa_text){.full = 1, .width = 200}, sink, &err), 0);
	assert_int_equal(vpt_sink_write(sink, "", 1, &err), 0);
	assert_int_equal(sink->finish(sink, 1, &err), 0);
	assert_non_null(strstr(text.data, "No GPU work in this window: "));
	assert_null(strstr(text.data, "in this trace: "));
	vpt_free(text.data);
	vpa_report_free(r);
}

static const struct vpa_finding *finding_called(const struct vpa_report *r, const char *id)
{
	size_t i;

	for (i = 0; i < r->finding_count; i++)
		if (!strcmp(r->findings[i].id, id))
			return &r->findings[i];
	fail_msg("no finding \"%s\"", id);
	return NULL;
}

/* Kernels that run at once add up to more time than the device has worked. */
static void what_kernels_could_give_is_no_more_than_busy_time(void **state)
{
	struct vpa_report *r = analyze("start 1ms\n"
				       "call t1 cudaLaunchKernel 1000us-1001us corr 1\n"
				       "kernel s7 1100us-1900us corr 1 \"vol2col_kernel\"\n"
				       "call t1 cudaLaunchKernel 1002us-1003us corr 2\n"
				       "kernel s8 1200us-2000us corr 2 \"vol2col_kernel\"\n",
		NULL);

	(void)state;
	assert_true(finding_called(r, "vol2col")->gain_at_most_ms == 0.9);
	vpa_report_free(r);

	r = analyze("start 1ms\n"
		    "kernel s7 1100us-1400us \"ampere_sgemm_128x64\"\n"
		    "kernel s7 1400us-1500us \"softmax_warp_forward\"\n"
		    "kernel s7 1500us-1800us \"ampere_sgemm_128x64\"\n"
		    "kernel s8 1200us-1500us \"ampere_sgemm_128x64\"\n"
		    "kernel s8 1500us-1600us \"softmax_warp_forward\"\n"
		    "kernel s8 1600us-1900us \"ampere_sgemm_128x64\"\n",
		NULL);
	assert_true(finding_called(r, "eager-attention")->gain_at_most_ms == 0.8);
	vpa_report_free(r);

	r = analyze("start 1ms\n"
		    "call t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		    "kernel s7 1010us-1020us corr 1 \"flash_fwd_kernel\"\n"
		    "call t1 cudaLaunchKernel 1002us-1003us corr 2\n"
		    "kernel s7 1020us-1030us corr 2 \"flash_fwd_kernel\"\n"
		    "range t1 1000us-1030us \"step 0\"\n"
		    "call t1 cudaLaunchKernel 1100us-1101us corr 3\n"
		    "kernel s7 1200us-1980us corr 3 \"fmha_cutlassF_bf16_aligned_64x64_rf_sm80\"\n"
		    "call t1 cudaLaunchKernel 1102us-1103us corr 4\n"
		    "kernel s8 1200us-1980us corr 4 \"fmha_cutlassF_bf16_aligned_64x64_rf_sm80\"\n"
		    "range t1 1100us-1130us \"step 1\"\n",
		NULL);
	assert_true(finding_called(r, "attention-change")->gain_at_most_ms == 0.8);
	vpa_report_free(r);
}

static void ranges_outside_the_window_are_not_its_unmatched_ones(void **state)
{
	static const struct vpa_options part = {
		.has_from = 1, .from_ns = 2000000, .has_to = 1, .to_ns = 5000000};
	struct vpa_report *r = analyze("start 1ms; end 10ms\n"
				       "range t1 1500us-2000us \"before\" unmatched\n"
				       "range t1 2500us-3500us \"into it\" unmatched\n"
				       "open t1 4ms \"across its end\"\n"
				       "open t1 7ms \"behind\"\n",
		&part);

	(void)state;
	assert_int_equal(r->verdict.unmatched_ranges, 2);
	vpa_report_free(r);
}

/* What is listed is a matter of the page. */
static void findings_do_not_depend_on_how_much_is_listed(void **state)
{
	static const struct vpa_options one = {.top = 1};
	struct vpa_report *r = analyze("start 1ms\n"
				       "call t1 cudaLaunchKernel 1000us-1001us corr 1\n"
				       "kernel s7 1000us-1900us corr 1 \"gemm\"\n"
				       "call t1 cudaLaunchKernel 1002us-1003us corr 2\n"
				       "kernel s7 1900us-2000us corr 2 \"vol2col_kernel\"\n",
		&one);

	(void)state;
	assert_int_equal(r->kernel_count, 1);
	assert_true(finding_called(r, "vol2col")->gain_at_most_ms == 0.1);
	vpa_report_free(r);
}

static void pauses_belong_neither_to_the_window_nor_to_idle_time(void **state)
{
	struct vpa_report *r = analyze("start 1ms\nend 2ms\n"
				       "call t1 cudaLaunchKernel 1000us-1001us corr 1\n"
				       "kernel s7 1000us-1100us corr 1 \"a\"\n"
				       "call t1 cudaLaunchKernel 1900us-1901us corr 2\n"
				       "kernel s7 1910us-2000us corr 2 \"b\"\n"
				       "range t1 1000us-1950us \"around both\"\n"
				       "loss all paused 1200us-1800us\n",
		NULL);

	(void)state;
	assert_true(r->verdict.complete);
	assert_int_equal(r->paused_ns, 600000);
	assert_int_equal(vpa_window_ns(r), 400000);
	assert_int_equal(r->devices[0].window_idle_ns, 210000);
	assert_int_equal(r->devices[0].busy_ns, 190000);
	assert_int_equal(r->devices[0].longest_gap_ns, 110000);
	/* Neither to what lies between the first and the last op, where nobody saw others' ops either. */
	assert_int_equal(r->devices[0].active_ns, 400000);
	assert_int_equal(r->devices[0].idle_ns, 210000);
	assert_int_equal(r->ranges[0].envelope_ns, 400000);
	assert_int_equal(r->ranges[0].gpu.total_ns, 400000);
	assert_int_equal(r->ranges[0].busy_ns, 190000);
	assert_int_equal(r->ranges[0].idle_ns, 210000);
	assert_int_equal(r->ranges[0].foreign_ns, 0);
	vpa_report_free(r);
	/* An op that began before the pause runs on for 100 us in it. */
	r = analyze("start 1ms\nend 2ms\n"
		    "call t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		    "kernel s7 1000us-1300us corr 1 \"a\"\n"
		    "call t1 cudaLaunchKernel 1900us-1901us corr 2\n"
		    "kernel s7 1910us-2000us corr 2 \"b\"\n"
		    "loss all paused 1200us-1800us\n",
		NULL);
	assert_int_equal(r->devices[0].busy_ns, 390000);
	assert_int_equal(r->devices[0].window_idle_ns, 110000);
	assert_int_equal(vpa_window_ns(r), 500000);
	assert_int_equal(r->verdict.reason_count, 0);
	vpa_report_free(r);
	/* The host was ahead when the pause ended: what runs then was launched in it. */
	r = analyze("start 1ms\nend 2ms\n"
		    "call t1 cudaLaunchKernel 1000us-1001us corr 1\n"
		    "kernel s7 1000us-1100us corr 1 \"a\"\n"
		    "loss all paused 1200us-1800us\n"
		    "kernel s7 1810us-1900us corr 2 \"b\"\n"
		    "call t1 cudaLaunchKernel 1890us-1891us corr 3\n"
		    "kernel s7 1910us-2000us corr 3 \"c\"\n",
		NULL);
	assert_true(r->verdict.complete);
	assert_string_equal(r->verdict.reasons[0],
		"1 operation was launched while recording was paused: its launch is unknown");
	assert_null(r->verdict.remedies[0]);
	vpa_report_free(r);
}

/* Device 1 runs on in the pause; what device 0 did then is not known. */
static void each_device_has_a_window_of_its_own(void **state)
{
	struct vpa_report *r = analyze("start 1ms\nend 2ms\n"
				       "stream y device 1 context 2 stream 7\n"
				       "call t1 cudaLaunchKernel 1000us-1001us corr 1\n"
				       "kernel s7 1100us-1200us corr 1 \"a\"\n"
				       "call t1 cudaLaunchKernel 1002us-1003us corr 2\n"
				       "kernel y 1300us-1500us corr 2 \"b\"\n"
				       "loss all paused 1400us-1700us\n",
		NULL);

	(void)state;
	assert_true(r->verdict.complete);
	assert_int_equal(r->device_count, 2);
	assert_int_equal(r->devices[0].busy_ns, 100000);
	assert_int_equal(r->devices[0].window_idle_ns, 600000);
	assert_int_equal(r->devices[1].busy_ns, 200000);
	assert_int_equal(r->devices[1].window_idle_ns, 600000);
	assert_int_equal(vpa_device_window_ns(&r->devices[0]), 700000);
	assert_int_equal(vpa_device_window_ns(&r->devices[1]), 800000);
	assert_int_equal(vpa_window_ns(r), 800000);
	assert_int_equal(vpa_windows_ns(r), 1500000);
	vpa_report_free(r);
}

/* What the host did in a pause is not known: of 1.9 ms before the first op, 0.9 ms were recorded. */
static void the_head_has_no_time_of_pauses(void **state)
{
	struct vpa_report *r = analyze("start 1ms\nend 3ms\n"
				       "call t1 cudaMalloc 1000us-1100us corr 1\n"
				       "loss all paused 1200us-2200us\n"
				       "call t1 cudaMalloc 2200us-2300us corr 3\n"
				       "call t1 cudaLaunchKernel 2900us-2901us corr 4\n"
				       "kernel s7 2910us-3000us corr 4 \"a\"\n",
		NULL);
	uint64_t sum = 0, most = 0;
	size_t i;

	(void)state;
	for (i = 0; i < r->devices[0].before_first_work_count; i++) {
		sum += r->devices[0].before_first_work[i].ns;
		if (r->devices[0].before_first_work[i].cause == VPA_CAUSE_HOST_CODE)
			most = r->devices[0].before_first_work[i].ns;
	}
	assert_int_equal(r->devices[0].window_idle_ns, 910000);
	assert_int_equal(sum, 910000);
	assert_int_equal(most, 100000 + 600000);
	vpa_report_free(r);
}

static void work_after_the_last_clock_point_is_inside_the_window(void **state)
{
	struct vpa_report *r = analyze("start 1ms\nend 2ms\n"
				       "call t1 cudaLaunchKernel 1000us-1001us corr 1\n"
				       "kernel s7 1900us-2010us corr 1 \"a\"\n",
		NULL);

	(void)state;
	assert_int_equal(vpa_window_ns(r), 1010000);
	assert_int_equal(r->devices[0].busy_ns, 110000);
	assert_int_equal(r->devices[0].window_idle_ns, 900000);
	vpa_report_free(r);
}

static const struct vpa_range_row *range_called(const struct vpa_report *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->range_count; i++)
		if (!strcmp(r->ranges[i].name, name))
			return &r->ranges[i];
	fail_msg("no range \"%s\"", name);
	return NULL;
}

/* Times of operations are exact without their launches; what they were launched in is not known. A loss whose time nobody
 * knows touches everything. */
static void missing_launches_touch_stages_alone(void **state)
{
	static const struct {
		const char *more;
		int stage, window;
	} cases[] = {
		{"", 0, 0},
		{"kernel s7 300-350 corr 9 \"a\"", 1, 0},
		{"loss all dropped 0+0 count 5", 1, 1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		char script[512];
		struct vpa_report *r;

		snprintf(script, sizeof(script),
			"range t1 90-400 \"vae_decode\" domain vptrace json "
			"\"{\\\"kind\\\":\\\"stage\\\"}\"\n"
			"call t1 cudaLaunchKernel 100-110 corr 1\nkernel s7 120-180 corr 1 "
			"\"a\"\n%s\n",
			cases[i].more);
		r = analyze(script, NULL);
		assert_int_equal(r->stage_count, 1);
		assert_int_equal(r->stages[0].touched, cases[i].stage);
		assert_int_equal(r->touched, cases[i].window);
		assert_int_equal(r->has_marks, cases[i].stage);
		assert_int_equal(r->verdict.complete, !cases[i].stage);
		vpa_report_free(r);
	}
}

/* A long launch call is in the chunk in which it returns. A process-wide range that another thread ended meanwhile,
 * in an earlier chunk, was around it all the same. */
static void a_range_waits_for_launches_that_are_still_to_come(void **state)
{
	enum { OTHERS = 1400, LINE = 48 };
	static const char begin[] = "start 1000\nstartend t1 1100-1800 \"around both\"\n"
				    "call t1 cudaLaunchKernel 1200-1210 corr 1\n"
				    "kernel s7 1500-5000 corr 1 \"a\"\n",
			  end[] = "chunk 5100\n"
				  "call t2 cudaLaunchKernel 1700-6000 corr 2\n"
				  "kernel s7 7000-7100 corr 2 \"b\"\n";
	char *script = malloc(sizeof(begin) + OTHERS * LINE + sizeof(end)), *p = script;
	struct vpa_report *r;
	int i;

	(void)state;
	assert_non_null(script);
	p += sprintf(p, "%s", begin);
	for (i = 0; i < OTHERS; i++)
		p += sprintf(p, "call t1 cudaEventRecord %d+1\n", 2000 + 2 * i);
	sprintf(p, "%s", end);
	r = analyze(script, NULL);
	assert_int_equal(range_called(r, "around both")->ops, 2);
	vpa_report_free(r);
	free(script);
}

/* A range was open, as far as anybody knew, when calls were made in it; later it turns out to have ended before
 * them. What they launched must not be given to a range that comes afterwards. */
static void a_range_that_ended_early_keeps_its_calls(void **state)
{
	struct vpa_report *r = analyze("start 1\nthread t1 pid 1 tid 100\n"
				       "call t1 cudaLaunchKernel 500-505 corr 1\n"
				       "call t1 cudaLaunchKernel 506-507 corr 2\n"
				       "kernel s7 520-530 corr 2 \"a\"\n"
				       "chunk 490\n"
				       "range t1 100-150 \"R\"\n"
				       "kernel s7 540-550 corr 3 \"b\"\n"
				       "call t1 cudaLaunchKernel 531-532 corr 3\n"
				       "chunk 560\n"
				       "range t1 700-800 \"X\"\n"
				       "call t1 cudaLaunchKernel 700-701 corr 9\n"
				       "kernel s7 705-706 corr 9 \"b\"\n"
				       "chunk 706\n"
				       "kernel s7 707-900 corr 1 \"late\"\n"
				       "end 1000\n",
		NULL);

	(void)state;
	assert_int_equal(range_called(r, "X")->ops, 1);
	assert_int_equal(range_called(r, "X")->launches, 1);
	vpa_report_free(r);
}

static void a_launch_of_the_same_process_goes_first(void **state)
{
	struct vpa_report *r = analyze("start 1\n"
				       "call - cudaLaunchKernel 100-110 corr 1\n"
				       "chunk 120\n"
				       "thread t1 pid 5 tid 1\n"
				       "stream s7 device 0 context 1 stream 7 pid 5\n"
				       "range t1 150-400 \"five\"\n"
				       "call t1 cudaLaunchKernel 200-210 corr 1\n"
				       "kernel s7 300-310 corr 1 \"a\"\n",
		NULL);

	(void)state;
	assert_int_equal(range_called(r, "five")->ops, 1);
	vpa_report_free(r);
}

/* Device 1 works once and again after `seconds`, while t1 keeps device 0 busy: 40 kernels and a chunk a second. */
static enum vpa_cause cause_of_long_gap(unsigned seconds)
{
	enum { A_SECOND = 40, LINE = 160 };
	size_t size = (seconds * A_SECOND * 2 + 16) * (size_t)LINE, len, i;
	char *script = vpt_alloc(size, 1);
	enum vpa_cause cause = VPA_CAUSES;
	struct vpa_report *r;
	unsigned n;

	assert_non_null(script);
	len = (size_t)snprintf(script, size,
		"start 1s\ncall t1 cudaMemsetAsync 1s-1s corr 1\nmemset s1.7 1s-1001ms corr 1\n");
	for (n = 0; n < seconds * A_SECOND; n++) {
		unsigned us = 1010000 + n * 25000;

		len += (size_t)snprintf(script + len, size - len,
			"call t1 cudaLaunchKernel %uus-%uus corr %u\nkernel s7 %uus-%uus corr %u "
			"\"k\"\n%s",
			us, us + 5, n + 2, us + 10, us + 20000, n + 2,
			n % A_SECOND == A_SECOND - 1 ? "chunk\n" : "");
	}
	snprintf(script + len, size - len,
		"call t1 cudaMemsetAsync %us-%us corr 999999\n"
		"memset s1.7 %us-%u001ms corr 999999\n",
		seconds + 2, seconds + 2, seconds + 2, seconds + 2);
	r = analyze(script, NULL);
	for (i = 0; i < r->gap_count; i++)
		if (r->gaps[i].device == 1 && r->gaps[i].before && r->gaps[i].after)
			cause = r->gaps[i].cause;
	vpa_report_free(r);
	vpt_free(script);
	return cause;
}

static void the_past_is_kept_for_half_a_minute_of_an_idle_device(void **state)
{
	(void)state;
	assert_int_equal(cause_of_long_gap(25), VPA_CAUSE_HOST_CODE);
	assert_int_equal(cause_of_long_gap(90), VPA_CAUSE_RECORDS_LOST);
}

static void events_are_counted(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(counts); i++) {
		struct vpa_report *r = analyze(counts[i].script, NULL);
		const struct vpa_verdict *v = &r->verdict;
		struct words w = {0};

		say_number(&w, "kernels", r->counts.kernels);
		say_number(&w, "memcpy", r->counts.memcpy);
		say_number(&w, "memset", r->counts.memset);
		say_number(&w, "calls", r->counts.calls);
		say_number(&w, "ranges", r->counts.ranges);
		say_number(&w, "operators", r->counts.cpu_ops);
		say_number(&w, "empty", v->zero_duration);
		say_number(&w, "reversed", v->reversed);
		say_number(&w, "untimed", v->zero_time);
		say_number(&w, "no launch", v->ops_without_launch);
		say_number(&w, "no op", v->launches_without_op);
		say_number(&w, "unmatched", v->unmatched_ranges);
		expect(counts[i].rule, counts[i].script, &w, counts[i].is);
		vpa_report_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_time_is_the_union_of_its_ops),
		cmocka_unit_test(devices_are_apart),
		cmocka_unit_test(the_histogram_is_cut_at_its_exact_edges),
		cmocka_unit_test(overlapped_time_is_shared_out),
		cmocka_unit_test(ranges_have_the_work_launched_in_them),
		cmocka_unit_test(idle_time_of_a_range_is_the_hosts_too),
		cmocka_unit_test(emitted_names_are_one_name),
		cmocka_unit_test(eager_attention_is_a_sequence_of_kernels),
		cmocka_unit_test(the_window_is_what_was_asked_for),
		cmocka_unit_test(short_gaps_are_summed_and_not_listed),
		cmocka_unit_test(times_beyond_the_middle_of_their_range),
		cmocka_unit_test(processes_may_use_the_same_numbers),
		cmocka_unit_test(the_verdict_says_whether_all_is_there),
		cmocka_unit_test(profiling_work_is_added_up),
		cmocka_unit_test(a_window_without_work_does_not_say_that_there_was_none),
		cmocka_unit_test(what_kernels_could_give_is_no_more_than_busy_time),
		cmocka_unit_test(ranges_outside_the_window_are_not_its_unmatched_ones),
		cmocka_unit_test(findings_do_not_depend_on_how_much_is_listed),
		cmocka_unit_test(pauses_belong_neither_to_the_window_nor_to_idle_time),
		cmocka_unit_test(each_device_has_a_window_of_its_own),
		cmocka_unit_test(the_head_has_no_time_of_pauses),
		cmocka_unit_test(work_after_the_last_clock_point_is_inside_the_window),
		cmocka_unit_test(missing_launches_touch_stages_alone),
		cmocka_unit_test(a_range_waits_for_launches_that_are_still_to_come),
		cmocka_unit_test(a_range_that_ended_early_keeps_its_calls),
		cmocka_unit_test(a_launch_of_the_same_process_goes_first),
		cmocka_unit_test(the_past_is_kept_for_half_a_minute_of_an_idle_device),
		cmocka_unit_test(events_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

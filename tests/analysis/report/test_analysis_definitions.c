/* test_analysis_definitions.c - every rule of the analyzer's definitions on a trace whose answer a person can
 * compute. A case is a rule, a script (tests/support/traces/script.h), and what the report says. */
#include "tests/analysis/report/definitions_rig.h"

#include <cmocka.h>

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
		struct vpa_report *r = vpt_script_report(device_times[i].script, NULL);
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
	struct vpa_report *r = vpt_script_report(script, NULL);
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
	r = vpt_script_report(script, NULL);
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
	struct vpa_report *r = vpt_script_report(script, NULL);
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
	{"what ends with one of its name is a part of it",
		"start 100\nend 500\n" RUN("t1", "110", "200-220", "1") RUN("t1", "130", "300-330",
			"2") "range t1 125-140 \"r\"\nrange t1 105-140 \"r\"",
		"r", "n 1, host 35, ops 2, launches 2, envelope 130, busy 50, idle 80, lag 95"},
	{"what begins in one of its name and ends after it is none",
		"start 100\nend 500\n" RUN("t1", "110", "200-220", "1") RUN("t1", "130", "300-330",
			"2") "range t1 105-126 \"r\"\nrange t1 125-135 \"r\"",
		"r", "n 2, host 31, ops 2, launches 2, envelope 50, busy 50, lag 270"},
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
		struct vpa_report *r = vpt_script_report(range_cases[i].script, NULL);
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
		struct vpa_report *r = vpt_script_report(host_idle_cases[i].script, NULL);

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
	struct vpa_report *r = vpt_script_report(script, &listed);
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
	r = vpt_script_report(script, &first);
	assert_int_equal(r->window_start_ns, 105);
	assert_int_equal(r->window_end_ns, 220);
	vpa_report_free(r);
	r = vpt_script_report(script, &third);
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
	r = vpt_script_report(w.text, NULL);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_verdict_definitions.c - the verdict, and calls and ops that find each other: each rule on a trace whose answer a
 * person can compute. */
#include "tests/analysis/report/definitions_rig.h"

#include <cmocka.h>

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
		struct vpa_report *r = vpt_script_report(verdicts[i].script, NULL);
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
		r = vpt_script_report(script, NULL);
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
		vpt_script_report("start 1ms; end 2ms\nkernel s7 1100us-1200us \"k\"\n", &behind);
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

/* Kernels that run at once add up to more time than the device has worked. */
static void what_kernels_could_give_is_no_more_than_busy_time(void **state)
{
	struct vpa_report *r =
		vpt_script_report("start 1ms\n"
				  "call t1 cudaLaunchKernel 1000us-1001us corr 1\n"
				  "kernel s7 1100us-1900us corr 1 \"vol2col_kernel\"\n"
				  "call t1 cudaLaunchKernel 1002us-1003us corr 2\n"
				  "kernel s8 1200us-2000us corr 2 \"vol2col_kernel\"\n",
			NULL);

	(void)state;
	assert_true(finding_called(r, "vol2col")->gain_at_most_ms == 0.9);
	vpa_report_free(r);

	r = vpt_script_report("start 1ms\n"
			      "kernel s7 1100us-1400us \"ampere_sgemm_128x64\"\n"
			      "kernel s7 1400us-1500us \"softmax_warp_forward\"\n"
			      "kernel s7 1500us-1800us \"ampere_sgemm_128x64\"\n"
			      "kernel s8 1200us-1500us \"ampere_sgemm_128x64\"\n"
			      "kernel s8 1500us-1600us \"softmax_warp_forward\"\n"
			      "kernel s8 1600us-1900us \"ampere_sgemm_128x64\"\n",
		NULL);
	assert_true(finding_called(r, "eager-attention")->gain_at_most_ms == 0.8);
	vpa_report_free(r);

	r = vpt_script_report(
		"start 1ms\n"
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
		r = vpt_script_report(script, NULL);
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
	r = vpt_script_report(script, NULL);
	assert_int_equal(range_called(r, "around both")->ops, 2);
	vpa_report_free(r);
	free(script);
}

/* A range was open, as far as anybody knew, when calls were made in it; later it turns out to have ended before
 * them. What they launched must not be given to a range that comes afterwards. */
static void a_range_that_ended_early_keeps_its_calls(void **state)
{
	struct vpa_report *r = vpt_script_report("start 1\nthread t1 pid 1 tid 100\n"
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
	struct vpa_report *r = vpt_script_report("start 1\n"
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

static void events_are_counted(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(counts); i++) {
		struct vpa_report *r = vpt_script_report(counts[i].script, NULL);
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
		cmocka_unit_test(the_verdict_says_whether_all_is_there),
		cmocka_unit_test(profiling_work_is_added_up),
		cmocka_unit_test(a_window_without_work_does_not_say_that_there_was_none),
		cmocka_unit_test(what_kernels_could_give_is_no_more_than_busy_time),
		cmocka_unit_test(missing_launches_touch_stages_alone),
		cmocka_unit_test(a_range_waits_for_launches_that_are_still_to_come),
		cmocka_unit_test(a_range_that_ended_early_keeps_its_calls),
		cmocka_unit_test(a_launch_of_the_same_process_goes_first),
		cmocka_unit_test(events_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_lines.c - lines of Python: on traces whose answers a person can compute, and for what must hold of all.
 * Long, since each rule is a case of the same few helpers. */
#include "analysis/analyze.h"
#include "analysis/frame_rules.h"
#include "formats/memory.h"
#include "tests/support/random.h"
#include "tests/support/random_causes.h"
#include "tests/support/random_lines.h"
#include "tests/support/random_samples.h"
#include "tests/support/script.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The host of these launches a kernel, is in its own code from 2 ms to 102 ms, and launches another: 100 ms of host code,
 * and 10 us of launch latency before the second kernel. Samples come every 5 ms, the first at 4 ms. */
#define HOST_CODE                                                                                  \
	"start 0\n"                                                                                \
	"call t1 cudaLaunchKernel 900000-910000 corr 1; kernel s1 1000000-2000000 corr 1 \"a\"\n"  \
	"call t1 cudaLaunchKernel 102000000-102005000 corr 2\n"                                    \
	"kernel s1 102010000-103000000 corr 2 \"b\"\n"                                             \
	"end 103000000\n"

static const char slow[] = "main (/app/run.py:3);slow (/app/model.py:40)";
static const char other[] = "main (/app/run.py:4)";

static void add_script(struct random_text *out, const char *script)
{
	for (; *script; script += strnlen(script, 200))
		random_text_add(out, "%.200s", script);
}

static void add_samples(
	struct random_text *out, unsigned from, unsigned to, const char *stack, const char *more)
{
	for (; from < to; from++)
		random_text_add(
			out, "sample t1 %u \"%s\" %s\n", 4000000 + from * 5000000, stack, more);
}

static struct vpa_report *report_of(const char *script, const struct vpa_options *options)
{
	struct vpt_err err = {0};
	struct vpa_report *report = NULL;
	struct vpt_trace *trace = NULL;

	if (vpt_script_trace(script, &trace, &err) ||
		vpa_analyze(trace, "capture", options, &report, &err))
		fail_msg("%s", err.text);
	vpt_trace_close(trace);
	return report;
}

static struct vpa_report *report_of_text(struct random_text *text)
{
	struct vpa_options options = {.min_gap_ns = 1};
	struct vpa_report *r = report_of(text->data, &options);

	vpt_free(text->data);
	return r;
}

static const struct vpa_idle_part *part_of(const struct vpa_report *r, enum vpa_cause cause)
{
	size_t i;

	assert_int_equal(r->device_count, 1);
	for (i = 0; i < r->devices[0].cause_count; i++)
		if (r->devices[0].causes[i].cause == cause)
			return &r->devices[0].causes[i];
	fail_msg("no idle time by %s", vpa_cause_text(cause));
	return NULL;
}

/* The time of a cause at a line; line 0: without one. */
static uint64_t ns_at(const struct vpa_report *r, enum vpa_cause cause, uint64_t number)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->lines.idle_count; i++)
		if (r->lines.idle[i].cause == cause && r->lines.idle[i].line.number == number)
			ns += r->lines.idle[i].ns;
	return ns;
}

static void a_slow_line_is_named(void **state)
{
	struct random_text text = {0};
	const struct vpa_idle_part *part;
	struct vpa_report *r;
	char words[200];

	(void)state;
	add_script(&text, HOST_CODE);
	add_samples(&text, 0, 15, slow, "");
	add_samples(&text, 15, 20, other, "");
	r = report_of_text(&text);
	part = part_of(r, VPA_CAUSE_HOST_CODE);
	assert_int_equal(part->ns, 100000000);
	assert_non_null(part->top);
	assert_string_equal(part->top->line.function, "slow");
	assert_string_equal(part->top->line.file, "/app/model.py");
	assert_int_equal(part->top->line.number, 40);
	assert_int_equal(part->top->samples, 20);
	assert_true(part->top->share == 0.75);
	assert_string_equal(vpa_top_line_text(words, sizeof(words), part->top),
		"at /app/model.py:40 (75 %, 20 samples)");
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 40), 75000000);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 4), 25000000);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 0), 0);
	assert_int_equal(r->counts.samples, 20);
	/* The gap has the same by its own samples. */
	assert_int_equal(r->gaps[0].top->line.number, 40);
	assert_int_equal(r->gaps[0].top->samples, 20);
	assert_true(r->gaps[0].top->share == 0.75);
	vpa_report_free(r);
}

static void four_samples_name_no_line(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text, HOST_CODE);
	add_samples(&text, 0, 4, slow, "");
	r = report_of_text(&text);
	assert_null(part_of(r, VPA_CAUSE_HOST_CODE)->top);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 0), 100000000);
	vpa_report_free(r);
}

static void a_frameworks_line_gives_way_to_its_caller(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text, HOST_CODE);
	add_samples(&text, 0, 20,
		"main (/app/run.py:3);step (/opt/lib/python3.11/site-packages/kit/model.py:7);"
		"forward (/opt/lib/python3.11/site-packages/torch/nn/module.py:9);wait "
		"(/usr/lib/python3.11/threading.py:320)",
		"");
	r = report_of_text(&text);
	assert_int_equal(part_of(r, VPA_CAUSE_HOST_CODE)->top->line.number, 7);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 7), 100000000);
	vpa_report_free(r);
}

/* A function with a mark is called by a wrapper of ours. */
static void no_line_is_in_our_own_python(void **state)
{
	static const char *const files[] = {"/opt/share/vptrace/python/vptrace/_ranges.py",
		"/opt/lib/python3.11/site-packages/vptrace/_capture.py",
		"/opt/share/vptrace/python/vptrace_marks/calls.py"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct random_text text = {0};
		struct vpa_report *r;
		char stack[160];

		snprintf(stack, sizeof(stack), "step (/app/vptrace/run.py:7);ranged (%s:9)",
			files[i]);
		add_script(&text, HOST_CODE);
		add_samples(&text, 0, 20, stack, "");
		r = report_of_text(&text);
		assert_int_equal(part_of(r, VPA_CAUSE_HOST_CODE)->top->line.number, 7);
		vpa_report_free(r);
	}
}

/* Whether these are the functions of a stack from the outermost, as flame graphs show it. */
static int has_functions(const struct vpa_report *r, uint32_t stack, const char *functions)
{
	const char *end = functions + strlen(functions);

	for (; stack; stack = r->lines.stacks[stack].caller) {
		const char *name = r->lines.stacks[stack].frame.function;
		size_t len = strlen(name);

		if ((size_t)(end - functions) < len || memcmp(end - len, name, len) != 0)
			return 0;
		end -= len;
		end -= end > functions && end[-1] == ';';
	}
	return end == functions;
}

static void stacks_are_without_the_wrappers_of_marks(void **state)
{
	static const struct {
		const char *rule, *stack, *functions;
	} cases[] = {
		{"between two functions",
			"main (/app/run.py:3);marked (/x/python/vptrace_marks/calls.py:220);step "
			"(/app/run.py:7)",
			"main;step"},
		{"two of them, the range of a decorator, and a method in between",
			"main (/app/run.py:3);marked (/x/vptrace_marks/calls.py:220);inherited "
			"(/x/vptrace_marks/places.py:187);ranged (/x/vptrace/_ranges.py:73);step "
			"(/app/run.py:7)",
			"main;step"},
		{"the innermost, whose time is its caller's",
			"main (/app/run.py:3);step (/app/run.py:7);marked "
			"(/x/site-packages/vptrace_marks/calls.py:220);numbers "
			"(/x/site-packages/vptrace_marks/values.py:1)",
			"main;step"},
		{"all of it", "marked (/x/vptrace_marks/calls.py:220)", ""},
		{"a user's file of nearly that name",
			"main (/app/run.py:3);step (/app/my_vptrace_marks/calls.py:220)",
			"main;step"},
		{"other files of ours are a framework's",
			"main (/app/run.py:3);start (/x/vptrace/_capture.py:7)", "main;start"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct random_text text = {0};
		struct vpa_report *r;
		uint32_t last;

		add_script(&text, HOST_CODE);
		add_samples(&text, 0, 20, cases[i].stack, "");
		r = report_of_text(&text);
		last = r->lines.stack_count ? (uint32_t)r->lines.stack_count - 1 : 0;
		if (!has_functions(r, last, cases[i].functions))
			fail_msg("%s: expected %s", cases[i].rule, cases[i].functions);
		vpa_report_free(r);
	}
}

/* Python's own start of a process or a module, wherever its library lies. */
static void no_line_is_in_what_starts_a_process(void **state)
{
	static const char *const files[] = {"/opt/python/Lib/multiprocessing/spawn.py",
		"/opt/python/Lib/multiprocessing/process.py", "/opt/python/Lib/runpy.py",
		"<frozen runpy>", "/x/vptrace/python/site/sitecustomize.py"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		assert_false(
			vpa_frame_is_users(NULL, (struct vpt_text){files[i], strlen(files[i])}));
	assert_true(vpa_frame_is_users(NULL, (struct vpt_text){"/app/my_runpy.py", 16}));
}

/* ---- a user's rules for frames ---- */

static const char engine[] = "main (/app/run.py:3);serve (/opt/engine/serve.py:7);forward "
			     "(/opt/lib/python3.11/site-packages/torch/mine/f.py:9)";

static void rules_say_whose_code_a_file_is(void **state)
{
	static const struct {
		const char *rule, *rules;
		uint64_t line;
	} cases[] = {
		{"the built-in table", "", 7},
		{"a folder of the user's becomes a framework's", "frame framework\t^/opt/engine/",
			3},
		{"a file of a framework's becomes the user's", "frame user\t/torch/mine/", 9},
		{"the first match applies", "frame user\tserve\nframe framework\t^/opt/", 7},
		{"in this order, too", "frame framework\t^/opt/\nframe user\tserve", 3},
		{"beside other rules", "# mine\ngemm\t^k$\nframe framework\t^/opt/\nrange none\tx",
			3},
		{"where all is a framework's, the innermost frame", "frame framework\t.", 9},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpa_options options = {.min_gap_ns = 1,
			.rules = cases[i].rules,
			.rules_len = strlen(cases[i].rules)};
		struct random_text text = {0};
		struct vpa_report *r;
		uint64_t line;

		add_script(&text, HOST_CODE);
		add_samples(&text, 0, 20, engine, "");
		r = report_of(text.data, &options);
		line = part_of(r, VPA_CAUSE_HOST_CODE)->top->line.number;
		if (line != cases[i].line)
			fail_msg("%s: expected line %" PRIu64 ", found %" PRIu64, cases[i].rule,
				cases[i].line, line);
		vpa_report_free(r);
		vpt_free(text.data);
	}
}

/* A function without a file is nobody's, and a path of any length and bytes is matched by its end. */
static void rules_see_the_end_of_a_path(void **state)
{
	static const char rules[] = "frame user\t/last[.]py$\nframe framework\t^/";
	struct vpt_err err = {0};
	struct vpa_frame_rules *r = vpa_frame_rules_read(rules, strlen(rules), &err);
	char path[9000];

	(void)state;
	assert_non_null(r);
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[8000] = '\0';
	memcpy(path + sizeof(path) - 8, "/last.py", 8);
	assert_true(vpa_frame_is_users(r, (struct vpt_text){path, sizeof(path)}));
	assert_false(vpa_frame_is_users(r, (struct vpt_text){path, 100}));
	assert_false(vpa_frame_is_users(r, (struct vpt_text){"", 0}));
	vpa_frame_rules_free(r);
	vpa_frame_rules_free(NULL);
}

static void wrong_rules_are_refused_with_their_line(void **state)
{
	static const struct {
		const char *rules, *why;
	} cases[] = {
		{"frame mine\t^/opt/",
			"line 1 of the rules: expected \"frame\" and user or framework, "
			"a tab and a pattern, found \"frame mine"},
		{"gemm\tk\n\nframe user ^/opt/",
			"line 3 of the rules: expected \"frame\" and user"},
		{"frame user\t", "line 1 of the rules: expected \"frame\" and user"},
		{"frame \tx", "line 1 of the rules: expected \"frame\" and user"},
		{"frame user\t(",
			"line 1 of the rules: expected a POSIX extended regular expression"},
		{"frame\tx", "line 1 of the rules: expected a family"},
	};
	struct vpt_trace *trace = NULL;
	struct vpt_err err = {0};
	size_t i;

	(void)state;
	assert_int_equal(vpt_script_trace("kernel s1 1000-2000 \"k\"", &trace, &err), 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vpa_options options = {
			.rules = cases[i].rules, .rules_len = strlen(cases[i].rules)};
		struct vpa_report *r;

		assert_int_equal(vpa_analyze(trace, "t", &options, &r, &err), VPT_EDATA);
		if (strncmp(err.text, cases[i].why, strlen(cases[i].why)) != 0)
			fail_msg("%s: expected %s\nfound %s", cases[i].rules, cases[i].why,
				err.text);
	}
	vpt_trace_close(trace);
}

/* ---- causes, gaps ---- */

/* The samples of a wait come while the GPU still works. */
static void a_wait_has_the_line_of_its_call(void **state)
{
	struct random_text text = {0};
	const struct vpa_idle_part *part;
	struct vpa_report *r;

	(void)state;
	add_script(&text, "start 0\n"
			  "call t1 cudaLaunchKernel 1000000-1010000 corr 1\n"
			  "kernel s1 1020000-60000000 corr 1 \"a\"\n"
			  "call t1 cudaStreamSynchronize 1100000-60010000 corr 2\n"
			  "call t1 cudaLaunchKernel 60020000-60030000 corr 3\n"
			  "kernel s1 60040000-70000000 corr 3 \"b\"\n"
			  "end 70000000\n");
	add_samples(&text, 0, 10, "main (/app/run.py:3);item (/app/sched.py:9)", "state sleeping");
	r = report_of_text(&text);
	part = part_of(r, VPA_CAUSE_SYNC);
	assert_string_equal(part->call, "cudaStreamSynchronize");
	assert_int_equal(part->top->line.number, 9);
	assert_int_equal(part->top->samples, 10);
	assert_ptr_equal(vpa_top_line_of_call(r, "cudaStreamSynchronize"), part->top);
	assert_null(vpa_top_line_of_call(r, "cudaLaunchKernel"));
	vpa_report_free(r);
}

/* The host of these waits for a copy until 51 ms, then works on what it got until 91 ms: samples of the wait are its line,
 * those of the work are in the row of what the host did. */
static void work_after_a_wait_has_its_own_line(void **state)
{
	struct random_text text = {0};
	const struct vpa_host_did_row *did;
	struct vpa_report *r;

	(void)state;
	add_script(&text,
		"start 0\n"
		"call t1 cudaLaunchKernel 900000-910000 corr 1; kernel s1 1000000-50000000 corr 1 "
		"\"a\"\n"
		"call t1 cudaMemcpyAsync 920000-51000000 corr 2\n"
		"copy s1 DtoH device->pageable 50000000-51000000 bytes 8294400 corr 2\n"
		"range t1 51000000-91000000 \"post_process\"\n"
		"call t1 cudaLaunchKernel 91000000-91005000 corr 3\n"
		"kernel s1 91010000-92000000 corr 3 \"b\"\n"
		"end 92000000\n");
	add_samples(&text, 0, 9, other, "");
	add_samples(&text, 10, 17, slow, "");
	r = report_of_text(&text);
	assert_int_equal(part_of(r, VPA_CAUSE_BLOCKING_COPY)->ns, 40000000);
	assert_int_equal(part_of(r, VPA_CAUSE_BLOCKING_COPY)->top->line.number, 4);
	assert_int_equal(r->devices[0].host_did_count, 1);
	did = &r->devices[0].host_did[0];
	assert_int_equal(did->cause, VPA_CAUSE_BLOCKING_COPY);
	assert_int_equal(did->host, VPA_CAUSE_HOST_CODE);
	assert_string_equal(did->call, "cudaMemcpyAsync");
	assert_null(did->range);
	assert_string_equal(did->host_range, "post_process");
	assert_null(did->host_call);
	assert_int_equal(did->ns, 40000000);
	assert_int_equal(did->gaps, 1);
	assert_non_null(did->top);
	assert_int_equal(did->top->line.number, 40);
	assert_int_equal(did->top->samples, 7);
	/* Each nanosecond is at one line only. */
	assert_int_equal(ns_at(r, VPA_CAUSE_BLOCKING_COPY, 4), 40000000);
	assert_int_equal(ns_at(r, VPA_CAUSE_BLOCKING_COPY, 40), 0);
	assert_int_equal(r->gaps[0].pieces[0].host, VPA_CAUSE_HOST_CODE);
	assert_string_equal(r->gaps[0].pieces[0].host_range, "post_process");
	vpa_report_free(r);
}

/* 3 of each 5 ms. The first sample, at 4 ms, says nothing of the time before it. */
static void the_wait_for_a_cpu_is_known(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text, HOST_CODE);
	add_samples(&text, 0, 19, slow, "state 2 wait_us 3000");
	r = report_of_text(&text);
	assert_int_equal(r->devices[0].cpu_wait_ns, 18 * 3000000);
	assert_int_equal(part_of(r, VPA_CAUSE_HOST_CODE)->top->wait_ns, 18 * 3000000);
	vpa_report_free(r);
}

/* Exact stacks hold from their time to the next. */
static void exact_stacks_split_each_gap(void **state)
{
	struct random_text text = {0};
	const struct vpa_idle_part *part;
	struct vpa_report *r;

	(void)state;
	add_script(&text, HOST_CODE);
	random_text_add(&text,
		"sample t1 1 \"main (/app/run.py:1)\" flags 1\n"
		"sample t1 12000000 \"%s\" flags 1\n"
		"sample t1 72000000 \"%s\" flags 1\n",
		slow, other);
	r = report_of_text(&text);
	part = part_of(r, VPA_CAUSE_HOST_CODE);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 1), 10000000);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 40), 60000000);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 4), 30000000);
	assert_int_equal(part->top->samples, 0);
	assert_int_equal(part->top->line.number, 40);
	assert_true(part->top->share == 0.6);
	assert_int_equal(r->gaps[0].top->line.number, 40);
	assert_true(r->gaps[0].top->share == 0.6);
	vpa_report_free(r);
}

/* 30 ms in step(), 25 ms of it in a framework's code, 25 ms in other(), all called by run(). */
static void add_run(struct random_text *text)
{
	random_text_add(text, "sample t1 20000000 \"main (/app/run.py:1)\" flags 1\n"
			      "sample t1 32000000 \"main (/app/run.py:1);run (/app/run.py:2);step "
			      "(/app/a.py:3)\" flags 1\n"
			      "sample t1 37000000 \"main (/app/run.py:1);run (/app/run.py:2);step "
			      "(/app/a.py:3);item (/x/torch/t.py:4)\" flags 1\n");
	random_text_add(text, "sample t1 62000000 \"main (/app/run.py:1);run (/app/run.py:2);other "
			      "(/app/b.py:5)\" flags 1\n"
			      "sample t1 87000000 \"main (/app/run.py:1)\" flags 1\n");
}

/* run() covers 55 ms of 100. */
static void an_exact_gap_has_the_innermost_line_that_covers_most(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text, HOST_CODE);
	add_run(&text);
	r = report_of_text(&text);
	assert_string_equal(r->gaps[0].top->line.function, "run");
	assert_int_equal(r->gaps[0].top->line.number, 2);
	assert_true(r->gaps[0].top->share == 0.55);
	vpa_report_free(r);
}

/* The gap before the first op is listed, so the finding about it names the same line: run() covers 55 ms of 100. */
static void a_late_start_has_the_line_of_its_gap(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text,
		"start 1ms\nrange t1 1ms-120ms \"load\"\n"
		"call t1 cudaLaunchKernel 101ms+0us corr 1\nkernel s7 101ms-120ms corr 1\n");
	add_run(&text);
	r = report_of_text(&text);
	assert_string_equal(r->findings[0].id, "before-first-work");
	assert_true(r->gaps[0].top->share == 0.55);
	assert_non_null(
		strstr(r->findings[0].note, "at /app/run.py:2 (55 % of its time, calls included)"));
	vpa_report_free(r);
}

static const struct vpa_launch_line *launches_at(const struct vpa_report *r, uint64_t number)
{
	size_t i;

	for (i = 0; i < r->lines.launch_count; i++)
		if (r->lines.launches[i].line.number == number)
			return &r->lines.launches[i];
	fail_msg("no launches at line %" PRIu64, number);
	return NULL;
}

/* Launch i is at 1 + i/5 ms; its kernel takes 1 us. Samples in between, after the 3rd and after the 5th launch; one long after
 * the last launch, and one long before the first, are of other code. The last launch is far from all. */
static void launches_have_the_line_of_a_sample_among_them(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;
	unsigned i;

	(void)state;
	random_text_add(&text, "start 0\nsample t1 100 \"%s\"\n", other);
	for (i = 0; i <= 8; i++) {
		unsigned t = 1000000 + i * 200000 + (i == 8 ? 50000000 : 0);

		random_text_add(&text,
			"call t1 cudaLaunchKernel %u-%u corr %u; kernel s1 %u-%u corr %u \"k\"\n",
			t, t + 1000, i + 1, t + 2000, t + 3000, i + 1);
	}
	random_text_add(&text, "sample t1 1500000 \"main (/app/run.py:1)\"\n");
	random_text_add(&text, "sample t1 1900000 \"main (/app/run.py:2)\"\n");
	random_text_add(&text, "sample t1 2500000 \"%s\"\nend 60000000\n", slow);
	r = report_of_text(&text);
	assert_int_equal(launches_at(r, 1)->ops, 3);
	assert_int_equal(launches_at(r, 1)->busy_ns, 3000);
	assert_int_equal(launches_at(r, 2)->ops, 5);
	assert_int_equal(launches_at(r, 0)->ops, 1);
	assert_int_equal(r->lines.launch_count, 3);
	vpa_report_free(r);
}

/* ---- stages ---- */

static const struct vpa_stage_row *stage_of(const struct vpa_report *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->stage_count; i++)
		if (!strcmp(r->stages[i].name, name))
			return &r->stages[i];
	return NULL;
}

/* Two stages: 40.01 ms in one, of which 40 ms are host code in slow(); 59.01 ms in the other,
 * of which 59 ms are in main(). Launches and their latency have no samples. */
static void a_stage_has_the_lines_that_its_ops_waited_for(void **state)
{
	const struct vpa_stage_row *encode, *vae;
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text, "start 0; range t1 100-42900000 \"text encode\"\n"
			  "range t1 42900000-102900000 \"vae_decode\"\n"
			  "call t1 cudaLaunchKernel 900000-910000 corr 1\n"
			  "kernel s1 1000000-2000000 corr 1 \"a\"\n");
	add_script(&text, "call t1 cudaLaunchKernel 42000000-42005000 corr 2\n"
			  "kernel s1 42010000-43000000 corr 2 \"b\"\n"
			  "call t1 cudaLaunchKernel 102000000-102005000 corr 3\n"
			  "kernel s1 102010000-103000000 corr 3 \"c\"\nend 103000000\n");
	add_samples(&text, 0, 8, slow, "");
	add_samples(&text, 8, 20, other, "");
	r = report_of_text(&text);
	encode = stage_of(r, "text encode");
	vae = stage_of(r, "vae_decode");
	assert_non_null(encode);
	assert_non_null(vae);
	assert_int_equal(encode->waited_ns, 40010000);
	assert_int_equal(encode->line_count, 1);
	assert_string_equal(encode->lines[0].line.function, "slow");
	assert_string_equal(encode->lines[0].line.file, "/app/model.py");
	assert_int_equal(encode->lines[0].line.number, 40);
	assert_int_equal(encode->lines[0].cause, VPA_CAUSE_HOST_CODE);
	assert_int_equal(encode->lines[0].idle_ns, 40000000);
	assert_true(encode->lines[0].share == 40000000.0 / 40010000.0);
	assert_int_equal(vae->waited_ns, 59010000);
	assert_int_equal(vae->line_count, 1);
	assert_int_equal(vae->lines[0].line.number, 4);
	assert_int_equal(vae->lines[0].idle_ns, 59000000);
	vpa_report_free(r);
}

/* The block with an index, which is one of the only request. */
static const struct vpa_block_row *block_of(const struct vpa_report *r, int64_t index)
{
	size_t i;

	assert_int_equal(r->request_count, 1);
	for (i = 0; i < r->requests[0].blocks.count; i++)
		if (r->requests[0].blocks.series[i].index == index)
			return &r->requests[0].blocks.series[i];
	fail_msg("no block %d", (int)index);
	return NULL;
}

/* Host code of 40 ms before the kernel of block 0, with 8 samples in slow(); of 59 ms before that of block 1,
 * with 12 samples in main(), and of 19 ms before that of block 2, with `last` samples. */
static struct vpa_report *three_blocks(unsigned last, const char *more)
{
	struct random_text text = {0};

	add_script(&text, "start 0; range t1 100-800000 \"warm\"\n"
			  "range t1 2000000-42900000 \"block 0\"\n"
			  "range t1 42900000-102900000 \"block 1\"\n"
			  "range t1 102900000-123000000 \"block 2\"\n"
			  "call t1 cudaLaunchKernel 900000-910000 corr 1\n");
	add_script(&text, "kernel s1 1000000-2000000 corr 1 \"a\"\n"
			  "call t1 cudaLaunchKernel 42000000-42005000 corr 2\n"
			  "kernel s1 42010000-43000000 corr 2 \"b\"\n"
			  "call t1 cudaLaunchKernel 102000000-102005000 corr 3\n");
	add_script(&text, "kernel s1 102010000-103000000 corr 3 \"c\"\n"
			  "call t1 cudaLaunchKernel 122000000-122005000 corr 4\n"
			  "kernel s1 122010000-123000000 corr 4 \"d\"\nend 124000000\n");
	add_samples(&text, 0, 8, slow, more);
	add_samples(&text, 8, 20, other, more);
	add_samples(&text, 20, 20 + last, slow, more);
	return report_of_text(&text);
}

/* Each by its own samples, although all host code of the thread is one place. */
static void a_block_has_the_line_of_most_of_its_idle_time(void **state)
{
	struct vpa_report *r = three_blocks(4, "");
	const struct vpa_block_row *block = block_of(r, 0);

	(void)state;
	assert_int_equal(block->waited_ns, 40010000);
	assert_int_equal(block->line_samples, 8);
	assert_non_null(block->line);
	assert_string_equal(block->line->line.file, "/app/model.py");
	assert_int_equal(block->line->line.number, 40);
	assert_int_equal(block->line->cause, VPA_CAUSE_HOST_CODE);
	assert_int_equal(block->line->idle_ns, 40000000);
	assert_true(block->line->share == 40000000.0 / 40010000.0);
	block = block_of(r, 1);
	assert_int_equal(block->waited_ns, 59010000);
	assert_int_equal(block->line_samples, 12);
	assert_int_equal(block->line->line.number, 4);
	assert_int_equal(block->line->idle_ns, 59000000);
	vpa_report_free(r);
}

static void a_block_with_four_samples_has_no_line(void **state)
{
	struct vpa_report *r = three_blocks(4, "");

	(void)state;
	assert_int_equal(block_of(r, 2)->waited_ns, 19010000);
	assert_int_equal(block_of(r, 2)->line_samples, 4);
	assert_null(block_of(r, 2)->line);
	vpa_report_free(r);
	/* Exact stacks need no number. */
	r = three_blocks(1, "flags 1");
	assert_int_equal(block_of(r, 2)->line_samples, 0);
	assert_non_null(block_of(r, 2)->line);
	assert_int_equal(block_of(r, 2)->line->line.number, 40);
	vpa_report_free(r);
}

/* Each scope around a launch counts the gap before it once: the stage, and the step in it. */
static void a_step_and_its_stage_have_the_same_lines(void **state)
{
	const struct vpa_stage_row *step, *encode;
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text, HOST_CODE);
	add_script(&text,
		"range t1 100-102900000 \"text encode\"; range t1 2000000-102800000 \"step 1\"\n");
	random_text_add(&text, "sample t1 1 \"%s\" flags 1\nsample t1 52000000 \"%s\" flags 1\n",
		slow, other);
	r = report_of_text(&text);
	step = stage_of(r, "step");
	encode = stage_of(r, "text encode");
	assert_non_null(step);
	assert_non_null(encode);
	assert_int_equal(step->waited_ns, 100010000);
	assert_int_equal(encode->waited_ns, 100010000);
	assert_int_equal(step->lines[0].line.number, 40);
	assert_int_equal(step->lines[0].idle_ns, 50000000);
	assert_int_equal(step->lines[1].line.number, 4);
	assert_int_equal(step->lines[1].idle_ns, 50000000);
	assert_int_equal(encode->lines[0].idle_ns, 50000000);
	assert_int_equal(encode->lines[1].idle_ns, 50000000);
	vpa_report_free(r);
}

/* Samples after 20 ms each, then five that are 1 ms apart: the first one weighs 5 ms. So 10 ms of 90 are at the other line, by more
 * than half of the samples. */
static void a_sample_weighs_the_time_since_the_one_before(void **state)
{
	struct random_text text = {0};
	const struct vpa_idle_part *part;
	struct vpa_report *r;
	unsigned i;

	(void)state;
	add_script(&text, HOST_CODE);
	random_text_add(&text, "sample t1 4000000 \"%s\"\n", other);
	for (i = 1; i <= 4; i++)
		random_text_add(&text, "sample t1 %u \"%s\"\n", 4000000 + i * 20000000, slow);
	for (i = 1; i <= 5; i++)
		random_text_add(&text, "sample t1 %u \"%s\"\n", 84000000 + i * 1000000, other);
	r = report_of_text(&text);
	part = part_of(r, VPA_CAUSE_HOST_CODE);
	assert_int_equal(part->top->line.number, 40);
	assert_int_equal(part->top->samples, 10);
	assert_true(part->top->share == 88888889.0 / 100000000);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 4), 11111111);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 40), 88888889);
	assert_int_equal(r->lines.idle[0].samples, 4);
	assert_int_equal(r->lines.idle[1].samples, 6);
	vpa_report_free(r);
}

/* After 300 ms without samples one weighs what the one before it does: 5 and 10, 10 and 35 ms. */
static void a_pause_weighs_nothing(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text, "start 0\n"
			  "call t1 cudaLaunchKernel 900000-910000 corr 1\n"
			  "kernel s1 1000000-2000000 corr 1 \"a\"\n"
			  "call t1 cudaLaunchKernel 602000000-602005000 corr 2\n"
			  "kernel s1 602010000-603000000 corr 2 \"b\"\n"
			  "end 603000000\n");
	random_text_add(&text, "sample t1 4000000 \"%s\"\nsample t1 14000000 \"%s\"\n", slow, slow);
	random_text_add(&text, "sample t1 314000000 \"%s\"\n", other);
	random_text_add(
		&text, "sample t1 324000000 \"%s\"\nsample t1 349000000 \"%s\"\n", other, other);
	r = report_of_text(&text);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 40), 600000000 / 4);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 4), 600000000 / 4 * 3);
	vpa_report_free(r);
}

/* ---- samples that come late ---- */

/* What the report says of the host code's 100 ms, three quarters of which were at line 40. */
static void expect_slow_line(const struct vpa_report *r)
{
	const struct vpa_idle_part *part = part_of(r, VPA_CAUSE_HOST_CODE);

	assert_non_null(part->top);
	assert_int_equal(part->top->samples, 20);
	assert_true(part->top->share == 0.75);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 40), 75000000);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 4), 25000000);
	assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 0), 0);
	assert_int_equal(r->verdict.reason_count, 0);
}

static void samples_of_the_next_chunk_count(void **state)
{
	unsigned known;

	(void)state;
	for (known = 1; known <= 20; known++) {
		struct random_text text = {0};
		struct vpa_report *r;

		add_script(&text, HOST_CODE);
		add_samples(&text, 0, known < 15 ? known : 15, slow, "");
		add_samples(&text, 15, known, other, "");
		random_text_add(&text, "chunk\n");
		add_samples(&text, known, 15, slow, "");
		add_samples(&text, known > 15 ? known : 15, 20, other, "");
		/* What comes then is no reason to wait for more. */
		random_text_add(&text, "chunk\nmark t1 102500000 \"m\"\n");
		r = report_of_text(&text);
		expect_slow_line(r);
		vpa_report_free(r);
	}
}

static void each_thread_waits_for_its_own_samples(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;
	unsigned i;

	(void)state;
	add_script(&text, HOST_CODE);
	add_samples(&text, 0, 10, slow, "");
	for (i = 0; i < 30; i++)
		random_text_add(
			&text, "sample t2 %u \"wait (/app/run.py:9)\"\n", 4000000 + i * 5000000);
	random_text_add(&text, "chunk\n");
	add_samples(&text, 10, 15, slow, "");
	add_samples(&text, 15, 20, other, "");
	r = report_of_text(&text);
	expect_slow_line(r);
	vpa_report_free(r);
}

static void gaps_wait_for_one_chunk_only(void **state)
{
	static const char *const reasons[] = {
		"20 samples of Python stacks came too late: no idle time has their lines",
		"1 sample of Python stacks came too late: no idle time has its line"};
	unsigned known;

	(void)state;
	for (known = 0; known <= 19; known += 19) {
		struct random_text text = {0};
		struct vpa_report *r;

		add_script(&text, HOST_CODE);
		add_samples(&text, 0, known, slow, "");
		random_text_add(&text, "chunk\nmark t1 102500000 \"m\"\nchunk\n");
		add_samples(&text, known, 20, slow, "");
		/* After all ops: not late. */
		random_text_add(&text, "sample t1 103000000 \"%s\"\n", slow);
		r = report_of_text(&text);
		assert_int_equal(part_of(r, VPA_CAUSE_HOST_CODE)->ns, 100000000);
		assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 40), known ? 100000000 : 0);
		assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 0), known ? 0 : 100000000);
		assert_int_equal(r->verdict.reason_count, 1);
		assert_string_equal(r->verdict.reasons[0], reasons[known / 19]);
		assert_int_equal(r->verdict.late_samples, known ? 1 : 20);
		assert_int_equal(r->verdict.unsorted_samples, 0);
		vpa_report_free(r);
	}
}

static void samples_that_are_out_of_order_are_counted(void **state)
{
	static const char *const reasons[] = {
		"1 sample of Python stacks was left out: it came after a later one",
		"2 samples of Python stacks were left out: they came after later ones"};
	size_t count;

	(void)state;
	for (count = 1; count <= 2; count++) {
		struct random_text text = {0};
		struct vpa_report *r;

		add_script(&text, HOST_CODE);
		add_samples(&text, 0, 20, slow, "");
		/* A chunk's own are sorted. */
		random_text_add(&text, "chunk\nsample t1 50000000 \"%s\"\n", other);
		if (count == 2)
			random_text_add(&text, "sample t1 60000000 \"%s\"\n", other);
		r = report_of_text(&text);
		assert_int_equal(ns_at(r, VPA_CAUSE_HOST_CODE, 40), 100000000);
		assert_int_equal(r->verdict.unsorted_samples, count);
		assert_int_equal(r->verdict.late_samples, 0);
		assert_int_equal(r->verdict.reason_count, 1);
		assert_string_equal(r->verdict.reasons[0], reasons[count - 1]);
		vpa_report_free(r);
	}
}

/* Samples do not slow the host. */
static void a_record_of_all_calls_says_that_it_slowed_the_host(void **state)
{
	static const char reason[] =
		"recording every call of a Python function slowed the host: its times, and idle "
		"time that waits for it, are longer than without";
	int is_exact;

	(void)state;
	for (is_exact = 0; is_exact < 2; is_exact++) {
		struct random_text text = {0};
		struct vpa_report *r;

		add_script(&text, HOST_CODE);
		add_samples(&text, 0, 20, slow, is_exact ? "flags 1" : "");
		r = report_of_text(&text);
		assert_int_equal(r->verdict.complete, 1);
		assert_int_equal(r->verdict.reason_count, is_exact);
		if (is_exact) {
			assert_string_equal(r->verdict.reasons[0], reason);
			assert_string_equal(
				r->verdict.remedies[0], "record without with_stack=True");
		}
		vpa_report_free(r);
	}
}

/* ---- gaps and samples at random ---- */

enum { RANDOM_LINES = 4, RANDOM_GAPS = 120 };

/* What a capture of one thread must show. */
struct expected_lines {
	uint64_t begin[RANDOM_GAPS], end[RANDOM_GAPS]; /* of host code */
	size_t gaps;
	uint64_t ns, weight[RANDOM_LINES + 1], samples[RANDOM_LINES + 1]; /* the last: of all */
};

/* Launches, and host code between them. Ends at the last kernel's end, which is returned. */
static uint64_t add_gaps(struct random_text *text, struct expected_lines *e, struct vpt_random *r,
	size_t gaps, uint64_t least_ns, uint64_t more_ns)
{
	uint64_t t = 1000000;
	size_t i;

	random_text_add(text, "start 0\n");
	e->gaps = gaps;
	for (i = 0; i <= gaps; i++) {
		random_text_add(text,
			"call t1 cudaLaunchKernel %" PRIu64 "-%" PRIu64
			" corr %zu; kernel s1 %" PRIu64 "-%" PRIu64 " corr %zu \"k\"\n",
			t, t + 5000, i + 1, t + 10000, t + 4010000, i + 1);
		t += 4010000;
		if (i == gaps)
			break;
		e->begin[i] = t;
		t += least_ns + vpt_random_below(r, more_ns);
		e->end[i] = t;
		e->ns += e->end[i] - e->begin[i];
	}
	return t;
}

static int is_in_a_gap(const struct expected_lines *e, uint64_t t)
{
	size_t i;

	for (i = 0; i < e->gaps; i++)
		if (t >= e->begin[i] && t < e->end[i])
			return 1;
	return 0;
}

/* A sample at t; the one before was `interval` earlier. */
static void add_sample(struct random_text *text, struct expected_lines *e, uint64_t t,
	uint64_t weight, unsigned line)
{
	random_text_add(text, "sample t1 %" PRIu64 " \"main (/app/run.py:%u)\"\n", t, line + 1);
	if (!is_in_a_gap(e, t))
		return;
	e->weight[line] += weight;
	e->weight[RANDOM_LINES] += weight;
	e->samples[line]++;
	e->samples[RANDOM_LINES]++;
}

/* Each line's time is its part of the weights, but for what rounding moves; together they are exact. */
static void expect_weights(
	uint64_t seed, const struct vpa_report *r, const struct expected_lines *e)
{
	int is_named = e->samples[RANDOM_LINES] >= VPA_LINE_SAMPLES_MIN;
	uint64_t sum = ns_at(r, VPA_CAUSE_HOST_CODE, 0), ns;
	unsigned line;

	assert_int_equal(part_of(r, VPA_CAUSE_HOST_CODE)->ns, e->ns);
	for (line = 0; line < RANDOM_LINES; line++) {
		double wanted = is_named ? (double)e->ns * (double)e->weight[line] /
						   (double)e->weight[RANDOM_LINES]
					 : 0;

		ns = ns_at(r, VPA_CAUSE_HOST_CODE, line + 1);
		sum += ns;
		if ((double)ns < wanted - 2 || (double)ns > wanted + 2)
			fail_msg("seed %" PRIu64 ", line %u: expected %.0f ns, found %" PRIu64,
				seed, line + 1, wanted, ns);
	}
	assert_int_equal(sum, e->ns);
	if (is_named)
		assert_int_equal(
			part_of(r, VPA_CAUSE_HOST_CODE)->top->samples, e->samples[RANDOM_LINES]);
}

static void weights_of_random_samples_are_those_of_a_model(void **state)
{
	struct vpt_random r = {17};
	size_t named = 0;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 200; seed++) {
		struct expected_lines e = {0};
		struct random_text text = {0}, work = {0};
		uint64_t end =
			add_gaps(&work, &e, &r, 1 + vpt_random_below(&r, 8), 300000, 40000000);
		uint64_t t = vpt_random_below(&r, 9000000), weight = 5000000, step;
		struct vpa_report *report;

		while (t < end) {
			add_sample(
				&text, &e, t, weight, (unsigned)vpt_random_below(&r, RANDOM_LINES));
			step = vpt_random_below(&r, 20)
				       ? 1 + vpt_random_below(&r, 25000000)
				       : 240000000 + vpt_random_below(&r, 20000000);
			weight = step > 250000000 ? weight : step;
			t += step;
			if (!vpt_random_below(&r, 6))
				random_text_add(&text, "chunk\n");
		}
		add_script(&text, work.data); /* as in captures, work comes back late */
		vpt_free(work.data);
		random_text_add(&text, "end %" PRIu64 "\n", end);
		report = report_of_text(&text);
		expect_weights(seed, report, &e);
		named += e.samples[RANDOM_LINES] >= VPA_LINE_SAMPLES_MIN;
		vpa_report_free(report);
	}
	assert_in_range(named, 50, 180);
}

/* Text of a chunk and of the next one. */
static void next_chunk(struct random_text *text, struct random_text *late)
{
	random_text_add(text, "chunk\n");
	if (late->data)
		add_script(text, late->data);
	vpt_free(late->data);
	*late = (struct random_text){0};
}

/* A capture whose chunks end at random moments, each a while after a sample; from there on its samples
 * stand in the next chunk, however many gaps they belong to. */
static void random_samples_of_the_next_chunk_count(void **state)
{
	struct vpt_random r = {41};
	size_t named = 0, chunks = 0;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 200; seed++) {
		struct expected_lines e = {0};
		struct random_text text = {0}, work = {0}, late = {0};
		uint64_t end =
			add_gaps(&work, &e, &r, 1 + vpt_random_below(&r, 8), 300000, 40000000);
		uint64_t t = 1 + vpt_random_below(&r, 900000), weight = 5000000;
		const char *line = work.data, *next;
		struct vpa_report *report;
		int is_late = 0;

		/* Each line of work, after the samples up to its end. */
		for (; *line; line = next) {
			const char *kernel = strstr(line, "kernel s1 ");
			uint64_t from = 0;

			next = strchrnul(line, '\n');
			next += *next == '\n';
			if (kernel && kernel < next)
				from = strtoull(kernel + strlen("kernel s1 "), NULL, 10);
			for (; t < from; t += weight) {
				add_sample(is_late ? &late : &text, &e, t, weight,
					(unsigned)vpt_random_below(&r, RANDOM_LINES));
				weight = 1 + vpt_random_below(&r, 9000000);
				is_late = is_late || !vpt_random_below(&r, 4);
			}
			random_text_add(&text, "%.*s", (int)(next - line), line);
			if (!is_late || vpt_random_below(&r, 3))
				continue;
			next_chunk(&text, &late);
			is_late = 0;
			chunks++;
		}
		next_chunk(&text, &late);
		random_text_add(&text, "end %" PRIu64 "\n", end);
		vpt_free(work.data);
		report = report_of_text(&text);
		expect_weights(seed, report, &e);
		assert_int_equal(report->verdict.reason_count, 0);
		named += e.samples[RANDOM_LINES] >= VPA_LINE_SAMPLES_MIN;
		vpa_report_free(report);
	}
	assert_true(named > 50);
	assert_true(chunks > 100);
}

/* A sampler that is slowed down by busy code: a tick in it is 40 ms after the one before, a tick in a sleep 5 ms, and the interval
 * follows slowly, as the tracer's does. Two thirds of the time is busy, but most samples are in the sleeps. */
static void lines_have_their_time_where_samples_cost_differs(void **state)
{
	static const uint64_t period_ns = 3000000000, busy_of_period_ns = 2000000000;
	enum { BUSY, ASLEEP };
	struct vpt_random r = {29};
	struct expected_lines e = {0};
	struct random_text text = {0};
	uint64_t end = add_gaps(&text, &e, &r, RANDOM_GAPS, 90000000, 20000000), at, busy_ns = 0;
	double t = 0, interval = 5e6, share;
	struct vpa_report *report;
	unsigned line;
	size_t i;

	(void)state;
	for (; t < (double)end; t += interval) {
		line = (uint64_t)t % period_ns < busy_of_period_ns ? BUSY : ASLEEP;
		add_sample(&text, &e, (uint64_t)t, 0, line);
		interval += ((line == BUSY ? 40e6 : 5e6) - interval) / 8;
	}
	for (i = 0; i < e.gaps; i++)
		for (at = e.begin[i]; at < e.end[i]; at += 100000)
			busy_ns += at % period_ns < busy_of_period_ns ? 100000 : 0;
	random_text_add(&text, "end %" PRIu64 "\n", end);
	report = report_of_text(&text);
	share = (double)ns_at(report, VPA_CAUSE_HOST_CODE, BUSY + 1) / (double)e.ns;
	assert_true(e.samples[BUSY] < e.samples[ASLEEP]);
	if (share < (double)busy_ns / (double)e.ns - .05 ||
		share > (double)busy_ns / (double)e.ns + .05)
		fail_msg("expected %.3f of the time busy, found %.3f, by %" PRIu64 " of %" PRIu64
			 " samples",
			(double)busy_ns / (double)e.ns, share, e.samples[BUSY],
			e.samples[RANDOM_LINES]);
	vpa_report_free(report);
}

/* ---- of all traces ---- */

/* By device and cause: idle time of all lines and of none, and of all stacks, is the cause's. */
static void expect_sums(uint64_t seed, const struct vpa_report *r)
{
	size_t d, i;
	int cause;

	for (d = 0; d < r->device_count; d++)
		for (cause = 0; cause < VPA_CAUSES; cause++) {
			const struct vpa_device *device = &r->devices[d];
			uint64_t all = 0, lines = 0, stacks = 0;

			for (i = 0; i < device->cause_count; i++)
				if ((int)device->causes[i].cause == cause)
					all += device->causes[i].ns;
			for (i = 0; i < r->lines.idle_count; i++)
				if (r->lines.idle[i].device == device->device &&
					(int)r->lines.idle[i].cause == cause)
					lines += r->lines.idle[i].ns;
			for (i = 0; i < r->lines.idle_stack_count; i++)
				if (r->lines.idle_stacks[i].device == device->device &&
					(int)r->lines.idle_stacks[i].cause == cause)
					stacks += r->lines.idle_stacks[i].ns;
			if (lines != all || stacks != all)
				fail_msg("seed %" PRIu64 ", device %" PRId64
					 ", %s: expected %" PRIu64 " ns, found lines %" PRIu64
					 ", stacks %" PRIu64,
					seed, device->device, vpa_cause_text((enum vpa_cause)cause),
					all, lines, stacks);
		}
}

/* ---- gaps between ops that were launched in time ---- */

/* Both launches come before the first kernel; 2 us between the kernels. */
#define IN_TIME                                                                                    \
	"start 0; call t1 cudaLaunchKernel 900000-910000 corr 1\n"                                 \
	"call t1 cudaLaunchKernel 920000-925000 corr 2\n"                                          \
	"kernel s1 1000000-2000000 corr 1 \"a\"; kernel s1 2002000-3000000 corr 2 \"b\"\n"         \
	"end 3000000\n"

/* Whatever the host does by then. */
static void a_gap_between_queued_ops_has_the_line_of_the_launch(void **state)
{
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text, IN_TIME);
	random_text_add(&text,
		"sample t1 1 \"%s\" flags 1\nsample t1 915000 \"%s\" flags 1\n"
		"sample t1 1500000 \"%s\" flags 1\n",
		slow, other, slow);
	r = report_of_text(&text);
	assert_int_equal(part_of(r, VPA_CAUSE_SCHEDULING)->ns, 2000);
	assert_int_equal(ns_at(r, VPA_CAUSE_SCHEDULING, 4), 2000);
	assert_int_equal(ns_at(r, VPA_CAUSE_SCHEDULING, 40), 0);
	assert_int_equal(ns_at(r, VPA_CAUSE_SCHEDULING, 0), 0);
	assert_int_equal(r->gaps[1].cause, VPA_CAUSE_SCHEDULING);
	assert_int_equal(r->gaps[1].top->line.number, 4);
	assert_true(r->gaps[1].top->share == 1);
	expect_sums(0, r);
	vpa_report_free(r);

	text = (struct random_text){0};
	add_script(&text, IN_TIME);
	random_text_add(&text, "sample t1 915000 \"%s\"\nsample t1 2001000 \"%s\"\n", other, slow);
	r = report_of_text(&text);
	assert_int_equal(ns_at(r, VPA_CAUSE_SCHEDULING, 4), 2000);
	assert_int_equal(ns_at(r, VPA_CAUSE_SCHEDULING, 0), 0);
	expect_sums(0, r);
	vpa_report_free(r);
}

/* The gap is the stage's, although the sample that knows its line comes after the stage. */
static void a_gap_between_queued_ops_is_in_the_lines_of_its_stage(void **state)
{
	const struct vpa_stage_row *vae;
	struct random_text text = {0};
	struct vpa_report *r;

	(void)state;
	add_script(&text, IN_TIME);
	random_text_add(&text,
		"call t1 cudaLaunchKernel 940000-945000 corr 3; kernel s1 3005000-3010000 corr 3 "
		"\"c\"\n"
		"range t1 915000-930000 \"vae_decode\"; end 3020000\n"
		"sample t1 895000 \"%s\"\nsample t1 935000 \"%s\"\n",
		slow, other);
	r = report_of_text(&text);
	vae = stage_of(r, "vae_decode");
	assert_non_null(vae);
	assert_int_equal(vae->waited_ns, 2000);
	assert_int_equal(vae->line_count, 1);
	assert_int_equal(vae->lines[0].line.number, 4);
	assert_int_equal(vae->lines[0].cause, VPA_CAUSE_SCHEDULING);
	assert_int_equal(vae->lines[0].idle_ns, 2000);
	assert_true(vae->lines[0].share == 1);
	assert_int_equal(ns_at(r, VPA_CAUSE_SCHEDULING, 4), 7000);
	vpa_report_free(r);
}

/* Of all devices, the time of a cause at a line. */
static uint64_t ns_of_line(const struct vpa_report *r, const struct vpa_stage_line *line)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->lines.idle_count; i++)
		if (r->lines.idle[i].cause == line->cause && r->lines.idle[i].line.file &&
			!strcmp(r->lines.idle[i].line.file, line->line.file) &&
			!strcmp(r->lines.idle[i].line.function, line->line.function) &&
			r->lines.idle[i].line.number == line->line.number)
			ns += r->lines.idle[i].ns;
	return ns;
}

/* A stage around everything has all of each line's time. Returns how many lines it has. */
static size_t expect_stages(uint64_t seed, const struct vpa_report *r)
{
	const struct vpa_stage_row *whole = stage_of(r, "vae_decode");
	uint64_t idle = 0;
	size_t i, k;

	for (i = 0; i < r->device_count; i++)
		idle += r->devices[i].window_idle_ns;
	for (i = 0; i < r->stage_count; i++) {
		const struct vpa_stage_row *stage = &r->stages[i];
		uint64_t sum = 0;

		for (k = 0; k < stage->line_count; k++) {
			uint64_t all = ns_of_line(r, &stage->lines[k]);

			sum += stage->lines[k].idle_ns;
			if (stage->lines[k].idle_ns > all ||
				(stage == whole && stage->lines[k].idle_ns != all))
				fail_msg("seed %" PRIu64 ", %s: expected %" PRIu64
					 " ns, found %" PRIu64,
					seed, stage->name, all, stage->lines[k].idle_ns);
		}
		if (sum > stage->waited_ns || stage->waited_ns > idle)
			fail_msg("seed %" PRIu64 ", %s: lines of %" PRIu64 " ns, waited %" PRIu64
				 ", idle %" PRIu64,
				seed, stage->name, sum, stage->waited_ns, idle);
	}
	return whole ? whole->line_count : 0;
}

/* With exact stacks, the line of a block around everything is the first one of the stage around everything. Returns
 * whether it has one. */
static size_t expect_block(uint64_t seed, const struct vpa_report *r)
{
	const struct vpa_stage_row *whole = stage_of(r, "vae_decode");
	const struct vpa_block_row *block;

	if (!whole || !r->request_count || !r->requests[0].blocks.count)
		return 0;
	block = block_of(r, 7000);
	if (block->waited_ns != whole->waited_ns || !block->line != !whole->line_count)
		fail_msg("seed %" PRIu64 ": block %" PRIu64 " ns, stage %" PRIu64, seed,
			block->waited_ns, whole->waited_ns);
	if (!block->line)
		return 0;
	if (block->line->idle_ns != whole->lines[0].idle_ns ||
		block->line->share != whole->lines[0].share)
		fail_msg("seed %" PRIu64 ": the line of the block has %" PRIu64
			 " ns, that of the stage %" PRIu64,
			seed, block->line->idle_ns, whole->lines[0].idle_ns);
	return 1;
}

static void lines_add_up_to_the_causes(void **state)
{
	struct vpt_random r = {5};
	size_t named = 0, tried = 0, staged = 0, blocks = 0;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 300; seed++) {
		struct random_causes how = {.seed = seed, .cuts = (unsigned)(seed % 5)};
		struct vpa_options options = {0};
		char *script = random_causes_script(&how, &options);
		struct random_text text = {0};
		char *sampled = random_samples(script, &r, &named), *at;
		struct vpa_report *report = report_of(sampled, &options);

		if (report->lines.idle_count) {
			expect_sums(seed, report);
			tried++;
		}
		vpa_report_free(report);
		/* The same stacks, each until the next. */
		for (at = sampled; (at = strstr(at, "cpu_us 7")) != NULL;)
			memcpy(at, "flags 1 ", 8);
		add_script(&text, sampled);
		random_text_add(&text, "\nstartend t1 1000000-1000000000 \"vae_decode\"\n"
				       "startend t1 1000000-1000000000 \"block 7000\"\n");
		report = report_of(text.data, &options);
		expect_sums(seed, report);
		staged += expect_stages(seed, report);
		blocks += expect_block(seed, report);
		vpa_report_free(report);
		vpt_free(text.data);
		vpt_free(script);
		vpt_free(sampled);
	}
	assert_true(tried > 200);
	assert_true(staged > 100);
	assert_true(blocks > 30);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_line_is_named),
		cmocka_unit_test(four_samples_name_no_line),
		cmocka_unit_test(a_frameworks_line_gives_way_to_its_caller),
		cmocka_unit_test(no_line_is_in_our_own_python),
		cmocka_unit_test(stacks_are_without_the_wrappers_of_marks),
		cmocka_unit_test(no_line_is_in_what_starts_a_process),
		cmocka_unit_test(rules_say_whose_code_a_file_is),
		cmocka_unit_test(rules_see_the_end_of_a_path),
		cmocka_unit_test(wrong_rules_are_refused_with_their_line),
		cmocka_unit_test(a_wait_has_the_line_of_its_call),
		cmocka_unit_test(work_after_a_wait_has_its_own_line),
		cmocka_unit_test(the_wait_for_a_cpu_is_known),
		cmocka_unit_test(exact_stacks_split_each_gap),
		cmocka_unit_test(an_exact_gap_has_the_innermost_line_that_covers_most),
		cmocka_unit_test(a_late_start_has_the_line_of_its_gap),
		cmocka_unit_test(launches_have_the_line_of_a_sample_among_them),
		cmocka_unit_test(a_gap_between_queued_ops_is_in_the_lines_of_its_stage),
		cmocka_unit_test(a_stage_has_the_lines_that_its_ops_waited_for),
		cmocka_unit_test(a_block_has_the_line_of_most_of_its_idle_time),
		cmocka_unit_test(a_block_with_four_samples_has_no_line),
		cmocka_unit_test(a_step_and_its_stage_have_the_same_lines),
		cmocka_unit_test(a_sample_weighs_the_time_since_the_one_before),
		cmocka_unit_test(a_pause_weighs_nothing),
		cmocka_unit_test(samples_of_the_next_chunk_count),
		cmocka_unit_test(each_thread_waits_for_its_own_samples),
		cmocka_unit_test(gaps_wait_for_one_chunk_only),
		cmocka_unit_test(samples_that_are_out_of_order_are_counted),
		cmocka_unit_test(a_record_of_all_calls_says_that_it_slowed_the_host),
		cmocka_unit_test(weights_of_random_samples_are_those_of_a_model),
		cmocka_unit_test(random_samples_of_the_next_chunk_count),
		cmocka_unit_test(lines_have_their_time_where_samples_cost_differs),
		cmocka_unit_test(a_gap_between_queued_ops_has_the_line_of_the_launch),
		cmocka_unit_test(lines_add_up_to_the_causes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

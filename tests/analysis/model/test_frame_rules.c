/* test_frame_rules.c - whose code a frame of Python is, and so which line of a stack is named. */
#include "analysis/names/frame_rules.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/traces/lines_rig.h"

/* ---- the built-in table ---- */

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
		r = vpt_script_report(text.data, &options);
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frameworks_line_gives_way_to_its_caller),
		cmocka_unit_test(no_line_is_in_our_own_python),
		cmocka_unit_test(stacks_are_without_the_wrappers_of_marks),
		cmocka_unit_test(no_line_is_in_what_starts_a_process),
		cmocka_unit_test(rules_say_whose_code_a_file_is),
		cmocka_unit_test(rules_see_the_end_of_a_path),
		cmocka_unit_test(wrong_rules_are_refused_with_their_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

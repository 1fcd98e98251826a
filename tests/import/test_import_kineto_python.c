/* test_import_kineto_python.c - calls of Python functions in a trace of the PyTorch profiler become exact stacks.
 *
 * cli_stacks.sh compares larger traces with a slow model; here are the rules, one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#ifdef VPT_HAVE_KINETO

#include "formats/base/count.h"
#include "formats/base/memory.h"
#include "formats/chunk/batch_stacks.h"
#include "tests/support/traces/kineto_rig.h"
#include "tests/support/random.h"
#include "tests/support/traces/random_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds the frames of a stack, outermost first. */
static void show_stack(struct random_text *out, const struct vpt_stacks *s, uint64_t stack)
{
	struct vpt_frame frame;
	struct vpt_text name, file;

	if (!vpt_stacks_depth(s, stack))
		return;
	frame = vpt_stacks_pop(s, &stack);
	show_stack(out, s, stack);
	name = vpt_batch_text(s->batch, frame.function);
	file = vpt_batch_text(s->batch, frame.file);
	random_text_add(out, "/%.*s", (int)name.len, name.text);
	if (file.len || frame.line)
		random_text_add(out, "(%.*s:%" PRIu64 ")", (int)file.len, file.text, frame.line);
}

/* All samples as "TID@TIME/outer/inner", in the order of the rows; a truncated one ends with "...". */
static char *shown(void)
{
	struct random_text out = {0};
	size_t chunk, i;
	uint32_t row;

	random_text_add(&out, "%s", "");
	for (chunk = 0; chunk < vpt_collect_chunks(rig.collect); chunk++) {
		struct vpt_stacks stacks;

		assert_int_equal(vpt_collect_chunk(rig.collect, chunk, &rig.batch, &rig.err), 0);
		vpt_stacks_view(&stacks, &rig.batch);
		for (i = 0; i < rig.batch.section_count; i++) {
			const struct vpt_section *s = &rig.batch.sections[i];

			for (row = 0; s->kind == VPT_SAMPLE && row < s->row_count; row++) {
				uint64_t flags = s->col[VPT_SAMPLE_FLAGS][row];

				assert_true(flags & VPT_SAMPLE_EXACT);
				random_text_add(&out, "%s%" PRIu64 "@%" PRIu64, out.size ? " " : "",
					rig_lane(s->lane, VPT_LANE_TID),
					s->col[VPT_SAMPLE_TIME][row]);
				show_stack(&out, &stacks, s->col[VPT_SAMPLE_STACK][row]);
				if (flags & VPT_SAMPLE_TRUNCATED)
					random_text_add(&out, "...");
			}
		}
	}
	return out.data;
}

static void expect_shown(const char *rule, const char *expected)
{
	char *found = shown();

	if (strcmp(found, expected) != 0)
		fail_msg("%s: expected %s\nfound %s", rule, expected, found);
	vpt_free(found);
}

#define CALL(name, tid, ts, dur, id, parent)                                                       \
	"{'ph': 'X', 'cat': 'python_function', 'name': '" name "', 'pid': 5, 'tid': " #tid         \
	", 'ts': " #ts ", 'dur': " #dur ", 'args': {'Python parent id': " #parent                  \
	", 'Python id': " #id ", 'Ev Idx': 4}}"
#define F(name, ts, dur, id, parent) CALL(name, 7, ts, dur, id, parent)

static void a_stack_changes_where_a_call_begins_or_ends(void **state)
{
	static const struct {
		const char *rule, *events, *samples;
	} cases[] = {
		{"one call", F("a", 1, 2, 1, null), "7@1000/a 7@3000"},
		{"a call inside", F("a", 1, 9, 1, null) "," F("b", 2, 3, 2, 1),
			"7@1000/a 7@2000/a/b 7@5000/a 7@10000"},
		{"in any order", F("b", 2, 3, 2, 1) "," F("a", 1, 9, 1, null),
			"7@1000/a 7@2000/a/b 7@5000/a 7@10000"},
		{"one after the other", F("a", 1, 2, 1, null) "," F("b", 3, 1, 2, null),
			"7@1000/a 7@3000/b 7@4000"},
		{"the same one again is no change", F("a", 1, 2, 1, null) "," F("a", 3, 1, 2, null),
			"7@1000/a 7@4000"},
		{"they begin together: the caller has the smaller number",
			F("b", 1, 3, 2, 1) "," F("a", 1, 3, 1, null), "7@1000/a/b 7@4000"},
		{"or is the longer one, without numbers",
			F("b", 1, 3, null, null) "," F("a", 1, 4, null, null),
			"7@1000/a/b 7@4000/a 7@5000"},
		{"they end together", F("a", 1, 4, 1, null) "," F("b", 2, 3, 2, 1),
			"7@1000/a 7@2000/a/b 7@5000"},
		{"a call without length is left out", F("a", 1, 4, 1, null) "," F("b", 2, 0, 2, 1),
			"7@1000/a 7@5000"},
		{"one that ends after its caller ends with it",
			F("a", 1, 4, 1, null) "," F("b", 2, 3.001, 2, 1) "," F("c", 9, 1, 3, null),
			"7@1000/a 7@2000/a/b 7@5000 7@9000/c 7@10000"},
		{"a sibling ends where the next one begins",
			F("a", 1, 9, 1, null) "," F("b", 2, 2.001, 2, 1) "," F("c", 4, 1, 3, 1),
			"7@1000/a 7@2000/a/b 7@4000/a/c 7@5000/a 7@10000"},
		{"a caller that is not in the trace says nothing",
			F("a", 1, 9, 1, 77) "," F("b", 2, 2, 2, 88),
			"7@1000/a 7@2000/a/b 7@4000/a 7@10000"},
		{"threads are apart", CALL("a", 7, 1, 9, 1, null) "," CALL("b", 8, 2, 3, 2, null),
			"7@1000/a 7@10000 8@2000/b 8@5000"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		rig_events(cases[i].events);
		rig_expect_stats(
			cases[i].rule, &(struct vpt_import_stats){.events = rig.stats.events});
		expect_shown(cases[i].rule, cases[i].samples);
	}
	rig_drop();
}

#define FROM(name, ts, dur, id, parent, from)                                                      \
	"{'ph': 'X', 'cat': 'python_function', 'name': '" name "', 'pid': 5, 'tid': 7, 'ts': " #ts \
	", 'dur': " #dur ", 'args': {'CallFrom': " from ", 'Python parent id': " #parent           \
	", 'Python id': " #id ", 'Ev Idx': 4}}"
#define RUN FROM("run.py(3): a", 1, 20, 1, null, "'run.py:99'")

static void a_caller_is_at_the_line_of_its_call(void **state)
{
	static const struct {
		const char *rule, *events, *samples;
	} cases[] = {
		{"while the call runs, and where it begins before and afterwards",
			RUN "," FROM("m.py(40): b", 2, 3, 2, 1, "'run.py:5'"),
			"7@1000/a(run.py:3) 7@2000/a(run.py:5)/b(m.py:40) 7@5000/a(run.py:3) "
			"7@21000"},
		{"another line for each call",
			RUN "," FROM("<built-in function b>", 2, 3, 2, 1, "'run.py:5'") "," FROM(
				"<built-in function b>", 5, 3, 3, 1, "'run.py:6'"),
			"7@1000/a(run.py:3) 7@2000/a(run.py:5)/<built-in function b> "
			"7@5000/a(run.py:6)/<built-in function b> 7@8000/a(run.py:3) 7@21000"},
		{"callers of callers too",
			RUN "," FROM("m.py(40): b", 2, 9, 2, 1, "'run.py:5'") "," FROM(
				"m.py(60): c", 3, 2, 3, 2, "'m.py:44'"),
			"7@1000/a(run.py:3) 7@2000/a(run.py:5)/b(m.py:40) "
			"7@3000/a(run.py:5)/b(m.py:44)/c(m.py:60) 7@5000/a(run.py:5)/b(m.py:40) "
			"7@11000/a(run.py:3) 7@21000"},
		{"a recursive function has a line in each of its frames",
			RUN "," FROM("run.py(3): a", 2, 9, 2, 1, "'run.py:5'") "," FROM(
				"run.py(3): a", 3, 2, 3, 2, "'run.py:6'"),
			"7@1000/a(run.py:3) 7@2000/a(run.py:5)/a(run.py:3) "
			"7@3000/a(run.py:5)/a(run.py:6)/a(run.py:3) "
			"7@5000/a(run.py:5)/a(run.py:3) 7@11000/a(run.py:3) 7@21000"},
		{"a path with a colon",
			FROM("C:\\\\m.py(3): a", 1, 9, 1, null, "'x'") "," FROM(
				"b", 2, 2, 2, 1, "'C:\\\\m.py:7'"),
			"7@1000/a(C:\\m.py:3) 7@2000/a(C:\\m.py:7)/b 7@4000/a(C:\\m.py:3) 7@10000"},
		{"a module has no line",
			FROM("nn.Module: M_0", 1, 9, 1, null, "'run.py:5'") "," FROM(
				"b", 2, 2, 2, 1, "'torch/module.py:9'"),
			"7@1000/nn.Module: M_0 7@2000/nn.Module: M_0/b 7@4000/nn.Module: M_0 "
			"7@10000"},
		{"a line of another file is not the caller's",
			RUN "," FROM("b", 2, 3, 2, 1, "'m.py:5'"),
			"7@1000/a(run.py:3) 7@2000/a(run.py:3)/b 7@5000/a(run.py:3) 7@21000"},
		{"nor is that of a call from a function that is not in the trace",
			RUN "," FROM("b", 2, 3, 2, 77, "'run.py:5'"),
			"7@1000/a(run.py:3) 7@2000/a(run.py:3)/b 7@5000/a(run.py:3) 7@21000"},
		{"the number must be known", RUN "," FROM("b", 2, 3, 2, null, "'run.py:5'"),
			"7@1000/a(run.py:3) 7@2000/a(run.py:3)/b 7@5000/a(run.py:3) 7@21000"},
		{"no line is no place",
			RUN "," FROM("b", 2, 1, 2, 1, "'run.py:'") "," FROM(
				"b", 3, 1, 3, 1, "'run.py:0'") "," FROM("b", 4, 1, 4, 1,
				"'run.py'") "," FROM("b", 5, 1, 5, 1, "':5'") "," FROM("b", 6, 1, 6,
				1, "'run.py:12345678901'") "," FROM("b", 7, 1, 7, 1,
				"5") "," FROM("b", 8, 1, 8, 1, "''") "," FROM("b", 9, 1, 9, 1,
				"null") "," FROM("b", 10, 1, 10, 1, "'7'"),
			"7@1000/a(run.py:3) 7@2000/a(run.py:3)/b 7@11000/a(run.py:3) 7@21000"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		rig_events(cases[i].events);
		rig_expect_stats(
			cases[i].rule, &(struct vpt_import_stats){.events = rig.stats.events});
		expect_shown(cases[i].rule, cases[i].samples);
	}
	rig_drop();
}

static void a_name_is_taken_apart(void **state)
{
	static const struct {
		const char *name, *samples;
	} cases[] = {
		{"torch/nn/modules/module.py(1739): _call_impl",
			"7@1000/_call_impl(torch/nn/modules/module.py:1739) 7@2000"},
		{"<string>(1): <module>", "7@1000/<module>(<string>:1) 7@2000"},
		{"a (b).py(3): f", "7@1000/f(a (b).py:3) 7@2000"},
		{"nn.Module: Linear_3", "7@1000/nn.Module: Linear_3 7@2000"},
		{"<built-in function isinstance>", "7@1000/<built-in function isinstance> 7@2000"},
		{"<built-in method item of Tensor object at 0x7fdf70a0>",
			"7@1000/<built-in method item of Tensor object> 7@2000"},
		{"<built-in method __new__ of type object at 0xa20880>",
			"7@1000/<built-in method __new__ of type object> 7@2000"},
		{"<a at 0x12> b", "7@1000/<a at 0x12> b 7@2000"},
		{"<a at 012>", "7@1000/<a at 012> 7@2000"},
		{"at 0x1>", "7@1000/at 0x1> 7@2000"},
		{">", "7@1000/> 7@2000"},
		{"(3): f", "7@1000/f(:3) 7@2000"},
		{"a.py(): f", "7@1000/a.py(): f 7@2000"},
		{"a.py(x3): f", "7@1000/a.py(x3): f 7@2000"},
		{"3): f", "7@1000/3): f 7@2000"},
		{"a.py(12345678901): f", "7@1000/a.py(12345678901): f 7@2000"},
		{"a.py(4): ", "7@1000/(a.py:4) 7@2000"},
		{"", "7@1000/ 7@2000"},
	};
	char event[512];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		snprintf(event, sizeof(event),
			"{'ph': 'X', 'cat': 'python_function', 'name': '%s', 'pid': 5, 'tid': 7, "
			"'ts': 1, 'dur': 1}",
			cases[i].name);
		rig_events(event);
		expect_shown(cases[i].name, cases[i].samples);
	}
	rig_drop();
}

static void what_is_no_call_is_counted(void **state)
{
	static const struct {
		const char *rule, *event, *samples;
		struct vpt_import_stats want;
	} cases[] = {
		{"a thread that could not be identified",
			"{'ph':'X','cat':'python_function','name':'a','pid':0,'tid':0,'ts':1,'dur':"
			"1}",
			"", {.events = 1, .skipped = 1}},
		{"no name", "{'ph':'X','cat':'python_function','pid':5,'tid':7,'ts':1,'dur':1}", "",
			{.events = 1, .malformed = 1}},
		{"a name that is no text",
			"{'ph':'X','cat':'python_function','name':5,'pid':5,'tid':7,'ts':1,'dur':"
			"1}",
			"", {.events = 1, .malformed = 1}},
		{"no thread", "{'ph':'X','cat':'python_function','name':'a','ts':1,'dur':1}", "",
			{.events = 1, .malformed = 1}},
		{"no time", "{'ph':'X','cat':'python_function','name':'a','pid':5,'tid':7}", "",
			{.events = 1, .malformed = 1}},
		{"a negative length",
			"{'ph':'X','cat':'python_function','name':'a','pid':5,'tid':7,'ts':3,'dur':"
			"-1}",
			"", {.events = 1, .malformed = 1}},
		{"no length",
			"{'ph':'X','cat':'python_function','name':'a','pid':5,'tid':7,'ts':3}", "",
			{.events = 1, .malformed = 1}},
		{"a length of 0",
			"{'ph':'X','cat':'python_function','name':'a','pid':5,'tid':7,'ts':3,'dur':"
			"0}",
			"", {.events = 1}},
		{"a moment", "{'ph':'i','cat':'python_function','name':'a','pid':5,'tid':7,'ts':3}",
			"", {.events = 1, .skipped = 1}},
		{"a time that is rounded",
			"{'ph':'X','cat':'python_function','name':'a','pid':5,'tid':7,'ts':3.0004,"
			"'dur':1}",
			"7@3000/a 7@4000", {.events = 1, .bad_numbers = 1}},
		{"a name with control characters",
			"{'ph':'X','cat':'python_function','name':'a\\u0001','pid':5,'tid':7,'ts':"
			"3,"
			"'dur':1}",
			"7@3000/a\1 7@4000", {.events = 1, .bad_text = 1}},
		{"numbers that are texts",
			"{'ph':'X','cat':'python_function','name':'a','pid':'5','tid':'7','ts':'3',"
			"'dur':'1'}",
			"7@3000/a 7@4000", {.events = 1}},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		rig_events(cases[i].event);
		rig_expect_stats(cases[i].rule, &cases[i].want);
		expect_shown(cases[i].rule, cases[i].samples);
	}
	rig_drop();
}

static void a_stack_beyond_the_limit_is_truncated(void **state)
{
	enum { DEEP = 1030, LIMIT = 1024 };
	struct random_text events = {0};
	const struct vpt_section *s;
	struct vpt_stacks stacks;
	uint32_t row;
	int i;

	(void)state;
	random_text_add(&events, "[");
	for (i = 0; i < DEEP; i++)
		random_text_add(&events,
			"%s{'ph':'X','cat':'python_function','name':'f%d','pid':5,'tid':7,'ts':%d,"
			"'dur':%d}",
			i ? "," : "", i % 3, 10 + i, 5000 - 2 * i);
	random_text_add(&events, "]");
	assert_int_equal(rig_text(events.data), 0);
	vpt_free(events.data);
	s = rig_only(VPT_SAMPLE);
	vpt_stacks_view(&stacks, &rig.batch);
	/* Every call begins and ends; beyond the limit nothing changes. */
	assert_int_equal(s->row_count, 2 * LIMIT);
	for (row = 0; row < s->row_count; row++) {
		uint32_t depth = vpt_stacks_depth(&stacks, s->col[VPT_SAMPLE_STACK][row]);

		assert_int_equal(depth, row < LIMIT ? row + 1 : 2 * LIMIT - 1 - row);
	}
	rig_drop();
}

/* ---- the order of members ---- */

/* The same events twice: as the profiler writes them, and with the category first. */
static void make_events(struct vpt_random *r, struct random_text *plain, struct random_text *other)
{
	static const char *const names[] = {"a.py(3): f", "nn.Module: Linear_0", "g",
		"<built-in method x of y object at 0x7f>", "q\\u00e9(1): \\n", "h(0): i"};
	static const char *const numbers[] = {"5", "0", "5.25", "1e3", "-3", "null", "'7'", "[1]",
		"{}", "true", "5.1234", "123456789012345678", "1420179484834.731", "00", "7.",
		"'x'"};
	unsigned i, count = 1 + (unsigned)vpt_random_below(r, 8);

	for (i = 0; i < count; i++) {
		const char *name = names[vpt_random_below(r, COUNT(names))];
		const char *odd = numbers[vpt_random_below(r, COUNT(numbers))];
		const char *space = vpt_random_below(r, 2) ? "\n  " : "";
		unsigned which = (unsigned)vpt_random_below(r, 20), id = i + 1;
		char ts[32], body[400];

		snprintf(ts, sizeof(ts), "%u.%03u", (unsigned)vpt_random_below(r, 9),
			(unsigned)vpt_random_below(r, 1000));
		snprintf(body, sizeof(body),
			"'name':%s'%s',%s'pid':%s,'tid':%s,'ts':%s,'dur':%s%s,'args':{%s'Python "
			"id':%s,'Python parent id' : %s,'CallFrom':%s,'more':%s%s}}",
			space, name, space, which == 0 ? odd : "5", which == 1 ? odd : "7",
			which == 2 ? odd : ts, which == 3 ? odd : "2.5", space, space,
			which == 4 ? odd
			: id % 2   ? "1"
				   : "2",
			which == 5 ? odd
			: id % 3   ? "1"
				   : "null",
			which == 7 ? odd : "'a.py:7'", which == 6 ? odd : "1", space);
		random_text_add(
			plain, "%s{%s'ph':'X','cat':'python_function',", i ? "," : "", space);
		random_text_add(
			other, "%s{%s'cat':'python_function','ph':'X',", i ? "," : "", space);
		random_text_add(plain, "%.250s", body);
		random_text_add(other, "%.250s", body);
		if (strlen(body) > 250) {
			random_text_add(plain, "%s", body + 250);
			random_text_add(other, "%s", body + 250);
		}
	}
}

static void the_order_of_members_does_not_matter(void **state)
{
	struct vpt_random r = {41};
	size_t round, samples = 0;

	(void)state;
	for (round = 0; round < 3000; round++) {
		struct random_text plain = {0}, other = {0};
		struct vpt_import_stats stats;
		char *expected, *found;

		random_text_add(&plain, "[");
		random_text_add(&other, "[");
		make_events(&r, &plain, &other);
		random_text_add(&plain, "]");
		random_text_add(&other, "]");
		assert_int_equal(rig_text(other.data), 0);
		expected = shown();
		stats = rig.stats;
		assert_int_equal(rig_text(plain.data), 0);
		found = shown();
		if (strcmp(expected, found) != 0 || memcmp(&stats, &rig.stats, sizeof(stats)) != 0)
			fail_msg("%s\ncategory first: %s\nphase first: %s", plain.data, expected,
				found);
		samples += strlen(found);
		vpt_free(plain.data);
		vpt_free(other.data);
		vpt_free(expected);
		vpt_free(found);
	}
	assert_true(samples > 100000);
	rig_drop();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_changes_where_a_call_begins_or_ends),
		cmocka_unit_test(a_caller_is_at_the_line_of_its_call),
		cmocka_unit_test(a_name_is_taken_apart),
		cmocka_unit_test(what_is_no_call_is_counted),
		cmocka_unit_test(a_stack_beyond_the_limit_is_truncated),
		cmocka_unit_test(the_order_of_members_does_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	print_message("SKIPPED: built without zlib\n");
	return 77;
}

#endif

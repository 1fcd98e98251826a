/* What "record_param_comms" says of a collective becomes an annotation of its range, or else what its kernel says. */
#include "tests/support/traces/kineto_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Arguments of the event, with ' for ", and its annotation; NULL: none. */
static const struct {
	const char *rule, *args, *annotation;
} cases[] = {
	{"all of it",
		"'Collective name': 'allreduce', 'In msg nelems': 1024, 'dtype': 'BFloat16', "
		"'Group size': 2, "
		"'Process Group Name': '0', 'Process Group Ranks': '[0, 1]'",
		"{'collective':'allreduce','group':'0','ranks':'[0, 1]','message_bytes':2048}"},
	{"a list of ranks that is no string",
		"'Collective name': '_allgather_base', 'Process Group Name': 'tp', 'Process Group "
		"Ranks': [0, 1, 2]",
		"{'collective':'_allgather_base','group':'tp','ranks':'[0, 1, 2]'}"},
	{"a list that was cut",
		"'Collective name': 'barrier', 'Process Group Ranks': '[0, 1, ...]'",
		"{'collective':'barrier','ranks':'[0, 1, ...]'}"},
	{"a type of unknown size", "'Collective name': 'send', 'In msg nelems': 8, 'dtype': 'Odd'",
		"{'collective':'send'}"},
	{"elements below 0", "'Collective name': 'send', 'In msg nelems': -8, 'dtype': 'Float'",
		"{'collective':'send'}"},
	{"more bytes than fit",
		"'Collective name': 'send', 'In msg nelems': 9223372036854775807, 'dtype': "
		"'Double'",
		"{'collective':'send'}"},
	{"a name that needs escapes", "'Collective name': 'all\\\\reduce'", NULL},
	{"no collective", "'Process Group Name': '0'", NULL},
	{"a name that is no string", "'Collective name': 7", NULL},
};

static void check(const char *args, const char *annotation)
{
	char events[1024], want[256];

	snprintf(events, sizeof(events),
		"{'ph': 'X', 'cat': 'cpu_op', 'name': 'record_param_comms', 'pid': 1, 'tid': 2, "
		"'ts': 1, 'dur': 2, "
		"'args': {%s}}",
		args);
	rig_events(events);
	assert_int_equal(rig_rows(VPT_RANGE), 1);
	assert_int_equal(rig_value(VPT_RANGE, VPT_RANGE_PAYLOAD),
		annotation ? VPT_PAYLOAD_JSON : VPT_PAYLOAD_NONE);
	if (annotation) {
		snprintf(want, sizeof(want), "%s", annotation);
		rig_quote(want, strlen(want));
		rig_expect_text(rig_value(VPT_RANGE, VPT_RANGE_VALUE), want, strlen(want));
	}
	rig_drop();
}

static void collectives_are_annotated_with_what_is_known(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].rule);
		check(cases[i].args, cases[i].annotation);
	}
}

static void a_long_list_of_ranks_becomes_their_number(void **state)
{
	char args[900] =
		"'Collective name': 'allreduce', 'Group size': 200, 'Process Group Ranks': '[0";
	int i;

	(void)state;
	for (i = 1; i < 150; i++)
		snprintf(args + strlen(args), sizeof(args) - strlen(args), ",%d", 1000 + i);
	strcat(args, "]'");
	check(args, "{'collective':'allreduce','ranks':'200'}");
}

/* ---- where only the kernel says it ---- */

#define HOST(category, name, start, length, args)                                                  \
	"{'ph': 'X', 'cat': '" category "', 'name': '" name "', 'pid': 1, 'tid': 2, 'ts': " start  \
	", 'dur': " length ", 'args': {" args "}}"
#define COMMS(start, length, args) HOST("cpu_op", "record_param_comms", start, length, args)
#define LAUNCH(start, id)                                                                          \
	HOST("cuda_runtime", "cudaLaunchKernelExC", start, "1", "'correlation': " id)
#define KERNEL(start, id, args)                                                                    \
	"{'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel', 'pid': 0, 'tid': 7, 'ts': " start   \
	", 'dur': 5, 'args': {'device': 0, 'stream': 7, 'correlation': " id args "}}"
#define NAMED(name) ", 'Collective name': '" name "', 'In msg nelems': 1, 'dtype': 'Float'"

/* The annotation of the range that ends first; NULL: none. */
static const struct {
	const char *rule, *events, *annotation;
} kernel_cases[] = {
	{"the kernel says it",
		COMMS("10", "10", "'Ev Idx': 4") ", " LAUNCH("12", "5") ", " KERNEL(
			"30", "5", NAMED("allreduce")),
		"{'collective':'allreduce','message_bytes':4}"},
	{"the range's own word counts",
		COMMS("10", "10", "'Collective name': 'barrier'") ", " LAUNCH(
			"12", "5") ", " KERNEL("30", "5", NAMED("allreduce")),
		"{'collective':'barrier'}"},
	{"a kernel of another launch says nothing",
		COMMS("10", "10", "'Ev Idx': 4") ", " LAUNCH("12", "5") ", " KERNEL(
			"30", "6", NAMED("allreduce")),
		NULL},
	{"nor does one that was launched outside",
		COMMS("10", "10", "'Ev Idx': 4") ", " LAUNCH("20", "5") ", " KERNEL(
			"30", "5", NAMED("allreduce")),
		NULL},
	{"nor one whose number two launches have",
		COMMS("10", "10", "'Ev Idx': 4") ", " LAUNCH("12", "5") ", " LAUNCH(
			"14", "5") ", " KERNEL("30", "5", NAMED("allreduce")),
		NULL},
	{"of two kernels the first",
		COMMS("10", "10", "'Ev Idx': 4") ", " LAUNCH("12", "5") ", " LAUNCH(
			"14", "6") ", " KERNEL("40", "5", NAMED("allreduce")) ", " KERNEL("30", "6",
			NAMED("send")),
		"{'collective':'send','message_bytes':4}"},
	{"the innermost range has it",
		COMMS("10", "10", "'Ev Idx': 4") ", " COMMS("11", "4", "'Ev Idx': 5") ", " LAUNCH(
			"12", "5") ", " KERNEL("30", "5", NAMED("allreduce")),
		"{'collective':'allreduce','message_bytes':4}"},
};

static void the_kernel_says_it_for_its_range(void **state)
{
	char want[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(kernel_cases) / sizeof(kernel_cases[0]); i++) {
		const char *annotation = kernel_cases[i].annotation;

		print_message("%s\n", kernel_cases[i].rule);
		rig_events(kernel_cases[i].events);
		assert_int_equal(rig_rows(VPT_KERNEL) > 0, 1);
		assert_int_equal(rig_value(VPT_RANGE, VPT_RANGE_PAYLOAD),
			annotation ? VPT_PAYLOAD_JSON : VPT_PAYLOAD_NONE);
		if (annotation) {
			snprintf(want, sizeof(want), "%s", annotation);
			rig_quote(want, strlen(want));
			rig_expect_text(rig_value(VPT_RANGE, VPT_RANGE_VALUE), want, strlen(want));
		}
		rig_drop();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collectives_are_annotated_with_what_is_known),
		cmocka_unit_test(a_long_list_of_ranks_becomes_their_number),
		cmocka_unit_test(the_kernel_says_it_for_its_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

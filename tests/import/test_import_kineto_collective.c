/* What "record_param_comms" says of a collective becomes an annotation of its range. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collectives_are_annotated_with_what_is_known),
		cmocka_unit_test(a_long_list_of_ranks_becomes_their_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

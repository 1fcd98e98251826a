/* test_tracer_python_functions.c - a process without Python. cli_marks_script.sh has those with one. */
#include "tracer/python_stacks/python_functions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void without_python_there_are_none(void **state)
{
	(void)state;
	assert_null(vptrace_python_function("note_push"));
	assert_null(vptrace_python_function("range_pop"));
	assert_null(vptrace_python_function("unknown"));
	assert_null(vptrace_python_function(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_python_there_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

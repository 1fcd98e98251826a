/* test_tracer_note.c - notes as JSON: the text that captures keep, whatever the host's locale. */
#include "tracer/ranges/words/range_note.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *name;
	struct vptrace_note note;
	const char *text;
} cases[] = {
	{"a request has nothing else", {VPTRACE_NOTE_REQUEST, -1, -1, -1, -1},
		"{\"kind\":\"request\"}"},
	{"a stage is named by its range", {VPTRACE_NOTE_STAGE, -1, -1, -1, -1},
		"{\"kind\":\"stage\"}"},
	{"zero is a value", {VPTRACE_NOTE_BLOCK, 0, 9, 3, -1},
		"{\"kind\":\"block\",\"index\":0,\"frames\":9,\"latents\":3}"},
	{"a whole timestep", {VPTRACE_NOTE_STEP, 2, -1, -1, 500},
		"{\"kind\":\"step\",\"index\":2,\"timestep\":500}"},
	{"a broken timestep", {VPTRACE_NOTE_STEP, 0, -1, -1, 937.5},
		"{\"kind\":\"step\",\"index\":0,\"timestep\":937.5}"},
	{"to a millionth", {VPTRACE_NOTE_STEP, 0, -1, -1, 1.0 / 3},
		"{\"kind\":\"step\",\"index\":0,\"timestep\":0.333333}"},
	{"a timestep beyond reason is left out", {VPTRACE_NOTE_STEP, 0, -1, -1, 1e300},
		"{\"kind\":\"step\",\"index\":0}"},
	{"the context pass is a step", {VPTRACE_NOTE_CONTEXT, 4, -1, -1, 0},
		"{\"kind\":\"step\",\"index\":4,\"timestep\":0,\"context\":1}"},
	{"frames are ready", {VPTRACE_NOTE_FRAMES, 3, 12, -1, -1},
		"{\"kind\":\"frames\",\"index\":3,\"frames\":12}"},
	{"the largest of everything",
		{VPTRACE_NOTE_CONTEXT, INT64_MAX, INT64_MAX, INT64_MAX, 999999999.5},
		"{\"kind\":\"step\",\"index\":9223372036854775807,\"frames\":9223372036854775807,"
		"\"latents\":9223372036854775807,\"timestep\":999999999.5,\"context\":1}"},
	{"no kind, no text", {VPTRACE_NOTE_NONE, 1, 1, 1, 1}, ""},
	{"a range that is no part of a pipeline", {VPTRACE_NOTE_RANGE, -1, -1, -1, -1},
		"{\"kind\":\"range\"}"},
	{"a kind of a newer header, no text", {VPTRACE_NOTE_RANGE + 1, 1, 1, 1, 1}, ""},
	{"an invalid kind, no text", {INT64_MIN, 1, 1, 1, 1}, ""},
};

static void notes_become_text(void **state)
{
	char text[VTR_NOTE_TEXT_MAX];
	size_t i;

	(void)state;
	setlocale(
		LC_ALL, "de_DE.UTF-8"); /* where it is installed, a comma in decimals would show */
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t len = vtr_note_text(&cases[i].note, text);

		if (len != strlen(cases[i].text) || memcmp(text, cases[i].text, len))
			fail_msg("%s: expected %s, found %.*s", cases[i].name, cases[i].text,
				(int)len, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(notes_become_text)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* python_layout.c - the offsets in CPython 3.9 to 3.13. */
#include "tracer/python_stacks/python_layout.h"

#include "tracer/loaded/loaded_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE VTR_NO_FIELD

/* clang-format off */
static const struct vtr_python_layout layouts[] = {
	{9, VTR_INSTRUCTION_BYTES, VTR_LINES_LNOTAB,
		.runtime_interpreters = 32, .interpreter_next = 0, .interpreter_threads = 8,
		.thread_next = 8, .thread_interpreter = 16, .thread_pthread = 176, .thread_native = NONE,
		.thread_serial = 256, .thread_frame = 24, .thread_data_stack = NONE, .cframe_frame = NONE,
		.frame_live = 116, .frame_previous = 24, .frame_code = 32, .frame_instruction = 104, .frame_owner = NONE,
		.frame_is_entry = NONE, .frame_generator = 96,
		.code_file = 104, .code_name = 112, .code_qualified_name = NONE, .code_lines = 120,
		.code_first_line = 40, .code_first_traceable = NONE, .code_instructions = 48,
		.code_words = NONE, .code_more_words = NONE, .object_type = 8, .object_size = 16, .bytes_data = 32,
		.text_length = 16, .text_state = 32, .text_ascii = 48, .text_wide = 72},
	{10, VTR_INSTRUCTION_UNITS, VTR_LINES_TABLE,
		.runtime_interpreters = 32, .interpreter_next = 0, .interpreter_threads = 8,
		.thread_next = 8, .thread_interpreter = 16, .thread_pthread = 176, .thread_native = NONE,
		.thread_serial = 256, .thread_frame = 24, .thread_data_stack = NONE, .cframe_frame = NONE,
		.frame_live = 108, .frame_previous = 24, .frame_code = 32, .frame_instruction = 96, .frame_owner = NONE,
		.frame_is_entry = NONE, .frame_generator = 88,
		.code_file = 104, .code_name = 112, .code_qualified_name = NONE, .code_lines = 120,
		.code_first_line = 40, .code_first_traceable = NONE, .code_instructions = 48,
		.code_words = NONE, .code_more_words = NONE, .object_type = 8, .object_size = 16, .bytes_data = 32,
		.text_length = 16, .text_state = 32, .text_ascii = 48, .text_wide = 72},
	{11, VTR_INSTRUCTION_POINTER, VTR_LINES_LOCATIONS,
		.runtime_interpreters = 40, .interpreter_next = 0, .interpreter_threads = 16,
		.thread_next = 8, .thread_interpreter = 16, .thread_pthread = 152, .thread_native = 160,
		.thread_serial = 240, .thread_frame = 56, .thread_data_stack = 296, .cframe_frame = 8,
		.frame_live = NONE, .frame_previous = 48, .frame_code = 32, .frame_instruction = 56, .frame_owner = 69,
		.frame_is_entry = 68, .frame_generator = NONE,
		.code_file = 112, .code_name = 120, .code_qualified_name = 128, .code_lines = 136,
		.code_first_line = 72, .code_first_traceable = 168, .code_instructions = 184,
		.code_words = 76, .code_more_words = 68, .object_type = 8, .object_size = 16, .bytes_data = 32,
		.text_length = 16, .text_state = 32, .text_ascii = 48, .text_wide = 72},
	{12, VTR_INSTRUCTION_POINTER, VTR_LINES_LOCATIONS,
		.runtime_interpreters = 40, .interpreter_next = 0, .interpreter_threads = 72,
		.thread_next = 8, .thread_interpreter = 16, .thread_pthread = 136, .thread_native = 144,
		.thread_serial = 224, .thread_frame = 56, .thread_data_stack = 232, .cframe_frame = 0,
		.frame_live = NONE, .frame_previous = 8, .frame_code = 0, .frame_instruction = 56, .frame_owner = 70,
		.frame_is_entry = NONE, .frame_generator = NONE,
		.code_file = 112, .code_name = 120, .code_qualified_name = 128, .code_lines = 136,
		.code_first_line = 68, .code_first_traceable = 176, .code_instructions = 192,
		.code_words = 76, .code_more_words = NONE, .object_type = 8, .object_size = 16, .bytes_data = 32,
		.text_length = 16, .text_state = 32, .text_ascii = 40, .text_wide = 56},
	/* The rest is in the interpreter. */
	{13, VTR_INSTRUCTION_POINTER, VTR_LINES_LOCATIONS,
		.runtime_interpreters = NONE, .interpreter_next = NONE, .interpreter_threads = NONE,
		.thread_next = NONE, .thread_interpreter = NONE, .thread_pthread = NONE,
		.thread_native = NONE, .thread_serial = 224, .thread_frame = NONE, .thread_data_stack = NONE, .cframe_frame = NONE,
		.frame_live = NONE, .frame_previous = NONE, .frame_code = NONE, .frame_instruction = NONE,
		.frame_owner = NONE, .frame_is_entry = NONE, .frame_generator = NONE,
		.code_file = NONE, .code_name = NONE, .code_qualified_name = NONE, .code_lines = NONE,
		.code_first_line = NONE, .code_first_traceable = 184, .code_instructions = NONE,
		.code_words = 76, .code_more_words = NONE, .object_type = NONE, .object_size = 16, .bytes_data = NONE,
		.text_length = NONE, .text_state = NONE, .text_ascii = NONE, .text_wide = 56},
};

/* The block that 3.13 publishes: a cookie, its version, and 8-byte numbers, of which these are the
 * positions. */
enum { BLOCK_VERSION = 1, BLOCK_FREE_THREADED = 2, BLOCK_NUMBERS = 73 };

#define FIELD(name) offsetof(struct vtr_python_layout, name)
static const struct { uint8_t position; size_t field; } published[] = {
	{5, FIELD(runtime_interpreters)}, {8, FIELD(interpreter_next)},
	{9, FIELD(interpreter_threads)}, {21, FIELD(thread_next)}, {22, FIELD(thread_interpreter)},
	{23, FIELD(thread_frame)}, {24, FIELD(thread_pthread)}, {25, FIELD(thread_native)}, {26, FIELD(thread_data_stack)},
	{29, FIELD(frame_previous)}, {30, FIELD(frame_code)}, {31, FIELD(frame_instruction)},
	{33, FIELD(frame_owner)}, {35, FIELD(code_file)}, {36, FIELD(code_name)},
	{37, FIELD(code_qualified_name)}, {38, FIELD(code_lines)}, {39, FIELD(code_first_line)},
	{43, FIELD(code_instructions)}, {45, FIELD(object_type)}, {66, FIELD(bytes_data)},
	{68, FIELD(text_state)}, {69, FIELD(text_length)}, {70, FIELD(text_ascii)},
};
/* clang-format on */

const struct vtr_python_layout *vtr_python_layout_of(unsigned minor)
{
	size_t i;

	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].minor == minor)
			return &layouts[i];
	return NULL;
}

int vtr_python_layout_published(
	struct vtr_own_memory *m, uint64_t runtime, struct vtr_python_layout *out)
{
	uint64_t block[BLOCK_NUMBERS];
	size_t i;

	if (vtr_own_memory_read(m, runtime, block, sizeof(block)) ||
		memcmp(block, "xdebugpy", 8) != 0 ||
		block[BLOCK_VERSION] >> 16 != (0x0300 | out->minor) || block[BLOCK_FREE_THREADED])
		return VPT_EUNSUPPORTED;
	for (i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
		uint64_t offset = block[published[i].position];
		uint16_t *field = (uint16_t *)(void *)((char *)out + published[i].field);

		/* A field further away is not one that we read. */
		if (offset >= VTR_NO_FIELD)
			return VPT_EUNSUPPORTED;
		*field = (uint16_t)offset;
	}
	return VPT_OK;
}

/* The version, from Py_Version (3.11 on) or Py_GetVersion(), which returns a constant text. */
static unsigned minor_version(struct vtr_own_memory *m, char *text, size_t room)
{
	uint64_t number_at = vtr_loaded_symbol("Py_Version");
	uint64_t function = vtr_loaded_symbol("Py_GetVersion");
	const char *(*get)(void);
	unsigned long number;
	unsigned major = 0, minor = 0, micro = 0;

	memcpy(&get, &function, sizeof(get));
	if (number_at && !vtr_own_memory_read(m, number_at, &number, sizeof(number))) {
		major = (unsigned)(number >> 24 & 0xff);
		minor = (unsigned)(number >> 16 & 0xff);
		micro = (unsigned)(number >> 8 & 0xff);
	} else if (get) {
		sscanf(get(), "%u.%u.%u", &major, &minor, &micro);
	}
	snprintf(text, room, "%u.%u.%u", major, minor, micro);
	return major == 3 ? minor : 0;
}

int vtr_python_is_there(void)
{
	return vtr_loaded_symbol("_PyRuntime") && vtr_loaded_symbol("PyCode_Type");
}

int vtr_python_find(struct vtr_own_memory *m, struct vtr_python *out, struct vpt_err *err)
{
	const struct vtr_python_layout *layout;

	memset(out, 0, sizeof(*out));
	out->runtime = vtr_loaded_symbol("_PyRuntime");
	out->code_type = vtr_loaded_symbol("PyCode_Type");
	if (!out->runtime || !out->code_type)
		return vpt_fail(err, VPT_EUNSUPPORTED, "there is no Python in this process");
	layout = vtr_python_layout_of(minor_version(m, out->version, sizeof(out->version)));
	if (!layout || sizeof(void *) != 8)
		return vpt_fail(err, VPT_EUNSUPPORTED,
			"the memory of Python %s is not known: 3.9 to 3.13 are", out->version);
	out->at = *layout;
	if (layout->runtime_interpreters == VTR_NO_FIELD &&
		vtr_python_layout_published(m, out->runtime, &out->at))
		return vpt_fail(err, VPT_EUNSUPPORTED,
			"Python %s does not publish the offsets of its memory as 3.%u does, or "
			"has no global lock",
			out->version, layout->minor);
	return VPT_OK;
}

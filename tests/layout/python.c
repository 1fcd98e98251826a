/* python.c - compares vptrace's offsets in CPython with the headers of one version.
 *
 * tests/python/cli_python_layout.sh compiles it with each version's headers, and links
 * it with its library from 3.13 on, since there the interpreter publishes its offsets. */
#define Py_BUILD_CORE 1
#include <Python.h>
#include <frameobject.h>
#include <internal/pycore_runtime.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_pystate.h>
#if PY_VERSION_HEX >= 0x030b0000
#include <internal/pycore_frame.h>
#include <internal/pycore_code.h>
#else
typedef PyFrameObject _PyInterpreterFrame;
#endif

#include "tracer/python_stacks/python_layout.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static struct vtr_python_layout ours;
static int failures, compared;

#define CHECK(field, type, member) check(#field, ours.field, offsetof(type, member))

static void check(const char *name, size_t ours_is, size_t theirs)
{
	compared++;
	if (ours_is == theirs)
		return;
	failures++;
	printf("%s: vptrace has %zu, Python " PY_VERSION " has %zu\n", name, ours_is, theirs);
}

static unsigned state_bits(unsigned kind, unsigned compact, unsigned ascii)
{
	PyASCIIObject text;
	unsigned bits;

	memset(&text, 0, sizeof(text));
	text.state.kind = kind & 7;
	text.state.compact = compact & 1;
	text.state.ascii = ascii & 1;
	memcpy(&bits, (char *)&text + offsetof(PyASCIIObject, state), sizeof(bits));
	return bits;
}

static void check_frames(void)
{
	CHECK(frame_previous, _PyInterpreterFrame,
#if PY_VERSION_HEX >= 0x030b0000
		previous);
	CHECK(frame_owner, _PyInterpreterFrame, owner);
#else
		f_back);
	CHECK(frame_generator, _PyInterpreterFrame, f_gen);
#if PY_VERSION_HEX >= 0x030a0000
	CHECK(frame_live, _PyInterpreterFrame, f_state);
	check("VTR_LIVE_310", VTR_LIVE_310, FRAME_EXECUTING);
#else
	CHECK(frame_live, _PyInterpreterFrame, f_executing);
#endif
	CHECK(frame_code, _PyInterpreterFrame, f_code);
	CHECK(frame_instruction, _PyInterpreterFrame, f_lasti);
	CHECK(thread_frame, PyThreadState, frame);
#endif
#if PY_VERSION_HEX >= 0x030d0000
	CHECK(frame_code, _PyInterpreterFrame, f_executable);
	CHECK(frame_instruction, _PyInterpreterFrame, instr_ptr);
	CHECK(thread_frame, PyThreadState, current_frame);
#elif PY_VERSION_HEX >= 0x030b0000
	CHECK(frame_code, _PyInterpreterFrame, f_code);
	CHECK(frame_instruction, _PyInterpreterFrame, prev_instr);
	CHECK(thread_frame, PyThreadState, cframe);
	CHECK(cframe_frame, _PyCFrame, current_frame);
#endif
#if PY_VERSION_HEX >= 0x030c0000
	check("VTR_OWNER_C", VTR_OWNER_C, FRAME_OWNED_BY_CSTACK);
#elif PY_VERSION_HEX >= 0x030b0000
	CHECK(frame_is_entry, _PyInterpreterFrame, is_entry);
#endif
#if PY_VERSION_HEX >= 0x030b0000
	check("VTR_OWNER_THREAD", VTR_OWNER_THREAD, FRAME_OWNED_BY_THREAD);
	check("VTR_OWNER_GENERATOR", VTR_OWNER_GENERATOR, FRAME_OWNED_BY_GENERATOR);
	check("VTR_OWNER_FRAME_OBJECT", VTR_OWNER_FRAME_OBJECT, FRAME_OWNED_BY_FRAME_OBJECT);
#endif
}

static void check_code(void)
{
	CHECK(code_file, PyCodeObject, co_filename);
	CHECK(code_name, PyCodeObject, co_name);
	CHECK(code_first_line, PyCodeObject, co_firstlineno);
#if PY_VERSION_HEX >= 0x030b0000
	CHECK(code_qualified_name, PyCodeObject, co_qualname);
	CHECK(code_first_traceable, PyCodeObject, _co_firsttraceable);
	CHECK(code_instructions, PyCodeObject, co_code_adaptive);
	check("unit of code", 2, sizeof(_Py_CODEUNIT));
#if PY_VERSION_HEX >= 0x030c0000
	CHECK(code_words, PyCodeObject, co_framesize);
#else
	CHECK(code_words, PyCodeObject, co_nlocalsplus);
	CHECK(code_more_words, PyCodeObject, co_stacksize);
	check("VTR_FRAME_WORDS_311", VTR_FRAME_WORDS_311, FRAME_SPECIALS_SIZE);
#endif
#else
	CHECK(code_instructions, PyCodeObject, co_code);
#endif
#if PY_VERSION_HEX >= 0x030a0000
	CHECK(code_lines, PyCodeObject, co_linetable);
#else
	CHECK(code_lines, PyCodeObject, co_lnotab);
#endif
}

static void check_objects(void)
{
	CHECK(object_type, PyObject, ob_type);
	CHECK(object_size, PyVarObject, ob_size);
	CHECK(bytes_data, PyBytesObject, ob_sval);
	CHECK(text_length, PyASCIIObject, length);
	CHECK(text_state, PyASCIIObject, state);
	check("text_ascii", ours.text_ascii, sizeof(PyASCIIObject));
	check("text_wide", ours.text_wide, sizeof(PyCompactUnicodeObject));
	check("VTR_TEXT_KIND", VTR_TEXT_KIND, state_bits(7, 0, 0));
	check("VTR_TEXT_KIND_SHIFT", 1u << VTR_TEXT_KIND_SHIFT, state_bits(1, 0, 0));
	check("VTR_TEXT_COMPACT", VTR_TEXT_COMPACT, state_bits(0, 1, 0));
	check("VTR_TEXT_ASCII", VTR_TEXT_ASCII, state_bits(0, 0, 1));
}

static void check_lists(void)
{
	CHECK(runtime_interpreters, _PyRuntimeState, interpreters.head);
	CHECK(interpreter_next, PyInterpreterState, next);
#if PY_VERSION_HEX >= 0x030b0000
	CHECK(interpreter_threads, PyInterpreterState, threads.head);
	CHECK(thread_native, PyThreadState, native_thread_id);
	CHECK(thread_data_stack, PyThreadState, datastack_chunk);
	check("thread_data_stack + 8", ours.thread_data_stack + 8u,
		offsetof(PyThreadState, datastack_top));
#else
	CHECK(interpreter_threads, PyInterpreterState, tstate_head);
#endif
	CHECK(thread_next, PyThreadState, next);
	CHECK(thread_interpreter, PyThreadState, interp);
	CHECK(thread_pthread, PyThreadState, thread_id);
	CHECK(thread_serial, PyThreadState, id);
}

/* What is in the interpreter itself. */
static int published(void)
{
#if PY_VERSION_HEX >= 0x030d0000
	struct vtr_own_memory m;
	struct vtr_python_layout broken = ours;
	_Py_DebugOffsets block = _PyRuntime.debug_offsets;
	int rc;

	vtr_own_memory_open(&m);
	rc = vtr_python_layout_published(&m, (uint64_t)(uintptr_t)&block, &ours);
	block.cookie[0] ^= 1;
	check("a block with another cookie is refused", 1,
		vtr_python_layout_published(&m, (uint64_t)(uintptr_t)&block, &broken) != 0);
	block.cookie[0] ^= 1;
	block.version += 0x10000;
	check("a block of another version is refused", 1,
		vtr_python_layout_published(&m, (uint64_t)(uintptr_t)&block, &broken) != 0);
	vtr_own_memory_close(&m);
	return rc;
#else
	return 0;
#endif
}

int main(void)
{
	const struct vtr_python_layout *row = vtr_python_layout_of(PY_MINOR_VERSION);

	if (!row) {
		printf("vptrace has no layout of Python " PY_VERSION "\n");
		return 1;
	}
	ours = *row;
	if (published()) {
		printf("the block of Python " PY_VERSION " is not accepted\n");
		return 1;
	}
	check_lists();
	check_frames();
	check_code();
	check_objects();
	printf("Python " PY_VERSION ": %d offsets compared, %d wrong\n", compared, failures);
	return failures != 0;
}

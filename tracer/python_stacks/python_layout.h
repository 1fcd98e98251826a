/* python_layout.h - where things are in the memory of the CPython in this process.
 *
 * From 3.13 on the interpreter publishes its own offsets, in a block at the start of _PyRuntime;
 * cookie and version are checked. Before that, and for the few fields that the block lacks, there is
 * a table by minor version. A release never moves these fields, and other versions have no layout.
 * 64-bit processes only.
 *
 * Offsets are bytes from the start of their struct. A field whose offset is VTR_NO_FIELD does not
 * exist. tests/python/cli_python_layout.sh compares all of it with the headers of each version. */
#ifndef VPTRACE_TRACER_PYTHON_STACKS_PYTHON_LAYOUT_H
#define VPTRACE_TRACER_PYTHON_STACKS_PYTHON_LAYOUT_H

#include "formats/base/error.h"
#include "tracer/guest/own_memory.h"

#include <stdint.h>

enum { VTR_NO_FIELD = 0xffff };

/* What a frame says about the instruction that it executes. */
enum vtr_python_instruction {
	VTR_INSTRUCTION_BYTES, /* int: offset in the code, in bytes */
	VTR_INSTRUCTION_UNITS, /* int: offset in units of 2 bytes */
	VTR_INSTRUCTION_POINTER
};

/* How a code object encodes its lines. */
enum vtr_python_lines {
	VTR_LINES_LNOTAB,    /* 3.9: co_lnotab */
	VTR_LINES_TABLE,     /* 3.10: co_linetable */
	VTR_LINES_LOCATIONS, /* 3.11 on */
};

/* VTR_PYTHON_FIELDS(X): every offset. */
#define VTR_PYTHON_FIELDS(X)                                                                              \
	X(runtime_interpreters) /* PyInterpreterState *: the newest one */                                \
	X(interpreter_next)                                                                               \
	X(interpreter_threads) /* PyThreadState *: the newest one */                                      \
	X(thread_next)                                                                                    \
	X(thread_interpreter)                                                                             \
	X(thread_pthread) /* unsigned long: its pthread_t */                                              \
	X(thread_native)  /* unsigned long: its gettid(); from 3.11 */                                    \
	X(thread_serial)  /* uint64_t: number within the interpreter */                                   \
	X(thread_frame)   /* the innermost frame; 3.11, 3.12: a struct that points to it */               \
	X(thread_data_stack) /* the piece of memory for frames in use; 8 bytes on: its free part; 3.11 */ \
	X(cframe_frame) /* 3.11, 3.12: where in that struct */                                            \
	X(frame_previous)                                                                                 \
	X(frame_code)                                                                                     \
	X(frame_instruction)                                                                              \
	X(frame_owner)     /* char: VTR_OWNER_*; from 3.11 */                                             \
	X(frame_is_entry)  /* bool: called from C; 3.11 */                                                \
	X(frame_live)      /* char: VTR_LIVE_39, _310: it is on a stack; up to 3.10 */                    \
	X(frame_generator) /* not NULL: a generator's or coroutine's; up to 3.10 */                       \
	X(code_file)                                                                                      \
	X(code_name)                                                                                      \
	X(code_qualified_name) /* from 3.11 */                                                            \
	X(code_lines)                                                                                     \
	X(code_first_line)                                                                                \
	X(code_first_traceable) /* int: units of code before the function begins; from 3.11 */            \
	X(code_instructions)    /* the code itself; up to 3.10 a bytes object */                          \
	X(code_words)           /* int: words of its frame; 3.11: of locals alone; from 3.11 */           \
	X(code_more_words)      /* int: words for temporaries; 3.11 */                                    \
	X(object_type)                                                                                    \
	X(object_size) /* of a variable object; a code object's: units of code */                         \
	X(bytes_data)                                                                                     \
	X(text_length)                                                                                    \
	X(text_state)                                                                                     \
	X(text_ascii) /* where the characters of a string are: all ASCII, or not */                       \
	X(text_wide)

struct vtr_python_layout {
	unsigned minor; /* 9: Python 3.9 */
	enum vtr_python_instruction instruction;
	enum vtr_python_lines lines;
#define VTR_FIELD(name) uint16_t name;
	VTR_PYTHON_FIELDS(VTR_FIELD)
#undef VTR_FIELD
};

/* Bits of a string's state, and values of frame_owner: the same in all versions that have them. */
enum {
	VTR_TEXT_KIND = 0x1c, /* bytes per character, shifted by VTR_TEXT_KIND_SHIFT */
	VTR_TEXT_KIND_SHIFT = 2,
	VTR_TEXT_COMPACT = 0x20,
	VTR_TEXT_ASCII = 0x40,
	VTR_FRAME_WORDS_311 = 9, /* of a frame, besides locals and temporaries */
	VTR_LIVE_39 = 1,
	VTR_LIVE_310 = 0,
	VTR_OWNER_THREAD = 0,
	VTR_OWNER_GENERATOR = 1,
	VTR_OWNER_FRAME_OBJECT = 2,
	VTR_OWNER_C = 3 /* marks a call from C, no function; from 3.12 */
};

/* The interpreter of this process. Addresses are those of its variables. */
struct vtr_python {
	struct vtr_python_layout at;
	uint64_t runtime, code_type;
	char version[64]; /* such as "3.11.2" */
};

/* Finds it. 0; VPT_EUNSUPPORTED: there is none, or one that vptrace does not know. Any thread. */
int vtr_python_find(struct vtr_own_memory *m, struct vtr_python *out, struct vpt_err *err);

/* Whether a Python, of whatever version, is in this process. Any thread. */
int vtr_python_is_there(void);

/* The table's row of 3.`minor`; NULL: it has none. Some fields come from the interpreter instead,
 * and are VTR_NO_FIELD in it. */
const struct vtr_python_layout *vtr_python_layout_of(unsigned minor);

/* The offsets of the block at `runtime`, on top of those of the table's row `out`. 0 or
 * VPT_EUNSUPPORTED. */
int vtr_python_layout_published(
	struct vtr_own_memory *m, uint64_t runtime, struct vtr_python_layout *out);

#endif

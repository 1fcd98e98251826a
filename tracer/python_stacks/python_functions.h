/* python_functions.h - ranges and marks of vptrace.h as functions of Python.
 *
 * A call through ctypes converts each argument and fills a struct field by field: a mark with an index and
 * a timestep costs 320 to 440 ns there, 75 to 85 ns here (CPython 3.9 to 3.13). Nothing of Python is linked or
 * included: its functions, all of the stable ABI, are looked up in the process. The convention
 * METH_FASTCALL is CPython's since 3.7.
 *
 *	note_push(name, kind, index=-1, frames=-1, latents=-1, timestep=-1.0)
 *	note_mark(the same)
 *	range_push(name)
 *	range_pop()
 *
 * `name` is bytes, the other arguments are numbers by position; all functions return None. TypeError: another
 * count or type. OverflowError: a number that 64 bits cannot hold. Nothing is recorded then. */
#ifndef VPTRACE_TRACER_PYTHON_STACKS_PYTHON_FUNCTIONS_H
#define VPTRACE_TRACER_PYTHON_STACKS_PYTHON_FUNCTIONS_H

#include "tracer/vptrace.h"

/* A new reference to the builtin of that name, for ctypes.PyDLL. The caller is CPython 3.8 or later and holds its lock.
 * NULL: there is no such function, or no Python in this process whose symbols can be seen; no exception is
 * set then, so the result type is c_void_p: ctypes dereferences a py_object that is NULL. NULL with an
 * exception: Python has no memory. */
VPTRACE_API void *vptrace_python_function(const char *name);

#endif

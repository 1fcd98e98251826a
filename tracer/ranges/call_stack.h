/* call_stack.h - how much of the calling thread's stack is left. */
#ifndef VPTRACE_TRACER_RANGES_CALL_STACK_H
#define VPTRACE_TRACER_RANGES_CALL_STACK_H

#include <stddef.h>

/* Bytes; SIZE_MAX: unknown, as on the stack of a coroutine. Of the first thread: its limit. May allocate
 * memory in other threads. */
size_t vtr_call_stack_left(void);

#endif

/* own_thread.h - threads of the library in the host's process, and what it must know of the host's. */
#ifndef VPTRACE_TRACER_GUEST_OWN_THREAD_H
#define VPTRACE_TRACER_GUEST_OWN_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* Starts one with all signals blocked, and with a stack of its own size: the host may have set a small
 * default, and what ours call has needs. Returns pthread_create()'s errno, or 0. */
int vtr_own_thread(pthread_t *out, void *(*run)(void *arg), void *arg);

/* ---- last_thread.c: ends the process after the host's last thread: ours must not keep it alive.
 *
 * When main() leaves with pthread_exit(), the process runs until its last thread has ended, then
 * exits with status 0. Our threads would prevent that, so one of them checks. Threads of CUDA's
 * driver and of CUPTI prevent it too, with or without us; we do nothing about those. */

/* Whether the process's first thread has ended and only `own` others are left. Reads /proc; false
 * where it cannot. */
int vtr_alone(unsigned own);

/* Calls exit(0) in a thread of its own, as the C library would have in the host's last thread. */
void vtr_alone_exit(void);

/* ---- call_stack.c: how much of the calling thread's stack is left ---- */

/* Bytes; SIZE_MAX: unknown, as on the stack of a coroutine. Of the first thread: its limit. May allocate
 * memory in other threads. */
size_t vtr_call_stack_left(void);

#endif

/* own_thread.h - threads of the library in the host's process. */
#ifndef VPTRACE_TRACER_GUEST_OWN_THREAD_H
#define VPTRACE_TRACER_GUEST_OWN_THREAD_H

#include <pthread.h>

/* Starts one with all signals blocked, and with a stack of its own size: the host may have set a small
 * default, and what ours call has needs. Returns pthread_create()'s errno, or 0. */
int vtr_own_thread(pthread_t *out, void *(*run)(void *arg), void *arg);

#endif

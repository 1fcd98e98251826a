/* last_thread.h - ends the process after the host's last thread: ours must not keep it alive.
 *
 * When main() leaves with pthread_exit(), the process runs until its last thread has ended, then
 * exits with status 0. Our threads would prevent that, so one of them checks. Threads of CUDA's
 * driver and of CUPTI prevent it too, with or without us; we do nothing about those. */
#ifndef VPTRACE_TRACER_GUEST_LAST_THREAD_H
#define VPTRACE_TRACER_GUEST_LAST_THREAD_H

/* Whether the process's first thread has ended and only `own` others are left. Reads /proc; false
 * where it cannot. */
int vtr_alone(unsigned own);

/* Calls exit(0) in a thread of its own, as the C library would have in the host's last thread. */
void vtr_alone_exit(void);

#endif

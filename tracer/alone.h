/* alone.h - a process whose last own thread has ended must end: our threads may not keep it alive.
 *
 * When main() leaves with pthread_exit() the process lives until its last thread has ended, and
 * then exits with status 0. Our threads would be in the way, so one of them looks. Threads of
 * CUDA's driver and of CUPTI itself are in the way as well, with or without us: about those nothing
 * is done. */
#ifndef VPTRACE_TRACER_ALONE_H
#define VPTRACE_TRACER_ALONE_H

/* Whether the process's first thread has ended and only `own` others are left. Reads /proc; false
 * where it cannot. */
int vtr_alone(unsigned own);

/* Calls exit(0) in a thread of its own, as the C library would have in the host's last thread. */
void vtr_alone_exit(void);

#endif

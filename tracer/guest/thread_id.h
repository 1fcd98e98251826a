/* thread_id.h - the number by which the kernel knows the calling thread. */
#ifndef VPTRACE_TRACER_GUEST_THREAD_ID_H
#define VPTRACE_TRACER_GUEST_THREAD_ID_H

#include <stdint.h>

/* gettid(2), asked once a thread. */
uint32_t vtr_tid(void);

/* In a forked child: asks again. */
void vtr_tid_forked(void);

#endif

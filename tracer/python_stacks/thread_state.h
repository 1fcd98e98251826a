/* thread_state.h - whether a thread of this process runs, waits for a processor, or sleeps, and for
 * how long it has.
 *
 * Read from /proc, through descriptors that stay open: the times take about 1 us, the state 4. Where
 * /proc or a number of it is missing, it is unknown. A descriptor that the host has closed, and
 * perhaps used again, is neither believed nor closed. One thread at a time. */
#ifndef VPTRACE_TRACER_PYTHON_STACKS_THREAD_STATE_H
#define VPTRACE_TRACER_PYTHON_STACKS_THREAD_STATE_H

#include "formats/event_schema.h"

#include <stdint.h>
#include <sys/types.h>

struct vtr_thread_state {
	struct vtr_thread_file {
		int fd; /* -1: none */
		dev_t device;
		ino_t inode;
	} schedule, stat;
	uint32_t tid;
};

struct vtr_thread_times {
	uint64_t wait_ns;  /* it has waited for a processor while it could run; 0: unknown */
	uint64_t switches; /* times it has got a processor */
};

/* Opens what there is. The caller closes, also if it is nothing. */
void vtr_thread_state_open(struct vtr_thread_state *t, uint32_t tid);
void vtr_thread_state_close(struct vtr_thread_state *t);

/* Totals since the thread began. 0, or -1: unknown, *out is all zeros. */
int vtr_thread_state_times(const struct vtr_thread_state *t, struct vtr_thread_times *out);

/* The kernel's word: VPT_THREADSTATE_RUNNING, which may mean that it waits for a processor, _SLEEPING,
 * _UNINTERRUPTIBLE or _UNKNOWN. */
uint32_t vtr_thread_state_now(const struct vtr_thread_state *t);

/* The processor time that a thread of this process has used, ns; UINT64_MAX: it has ended. Needs no
 * descriptor. Any thread. */
uint64_t vtr_thread_cpu_ns(uint32_t tid);

#endif

/* gate.h - waits for another thread, with a deadline on the monotonic clock.
 *
 * Closed at first; opened once or many times. Not for callbacks. */
#ifndef VPTRACE_TRACER_HANDOVER_GATE_H
#define VPTRACE_TRACER_HANDOVER_GATE_H

#include <pthread.h>
#include <stdint.h>

struct vtr_gate {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	int open, nudged;
};

void vtr_gate_init(struct vtr_gate *g);
void vtr_gate_free(struct vtr_gate *g);
void vtr_gate_open(struct vtr_gate *g);
void vtr_gate_close(struct vtr_gate *g); /* while nobody waits */

/* Ends the wait that goes on, or the next one, with the gate still closed. */
void vtr_gate_nudge(struct vtr_gate *g);

/* Waits until the gate is open or CLOCK_MONOTONIC reaches `deadline_ns`. 1: open. */
int vtr_gate_wait(struct vtr_gate *g, uint64_t deadline_ns);

#endif

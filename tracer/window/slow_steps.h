/* slow_steps.h - notices a step that takes much longer than those before it.
 *
 * Steps are ranges with a note of the kind STEP, as the writer drains them, and the times between
 * calls of vptrace_step(). */
#ifndef VPTRACE_TRACER_WINDOW_SLOW_STEPS_H
#define VPTRACE_TRACER_WINDOW_SLOW_STEPS_H

#include "tracer/ranges/words/thread_event.h"

#include <stdint.h>

enum { VTR_STEPS_KEPT = 32, VTR_STEPS_LEAST = 8 };

struct vtr_slow_steps {
	double factor;     /* 0: nothing is slow */
	uint64_t quiet_ns; /* after a slow step, time until the next one counts */
	uint64_t last_ns;  /* when that one ended; 0: none yet */
	uint64_t durations[VTR_STEPS_KEPT];
	uint64_t count; /* of all steps so far */
	uint64_t read;  /* calls of vptrace_step() */
};

/* `keep_ns` 0: as for 30 s. */
void vtr_slow_steps_begin(struct vtr_slow_steps *s, double factor, uint64_t keep_ns);

/* One step more. Returns whether it took longer than `factor` times the median of the last 32, of
 * which there must be at least 8, and none was slow within the time to keep. */
int vtr_slow_steps_take(struct vtr_slow_steps *s, uint64_t duration_ns, uint64_t end_ns);

/* The same for an event, if it is a step, and for calls since. The writer's thread. */
int vtr_slow_steps_see(struct vtr_slow_steps *s, const struct vtr_event *event);
int vtr_slow_steps_poll(struct vtr_slow_steps *s);

/* A call of vptrace_step(). No lock; any thread. */
void vtr_slow_steps_call(void);

#endif

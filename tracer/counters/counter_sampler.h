/* counter_sampler.h - a thread that samples the GPUs, the process and the machine, and mails the values to
 * the writer, for COUNTER rows.
 *
 * NVML is a part of the driver and may hang. Nobody waits for the thread without a deadline: a
 * sampler whose call has not returned is detached, posts nothing more, and is freed when the call
 * returns. While one is, later samplers leave NVML alone.
 *
 * A round is one time and the values of the monitors that are due. The first is taken at once, the last at the
 * end, both of all. Rates, which are means since the reading before, begin with the second. */
#ifndef VPTRACE_TRACER_COUNTERS_COUNTER_SAMPLER_H
#define VPTRACE_TRACER_COUNTERS_COUNTER_SAMPLER_H

#include "formats/base/error.h"
#include "tracer/handover/mail.h"
#include "tracer/settings/monitors.h"

#include <stdint.h>

struct vtr_sampler;

/* Starts the thread, with all signals blocked. Some monitor is on; `monitors` is copied. `mail` is borrowed until vtr_sampler_free(). 0 or
 * VPT_ENOMEM. */
int vtr_sampler_start(struct vtr_mailbox *mail, const struct vtr_monitors *monitors,
	struct vtr_sampler **out, struct vpt_err *err);

/* Asks for the last round, without a wait. Once; accepts NULL. */
void vtr_sampler_stop(struct vtr_sampler *s);

/* After the stop: waits until `deadline_ns`, CLOCK_MONOTONIC. 0: the thread has posted everything.
 * -1: it hangs. Accepts NULL. */
int vtr_sampler_wait(struct vtr_sampler *s, uint64_t deadline_ns);

/* After the stop, whether or not it hangs: nothing more is posted. Accepts NULL. */
void vtr_sampler_free(struct vtr_sampler *s);

/* Threads of samplers that exist, those that hang too. */
unsigned vtr_sampler_threads(void);

#endif

/* stack_sampler.h - a thread that samples the Python stacks of the threads that call CUDA, or make ranges:
 * a range around the work makes its thread known before its first call.
 *
 * It reads the interpreter's memory (python_stack.h) and the kernel's accounts (thread_state.h), and
 * runs no code of the host: no GIL, no signal, no lock or allocation of the host's threads. It begins
 * once there is such a thread, and ends at once if the interpreter or its memory cannot be read. A
 * thread is sampled until VTR_STACKS_LATELY_NS after its last known call. A tick that is late is
 * skipped, and ticks are rarer where they would take more than 0.5 % of a processor (vptrace.h says
 * how rare). The time between two is random, so that they keep step with no loop of the host. With one
 * thread a quarter of a tick is for waking up, with many three quarters are for system calls. The
 * analysis weighs samples by the time between them.
 *
 * A thread that slept at its last sample and has used no processor time since has had the same stack
 * all the time. It is then not read again, and gets the samples of the ticks that were left out: a
 * thread that waits has all of its samples, however rare ticks are. A thread that runs no Python is
 * looked at again after 0.1 s, and later every 1.6 s.
 *
 * All its memory, with tables of stacks that are full, is at most 16 MiB.
 *
 * Facts: stacks.python and stacks.hz, or stacks.unavailable with the reason; at the end stacks.ticks
 * and stacks.samples, and if there were any, stacks.cut (innermost functions are missing), stacks.torn
 * (not read, since the thread moved), stacks.deep (more frames than python_copies.c allows),
 * stacks.refused (no room). */
#ifndef VPTRACE_TRACER_PYTHON_STACKS_STACK_SAMPLER_H
#define VPTRACE_TRACER_PYTHON_STACKS_STACK_SAMPLER_H

#include "formats/base/error.h"
#include "tracer/handover/mail.h"
#include "tracer/python_stacks/stack_samples.h"

#include <stdint.h>

#define VTR_STACKS_LATELY_NS UINT64_C(10000000000)

struct vtr_stack_sampler;

/* Before CUPTI starts, if a sampler will: remembers who calls CUDA from then on. A thread that got its
 * buffer earlier would be known only when that buffer is read. */
void vtr_stack_sampler_expect(void);

/* Makes a sampler, and starts its thread, with all signals blocked, if there is a Python in the process.
 * `mail` is borrowed until vtr_stack_sampler_free(). 0 or VPT_ENOMEM. */
int vtr_stack_sampler_start(
	struct vtr_mailbox *mail, uint32_t hz, struct vtr_stack_sampler **out, struct vpt_err *err);

/* Starts the thread if it has not been, and libraries were loaded since the last look that brought a
 * Python. To be called now and then, until the stop: takes about 1 us where nothing was loaded. Accepts
 * NULL. */
void vtr_stack_sampler_look(struct vtr_stack_sampler *s);

/* Its samples, for the writer; borrowed, valid until vtr_stack_sampler_free(). */
struct vtr_stack_samples *vtr_stack_sampler_samples(struct vtr_stack_sampler *s);

/* Asks it to end, without a wait; no look starts it again. Accepts NULL. */
void vtr_stack_sampler_stop(struct vtr_stack_sampler *s);

/* After the stop: waits until `deadline_ns`, CLOCK_MONOTONIC. 0: there is no thread, or it has ended
 * and posted everything. -1: it hangs, in a system call. Accepts NULL. */
int vtr_stack_sampler_wait(struct vtr_stack_sampler *s, uint64_t deadline_ns);

/* After the stop; accepts NULL. One that hangs is leaked, with everything it uses but `mail`. */
void vtr_stack_sampler_free(struct vtr_stack_sampler *s);

/* Threads of samplers that exist, those that hang too. */
unsigned vtr_stack_sampler_threads(void);

#endif

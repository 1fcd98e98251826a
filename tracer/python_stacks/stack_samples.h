/* stack_samples.h - samples of stacks on their way from the thread that takes them to the writer.
 *
 *	sampler   vtr_stack_samples_put()  -> queue, and tables of stacks and places
 *	writer    vtr_stack_samples_take() <- queue;  vtr_stack_samples_frames() <- tables
 *
 * A stack is a number: that of its innermost place and its caller's stack, interned, and valid as
 * long as the tables. Memory is bounded; what finds no room is refused and counted. One mutex, which
 * no thread of the host takes. */
#ifndef VPTRACE_TRACER_PYTHON_STACKS_STACK_SAMPLES_H
#define VPTRACE_TRACER_PYTHON_STACKS_STACK_SAMPLES_H

#include "tracer/python_stacks/code_places.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum {
	VTR_STACK_SAMPLES_MAX = 8192, /* in the queue: 20 s of two threads at 200 Hz */
	VTR_STACKS_MAX = 1 << 17
};

struct vtr_stack_sample {
	uint64_t time_ns; /* trace clock */
	uint32_t tid;
	uint32_t stack; /* 0: the thread runs no Python code */
	uint32_t state; /* VPT_THREADSTATE_* */
	uint32_t flags; /* VPT_SAMPLE_* */
	uint32_t cpu_us, wait_us;
};

struct vtr_stack_node {
	uint32_t caller, place;
};

enum { VTR_STACK_PATH_MAX = 256 };

/* A thread's last stack, with the numbers of its callers' stacks, outermost first: stacks that follow each
 * other share most of them. All zeros is none. Those beyond the maximum are not kept. */
struct vtr_stack_path {
	uint32_t count;
	uint32_t places[VTR_STACK_PATH_MAX], stacks[VTR_STACK_PATH_MAX];
};

struct vtr_stack_samples {
	pthread_mutex_t lock;
	struct vtr_stack_sample queue[VTR_STACK_SAMPLES_MAX];
	uint32_t head, count;
	struct vtr_code_places places; /* changed by the sampler alone, under the lock */
	struct vtr_stack_node *nodes;  /* 0: the empty stack */
	size_t node_count, node_cap;
	struct vpt_map map; /* nodes by content */
	uint64_t refused;   /* samples */
};

/* NULL: no memory. */
struct vtr_stack_samples *vtr_stack_samples_new(void);
void vtr_stack_samples_free(struct vtr_stack_samples *s); /* accepts NULL */

/* ---- the sampler ---- */

/* Interns a stack, places of s->places, innermost first. `path`: of its thread, for s alone. UINT32_MAX:
 * no room. */
uint32_t vtr_stack_samples_stack(struct vtr_stack_samples *s, struct vtr_stack_path *path,
	const uint32_t *places, uint32_t count);

/* Queues a copy. 0, or -1: no room; it is counted as refused. */
int vtr_stack_samples_put(struct vtr_stack_samples *s, const struct vtr_stack_sample *sample);

/* Queues the samples between two of a thread that has rested from the first, at `from_ns`, to the second,
 * `sample`: copies of it, one every `step_ns` after from_ns that is at least half a step earlier. They
 * fill no more than half of the queue, and none is refused. Returns how many. */
uint32_t vtr_stack_samples_fill(struct vtr_stack_samples *s, const struct vtr_stack_sample *sample,
	uint64_t from_ns, uint64_t step_ns);

/* ---- the writer ---- */

/* Takes at most `room` samples, the oldest first. Returns how many. */
size_t vtr_stack_samples_take(
	struct vtr_stack_samples *s, struct vtr_stack_sample *out, size_t room);

/* Passes the frames of a stack to `take`, the outermost first; the texts are valid during the call,
 * under the lock. */
void vtr_stack_samples_frames(struct vtr_stack_samples *s, uint32_t stack,
	void (*take)(void *ctx, struct vpt_text function, struct vpt_text file, uint32_t line),
	void *ctx);

#endif

/* past_stacks.h - a thread's recent Python stacks, in order of time: samples of a moment, or, of a
 * trace of all calls and returns, each stack until the next.
 *
 * Grows at the end; trimmed at the front once nothing can ask for the oldest. */
#ifndef VPA_ANALYSIS_PAST_PAST_STACKS_H
#define VPA_ANALYSIS_PAST_PAST_STACKS_H

#include <stddef.h>
#include <stdint.h>

enum {
	/* A longer interval between two samples is a pause, about which they say nothing. */
	VPA_SAMPLE_INTERVAL_MAX_NS = 250000000,
	VPA_SAMPLE_INTERVAL_NS = 5000000 /* assumed before a thread's first sample */
};

struct vpa_stack_sample {
	uint64_t time_ns;
	uint32_t stack;   /* of stack_lines.h; 0: no Python code */
	uint32_t wait_us; /* of waiting for a CPU since the sample before */
	/* The time for which a sample of a moment counts, at least 1: the interval since the sample
	 * before; after a pause, the interval before the pause. */
	uint32_t weight_ns;
	uint8_t state;    /* VPT_THREADSTATE_... */
	uint8_t is_exact; /* the stack holds until the next sample */
};

/* All zeros is empty. */
struct vpa_stack_samples {
	struct vpa_stack_sample *items;
	size_t count, cap;
	size_t dropped; /* dropped items in front, compacted now and then */
	uint64_t late;  /* left out, since they came before one that was there already */
	/* When the thread was first sampled; 0: never, or its stacks are exact. */
	uint64_t first_ns;
};

/* Appends a sample, and computes its weight. 0 or VPT_ENOMEM. */
int vpa_stack_samples_add(struct vpa_stack_samples *s, const struct vpa_stack_sample *sample);

/* The index of the first sample at `t` or later; s->count: none. */
size_t vpa_stack_samples_from(const struct vpa_stack_samples *s, uint64_t t);

/* The exact stack in force at `t`; NULL: none is known. */
const struct vpa_stack_sample *vpa_stack_samples_at(const struct vpa_stack_samples *s, uint64_t t);

/* The same, or the first exact stack after `t`; NULL: there is neither. */
const struct vpa_stack_sample *vpa_stack_samples_next(
	const struct vpa_stack_samples *s, uint64_t t);

/* Drops what is before `t`, except the last one before it, and the oldest of very many. */
void vpa_stack_samples_trim(struct vpa_stack_samples *s, uint64_t t);
void vpa_stack_samples_free(struct vpa_stack_samples *s);

#endif

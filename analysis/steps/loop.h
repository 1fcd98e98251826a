/* loop.h - the denoising loop in a sequence of ops that nothing marks.
 *
 *	text encoder | step step step step | VAE              one loop
 *	step = embedding, layer layer ... layer, head, scheduler
 *
 * A transformer repeats its layer inside a step, a pipeline repeats the step, and may repeat blocks of
 * steps: the step is the smallest repetition that holds repetitions itself. How it is found:
 *
 *	1. Ops that occur equally often, and in turns, form a group: a repetition (loop_groups.h).
 *	2. A group whose turns hold at least 6 regular rounds of some op, which make up 30 % of
 *	   them, cuts the sequence into *passes* of the model. So does one with turns of 256
 *	   ops, since a convolutional network repeats no layer. Where the trace has attention,
 *	   rounds are layers only if each has it, and is of 6 ops or more: linear layers, slices of
 *	   attention and tiles of a decoder repeat too.
 *	3. The most frequent turn is the pattern; every pass is aligned with it (loop_match.c).
 *	4. Passes become steps (loop_passes.h): two that only differ by turns, or that a scheduler
 *	   follows only after the second, are the halves of one guided step; one that the
 *	   scheduler does not follow at all, although it follows the others, writes a cache and
 *	   is no step.
 *
 *	5. Where no attention says what a layer is, or where passes are nothing but layers, a larger
 *	   repetition that holds the steps is looked for. What the host reads in each of its turns,
 *	   as it reads a token, makes these the steps. Else there are two candidates, *rivals*, and
 *	   nothing is claimed.
 *	6. Such steps must take most of the time, and be alike: a part of an iteration repeats as well,
 *	   and of two iterations nothing else shows that they do.
 *	7. Turns that hold a loop with layers of its own, and much other work, are *rounds* of steps. These are not
 *	   known one by one, where nearly all of the time is of the other work, as copies of weights.
 *
 * *explained* is the share of ops inside the steps that the pattern explains: an op counts if it stands
 * where the pattern has it. A step that leaves ops of the pattern out, as step caches do, is explained; ops
 * that the pattern lacks are not. *confidence* is that share times how often, of sequences made with
 * a known answer and of real traces, such evidence led to the right level. Below VPA_LOOP_CONFIDENCE
 * explained nothing is claimed.
 *
 * Nothing is claimed either of fewer than VPA_LOOP_STEPS_MIN passes; of a loop whose passes mostly do
 * not follow each other directly (5 % of a pass's device time between them); of one pass alone,
 * however often its layers repeat.
 *
 * Costs n log n time for n ops and about 40 bytes an op. One thread. */
#ifndef VPA_ANALYSIS_STEPS_LOOP_H
#define VPA_ANALYSIS_STEPS_LOOP_H

#include <stddef.h>
#include <stdint.h>

#define VPA_LOOP_CONFIDENCE 0.8 /* of `explained` */

enum {
	VPA_LOOP_STEPS_MIN = 3,
	VPA_LOOP_OPS_MAX = 1 << 21 /* longer sequences are refused: pass their beginning */
};

/* What an op says about the level of a repetition that holds it. */
enum vpa_loop_kind {
	VPA_LOOP_OTHER,
	VPA_LOOP_ATTENTION, /* one call of it; of unfused attention its softmax */
	VPA_LOOP_READ       /* a few bytes that the host reads */
};

/* Ops of one stream in order of start. What two equal ops have in common is their symbol: any
 * numbers. The arrays are borrowed. */
struct vpa_loop_ops {
	const uint32_t *symbols;
	const uint32_t *duration_ns;
	const uint8_t *kinds; /* enum vpa_loop_kind; NULL: not known */
	size_t count;
};

struct vpa_loop_step {
	uint32_t begin, end; /* its ops: [begin, end) */
	/* 1: the next pass begins with op `end`, or after so little that it belongs to this step. */
	uint8_t followed;
	uint32_t next; /* if followed: the first op of that pass; else `end` */
};

struct vpa_loop {
	struct vpa_loop_step *steps; /* in order */
	size_t step_count;           /* 0: nothing is claimed */
	/* Steps in each of `steps`, which are rounds, and a step's device time, the median; 0: they are steps. */
	unsigned round_steps;
	uint64_t round_step_ns;
	unsigned passes_per_step; /* 2 and more: guidance */
	unsigned layers; /* repetitions inside most passes, of rounds inside a step; 0: none */
	size_t context_passes;        /* passes of the model that are no step */
	size_t cut;                   /* steps at the edges of the sequence that are not whole */
	double explained, confidence; /* 0..1, see above; also of what is not claimed */
	unsigned outside_ops;         /* of a pass, in none of its layers */
	/* If two repetitions may be the steps, the smaller first: nothing is claimed. Counts of 0: they do not. */
	struct vpa_loop_rival {
		size_t count;
		uint64_t median_ns; /* device time of one */
	} rivals[2];
	int is_irregular; /* 1: there are passes, but not how they make steps; nothing is claimed */
};

/* Finds the loop that takes most device time. The caller frees *out with vpa_loop_free(), also after
 * a failure. 0, VPT_ENOMEM, or VPT_EINVAL: too many ops. */
int vpa_loop_find(const struct vpa_loop_ops *ops, struct vpa_loop *out);
void vpa_loop_free(struct vpa_loop *loop); /* leaves it empty */

#endif

/* reductions.h - gradients that are summed over ranks more often than the optimizer uses them.
 *
 * DDP sums all gradients in each backward pass, unless no_sync() says that more passes follow. Then one optimizer step has several
 * passes with the same all-reduces, of which only the last is needed.
 *
 *	thread of the optimizer    forward           forward           optimizer
 *	autograd's, or another             R1 R2 R3          R1 R2 R3
 *
 * Reductions are all-reduces launched by another thread than the optimizer's. Work that the optimizer's thread launched ends a pass.
 * Nothing is said where
 *
 *	an optimizer step has one pass, or other passes than the others
 *	the optimizer's thread all-reduces the same, as activations in tensor parallelism
 *	the GPU also scatters what it reduces, as sharded gradients need it in each pass
 *
 * Steps begin to count with the first optimizer step of the trace, which tells its thread. */
#ifndef VPA_ANALYSIS_MODEL_REDUCTIONS_H
#define VPA_ANALYSIS_MODEL_REDUCTIONS_H

#include "analysis/report/report.h"

#include <stddef.h>
#include <stdint.h>

enum vpa_training_part {
	VPA_TRAINING_WORK, /* of a forward or backward pass */
	VPA_TRAINING_OPTIMIZER,
	VPA_TRAINING_ALL_REDUCE,
	VPA_TRAINING_SCATTER
};

struct vpa_training_op {
	uint64_t kind;   /* any number that tells all-reduces apart: kernel, size */
	uint32_t thread; /* any number of the thread that launched it */
	uint8_t part;    /* enum vpa_training_part */
};

/* What the optimizer's thread all-reduces, as activations and losses, is of few kinds. */
enum { VPA_TRAINING_KINDS = 16 };

/* Of one GPU. Zeroed at first. */
struct vpa_training {
	uint64_t kinds[VPA_TRAINING_KINDS]; /* that the optimizer's thread all-reduces */
	size_t kind_count;
	uint64_t pass,
		first_pass; /* numbers for the all-reduces of this pass, and of the first one of the step */
	size_t in_step,
		passes; /* passes that have ended in this step; in each one before, 0: there was none */
	uint32_t thread;       /* of the optimizer */
	uint8_t has_optimizer; /* so its thread is known */
	uint8_t is_in_pass;    /* it has all-reduces already */
	uint8_t differs;       /* passes do, or not only gradients are reduced so */
};

/* Takes the next op of the GPU, by start. Returns whether it is a reduction. */
int vpa_training_take(struct vpa_training *t, const struct vpa_training_op *op);

/* What the GPUs say together. */
struct vpa_reducing vpa_training_says(const struct vpa_training *gpus, size_t count);

#endif

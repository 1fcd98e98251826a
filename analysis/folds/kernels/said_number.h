/* said_number.h - numbers that annotations of ranges say of their kernels: {"flop": N}, {"bytes": N}. */
#ifndef VPA_ANALYSIS_FOLDS_KERNELS_SAID_NUMBER_H
#define VPA_ANALYSIS_FOLDS_KERNELS_SAID_NUMBER_H

#include "analysis/folds/fold.h"

/* The numbers of one key, each looked up once. Zero-initialised; the key with its quotes. */
struct vpa_said_number {
	const char *key;
	uint64_t *values; /* by payload: 0 not looked up, else 1 + number */
	size_t cap;
	int failed; /* no memory */
};

/* The annotation's number. 0: it has none, or one beyond 2^63. */
uint64_t vpa_said_number(struct vpa_said_number *s, const struct vpa_model *m, uint32_t payload);

/* The innermost range around a launch that says the number of one of `count` keys; NULL: none, or one that began before
 * the window, which may have had more kernels. */
const struct vpa_range *vpa_said_range(struct vpa_said_number *keys, size_t count,
	const struct vpa_model *m, const struct vpa_op_stretch *stretch, uint64_t at_ns);

void vpa_said_number_free(struct vpa_said_number *s);

#endif

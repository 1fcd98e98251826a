/* kineto_shapes.h - the shapes of an operator's inputs, which PyTorch's profiler records with
 * record_shapes=True. */
#ifndef VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_SHAPES_H
#define VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_SHAPES_H

#include "formats/import/kineto/text/kineto_value.h"

enum { VPT_KINETO_RANK_MAX = 8 };

struct vpt_kineto_shape {
	uint64_t sizes[VPT_KINETO_RANK_MAX];
	size_t rank;
};

/* "Input Dims" of the event's arguments, which may be NULL; of older versions "Input dims". NULL: none. */
const struct vpt_kineto_value *vpt_kineto_dims(const struct vpt_kineto_value *args);

/* The shape of an input: a list of 1 to 8 sizes, all of them positive. Returns 0 if it is not one; `sizes` may be
 * NULL. */
int vpt_kineto_shape(const struct vpt_kineto_value *sizes, struct vpt_kineto_shape *out);

/* The factors multiplied; 0: more than 2^63. */
uint64_t vpt_kineto_product(const uint64_t *factors, size_t count);

#endif

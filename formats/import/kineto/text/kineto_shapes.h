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

enum { VPT_KINETO_SHAPES_BYTES = 256 };

/* All of them as text: "4096x768 768x3072", a list of tensors in brackets; what is no tensor is left out. Returns the
 * length; 0: no shape is there, or they need more bytes. */
size_t vpt_kineto_shapes_text(
	const struct vpt_kineto_value *dims, char text[VPT_KINETO_SHAPES_BYTES]);

/* The factors multiplied; 0: more than 2^63. */
uint64_t vpt_kineto_product(const uint64_t *factors, size_t count);

#endif

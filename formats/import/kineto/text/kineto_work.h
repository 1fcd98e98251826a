/* kineto_work.h - what the shapes and types of its inputs say of an operator's work. PyTorch's profiler records them
 * with record_shapes=True. */
#ifndef VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_WORK_H
#define VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_WORK_H

#include "formats/import/kineto/text/kineto_value.h"

/* ---- kineto_flop.c: how many floating-point operations an operator does ---- */

/* Matrix products, fused attention and convolutions, forward; a multiplication and an addition are two operations.
 * `args` are the event's arguments, or NULL. 0: another operator, no shapes, or not those that it takes;
 * also more than 2^63, attention of which nothing says whether its mask is causal, and convolutions of which
 * nothing says stride and padding. Any thread. */
uint64_t vpt_kineto_flop(struct vpt_text name, const struct vpt_kineto_value *args);

/* ---- kineto_convolution.c: how many floating-point operations a convolution does ---- */

/* In one to six dimensions, forward and transposed, by the shapes of input and weight and what "Concrete Inputs" say of padding, stride,
 * dilation and groups. 0: another operator, or some of these are not there or do not fit. Any thread. */
uint64_t vpt_kineto_convolution(struct vpt_text name, const struct vpt_kineto_value *args);

/* ---- kineto_traffic.c: how much memory an operator reads and writes at least ---- */

/* Elementwise operators, copies, fills, norms, softmax, reductions and torch.cat: each input is read once, and the
 * result written once. `args` are the event's arguments, or NULL. Sets *is_elements where the trace does not have the
 * type: then the number is of elements. Returns bytes; 0: another operator, no shapes, or not those that it takes;
 * also more than 2^63. Any thread. */
uint64_t vpt_kineto_traffic(
	struct vpt_text name, const struct vpt_kineto_value *args, int *is_elements);

#endif

/* kineto_flop.h - how many floating-point operations an operator of PyTorch does, by the shapes of its
 * inputs, which the profiler records with record_shapes=True. */
#ifndef VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_FLOP_H
#define VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_FLOP_H

#include "formats/import/kineto/text/kineto_value.h"

/* Matrix products, fused attention and convolutions, forward; a multiplication and an addition are two operations.
 * `args` are the event's arguments, or NULL. 0: another operator, no shapes, or not those that it takes;
 * also more than 2^63, attention of which nothing says whether its mask is causal, and convolutions of which
 * nothing says stride and padding. Any thread. */
uint64_t vpt_kineto_flop(struct vpt_text name, const struct vpt_kineto_value *args);

#endif

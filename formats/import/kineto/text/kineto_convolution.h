/* kineto_convolution.h - how many floating-point operations a convolution of PyTorch does; a part of kineto_flop.h. */
#ifndef VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_CONVOLUTION_H
#define VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_CONVOLUTION_H

#include "formats/import/kineto/text/kineto_value.h"

/* In one to six dimensions, forward and transposed, by the shapes of input and weight and what "Concrete Inputs" say of padding, stride,
 * dilation and groups. 0: another operator, or some of these are not there or do not fit. Any thread. */
uint64_t vpt_kineto_convolution(struct vpt_text name, const struct vpt_kineto_value *args);

#endif

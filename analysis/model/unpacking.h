/* unpacking.h - kernels that unpack weights of few bits for the product or convolution that follows them, in PyTorch's own operators.
 *
 * The first shifts or masks bytes, or shifts words to the right, as GPTQ's weights need it. What runs between it and the product on
 * the stream is casts, scales, sums and joins, and copies of a few bytes. */
#ifndef VPA_ANALYSIS_MODEL_UNPACKING_H
#define VPA_ANALYSIS_MODEL_UNPACKING_H

#include "analysis/names/families.h"
#include "analysis/names/number_format.h"
#include "formats/base/text.h"

enum vpa_unpacking_part {
	VPA_UNPACKING_NONE, /* ends it */
	VPA_UNPACKING_BEGINS,
	VPA_UNPACKING_GOES_ON,
	VPA_UNPACKING_IS_USED /* ends it, and is what it was for */
};

/* Whether a compiler fuses a kernel with those beside it. It made some of several operators already, and a change of
 * layouts for convolutions is fused with nothing. */
static inline int vpa_is_fusible(const struct vpa_kernel_class *k)
{
	return (k->family == VPA_FAMILY_ELEMENTWISE || k->family == VPA_FAMILY_LAYOUT ||
		       k->family == VPA_FAMILY_REDUCE || k->family == VPA_FAMILY_NORM ||
		       k->family == VPA_FAMILY_INDEX) &&
	       !vpa_is_marked(k->marks, VPA_MARK_FUSED) &&
	       !vpa_is_marked(k->marks, VPA_MARK_CONV_LAYOUT);
}

/* Copies and memsets go on. */
static inline enum vpa_unpacking_part vpa_unpacking_part(
	const struct vpa_kernel_class *k, struct vpt_text name)
{
	if (k->family == VPA_FAMILY_GEMM || k->family == VPA_FAMILY_CONV)
		return VPA_UNPACKING_IS_USED;
	if (k->family == VPA_FAMILY_QUANT)
		return vpa_is_of_bits(name.text, name.len) ? VPA_UNPACKING_BEGINS
							   : VPA_UNPACKING_GOES_ON;
	if (!vpa_is_fusible(k))
		return VPA_UNPACKING_NONE;
	return vpt_text_holds(name, "rshift_kernel_cuda") ? VPA_UNPACKING_BEGINS
							  : VPA_UNPACKING_GOES_ON;
}

#endif

/* number_format.h - the number format of a matrix product, by its kernel's name; and what unpacks numbers for it. */
#ifndef VPA_ANALYSIS_NAMES_NUMBER_FORMAT_H
#define VPA_ANALYSIS_NAMES_NUMBER_FORMAT_H

#include <stddef.h>

enum vpa_precision {
	VPA_PRECISION_UNKNOWN,
	VPA_PRECISION_FP64,
	VPA_PRECISION_FP32, /* without tensor cores */
	VPA_PRECISION_TF32,
	VPA_PRECISION_16, /* BF16 or FP16 */
	VPA_PRECISION_8,  /* FP8, INT8 or fewer bits */
	VPA_PRECISIONS
};

/* The format of the factors; sums may be wider. `name` as in vpa_classify(), of a kernel of family
 * GEMM. */
enum vpa_precision vpa_precision_of(const char *name, size_t len);

/* Whether a product loads one element at a time. CUTLASS and cuBLAS write the elements per load: "align8" is the best,
 * "align1" the worst. */
int vpa_is_unaligned(const char *name);

/* What a library runs where it has no kernel for a format or a GPU. */
enum vpa_fallback {
	VPA_FALLBACK_NONE,
	VPA_FALLBACK_NAIVE_CONV, /* MIOpen's reference convolutions, one thread for each output */
	VPA_FALLBACK_ANY_ISA     /* Tensile's products for any instruction set of AMD's */
};
enum vpa_fallback vpa_fallback_of(const char *name);

/* Whether a kernel of the family quant shifts or masks bytes, as PyTorch's own operators do to unpack numbers of few bits. Such
 * a kernel is one of several that unpack together. */
int vpa_is_of_bits(const char *name, size_t len);

const char *vpa_precision_name(
	enum vpa_precision precision); /* "unknown", "fp64", "fp32", "tf32", "16 bit", "8 bit" */

#endif

/* operands.h - kernels that only prepare an operand for the product that follows on their stream: they quantise it in several steps, or
 * copy the input of a convolution into columns. Private to neighbours.c and operands.c. */
#ifndef VPA_ANALYSIS_FOLDS_KERNELS_OPERANDS_H
#define VPA_ANALYSIS_FOLDS_KERNELS_OPERANDS_H

#include "analysis/model/model.h"

/* What a kernel is to them, a bit each. */
enum {
	VPA_OPERAND_FUSIBLE = 1,
	VPA_OPERAND_SCALES = 2,  /* begins to quantise: absolute values for a scale, or limits */
	VPA_OPERAND_NARROWS = 4, /* casts to 8 bits */
	VPA_OPERAND_PRODUCT = 8,
	VPA_OPERAND_NARROW = 16, /* the product's operands have 8 bits */
	VPA_OPERAND_COLUMNS = 32,
	VPA_OPERAND_FILL = 64, /* clears the sum of a product */
	VPA_OPERAND_ADD = 128  /* adds a bias */
};

uint8_t vpa_operand_part(const struct vpa_kernel_class *k, struct vpt_text name);

/* What ran last on a stream. */
struct vpa_operand_lane {
	struct vpa_quantised packing; /* so far */
	uint64_t chain_longest_ns;    /* of its last chain */
	uint64_t fill_ns;             /* of the op before, if it is such */
	uint8_t narrowed;             /* that one casts to 8 bits */
	uint8_t conv;                 /* 0: in none; 1: after its columns; 2: after its product */
};

struct vpa_operands {
	struct vpa_quantised packing;
	uint32_t product; /* 1 + the kernel that packed operands are for; 0: none yet */
	struct vpa_column_convs convs;
};

/* Looks at ops [begin, end) of one stream, by what each is. Clears `joins` of those that are such: they are fused with nothing else. */
void vpa_packing_find(struct vpa_operands *s, struct vpa_operand_lane *l, const struct vpa_ops *ops,
	const uint8_t *parts, uint8_t *joins, size_t begin, size_t end);
void vpa_column_convs_find(struct vpa_operands *s, struct vpa_operand_lane *l,
	const struct vpa_ops *ops, const uint8_t *parts, uint8_t *joins, size_t begin, size_t end);

#endif

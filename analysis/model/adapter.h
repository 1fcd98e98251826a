/* adapter.h - low-rank adapters (LoRA) that run beside a layer instead of being a part of its weights.
 *
 * Right after the layer's matrix product come two much shorter ones, each perhaps with the sum of its parts (split-K), then a
 * multiplication by the scale, and an addition to what the layer gave: kernels of their own, or one that a compiler fused. The input
 * may be cast for it first. Which of the ops of a stream do that is told from their names and lengths, and the sizes of their
 * grids: the first product has few columns, so the two are never of one shape, as those of keys and values are. */
#ifndef VPA_ANALYSIS_MODEL_ADAPTER_H
#define VPA_ANALYSIS_MODEL_ADAPTER_H

#include "analysis/names/families.h"
#include "formats/base/text.h"

#include <stddef.h>
#include <stdint.h>

/* What a kernel may be in it. Bits; a fused one is VPA_PART_SCALE and VPA_PART_ADD. */
enum {
	VPA_PART_PRODUCT = 2,
	VPA_PART_SPLIT_K = 4, /* the sum of a product's parts */
	VPA_PART_SCALE = 8,
	VPA_PART_ADD = 16,
	VPA_PART_CAST = 32
};

/* The most ops that an answer depends on. */
enum { VPA_ADAPTER_OPS = 10 };

struct vpa_adapter_op {
	uint64_t start_ns, end_ns;
	uint32_t kernel; /* any number that tells kernels apart */
	uint32_t blocks; /* of its grid; 0: not known */
	uint8_t part;
};

struct vpa_adapter {
	size_t kernels;         /* how many of the last ops it is */
	uint32_t first, second; /* kernels of the products */
	/* Whether both are at most a third of the layer's. A small layer takes no longer than its adapter, so others with the same
	 * kernels may be one too. */
	int is_small;
};

/* Any thread. */
uint8_t vpa_adapter_part(const struct vpa_kernel_class *k, struct vpt_text name);

/* Whether the last of consecutive ops of one stream is the last one of an adapter. `count` up to VPA_ADAPTER_OPS. */
int vpa_adapter_ends(const struct vpa_adapter_op *ops, size_t count, struct vpa_adapter *out);

/* ---- adapters by their products ---- */

enum { VPA_ADAPTER_PAIRS = 64 };

struct vpa_adapter_pair {
	uint32_t first, second;
	uint64_t count, small; /* adapters; those of them that are small */
	uint64_t kernels, total_ns, span_ns;
};

/* Zeroed at first. Further pairs are left out. */
struct vpa_adapter_pairs {
	struct vpa_adapter_pair pairs[VPA_ADAPTER_PAIRS];
	size_t count, last;
};

/* The pair of an adapter, which is added where it is new. NULL: there are too many. */
struct vpa_adapter_pair *vpa_adapter_pair_of(
	struct vpa_adapter_pairs *p, const struct vpa_adapter *a);

/* Whether most adapters with these products are small. */
static inline int vpa_adapter_pair_is_one(const struct vpa_adapter_pair *p)
{
	return p->count && p->small >= p->count - p->small;
}

#endif

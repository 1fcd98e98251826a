/* slice_shapes.h - interns what ops have in common. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_SLICE_SHAPES_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_SLICE_SHAPES_H

#include "analysis/base/index.h"
#include "formats/chunk/batch.h"

#include <stdint.h>

struct vpa_resolver;

/* What ops have in common: a kernel with its launch configuration on a stream, or a kind of copy. No
 * padding: shapes are compared as bytes. */
struct vpa_ex_shape {
	uint64_t node;  /* of a CUDA graph */
	uint64_t bytes; /* of a copy */
	uint32_t kind;  /* enum vpa_op_kind */
	uint32_t stream, kernel;
	uint32_t grid[3], block[3], cluster[3];
	uint32_t static_shared, dynamic_shared, registers, local, graph;
	uint32_t copy_kind, source, target, value;
	uint32_t unused;
};

/* Blocks in a grid or threads in a block; UINT64_MAX on overflow. */
static inline uint64_t vpa_ex_product(const uint32_t size[3])
{
	uint64_t n = (uint64_t)size[0] * size[1];

	return __builtin_mul_overflow(n, (uint64_t)size[2], &n) ? UINT64_MAX : n;
}

/* All zeros is an empty set. */
struct vpa_ex_shapes {
	struct vpt_strings shapes; /* struct vpa_ex_shape, as bytes */
	uint32_t *of_row; /* 1 + shape, by row of the chunk's CONFIG, on the current stream */
	size_t row_count, row_cap;
	struct vpa_index nodes; /* (shape without node, node) */
	uint32_t *of_node;      /* shape with the node, by row of `nodes` */
	size_t node_cap;
};

void vpa_ex_shapes_free(struct vpa_ex_shapes *o);
void vpa_ex_shape_get(const struct vpa_ex_shapes *o, uint32_t id, struct vpa_ex_shape *out);

/* Begins a section of this batch. Returns 0 or VPT_ENOMEM, as do all that give a shape's number. */
int vpa_ex_shapes_section(struct vpa_ex_shapes *o, const struct vpt_batch *b);
/* The shape of a row of CONFIG outside graphs; the row may be missing. */
int vpa_ex_config_shape(struct vpa_ex_shapes *o, struct vpa_resolver *resolver,
	const struct vpt_batch *b, uint64_t row, uint32_t stream, uint32_t *out);
/* The same shape as a node of a graph. */
int vpa_ex_node_shape(struct vpa_ex_shapes *o, uint64_t node, uint32_t *shape);
int vpa_ex_copy_shape(struct vpa_ex_shapes *o, const struct vpt_section *s, uint32_t row,
	uint32_t stream, uint32_t *out);

/* Starts over when there are too many shapes, so that a trace of ever new ones does not use ever more
 * memory. Returns 1 if it did: the caller moves the shapes it still needs and frees *former. */
int vpa_ex_shapes_renew(struct vpa_ex_shapes *o, struct vpt_strings *former);
int vpa_ex_shape_move(struct vpa_ex_shapes *o, const struct vpt_strings *former, uint32_t *shape);

#endif

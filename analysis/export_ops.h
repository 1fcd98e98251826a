/* export_ops.h - ops on their way out. For export_ops*.c alone. */
#ifndef VPA_ANALYSIS_EXPORT_OPS_H
#define VPA_ANALYSIS_EXPORT_OPS_H

#include "analysis/export_parts.h"

/* What ops have in common: a kernel with its launch configuration, a kind of copy. No padding: it is compared as
 * bytes. */
struct vpa_ex_shape {
	uint32_t kind; /* enum vpa_op_kind */
	uint32_t kernel;
	uint32_t grid[3], block[3], cluster[3];
	uint32_t static_shared, dynamic_shared, registers, local, graph;
	uint32_t copy_kind, source, target, value;
};

struct vpa_ex_op {
	uint64_t start_ns, end_ns, correlation, node, bytes;
	uint32_t stream, shape;
};

/* A kernel as Perfetto knows it: with all that is alike from launch to launch, as a rule. No padding either. */
struct vpa_ex_variant {
	uint32_t kernel, device, major, minor, registers, static_shared, dynamic_shared, local;
	uint32_t block[3], cluster[3];
};

/* Encoded fields, somewhere in vpa_ex_ops.tails. */
struct vpa_ex_tail {
	size_t begin, size;
};

struct vpa_ex_ops {
	struct vpa_ex_op *items; /* [begin, count) wait */
	size_t begin, count, cap;
	size_t sorted; /* so many of them are in order */
	struct vpt_strings shapes;
	uint32_t *shape_of; /* 1 + shape, by row of the chunk's CONFIG */
	size_t shape_count, shape_cap;
	const struct vpt_batch *batch;
	struct vpa_index tail_index; /* shape, stream */
	struct vpa_ex_tail *tails;
	size_t tail_cap;
	struct vpt_pb encoded;
	struct vpt_strings kernels; /* struct vpa_ex_variant, as bytes */
	uint32_t *copy_names;       /* 1 + text, by shape */
	size_t copy_name_cap;
	struct vpa_ex_stream {
		uint32_t context; /* 0: not told yet */
		int64_t priority;
		uint64_t flags;
		uint32_t name; /* text; 0: none */
		int described; /* by a LANE row */
	} * streams;
	size_t stream_cap;
	uint32_t *contexts; /* that have been told */
	int64_t *context_pids;
	uint64_t *context_ids;
	size_t context_count, context_cap, context_pid_cap, context_id_cap;
	uint32_t number; /* of the last op */
	int has_tables;
};

/* Made zeroed when it is asked for first. NULL: no memory. */
struct vpa_ex_stream *vpa_ex_stream_of(struct vpa_ex_ops *o, uint32_t stream);

/* export_ops_write.c: the event of the next op. 0 or why not. */
int vpa_ex_op_write(struct vpa_export *x, const struct vpa_ex_op *op);

#endif

/* ops.h - ops on their way out. For ops*.c, syncs.c and waits.c alone. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_OPS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_OPS_H

#include "analysis/export/perfetto/parts.h"

/* What ops have in common: a kernel with its launch configuration on a stream, a kind of copy. No padding: it is compared as
 * bytes. */
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

/* Blocks of a grid, threads of a block; the largest number where a file says so many that there is none. */
static inline uint64_t vpa_ex_product(const uint32_t size[3])
{
	uint64_t n = (uint64_t)size[0] * size[1];

	return __builtin_mul_overflow(n, (uint64_t)size[2], &n) ? UINT64_MAX : n;
}

struct vpa_ex_op {
	uint64_t start_ns, end_ns, correlation;
	uint32_t stream, shape;
};

/* A kernel as Perfetto knows it: with all that is alike from launch to launch, as a rule. No padding either. */
struct vpa_ex_variant {
	uint32_t kernel, device, stream, major, minor, registers, static_shared, dynamic_shared,
		local;
	uint32_t block[3], cluster[3];
};

/* Forms of up to so many bytes are copied as if they had as many. */
enum { VPA_EX_FORM_COPY = 64 };

/* All that the event of an op of a shape says besides when: encoded fields, somewhere in vpa_ex_ops.encoded. */
struct vpa_ex_form {
	uint32_t generation; /* in which all that it refers to was told; 0: not encoded yet */
	uint32_t size;
	size_t begin;
};

struct vpa_ex_ops {
	struct vpa_ex_op *items, *spare; /* [0, count) wait; spare: as many, to sort with */
	size_t count, cap, spare_cap;
	size_t *runs; /* where stretches that are in order begin */
	size_t run_count, run_cap;
	struct vpt_strings shapes; /* struct vpa_ex_shape, as bytes */
	uint32_t *shape_of; /* 1 + shape, by row of the chunk's CONFIG, on the stream at hand */
	size_t shape_count, shape_cap;
	struct vpa_index nodes;  /* shapes without node and nodes ... */
	uint32_t *shape_of_node; /* ... to shapes with it */
	size_t shape_of_node_cap;
	struct vpa_ex_form *forms; /* by shape */
	size_t form_cap;
	struct vpt_pb encoded;
	struct vpt_strings variants; /* struct vpa_ex_variant, as bytes */
	uint8_t *grids; /* by variant: how many grids are told with a kernel of its own */
	size_t grid_cap;
	struct vpa_index kernels; /* variant and blocks of the grid, 0 for all others: by number */
	uint32_t *kernel_told;    /* generation */
	size_t kernel_told_cap;
	struct vpa_ex_stream {
		uint32_t told;    /* generation */
		uint32_t context; /* 0: none yet */
		int64_t priority;
		uint64_t flags;
		uint32_t name; /* text; 0: none */
		struct vpa_ex_track slices;
	} * streams;
	size_t stream_cap;
	struct vpa_ex_context {
		int64_t pid;
		uint64_t id;
		uint32_t iid, told;
	} * contexts;
	size_t context_count, context_cap;
	struct vpa_ex_waits *waits; /* NULL: no stream was told to wait */
	struct vpa_ex_syncs *syncs; /* NULL: nobody waited for the device */
	uint32_t number;            /* of the last op */
	uint32_t tables_told;       /* generation */
};

/* Made zeroed when it is asked for first. NULL: no memory. */
struct vpa_ex_stream *vpa_ex_stream_of(struct vpa_ex_ops *o, uint32_t stream);

/* ops_write.c: the event of the next op. 0 or why not. */
int vpa_ex_op_write(struct vpa_export *x, const struct vpa_ex_op *op);

/* ops_slices.c: the next op as a slice on a track of its stream, in place of an event of Perfetto's for GPUs. */
int vpa_ex_op_slice(struct vpa_export *x, const struct vpa_ex_op *op, uint32_t number);
/* ops_forms.c: "Memcpy HtoD (pinned -> device)" */
uint32_t vpa_ex_copy_name(struct vpa_export *x, const struct vpa_ex_shape *s);

/* waits.c */
enum { VPA_EX_WAITS_MAX = 8 };
/* Takes a section of EVENT or SYNC. 0 or VPT_ENOMEM. */
int vpa_ex_waits_add(struct vpa_export *x, const struct vpt_section *s);
/* The ops that the next op has waited for; returns how many. Only where there are x->ops->waits. */
size_t vpa_ex_waits_of(struct vpa_export *x, const struct vpa_ex_op *op, uint32_t *numbers);
/* It has got its number. */
void vpa_ex_waits_done(struct vpa_export *x, const struct vpa_ex_op *op, uint32_t number);
/* The call that recorded what a wait of this number waits for, and its stream. Returns whether it is known. */
int vpa_ex_waits_record(const struct vpa_export *x, int64_t pid, uint64_t sync_id, uint32_t *stream,
	uint64_t *correlation);
void vpa_ex_waits_free(struct vpa_export *x);

/* syncs.c; `until` and `done` only where there are x->ops->syncs */
/* Takes a section of SYNC. 0 or VPT_ENOMEM. */
int vpa_ex_syncs_add(struct vpa_export *x, const struct vpt_section *s);
/* All ops that began before have been written. 0 or VPT_ENOMEM. */
int vpa_ex_syncs_until(struct vpa_export *x, uint64_t until_ns);
/* The next op has got its number, and all that began before it have been written. 0 or VPT_ENOMEM. */
int vpa_ex_syncs_done(struct vpa_export *x, const struct vpa_ex_op *op, uint32_t number);
void vpa_ex_syncs_free(struct vpa_export *x);

/* ops_forms.c: encodes the form of a shape, after having told all that it refers to. */
int vpa_ex_form_make(struct vpa_export *x, uint32_t shape);

#endif

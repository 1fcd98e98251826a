/* kernel_rows.h - the report's rows of kernels: by family, by name and by format; by operator; what they reach of a
 * GPU's peak; which could be one. Part of report.h; ../../folds/kernels/ defines the figures. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_KERNEL_ROWS_H
#define VPA_ANALYSIS_REPORT_ROWS_KERNEL_ROWS_H

#include "analysis/base/durations.h"
#include "analysis/names/families.h"
#include "analysis/names/number_format.h"
#include "analysis/report/rows/place.h"
#include "analysis/report/rows/unit_kind.h"

#include <stddef.h>
#include <stdint.h>

struct vpa_family_row {
	enum vpa_family family; /* of copies and memsets VPA_FAMILY_MEMCPY and VPA_FAMILY_MEMSET */
	uint64_t calls, total_ns, exclusive_ns;
	double share_of_busy; /* exclusive / busy of all devices */
};

/* Launches of a kernel of fewer thread blocks than the GPU has multiprocessors. */
struct vpa_few_blocks {
	uint64_t ns;      /* the sum of their durations */
	uint64_t idle_ns; /* that times the share of multiprocessors without a block */
	uint64_t blocks;  /* the most of one */
	int differ;       /* others have fewer */
};

struct vpa_kernel_row {
	const char *name; /* demangled where possible */
	enum vpa_family family;
	enum vpa_backend backend; /* VPA_BACKEND_NONE: not attention */
	uint64_t exclusive_ns;
	struct vpa_durations time;
	double blocks_mean; /* thread blocks of a call's grid; 0: not known */
	/* Means of its time, see launch_shape.h; negative: not known. */
	double blocks_per_sm, warps_per_sm, occupancy, sm_efficiency;
	unsigned marks;   /* see families.h */
	int tensor_cores; /* 1: its name says that it uses them */
	/* "FILE:LINE" that Inductor wrote it in, see inductor_cache.h; NULL: not known. */
	const char *source;
	uint32_t kernel; /* its number in the pass's model */
	struct vpa_few_blocks few;
};

/* Matrix products by the format of their factors. */
struct vpa_precision_row {
	enum vpa_precision precision;
	uint64_t calls, total_ns, exclusive_ns;
};

/* ---- kernels that could be one: neighbours.c, short_runs.c ---- */

/* Two or more kernels that run one after the other on a stream, elementwise or fused with such by a compiler; see
 * ../../folds/kernels/neighbours.c. */
struct vpa_chains {
	uint64_t count, kernels, total_ns; /* chains; kernels in them */
	uint64_t longest_ns;               /* of the longest kernel of each */
	const char *kernel; /* the elementwise one that takes most time; NULL: no chain */
};

/* Kernels that unpack numbers of less than a byte for a product or convolution: the first of them shifts or masks bytes, nothing
 * but copies is between. */
struct vpa_unpacking {
	uint64_t count, kernels, total_ns; /* chains; kernels in them */
	uint64_t other_kernels, other_ns;  /* of these, kernels that are not of the family quant */
};

/* Kernels that quantise an operand of a product of few bits in several steps; see ../../folds/kernels/neighbours.c. */
struct vpa_quantised {
	uint64_t count, kernels, total_ns; /* chains; kernels in them */
	uint64_t longest_ns;               /* of the longest kernel of each */
	const char *kernel;                /* the product; NULL: there is none */
};

/* Convolutions that copy their input into columns (vol2col, im2col) for a product: the copies, and all that is theirs. */
struct vpa_column_convs {
	uint64_t count, copy_ns, total_ns;
};

/* Backward passes that sum gradients over ranks, see ../../model/reductions.h. */
struct vpa_reducing {
	size_t passes; /* of an optimizer step, each with all gradients, on every GPU that trains; 0: one, or not known */
	int by_optimizer; /* its thread launches all all-reduces, so passes are not told apart */
};

/* The kernels of adapters beside layers, see ../../model/adapter.h. */
struct vpa_adapters {
	uint64_t count, kernels, total_ns; /* adapters; kernels in them */
	uint64_t span_ns; /* from the end of what is before each on its stream to its own */
	const char *first, *second; /* the products of most of that; NULL: there is none */
};

/* What activation checkpointing runs again in backward passes, see ../../model/recomputation.h. */
struct vpa_recomputed {
	uint64_t count, ops, total_ns; /* ranges that run a part again; ops that it launched */
};

/* Kernels that a library runs one after another to see which is the fastest, and the one that it keeps: ../../folds/gaps/trials.c. */
struct vpa_trials {
	uint64_t count, convs; /* products for which kernels were tried; of these, convolutions */
	uint64_t kernels, kernel_ns; /* tried: all but the last of each */
	uint64_t span_ns; /* from the start of the first one to that of the last, of all */
	uint64_t cause_ns[VPA_CAUSES]; /* of it, idle time that begins in a wait for an event */
	struct vpa_cause_time *causes; /* the same, of those with time, by ns, descending */
	size_t cause_count;
	struct vpa_place place; /* where most of it is */
	uint64_t place_ns;
	struct vpa_trial_span {
		uint64_t start_ns, end_ns;
	} * spans; /* of the first 4,096, by end */
	size_t span_count;
};

/* A sequence of kernels of less than 10 us each, without anything between, that a device runs more than once. */
struct vpa_short_run_row {
	int64_t device;
	const char *kernels; /* names up to their arguments, in order; the first six */
	uint64_t count;      /* of its kernels */
	uint64_t runs;       /* how often */
	uint64_t busy_ns,
		span_ns; /* of all runs: in kernels; from the first one's start to the last one's end */
};

/* ---- kernels that only move data a program could leave where it is, or as it is: moves.c ---- */

enum vpa_move {
	VPA_MOVE_NONE,
	VPA_MOVE_CAT,  /* joins tensors */
	VPA_MOVE_CAST, /* changes their type */
	VPA_MOVES
};

/* Such kernels of one place. */
struct vpa_move_row {
	enum vpa_move what;
	struct vpa_place place;
	uint64_t calls, total_ns;
};

/* ---- kernels whose format costs time: kernel_misfits.c ---- */

struct vpa_misfit_row {
	const char *id, *title, *advice; /* id: "align1-gemm" ... stable */
	const char *kernel;              /* the largest of them */
	uint64_t calls, total_ns, exclusive_ns;
	double share_of_busy; /* negative: not known */
};

/* ---- operations and bytes per second: flop_rates.c, byte_rates.c ---- */

/* Ranges that say how many operations their kernels do, by what those are. */
struct vpa_flop_row {
	int64_t device;
	const char *family; /* "gemm", "attention", "conv"; "several" of these; "other" */
	enum vpa_precision precision;
	uint64_t calls,
		kernel_ns; /* calls: such ranges; kernel_ns: sum of their kernels' durations */
	uint64_t flop;
	double tflops, peak_tflops; /* 10^12 per second; peak: negative if not known */
	double share_of_peak;       /* negative: not known */
};

/* Of a kernel, the calls whose ranges say how much memory they read and write at least. */
struct vpa_byte_row {
	int64_t device;
	const char *kernel;
	enum vpa_family family;
	int is_scattered; /* see families.h */
	uint64_t calls, kernel_ns, bytes;
	double gb_per_s, peak_gb_per_s; /* 10^9 per second; peak: negative if not known */
	double share_of_peak;           /* negative: not known */
};

/* ---- operators, and what stages are made of: operators.c, stage_families.c, stage_work.c ---- */

/* Calls of one operator with inputs of the same shapes. */
struct vpa_operator_row {
	const char *name, *shapes; /* "4096x768 768x3072"; NULL: not recorded */
	uint64_t calls, ops;
	/* Of its own, without operators inside it: sum of the ops' durations; time on the host, CUDA calls included. */
	uint64_t gpu_ns, host_own_ns;
	uint64_t host_ns;
	uint64_t graph_ops, graph_ns; /* of nodes of CUDA graphs that were captured in it */
	double tflops, gb_per_s;      /* of the calls that say their work; negative: none does */
};

struct vpa_stage_family_row {
	const char *stage;
	enum vpa_scope_kind kind; /* none: outside all */
	enum vpa_family family;
	uint64_t exclusive_ns, stage_ns; /* stage_ns: of all families of the stage */
	uint64_t tensor_ns; /* of exclusive_ns: kernels that use tensor cores by their name */
	/* Of a decoder's layout changes: kernels that join tensors, as torch.cat(), and that change types. */
	uint64_t cat_ns, cast_ns;
};

/* How a stage uses the GPU's multipliers. */
struct vpa_stage_work_row {
	const char *stage;
	enum vpa_scope_kind kind; /* none: outside all, or of several stages */
	uint64_t busy_ns;         /* exclusive time of its ops; of several stages 0 */
	double tensor_share; /* of it: kernels that use tensor cores by their name; negative: not known */
	uint64_t calls,
		flop_ns; /* ranges that say their operations; sum of the durations of their kernels */
	double tflop;    /* 10^12 operations of these; negative: none says any, like the rest */
	double tflops;   /* per second of busy_ns */
	double share_of_peak; /* of busy_ns, the time that the operations take at the peaks of their formats */
};

/* ---- the report's rows of CUDA graphs and of compilation. Part of report.h; ../../folds/kernels/graph_costs.c
 * defines the figures. ---- */

/* Launches of graphs with the same nodes: kernels, grids and node ids. */
struct vpa_graph_row {
	struct vpa_place place; /* of the first launch */
	const char *kernel;     /* of its first op; NULL: a copy or memset */
	uint64_t replays, nodes;
	uint64_t total_ns;  /* first node's start to last node's end, over all replays */
	uint64_t kernel_ns; /* sum of the nodes' durations */
};

/* "module", "graph", "capture": what such calls do; the last is from a capture's begin to its end. */
enum vpa_setup_kind { VPA_SETUP_MODULE, VPA_SETUP_GRAPH, VPA_SETUP_CAPTURE };

/* Calls of one name that load code or make graphs; "capture": from a capture's begin to its end. */
struct vpa_setup_row {
	enum vpa_setup_kind what;
	const char *call;
	uint64_t count, total_ns;
};

/* Steps of the loop whose ops outside graphs are the same: kernels and grids, equally often. */
struct vpa_repeats {
	uint64_t steps, distinct; /* steps that equal another one; kinds of them */
	uint64_t all_steps, ops;  /* ops: of those that equal another one */
	uint64_t save_at_most_ns; /* see DEFINITIONS.md */
};

struct vpa_graphs {
	uint64_t launches, nodes, left_out; /* left_out: launches after the first million */
	struct vpa_graph_row *rows;         /* by total_ns, descending; at most --top */
	size_t row_count, distinct;
	struct vpa_setup_row *setup; /* by total_ns, descending */
	size_t setup_count;
	struct vpa_repeats repeats;
	/* Of torch.compile, where ranges tell: regions, those of them that are a later version, and
	 * ranges of the compiler. */
	uint64_t compiled_regions, recompiles, compiler_ranges, compiler_ns;
};

#endif

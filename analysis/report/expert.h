/* expert.h - what people who tune a GPU pipeline look up by hand. Part of report.h; DEFINITIONS.md and
 * the file that fills it define every figure. */
#ifndef VPA_ANALYSIS_REPORT_EXPERT_H
#define VPA_ANALYSIS_REPORT_EXPERT_H

#include "analysis/base/durations.h"
#include "analysis/names/families.h"
#include "analysis/report/unit_kind.h"

#include <stddef.h>
#include <stdint.h>

/* ---- the checklist: ../folds/gaps/host_checks.c measures, checklist.c judges ---- */

/* The loop that a pipeline spends its time in: the units of ../pipeline/unit.h. */
struct vpa_check_loop {
	enum vpa_unit_kind kind;
	uint64_t count; /* of steps, those of all requests; 0: there is no loop */
	/* Steps, requests and iterations: on the host; others: on the device. first_end_ns: when the first
	 * one that counts has ended; of blocks, which have a warm-up, start_ns. */
	uint64_t start_ns, first_end_ns, end_ns;
	uint64_t span_ns; /* periods of the blocks or steps, the mean one for those without */
	/* Of the devices: in the units, or from each step to the next. */
	uint64_t busy_ns, idle_ns;
	/* 1: busy and idle time include the time between steps, and its causes are known. 0: they are the
	 * steps' own. */
	int is_whole;
	uint64_t blocking_calls; /* calls that wait for a device and begin in it */
	const char *
		ops_of; /* "step", "block" or "iteration": what ops_count counts; NULL: not known */
	uint64_t ops, ops_count;
};

enum vpa_check_status { VPA_CHECK_PASS, VPA_CHECK_WARN, VPA_CHECK_FAIL, VPA_CHECK_UNKNOWN };

struct vpa_check {
	const char *id; /* "gpu-busy" ... stable */
	const char *title;
	enum vpa_check_status status;
	double value; /* negative: not known */
	const char *unit;
	const char *shown; /* the value with its unit; NULL: not known */
	double pass_bound, warn_bound;
	int at_least;     /* 1: a value at or above a bound meets it; 0: below it */
	const char *note; /* what it is a figure of, or why it is unknown; NULL: nothing */
};

/* ---- CUDA graphs and compilation: ../folds/kernels/graph_costs.c ---- */

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

/* ---- steps by their kernels: folds/step_kinds_table.c, steps/step_kinds.c ---- */

/* What a kind of step is, compared with the full steps: those that run most. */
enum vpa_step_role {
	VPA_STEP_FULL,
	VPA_STEP_FEWER, /* at most four fifths of their ops, mostly the same ones; two or more */
	VPA_STEP_HALF,  /* exactly one of their halves */
	VPA_STEP_OTHER
};

/* Steps that run the same ops. */
struct vpa_step_kind {
	enum vpa_step_role role;
	uint64_t first, steps; /* first: the first one, counted from 0 */
	uint64_t ops;          /* of each step */
	uint64_t total_ns;     /* first op's start to last op's end, of all of them */
	double of_full;        /* ops / ops of the full steps; negative: there are none */
	uint64_t half_ops;     /* ops of the half that repeats the other one; 0: there is none */
	uint64_t second_ns;    /* time of the second halves */
	uint64_t saved_ns;     /* VPA_STEP_FEWER: as many full steps take that much longer */
};

enum vpa_steps_source { VPA_STEPS_UNKNOWN, VPA_STEPS_MARKED, VPA_STEPS_INFERRED };

struct vpa_step_kinds {
	enum vpa_steps_source source;
	uint64_t steps, left_out;    /* left_out: of kinds after the first 4,096 */
	uint64_t total_ns, full_ops; /* full_ops 0: no kind is frequent enough */
	uint64_t fewer, saved_ns;    /* steps of role VPA_STEP_FEWER */
	uint64_t paired, second_ns;  /* steps with two halves, and the second ones' time */
	struct vpa_step_kind *rows;  /* by total_ns, descending; at most --top */
	size_t row_count, distinct;
};

/* ---- overlap: folds/overlap.c ---- */

/* Time of a device by what runs at once, bits of enum vpa_overlap_kind; they sum to its busy time. */
enum vpa_overlap_kind { VPA_OVERLAP_COMPUTE = 1, VPA_OVERLAP_COMM = 2, VPA_OVERLAP_COPY = 4 };
enum { VPA_OVERLAPS = 8 };

struct vpa_overlap_row {
	int64_t device;
	uint64_t ns[VPA_OVERLAPS]; /* [0] is 0 */
};

struct vpa_stream_row {
	int64_t device, stream, pid;
	uint64_t ops, busy_ns; /* busy: union of its ops */
};

/* ---- collectives: ../folds/kernels/collectives_table.c ---- */

/* Those of one name, communicator and size on a device, without the ones that the window cuts. */
struct vpa_collective_row {
	int64_t device;
	const char *kind;  /* "all-reduce" ..., see ../names/collective_kinds.h */
	const char *name;  /* as the program has it, or the kernel's */
	const char *group; /* NULL: not known */
	uint64_t ranks;    /* of the group; 0: not known */
	uint64_t bytes;    /* of a message; 0: not known */
	uint64_t calls, total_ns, shortest_ns;
	double bus_gb_per_s,
		bus_gb_per_s_most; /* of all calls, of the shortest; negative: not known */
};

/* ---- short kernels: ../folds/kernels/short_runs.c ---- */

/* A sequence of kernels of less than 10 us each, without anything between, that a device runs more than once. */
struct vpa_short_run_row {
	int64_t device;
	const char *kernels; /* names up to their arguments, in order; the first six */
	uint64_t count;      /* of its kernels */
	uint64_t runs;       /* how often */
	uint64_t busy_ns,
		span_ns; /* of all runs: in kernels; from the first one's start to the last one's end */
};

/* ---- launches that wait: ../folds/queues.c ---- */

enum { VPA_DELAY_BINS = 5 };

/* A stream's launches, those of its ops in the window. */
struct vpa_queue_row {
	int64_t device, stream, pid;
	uint64_t launches;
	struct vpa_durations delay; /* from the start of the launch call to that of its first op */
	/* Delays below 10 us, 100 us, 1 ms, 10 ms, and others. */
	uint64_t bins[VPA_DELAY_BINS];
	/* Launches made and not begun, over the time from the first launch to the last op's start. */
	double waiting_mean;
	uint64_t waiting_min, waiting_p50, waiting_p95, waiting_max;
};

/* ---- kernels whose format costs time: ../folds/kernels/kernel_misfits.c ---- */

struct vpa_misfit_row {
	const char *id, *title, *advice; /* id: "align1-gemm" ... stable */
	const char *kernel;              /* the largest of them */
	uint64_t calls, total_ns, exclusive_ns;
	double share_of_busy; /* negative: not known */
};

/* ---- operations per second: ../folds/kernels/flop_rates.c ---- */

/* Ranges that say how many operations their kernels do, by what those are. */
struct vpa_flop_row {
	int64_t device;
	const char *family;    /* "gemm", "attention"; "several": kernels of both; "other" */
	const char *precision; /* see number_format.h */
	uint64_t calls,
		kernel_ns; /* calls: such ranges; kernel_ns: sum of their kernels' durations */
	uint64_t flop;
	double tflops, peak_tflops; /* 10^12 per second; peak: negative if not known */
	double share_of_peak;       /* negative: not known */
};

/* ---- bytes per second: ../folds/kernels/byte_rates.c ---- */

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

/* ---- operators: ../folds/kernels/operators.c ---- */

/* Calls of one operator with inputs of the same shapes. */
struct vpa_operator_row {
	const char *name, *shapes; /* "4096x768 768x3072"; NULL: not recorded */
	uint64_t calls, ops;
	/* Of its own, without operators inside it: sum of the ops' durations; time on the host, CUDA calls included. */
	uint64_t gpu_ns, host_own_ns;
	uint64_t host_ns;
	double tflops, gb_per_s; /* of the calls that say their work; negative: none does */
};

/* ---- what stages are made of: ../folds/kernels/stage_families.c, ../folds/kernels/attention_shapes.c ---- */

struct vpa_stage_family_row {
	const char *stage;
	enum vpa_scope_kind kind; /* none: outside all */
	enum vpa_family family;
	uint64_t exclusive_ns, stage_ns; /* stage_ns: of all families of the stage */
	uint64_t
		cat_ns; /* of a decoder's layout changes: kernels that join tensors, as torch.cat() */
};

enum vpa_attention_kind { VPA_ATTENTION_UNKNOWN, VPA_ATTENTION_SELF, VPA_ATTENTION_CROSS };

/* "unknown", "self", "cross" */
const char *vpa_attention_kind_name(enum vpa_attention_kind kind);

/* Calls of one attention kernel with one grid. */
struct vpa_attention_shape {
	const char *kernel;
	enum vpa_backend backend;     /* VPA_BACKEND_NONE: not known */
	enum vpa_attention_kind kind; /* unknown: no range says */
	uint64_t blocks;              /* thread blocks of the grid; 0: not known */
	uint64_t calls, total_ns, min_ns, max_ns;
};

/* ---- marks on the host, of a trace without work on a GPU: ../folds/marked_host.c ---- */

struct vpa_marked_row {
	const char *kind;          /* "request", "block" ... */
	const char *name;          /* of requests and stages; NULL: those of one kind are one row */
	const char *label;         /* both, indented by two blanks for each mark around it */
	unsigned depth;            /* marks around it */
	struct vpa_durations host; /* from start to end */
};

struct vpa_expert {
	struct vpa_check_loop loop;
	/* From the start of the launch call to the start of its first op, where the device was idle
	 * when the call began. */
	uint64_t launches_while_idle, launch_p50_ns, launch_p95_ns;
	/* The same for launches of CUDA graphs, which are not among those. */
	uint64_t graphs_while_idle, graph_p50_ns;
	struct vpa_check *checks;
	size_t check_count;
	struct vpa_graphs graphs;
	struct vpa_step_kinds step_kinds;
	struct vpa_overlap_row *overlaps; /* a row per device */
	size_t overlap_count;
	struct vpa_stream_row *streams; /* by device, then busy_ns, descending; at most --top */
	size_t stream_count, streams_used;
	struct vpa_collective_row
		*collectives; /* by device, then total_ns, descending; at most --top */
	size_t collective_count, collectives_used;
	struct vpa_short_run_row *short_runs; /* by span_ns, descending; at most --top */
	size_t short_run_count, short_runs_used;
	uint64_t short_kernels, short_kernel_ns; /* all kernels of less than 10 us */
	struct vpa_queue_row *queues; /* by device, then launches, descending; at most --top */
	size_t queue_count, queues_used;
	struct vpa_misfit_row *misfits; /* by exclusive_ns, descending */
	size_t misfit_count;
	struct vpa_flop_row *flop_rates; /* by device, then kernel_ns, descending */
	size_t flop_rate_count;
	struct vpa_byte_row *byte_rates; /* by kernel_ns, descending; at most --top */
	size_t byte_rate_count, byte_rates_used;
	struct vpa_operator_row
		*operators; /* by gpu_ns, then host_own_ns, descending; at most --top */
	size_t operator_count, operators_used;
	/* By stage_ns, then exclusive_ns, descending; they sum to the devices' busy time. None if
	 * nothing marks a stage. */
	struct vpa_stage_family_row *stage_families;
	size_t stage_family_count;
	struct vpa_attention_shape *shapes; /* by total_ns, descending; at most --top */
	size_t shape_count, shapes_used;
	struct vpa_marked_row *marked; /* each after the row around it */
	size_t marked_count;
};

/* ---- what the program said of itself, by annotations and metadata: ../folds/said/ ---- */

/* Moments at which the program said, under one label, what an allocator holds. Bytes of ~0: not said. */
struct vpa_memory_label {
	const char *label;
	int64_t device; /* CUDA ordinal; -1: not said */
	uint64_t count, first_ns;
	uint64_t allocated_bytes, reserved_bytes; /* at the newest one */
	/* The most that was allocated since the label before, of all of them; peak_exact: and not more. */
	uint64_t peak_bytes;
	int peak_exact;
	double unused_share; /* of the reserved bytes, at the newest one; below 0: not known */
	/* Allocated bytes of the newest one less those of the first one that says them; of one moment there is none. */
	int64_t growth_bytes;
};

/* A stage, or one that the program calls a component: of those whose frames it gives, and of all if there is a component. */
struct vpa_component {
	const char *name;
	int is_component;
	uint64_t frames; /* that its instances make; 0: not said */
	int on_gpu;      /* some instance has work on a GPU */
	/* First op's start to last op's end of those that have; if none has, from start to end on the host. */
	struct vpa_durations time, host;
	double fps;          /* frames for each second of those that say some; below 0: not known */
	uint64_t peak_bytes; /* the most that PyTorch's allocator held in it; ~0: not known */
};

/* A module or network, as the program gave it. */
struct vpa_model_size {
	const char *name, *stage;   /* stage NULL: not said */
	uint64_t parameters, bytes; /* bytes ~0: not said */
	const char *
		dtypes; /* "bfloat16:1300000000 float32:1024", by parameters, falling; NULL: not said */
};

/* A compilation of torch.compile that the program told of. */
struct vpa_compilation {
	const char *id, *function; /* "3/1": code 3, its second version; function NULL: not said */
	const char *reason;  /* why it was compiled again; NULL: not said, or it is the first */
	int64_t block, step; /* indexes of those around it; -1: none, or no index */
	const char *place;   /* the innermost range around it; NULL: none */
	uint64_t start_ns, host_ns;
};

/* A step, context pass or iteration; a block where there are none, and a request where there is no block. */
struct vpa_iteration {
	enum vpa_scope_kind kind;
	int64_t index, block, timestep; /* -1: not given; block: of the one around it */
	int64_t request;                /* number of the one around it, from 0; -1: none */
	uint64_t start_ns, host_ns;
	uint64_t gpu_ns, busy_ns,
		idle_ns; /* gpu_ns: first op to last op; busy, idle: as for ranges */
	uint64_t ops;
};

/* What the program said of the run. */
struct vpa_fact_of_run {
	const char *key, *value;
};

struct vpa_said {
	struct vpa_fact_of_run *facts; /* as recorded */
	size_t fact_count;
	struct vpa_memory_label *memory_labels; /* by first_ns, then device; at most --top */
	size_t memory_label_count, memory_labels_used;
	struct vpa_component *components; /* components first, then by time, descending */
	size_t component_count;
	struct vpa_model_size *models; /* by parameters, descending */
	size_t model_count;
	struct vpa_compilation *compilations; /* by start_ns; the first 4,096 */
	size_t compilation_count, compilations_used;
	struct vpa_iteration *iterations; /* by start_ns; the first 4,096 */
	size_t iteration_count, iterations_used;
};

#endif

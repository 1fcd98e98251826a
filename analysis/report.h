/* report.h - the results of an analysis: plain tables, ready to be shown. DEFINITIONS.md and the
 * fold that fills it define every number; renderers only lay them out.
 *
 * All memory belongs to the report's arena and is freed by vpa_report_free(). Strings may hold any
 * bytes except NUL: whoever prints them must escape them. Times are integer nanoseconds on the
 * trace clock. */
#ifndef VPA_ANALYSIS_REPORT_H
#define VPA_ANALYSIS_REPORT_H

#include "analysis/arena.h"
#include "analysis/causes.h"
#include "analysis/code_line.h"
#include "analysis/counter.h"
#include "analysis/expert.h"
#include "formats/error.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The distribution of durations. Percentiles are nearest rank: exact up to 4,096 samples, then from
 * a logarithmic histogram with at most 1 % error, and `approximate` is set. */
struct vpa_spread {
	uint64_t count, total_ns, min_ns, p50_ns, p90_ns, p95_ns, p99_ns, max_ns;
	double mean_ns, deviation_ns; /* population standard deviation */
	int approximate;
};

struct vpa_gpu {
	int64_t device;
	const char *name, *uuid, *pci;
	uint32_t compute_major, compute_minor, sm_count;
	uint64_t sm_threads, sm_registers, sm_shared; /* per multiprocessor; 0: not known */
	uint64_t memory_bytes;
	int simulated;
};

struct vpa_pair {
	const char *key, *value;
};

enum vpa_metric_state { VPA_OK, VPA_DEGRADED, VPA_UNAVAILABLE };

/* A stretch of time in which records are missing, or may be. */
struct vpa_loss {
	uint64_t start_ns, end_ns; /* end ~0: unknown */
};

struct vpa_verdict {
	int complete;         /* 0: loss, damage, ops without launch: exit code 3 */
	const char **reasons; /* one sentence each, most important first */
	size_t reason_count;
	const char **remedies; /* what to do, by reason; NULL: no remedy known */
	/* If not complete: in order, disjoint; one interval over all time if the times are
	 * unknown. */
	struct vpa_loss *losses;
	size_t loss_count;
	struct vpa_pair *reading_meta; /* META rows for a copy of the trace, see reading.h */
	size_t reading_meta_count;
	uint64_t received, written, dropped; /* events */
	uint64_t ops_without_launch, launches_without_op, late_ops;
	/* Part of ops_without_launch: began before the first call, hence launched before the
	 * capture; or after recording had been paused, hence launched in a pause. */
	uint64_t early_ops;
	uint64_t zero_duration, reversed, zero_time; /* ops: end = start, end < start, time 0 */
	uint64_t unmatched_ranges, late_ranges;
	uint64_t damaged_chunks, torn_chunks, unknown_sections;
	int is_refused;       /* GPU work could not be recorded; a reason says why */
	int is_ranges_only;   /* GPU work was not requested */
	uint64_t overhead_ns; /* time of the profiling library's own records inside the window */
	double tracing_cost_share;  /* of the window; negative: unknown */
	enum vpa_metric_state gaps; /* degraded when the overhead share is above 5 % */
};

struct vpa_counts {
	uint64_t kernels, memcpy, memset, calls, ranges, cpu_ops;
	uint64_t marks, syncs, counters, samples, other; /* other: of all other kinds */
};

#define VPA_GAP_BUCKETS 7
extern const char *const vpa_gap_bucket_names[VPA_GAP_BUCKETS]; /* "lt_1us" ... "gt_10ms" */
extern const uint64_t vpa_gap_bucket_from_ns[VPA_GAP_BUCKETS + 1];

/* A part of a device's idle time. `range` and `call` are NULL if there is none, "(other)" where
 * small rows were summed. A range is "before NAME" if no range was open most of the time but one
 * was open around the next launch. */
struct vpa_idle_part {
	enum vpa_cause cause;
	const char *range, *call;
	const char *inside; /* the call the host was in during most of inside_ns */
	/* Part of ns: the host was in another call, which began later because of the cause. */
	uint64_t inside_ns;
	uint64_t ns, gaps;              /* gaps: those with such a piece */
	const struct vpa_top_line *top; /* NULL: nothing is known */
};

/* Whether a name stands for several: small places summed up, or too many to keep. It is no place
 * and no evidence. */
static inline int vpa_is_sum(const char *name)
{
	return name && (!strcmp(name, "(other)") || !strcmp(name, "(many)"));
}

struct vpa_device {
	int64_t device;
	uint64_t ops; /* of positive duration */
	uint64_t streams;
	/* From the first to the last op, without pauses. */
	uint64_t first_ns, last_ns, active_ns, busy_ns, idle_ns, gaps, longest_gap_ns;
	uint64_t histogram[VPA_GAP_BUCKETS];
	uint64_t kernel_ns; /* sum of durations, overlaps counted twice */
	uint64_t same_stream_overlaps;
	uint64_t compute_ns, exposed_comm_ns, exposed_copy_ns; /* sum to busy_ns */
	uint64_t window_idle_ns;                               /* with head and tail */
	/* Kernel time with fewer blocks than the device has SMs; informational. */
	uint64_t small_grid_ns;
	/* By ns, descending: the most the device would save without a cause, see gain.h. */
	struct vpa_gain_row {
		enum vpa_cause cause;
		uint64_t ns;
		uint64_t shared_ns; /* part of ns assigned to another cause that gains it too */
	} * gains;
	size_t gain_count;
	/* Of idle time in the host's own code: the thread could run, but no CPU was free. */
	uint64_t cpu_wait_ns;
	struct vpa_idle_part *causes; /* by ns, descending; they sum to window_idle_ns */
	size_t cause_count;
	/* The time before the first work, by what the thread that launched it did, as far as
	 * known. */
	struct vpa_idle_part *before_first_work;
	size_t before_first_work_count;
	uint64_t comm_ns; /* communication: sum of durations */
	/* Part of comm_ns: time above the shortest call of the same kernel and grid. */
	uint64_t comm_wait_ns;
	/* first_use_ns: part of idle time, see folds/first_use.c; first_use_head_ns: part of that
	 * before the first work. */
	uint64_t first_use_ns, first_use_head_ns;
};

struct vpa_gap_piece {
	enum vpa_cause cause;
	const char *call, *range; /* see struct vpa_idle_part */
	uint64_t ns;
};

struct vpa_gap_row {
	char id[16]; /* "G1": by duration, descending */
	int64_t device;
	uint64_t start_ns, duration_ns;
	enum vpa_cause cause;       /* of most of the gap */
	const char *call, *range;   /* of the longest piece with that cause; NULL: none */
	int64_t pid, tid;           /* of the launching thread; -1: unknown */
	const char *after, *before; /* names of the ops around it; NULL at head and tail */
	struct vpa_gap_piece *pieces;
	size_t piece_count;
	const struct vpa_top_line
		*top; /* its own, or of all gaps with its cause, call and range; or NULL */
};

struct vpa_family_row {
	const char *family; /* kernels by vpa_family_name(), and "memcpy", "memset" */
	uint64_t calls, total_ns, exclusive_ns;
	double share_of_busy; /* exclusive / busy of all devices */
};

struct vpa_kernel_row {
	const char *name;             /* demangled where possible */
	const char *family, *backend; /* backend NULL when not attention */
	uint64_t exclusive_ns;
	struct vpa_spread time;
	double blocks_mean; /* thread blocks of a call's grid; 0: not known */
};

struct vpa_backend_row {
	const char *backend;
	uint64_t calls, total_ns;   /* main kernels, forward and backward */
	uint64_t aux_calls, aux_ns; /* helpers: combine, convert, preprocess */
	double share_of_busy;       /* exclusive time of main kernels and helpers */
};

struct vpa_eager_row {
	const char *range; /* NULL: outside all ranges */
	const char *gemm, *softmax;
	uint64_t count, total_ns, softmax_ns; /* count: sequences GEMM, softmax, GEMM */
};

/* Places of a denoising step whose attention is done by more than one back-end: the fastest there,
 * and another one. */
struct vpa_backend_change {
	const char *fast, *slow;
	uint64_t places; /* k-th attention calls of steps with equal numbers of them */
	uint64_t fast_calls, fast_ns, slow_calls, slow_ns;
	double gain_ns; /* slow calls x their extra time, at each place */
};

struct vpa_attention {
	uint64_t calls;       /* fused calls + eager sequences */
	double share_of_busy; /* of all attention, eager softmax included */
	struct vpa_backend_row *backends;
	size_t backend_count;
	struct vpa_eager_row *eager;
	size_t eager_count;
	const char **fallbacks; /* one sentence each */
	size_t fallback_count;
	struct vpa_backend_change *changes; /* by slow_ns, descending */
	size_t change_count;
};

/* Matrix products by the format of their factors. */
struct vpa_precision_row {
	const char *precision; /* vpa_precision_name() */
	uint64_t calls, total_ns, exclusive_ns;
};

struct vpa_range_row {
	const char *name, *domain; /* domain "" is NVTX's default domain */
	uint64_t unmatched;
	struct vpa_spread host; /* start to end on the host */
	/* On the GPU, over instances that launched work; per device and instance: envelope = first
	 * start to last end of its ops, without pauses; busy + foreign + idle = envelope. foreign:
	 * time covered only by other ops. */
	uint64_t ops, launches, envelope_ns, busy_ns, foreign_ns, idle_ns;
	/* Idle time within the envelopes and the range's time on the host: of the devices it
	 * launched on, or, if it launched nothing, of those its process has used by its end. */
	uint64_t idle_host_ns;
	struct vpa_spread lag; /* first op's start - range's start */
	struct vpa_spread gpu; /* the envelopes */
};

struct vpa_copy_row {
	const char *kind;            /* "HtoD" ... "memset" */
	const char *source, *target; /* kind of memory: "pageable" ... */
	uint64_t count, bytes, total_ns;
	double gb_per_s; /* 1e9 bytes per second while copying; 0: unknown */
};

/* Copies from a device to pageable memory, by place of launch. */
struct vpa_read_row {
	const char *range;     /* innermost range around the launch; NULL: none */
	uint64_t small, large; /* small: at most 64 bytes, as from .item() */
};

struct vpa_sync_row {
	const char *call;
	uint64_t count, total_ns; /* time in the call, on all threads */
	uint64_t gaps, idle_ns;   /* device idle time it caused: its cost */
};

/* ---- requests, blocks, steps, stages: defined in folds/blocks.c ----
 *
 * Unavailable: doubles below 0; times, counts and frames of 0. */

/* A part of the blocks' periods: exclusive time of a kernel family, idle time by cause, or a
 * recording pause. */
struct vpa_block_part {
	enum vpa_block_part_kind { VPA_PART_BUSY, VPA_PART_IDLE, VPA_PART_PAUSED } kind;
	enum vpa_cause cause; /* of idle parts */
	const char *name;
	uint64_t ns, count; /* ops, or pieces of gaps, that began there */
};

struct vpa_block_row {
	int64_t index;            /* within its request; -1: not given */
	uint64_t frames, latents; /* 0: not known */
	/* start: of the first op; end: of the last op, or when its frames were ready. */
	uint64_t start_ns, end_ns;
	uint64_t latency_ns; /* end - start */
	uint64_t period_ns;  /* since the previous block; the first block's: its latency */
	/* In the period, summed over the devices it used: busy + idle + paused = period *
	 * devices. */
	uint64_t busy_ns, idle_ns, paused_ns;
	uint64_t attention_ns; /* part of busy: all attention families */
	unsigned devices;
	int warmup;     /* not measured */
	int ready_mark; /* end_ns is when a mark says its frames were ready */
	int missed;     /* took longer than its frames last at the target rate */
	int touched;    /* missing records may change these figures */
	/* In the period, by part of overview.h; NULL: not requested. */
	uint64_t *parts_ns;
};

/* A block whose period differs from its neighbours', compared with the neighbour that has their
 * median period. */
struct vpa_outlier_row {
	size_t block;     /* row index in the series */
	int64_t delta_ns; /* of the period; the parts' deltas sum to it times the devices */
	const char *part; /* the part with the largest delta of the same sign; NULL: none */
	enum vpa_block_part_kind part_kind;
	int64_t part_delta_ns;
	const char *stage; /* the stage with the largest delta of the same sign; NULL: none */
	int64_t stage_delta_ns;
};

struct vpa_step_times {
	uint64_t count; /* Denoising steps with work on a GPU, without passes over the context. */
	struct vpa_spread time; /* first op's start to last op's end */
	uint64_t context_count;
	struct vpa_spread context;
	double per_block; /* in measured blocks */
	/* In measured blocks, per second of their time; without blocks: from first start to last
	 * end. */
	double steps_per_s;
	double s_per_it; /* the same time per step: 1 / steps_per_s */
};

struct vpa_blocks {
	size_t count;            /* with work on a GPU, wholly inside the window */
	size_t warmup, measured; /* = count */
	size_t left_out;         /* cut by the window's edge, or without work on a GPU */
	uint64_t frames;         /* of the measured blocks */
	uint64_t span_ns;        /* sum of the measured blocks' periods */
	/* frames / span; unavailable if VAE or frame copies run after the blocks: denoise_rate
	 * then holds the quotient, which is never called FPS. */
	double fps;
	double denoise_rate;
	double bps, fps_busy, fps_denoise, latent_fps;
	const char **includes; /* what is included in the span */
	size_t include_count;
	struct vpa_spread latency, period, attention; /* measured */
	uint64_t jitter_ns;                           /* p99 - p50 of the period */
	/* Against the target; -1 without a target. */
	int64_t misses, longest_miss_run;
	int64_t prebuffer_frames; /* frames to buffer for stall-free playback */
	/* Against the index in the series of measured blocks. */
	int has_drift;
	double period_drift_ns, attention_drift_ns; /* per block, Theil-Sen */
	int64_t saturated_at; /* row of the series from which attention stops growing; -1: none */
	uint64_t busy_ns, idle_ns, paused_ns; /* measured */
	unsigned devices;                     /* maximum used by a measured block */
	/* over all measured periods; by kind, then time, descending */
	struct vpa_block_part *parts;
	size_t part_count;
	struct vpa_block_row *series; /* by end */
	struct vpa_outlier_row *outliers;
	size_t outlier_count;
	int touched; /* missing records may change figures of the measured blocks */
};

/* What the devices did from a request's first op's start to its last one's end, summed over all of them:
 * busy + idle + paused = period * devices. */
struct vpa_request_gpu {
	uint64_t period_ns, busy_ns, idle_ns, paused_ns;
	unsigned devices;
	struct vpa_block_part *parts; /* by kind, then time, descending */
	size_t part_count;
};

struct vpa_request {
	const char *name, *source; /* of its range; NULL: the whole window */
	/* start: of the range on the host; end: of its last op, of the range if it has none. */
	uint64_t start_ns, end_ns;
	uint64_t frames;
	double fps_end_to_end;
	uint64_t ttfb_ns, ttff_ns; /* from start to first block; to first frames-ready mark */
	struct vpa_blocks blocks;
	struct vpa_step_times steps;
	int touched; /* missing records may change its figures */
	/* All zeros: blocks are measured, the window cuts it, or the options do not request step_parts. */
	struct vpa_request_gpu gpu;
};

/* Figures are of the instances inside measured blocks; if there are none, of all instances. */
struct vpa_stage_row {
	const char *name, *kind, *source;
	uint64_t count; /* all instances with work on a GPU */
	uint64_t in_blocks;
	double per_block;
	int nested;             /* always inside other stages or steps */
	struct vpa_spread time; /* first op's start to last op's end */
	uint64_t top_ns;        /* total of those not inside others */
	/* busy and idle: as for ranges, summed over devices */
	uint64_t busy_ns, idle_ns, attention_ns, ops;
	double share;    /* of the measured blocks' time, else of the window */
	int holds_steps; /* it is the denoising, or encloses it */
	int touched;     /* missing records may change these figures */
	/* In the whole window: idle time between ops that ended with one launched in it, summed
	 * over devices. */
	uint64_t waited_ns;
	struct vpa_stage_line *lines; /* the largest parts of waited_ns, descending */
	size_t line_count;
	/* Of the pass, to find it again: kind << 8 | source, and the name's id; 0: the kind is the
	 * name. */
	uint32_t scope, scope_name;
};

/* From the start of a marked step, or of an iteration, to that of the next in its request. */
struct vpa_step_part {
	uint64_t request; /* its number among those with such steps */
	uint64_t start_ns, period_ns;
	/* Summed over all devices: busy + idle + paused = period * devices. */
	uint64_t busy_ns, idle_ns, paused_ns;
	unsigned devices;
	uint64_t *parts_ns; /* by part of overview.h */
};

/* ---- steps that nothing marks: inferred by folds/steps.c ---- */

struct vpa_inferred_step {
	uint64_t start_ns, end_ns; /* of its first op, of its last */
	/* From its start to that of what follows it directly, else to its end. busy + idle = period, but
	 * for pauses. */
	uint64_t period_ns, busy_ns, idle_ns;
};

/* The loop of one device. */
struct vpa_inferred {
	int64_t device, stream; /* CUDA's numbers of the device and of its busiest stream */
	double confidence;      /* share of the steps' ops that the repeating pattern explains */
	struct vpa_inferred_step *steps;
	size_t step_count;
	struct vpa_spread period;
	double steps_per_s, s_per_it; /* from the first step's start to the last one's end */
	uint64_t busy_ns, idle_ns;    /* sums over the steps */
	unsigned passes_per_step;     /* of the model; 2 and more: guidance */
	unsigned layers;              /* repetitions in a pass; 0: none were found */
	size_t context_passes;        /* passes that are no step */
	size_t cut;                   /* steps that the window's edges cut */
	uint64_t ops, ops_left_out;   /* in the steps; after the limit of ops */
	int touched;                  /* missing records may change these figures */
};

struct vpa_finding {
	const char *id;    /* "bound", "sync-drain", "eager-attention" ... stable */
	const char *title; /* one line */
	const char *measured, *threshold;
	double gain_at_most_ms; /* 0: not about time; assumes nothing else becomes the bottleneck */
	const char **evidence;
	size_t evidence_count;
	const char *status; /* "fail", "warn", "info" */
	const char *caveat; /* NULL: none */
	/* Part of gain_at_most_ms that findings about other causes claim too. No two findings claim
	 * the rest. */
	double gain_shared_ms;
	/* the bound is a range from here to gain_at_most_ms; 0: it is one number */
	double gain_from_ms;
	/* What the gain is a part of: "block", the mean measured one; "active", the active time of
	 * the device that would gain most; "idle", the windows' idle time. NULL: no gain. With
	 * several devices the figures are those of the device that would gain most. */
	const char *base;
	double base_ms, base_gain_ms, base_gain_from_ms;
	double fps_from, fps_to; /* steady: now, and at most; 0: unavailable */
	/* Where most of it is, or how busy the GPU is; NULL: nothing to add. */
	const char *note;
	int touched; /* missing records may change these figures */
};

struct vpa_overview;

struct vpa_report {
	struct vpa_arena arena;
	const char *path, *format; /* format: "vptrace", "kineto", "nsight" */
	int simulated;             /* -1: unknown, the rows that say it are missing */
	uint64_t window_start_ns, window_end_ns;
	/* recording was off; counts neither as window nor as idle time */
	uint64_t paused_ns;
	int has_realtime;        /* 1: the time of day is known */
	uint64_t unix_offset_ns; /* CLOCK_REALTIME = trace clock + this, which may wrap */
	const char *window_note; /* what selected the window; NULL: the whole capture */
	uint64_t min_gap_ns;     /* minimum duration of listed gaps */

	struct vpa_pair *meta;
	size_t meta_count;
	struct vpa_gpu *gpus;
	size_t gpu_count;
	struct vpa_verdict verdict;
	struct vpa_counts counts;
	struct vpa_device *devices; /* only those with ops of positive duration */
	size_t device_count;
	struct vpa_gap_row *gaps; /* the longest, at most --top of them */
	size_t gap_count;
	uint64_t gaps_listed_of;         /* all gaps of at least min_gap_ns */
	struct vpa_family_row *families; /* by exclusive time, descending */
	size_t family_count;
	struct vpa_kernel_row *kernels;    /* by exclusive time, descending; at most --top */
	size_t kernel_count, kernel_names; /* kernel_names: distinct ones, listed or not */
	/* Names without a family: the largest, until they cover most of that time; at most 3. */
	const char **unknown_kernels;
	size_t unknown_count;
	const char *hopper_kernel; /* a kernel that runs only on a Hopper; NULL: none */
	uint64_t vol2col_ns;       /* of all kernels with that in their name, listed or not */
	struct vpa_attention attention;
	struct vpa_precision_row *precisions; /* of GEMMs, by exclusive time, descending */
	size_t precision_count;
	/* NVTX ranges and cpu_op, by host time, descending; at most --top per domain. */
	struct vpa_range_row *ranges;
	size_t range_count, range_names;
	struct vpa_copy_row *copies;
	size_t copy_count;
	struct vpa_read_row *reads; /* by count, descending */
	size_t read_count;
	struct vpa_sync_row *syncs; /* by idle_ns, then total_ns, descending */
	size_t sync_count;
	struct vpa_lines lines; /* all zeros without stacks */
	/* Only those with samples in the window; by device, those of none last. */
	struct vpa_counter *counters;
	size_t counter_count;
	/* first use, then by the gain's share of its base, descending */
	struct vpa_finding *findings;
	size_t finding_count;
	struct vpa_request *requests; /* by start; none without blocks and steps */
	size_t request_count;
	struct vpa_stage_row *stages; /* in order of their first op */
	size_t stage_count;
	/* If the options request them; by request, then time. Iterations if there are no steps. */
	struct vpa_step_part *step_parts;
	size_t step_part_count;
	struct vpa_block_part *step_totals; /* of all of them; by kind, then time, descending */
	size_t step_total_count;
	uint64_t steps_marked; /* all such steps of the window */
	int steps_are_iterations;
	struct vpa_inferred *inferred; /* a row per device; none if anything is marked */
	size_t inferred_count;
	/* Why figures of requests are unavailable; the verdict's reasons include them. */
	const char **block_notes;
	size_t block_note_count;
	uint64_t target_millifps; /* the requested rate, in frames per 1,000 seconds; 0: none */
	size_t top;               /* maximum rows per table, as requested; 0: none */
	int touched;              /* missing records may change figures of the window */
	int has_marks;            /* 1: some `touched` in the report is set */
	struct vpa_expert expert; /* the checklist, graphs, overlap and the like */
	struct vpa_overview *overview; /* what happened when, see overview.h; NULL: not requested */
};

/* The run's metadata under `key`, newest value; NULL: none. */
static inline const char *vpa_meta(const struct vpa_report *r, const char *key)
{
	size_t i;

	for (i = 0; i < r->meta_count; i++)
		if (r->meta[i].key && r->meta[i].value && !strcmp(r->meta[i].key, key))
			return r->meta[i].value;
	return NULL;
}

/* The series of a device (-1: of none) with this name; NULL: none. */
const struct vpa_counter *vpa_find_counter(
	const struct vpa_report *r, int64_t device, const char *name);

/* The request that a page shows: the one with most measured blocks, else most steps; the first, if
 * equal. NULL: none. */
const struct vpa_request *vpa_main_request(const struct vpa_report *r);

/* The window's length: the sum of busy and idle time of each device. */
static inline uint64_t vpa_window_ns(const struct vpa_report *r)
{
	uint64_t ns =
		r->window_end_ns > r->window_start_ns ? r->window_end_ns - r->window_start_ns : 0;

	return ns > r->paused_ns ? ns - r->paused_ns : 0;
}

/* Whether missing records may change figures of this stretch of time. */
static inline int vpa_is_touched(const struct vpa_report *r, uint64_t start_ns, uint64_t end_ns)
{
	const struct vpa_verdict *v = &r->verdict;
	size_t i;

	for (i = 0; i < v->loss_count; i++)
		if (v->losses[i].start_ns <= end_ns && v->losses[i].end_ns > start_ns)
			return 1;
	return 0;
}

/* Sets `touched` on everything that has it. Needs the verdict. */
void vpa_mark_touched(struct vpa_report *r);

/* Busy time of all devices: the base of shares of busy. */
static inline uint64_t vpa_busy_ns(const struct vpa_report *r)
{
	uint64_t busy = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		busy += r->devices[i].busy_ns;
	return busy;
}

struct vpa_tap;

struct vpa_options {
	unsigned jobs;       /* decoding threads; 0: as many as cores, at most 4 */
	size_t top;          /* maximum rows per table; 0: 20, the text report shows fewer */
	uint64_t min_gap_ns; /* 0: 5 times the median gap, within 10 us to 1 ms */
	int has_from, has_to;
	uint64_t from_ns, to_ns; /* relative to the capture's start */
	/* The window is this range's first instance, from host start to its last op's end; NULL:
	 * no. */
	const char *range;
	const char *rules; /* for kernel families, ranges and frames, text; NULL: none */
	size_t rules_len;
	int has_warmup;
	uint64_t warmup;          /* blocks at the start of each request that are not measured */
	uint64_t target_millifps; /* frames per 1,000 seconds; 0: none */
	/* Where the trace gives none; 0: not given. */
	uint64_t frames_per_block, first_block_frames, latents_per_block, vae_factor;
	void (*progress)(void *ctx, uint64_t done, uint64_t total); /* chunks; may be NULL */
	void *progress_ctx;
	const struct vpa_tap *tap; /* observes the pass, see tap.h; NULL: none */
	/* 1: the report has an overview, samples of counters, and the parts of each block. */
	int overview;
	int all_kernels; /* 1: `top` does not limit the table of kernels */
	/* 1: the parts of each block, of each marked step up to 4,096, of each request up to 1,024 */
	int step_parts;
};

struct vpt_trace;

/* Analyses an opened trace, in one pass (two with `range`). The caller frees *out. Reports are
 * byte-identical for any number of jobs. 0, VPT_EINVAL (no such range, empty window, bad rules),
 * VPT_ENOMEM, VPT_EIO. Damage is not an error: the verdict reports it. */
int vpa_analyze(const struct vpt_trace *trace, const char *path, const struct vpa_options *options,
	struct vpa_report **out, struct vpt_err *err);
void vpa_report_free(struct vpa_report *r); /* accepts NULL */

struct vpt_sink;

/* Layout of the text report. All zero: every section, 80 columns, no colours. */
struct vpa_text {
	unsigned width;   /* columns of the terminal; 0: 80 */
	int colour;       /* ANSI colours */
	int brief;        /* only DATA to FIX FIRST, at most 24 lines */
	const char *only; /* only this section, by its name in render/sections.def; NULL: all */
	const char
		*command; /* the command line that makes the report, for a page; NULL: not known */
};

/* Renderers. 0, the sink's error, or VPT_ENOMEM. */
int vpa_render_text(const struct vpa_report *r, const struct vpa_text *form, struct vpt_sink *sink,
	struct vpt_err *err);
int vpa_text_has_section(const char *name);
int vpa_render_json(const struct vpa_report *r, struct vpt_sink *sink, struct vpt_err *err);

#endif

/* report.h - the results of an analysis: plain tables, ready to be shown. Every number is defined in the
 * DEFINITIONS.md and in the fold that fills it; renderers only lay them out.
 *
 * All memory belongs to the report's arena and goes with vpa_report_free(). Strings may hold any bytes
 * except NUL: whoever prints them escapes them. Times are integer nanoseconds on the trace clock. */
#ifndef VPA_ANALYSIS_REPORT_H
#define VPA_ANALYSIS_REPORT_H

#include "analysis/arena.h"
#include "formats/error.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum vpa_cause {
#define VPA_CAUSE(NAME, text, words, help) VPA_CAUSE_##NAME,
#include "analysis/causes.def"
	VPA_CAUSES
};
const char *vpa_cause_text(enum vpa_cause cause);  /* the key: stable */
const char *vpa_cause_words(enum vpa_cause cause); /* in words, for people */
const char *vpa_cause_help(enum vpa_cause cause);
int vpa_cause_has_gain(enum vpa_cause cause); /* whether the program could do something about it */
/* Whether the cause is an answer: neither unknown nor "queued, reason not recorded". */
int vpa_cause_is_answer(enum vpa_cause cause);

/* How a number of durations is spread. Percentiles are nearest rank: exact up to 4,096 samples, then from a
 * logarithmic histogram with at most 1 % error, and `approximate` is set. */
struct vpa_spread {
	uint64_t count, total_ns, min_ns, p50_ns, p90_ns, p95_ns, p99_ns, max_ns;
	double mean_ns, deviation_ns; /* population standard deviation */
	int approximate;
};

struct vpa_gpu {
	int64_t device;
	const char *name, *uuid, *pci;
	uint32_t compute_major, compute_minor, sm_count;
	uint64_t sm_threads, sm_registers, sm_shared; /* of a multiprocessor; 0: not known */
	uint64_t memory_bytes;
	int simulated;
};

struct vpa_pair {
	const char *key, *value;
};

enum vpa_metric_state { VPA_OK, VPA_DEGRADED, VPA_UNAVAILABLE };

/* A stretch of time in which records are, or may be, missing. */
struct vpa_loss {
	uint64_t start_ns, end_ns; /* end ~0: nobody knows how long */
};

struct vpa_verdict {
	int complete;         /* 0: loss, damage, ops without launch: exit code 3 */
	const char **reasons; /* one sentence each, most important first */
	size_t reason_count;
	const char **remedies; /* what to do, by reason; NULL: nothing is known */
	/* If not complete: in order, disjoint; one of all times where nobody knows when. */
	struct vpa_loss *losses;
	size_t loss_count;
	struct vpa_pair *told; /* META rows for a copy of the trace, see reading.h */
	size_t told_count;
	uint64_t received, written, dropped; /* events */
	uint64_t ops_without_launch, launches_without_op, late_ops;
	/* Of those without launch: began before the first call, and so were launched before. */
	uint64_t early_ops;
	uint64_t zero_duration, reversed, zero_time; /* ops: end = start, end < start, time 0 */
	uint64_t unmatched_ranges, late_ranges;
	uint64_t damaged_chunks, torn_chunks, unknown_sections;
	int is_refused;       /* GPU work could not be recorded; a reason says why */
	int is_ranges_only;   /* GPU work was not to be recorded */
	uint64_t overhead_ns; /* time of the profiling library's own records inside the window */
	double tracing_cost_share;  /* of the window; negative: unknown */
	enum vpa_metric_state gaps; /* degraded when the overhead share is above 5 % */
};

struct vpa_counts {
	uint64_t kernels, memcpy, memset, calls, ranges, cpu_ops;
	uint64_t marks, syncs, counters, other; /* the remaining kinds */
};

#define VPA_GAP_BUCKETS 7
extern const char *const vpa_gap_bucket_names[VPA_GAP_BUCKETS]; /* "lt_1us" ... "gt_10ms" */
extern const uint64_t vpa_gap_bucket_from_ns[VPA_GAP_BUCKETS + 1];

/* A part of a device's idle time. `range` and `call` are NULL where there is none, "(other)" where small rows were added
 * up; a range is "before NAME" where no range was open most of the time, but one around the launch after it. */
struct vpa_idle_part {
	enum vpa_cause cause;
	const char *range, *call;
	const char *inside; /* the call that the host was in during most of inside_ns */
	/* Of ns: the host was in another call, which began later because of the cause. */
	uint64_t inside_ns;
	uint64_t ns, gaps; /* gaps: those with such a piece */
};

/* Whether a name stands for several: small places added up, or too many to be kept. It is no place, and no evidence. */
static inline int vpa_is_sum(const char *name)
{
	return name && (!strcmp(name, "(other)") || !strcmp(name, "(many)"));
}

struct vpa_device {
	int64_t device;
	uint64_t ops; /* of positive duration */
	uint64_t streams;
	/* from the first to the last op, pauses left out */
	uint64_t first_ns, last_ns, active_ns, busy_ns, idle_ns, gaps, longest_gap_ns;
	uint64_t histogram[VPA_GAP_BUCKETS];
	uint64_t kernel_ns; /* sum of durations, overlaps counted twice */
	uint64_t same_stream_overlaps;
	uint64_t compute_ns, exposed_comm_ns, exposed_copy_ns; /* sum to busy_ns */
	uint64_t window_idle_ns;                               /* with head and tail */
	/* Kernel time with fewer blocks than the device has SMs; information only. */
	uint64_t small_grid_ns;
	/* By ns, falling: what the device would save at most without a cause, see gain.h. */
	struct vpa_gain_row {
		enum vpa_cause cause;
		uint64_t ns;
		uint64_t shared_ns; /* of it: another cause's own, which gains it too */
	} * gains;
	size_t gain_count;
	struct vpa_idle_part *causes; /* by ns, falling; they sum to window_idle_ns */
	size_t cause_count;
	/* The time before the first work, by what the thread did that launched it; as far as that is known. */
	struct vpa_idle_part *before_first_work;
	size_t before_first_work_count;
	uint64_t comm_ns; /* communication: sum of durations */
	/* Of it: longer than the shortest call of the same kernel and grid. */
	uint64_t comm_wait_ns;
	/* Of idle time, see folds/first_use.c; of that, before the first work. */
	uint64_t first_use_ns, first_use_head_ns;
};

struct vpa_gap_piece {
	enum vpa_cause cause;
	const char *call, *range; /* as in struct vpa_idle_part */
	uint64_t ns;
};

struct vpa_gap_row {
	char id[16]; /* "G1": by duration, falling */
	int64_t device;
	uint64_t start_ns, duration_ns;
	enum vpa_cause cause;       /* of most of it */
	const char *call, *range;   /* of the longest piece with that cause; NULL: none */
	int64_t pid, tid;           /* of the launching thread; -1: unknown */
	const char *after, *before; /* names of the ops around; NULL at head and tail */
	struct vpa_gap_piece *pieces;
	size_t piece_count;
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
};

struct vpa_backend_row {
	const char *backend;
	uint64_t calls, total_ns;   /* main kernels, forward and backward */
	uint64_t aux_calls, aux_ns; /* helpers: combine, convert, preprocess */
	double share_of_busy;       /* exclusive time of main kernels and helpers */
};

struct vpa_eager_row {
	const char *range; /* where; NULL: outside all ranges */
	const char *gemm, *softmax;
	uint64_t count, total_ns, softmax_ns; /* sequences GEMM, softmax, GEMM */
};

/* Places of a denoising step where attention is done by more than one back-end, by its fastest there and another. */
struct vpa_backend_change {
	const char *fast, *slow;
	uint64_t places; /* k-th attention calls of steps that have equally many */
	uint64_t fast_calls, fast_ns, slow_calls, slow_ns;
	double gain_ns; /* slow calls x what they take longer, at each place */
};

struct vpa_attention {
	uint64_t calls;       /* fused calls + eager sequences */
	double share_of_busy; /* of everything that is attention, eager softmax included */
	struct vpa_backend_row *backends;
	size_t backend_count;
	struct vpa_eager_row *eager;
	size_t eager_count;
	const char **fallbacks; /* one sentence each */
	size_t fallback_count;
	struct vpa_backend_change *changes; /* by slow_ns, falling */
	size_t change_count;
};

/* Matrix products by the numbers they multiply. */
struct vpa_precision_row {
	const char *precision; /* vpa_precision_name() */
	uint64_t calls, total_ns, exclusive_ns;
};

struct vpa_range_row {
	const char *name, *domain; /* domain "" is NVTX's default one */
	uint64_t unmatched;
	struct vpa_spread host; /* start to end on the host */
	/* On the GPU, over instances that launched work; per device and instance: envelope = first start to last
	 * end of its ops, pauses left out; busy + foreign + idle = envelope, foreign being time covered only by
	 * others' ops. */
	uint64_t ops, launches, envelope_ns, busy_ns, foreign_ns, idle_ns;
	/* Idle time of the envelopes, and of the range's time on the host: of the devices that it launched on, or if it
	 * launched nothing of those that its process has been at work on by its end. */
	uint64_t idle_host_ns;
	struct vpa_spread lag; /* first op's start - range's start */
	struct vpa_spread gpu; /* the envelopes */
};

struct vpa_copy_row {
	const char *kind;            /* "HtoD" ... "memset" */
	const char *source, *target; /* memory: "pageable" ... */
	uint64_t count, bytes, total_ns;
	double gb_per_s; /* 1e9 bytes a second while copying; 0: unknown */
};

/* Copies from a device to pageable memory, by where they were launched. */
struct vpa_read_row {
	const char *range;     /* innermost range around the launch; NULL: none */
	uint64_t small, large; /* small: at most 64 bytes, as .item() makes them */
};

struct vpa_sync_row {
	const char *call;
	uint64_t count, total_ns; /* time in the call, on all threads */
	uint64_t gaps, idle_ns;   /* device idle time that it caused: what it costs */
};

/* ---- requests, blocks, steps, stages: defined in folds/blocks.c ----
 *
 * Doubles below 0 and times, counts and frames of 0 where nothing was found are unavailable. */

/* A part of blocks' periods: exclusive time of a kernel family, idle time by cause, or a pause of the recording. */
struct vpa_block_part {
	enum vpa_block_part_kind { VPA_PART_BUSY, VPA_PART_IDLE, VPA_PART_PAUSED } kind;
	enum vpa_cause cause; /* of idle parts */
	const char *name;
	uint64_t ns, count; /* ops that began, pieces of gaps that did */
};

struct vpa_block_row {
	int64_t index;            /* within its request; -1: not given */
	uint64_t frames, latents; /* 0: not known */
	/* First op's start; last op's end, or when its frames were ready. */
	uint64_t start_ns, end_ns;
	uint64_t latency_ns; /* end - start */
	uint64_t period_ns;  /* since the block before; of the first: its latency */
	/* In the period, added over the devices it used: busy + idle + paused = period * devices. */
	uint64_t busy_ns, idle_ns, paused_ns;
	uint64_t attention_ns; /* of busy: all attention families */
	unsigned devices;
	int warmup;     /* not measured */
	int ready_mark; /* end_ns is when a mark says that its frames were ready */
	int missed;     /* took longer than its frames last at the target rate */
	int touched;    /* missing records may change these figures */
};

/* A block that took unlike its neighbours, compared with the one of them that has their median period. */
struct vpa_outlier_row {
	size_t block;     /* row of the series */
	int64_t delta_ns; /* of the period; the parts' deltas sum to it times the devices */
	const char *part; /* the part with the largest delta of that sign; NULL: none */
	enum vpa_block_part_kind part_kind;
	int64_t part_delta_ns;
	const char *stage; /* the stage with the largest delta of that sign; NULL: none */
	int64_t stage_delta_ns;
};

struct vpa_step_times {
	uint64_t count; /* denoising steps with work on a GPU, passes over the context apart */
	struct vpa_spread time; /* first op's start to last op's end */
	uint64_t context_count;
	struct vpa_spread context;
	double per_block; /* in measured blocks */
	double steps_per_s; /* in measured blocks per second of their time; without blocks: first start to last end */
	double s_per_it; /* the same time per step: 1 / steps_per_s */
};

struct vpa_blocks {
	size_t count;            /* with work on a GPU, wholly inside the window */
	size_t warmup, measured; /* = count */
	size_t left_out;         /* cut by the window's edge, or without work on a GPU */
	uint64_t frames;         /* of the measured ones */
	uint64_t span_ns;        /* of the measured ones: the sum of their periods */
	double fps; /* frames / span; unavailable if VAE or frame copies come after the blocks: then */
	double denoise_rate; /* is what it is called, and so it is never called FPS */
	double bps, fps_busy, fps_denoise, latent_fps;
	const char **includes; /* what lies inside the span */
	size_t include_count;
	struct vpa_spread latency, period, attention; /* measured */
	uint64_t jitter_ns;                           /* p99 - p50 of the period */
	/* Against the target; -1 without one. */
	int64_t misses, longest_miss_run;
	int64_t prebuffer_frames; /* there when playback starts, so that it never stalls */
	/* Over the place in the series of the measured blocks. */
	int has_drift;
	double period_drift_ns, attention_drift_ns; /* a block, Theil-Sen */
	int64_t saturated_at; /* row of the series from which on attention does not grow; -1: none */
	uint64_t busy_ns, idle_ns, paused_ns; /* measured */
	unsigned devices;                     /* most that a measured block used */
	struct vpa_block_part *parts; /* of all measured periods; by kind, then time, falling */
	size_t part_count;
	struct vpa_block_row *series; /* by end */
	struct vpa_outlier_row *outliers;
	size_t outlier_count;
	int touched; /* missing records may change figures of the measured ones */
};

struct vpa_request {
	const char *name, *source; /* of its range; NULL: the whole window */
	/* The range's start on the host; the last end of its ops, without any the range's. */
	uint64_t start_ns, end_ns;
	uint64_t frames;
	double fps_end_to_end;
	uint64_t ttfb_ns, ttff_ns; /* start to first block, to first frames-ready mark */
	struct vpa_blocks blocks;
	struct vpa_step_times steps;
	int touched; /* missing records may change its figures */
};

/* Numbers are of the instances inside measured blocks; if there are none, of all. */
struct vpa_stage_row {
	const char *name, *kind, *source;
	uint64_t count; /* all instances with work on a GPU */
	uint64_t in_blocks;
	double per_block;
	int nested;                              /* inside other stages or steps, always */
	struct vpa_spread time;                  /* first op's start to last op's end */
	uint64_t top_ns;                         /* total of those that are not inside others */
	uint64_t busy_ns, idle_ns, attention_ns; /* busy and idle: as ranges', added over devices */
	double share;    /* of the measured blocks' time, else of the window */
	int holds_steps; /* it is the denoising, or around it */
	int touched;     /* missing records may change these figures */
};

struct vpa_finding {
	const char *id;    /* "bound", "sync-drain", "eager-attention" ... stable */
	const char *title; /* one line */
	const char *measured, *threshold;
	double gain_at_most_ms; /* 0: not a matter of time; assumes nothing else becomes the bottleneck */
	const char **evidence;
	size_t evidence_count;
	const char *status; /* "fail", "warn", "info" */
	const char *caveat; /* NULL: none */
	/* Of it: the findings about other causes offer it as well. No two findings offer the rest. */
	double gain_shared_ms;
	double gain_from_ms; /* the bound is a range, from here to gain_at_most_ms; 0: it is one number */
	/* What the gain is a part of: "block", the mean measured one; "active", the active time of the device that
	 * would gain most; "idle", the windows' idle time. NULL: no gain. Of several devices the one that would gain
	 * most. */
	const char *base;
	double base_ms, base_gain_ms, base_gain_from_ms;
	double fps_from, fps_to; /* steady, as it is and at most; 0: unavailable */
	/* Where most of it lies, how busy the GPU is at all; NULL: nothing to say. */
	const char *note;
	int touched; /* missing records may change these figures */
};

struct vpa_report {
	struct vpa_arena arena;
	const char *path, *format; /* format: "vptrace", "kineto", "nsight" */
	int simulated;             /* -1: not known, since the rows that tell are missing */
	uint64_t window_start_ns, window_end_ns;
	uint64_t paused_ns; /* of it: recording was switched off; neither window nor idle time */
	int has_realtime;   /* 1: the time of day is known */
	uint64_t unix_offset_ns; /* CLOCK_REALTIME = trace clock + this, which may wrap */
	const char *window_note; /* what selected the window; NULL: the whole capture */
	uint64_t min_gap_ns;     /* gaps at least so long are listed */

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
	uint64_t gaps_listed_of;         /* gaps of at least min_gap_ns in all */
	struct vpa_family_row *families; /* by exclusive time, falling */
	size_t family_count;
	struct vpa_kernel_row *kernels;    /* by exclusive time, falling; at most --top */
	size_t kernel_count, kernel_names; /* kernel_names: distinct ones in all */
	/* Of no family: the largest, until they are most of that time, at most 3. */
	const char **unknown_kernels;
	size_t unknown_count;
	const char *hopper_kernel; /* one that runs on a Hopper alone; NULL: none */
	uint64_t vol2col_ns;       /* of all kernels with that in their name, listed or not */
	struct vpa_attention attention;
	struct vpa_precision_row *precisions; /* of GEMMs, by exclusive time, falling */
	size_t precision_count;
	/* NVTX ranges and cpu_op, by host time, falling; at most --top of each domain. */
	struct vpa_range_row *ranges;
	size_t range_count, range_names;
	struct vpa_copy_row *copies;
	size_t copy_count;
	struct vpa_read_row *reads; /* by count, falling */
	size_t read_count;
	struct vpa_sync_row *syncs; /* by idle_ns, then total_ns, falling */
	size_t sync_count;
	struct vpa_finding *findings; /* first use, then by the gain's share of its base, falling */
	size_t finding_count;
	struct vpa_request *requests; /* by start; without blocks and steps there are none */
	size_t request_count;
	struct vpa_stage_row *stages; /* in order of their first op */
	size_t stage_count;
	/* Why numbers of requests are unavailable; they join the verdict's reasons. */
	const char **block_notes;
	size_t block_note_count;
	uint64_t target_millifps; /* asked for; 0: none */
	size_t top;               /* rows per table that were asked for; 0: none */
	int touched;              /* missing records may change figures of the window */
	int has_marks;            /* something in the report is touched */
};

/* What the run says about itself under `key` in its metadata, where the newest value wins; NULL: nothing. */
static inline const char *vpa_meta(const struct vpa_report *r, const char *key)
{
	size_t i;

	for (i = 0; i < r->meta_count; i++)
		if (r->meta[i].key && r->meta[i].value && !strcmp(r->meta[i].key, key))
			return r->meta[i].value;
	return NULL;
}

/* The request that a page shows: the one with most measured blocks, else steps; the first of equals.
 * NULL: none. */
const struct vpa_request *vpa_main_request(const struct vpa_report *r);

/* The window's length: what busy and idle time of each device add up to. */
static inline uint64_t vpa_window_ns(const struct vpa_report *r)
{
	uint64_t ns =
		r->window_end_ns > r->window_start_ns ? r->window_end_ns - r->window_start_ns : 0;

	return ns > r->paused_ns ? ns - r->paused_ns : 0;
}

/* Whether records that are missing may change figures of this stretch of time. */
static inline int vpa_is_touched(const struct vpa_report *r, uint64_t start_ns, uint64_t end_ns)
{
	const struct vpa_verdict *v = &r->verdict;
	size_t i;

	for (i = 0; i < v->loss_count; i++)
		if (v->losses[i].start_ns <= end_ns && v->losses[i].end_ns > start_ns)
			return 1;
	return 0;
}

/* Sets `touched` of all that has it, once the verdict is there. */
void vpa_mark_touched(struct vpa_report *r);

/* Busy time of all devices: what shares of busy are of. */
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
	size_t top;          /* rows per table; 0: 20, of which a page of text shows fewer */
	uint64_t min_gap_ns; /* 0: 5 times the median gap, at least 10 us and at most 1 ms */
	int has_from, has_to;
	uint64_t from_ns, to_ns; /* relative to the capture's start */
	/* The window is this range's first instance, host start to last op's end; NULL: no. */
	const char *range;
	const char *rules; /* rules for kernel families and ranges, text; NULL: none */
	size_t rules_len;
	int has_warmup;
	uint64_t warmup;          /* first blocks of each request that are not measured */
	uint64_t target_millifps; /* frames a thousand seconds; 0: none */
	/* Where the trace gives none; 0: not given. */
	uint64_t frames_per_block, first_block_frames, latents_per_block, vae_factor;
	void (*progress)(void *ctx, uint64_t done, uint64_t total); /* chunks; may be NULL */
	void *progress_ctx;
	const struct vpa_tap *tap; /* sees the pass, see tap.h; NULL: none */
};

struct vpt_trace;

/* Analyses an opened trace, in one pass (two with `range`). *out is the caller's to free. Reports are equal
 * byte for byte for any number of jobs. 0, VPT_EINVAL (no such range, empty window, bad rules), VPT_ENOMEM,
 * VPT_EIO. Damage is not an error: it stands in the verdict. */
int vpa_analyze(const struct vpt_trace *trace, const char *path, const struct vpa_options *options,
	struct vpa_report **out, struct vpt_err *err);
void vpa_report_free(struct vpa_report *r); /* accepts NULL */

struct vpt_sink;

/* How the report looks as text. All zero: every section, in 80 columns without colours. */
struct vpa_text {
	unsigned width;   /* columns of the terminal; 0: 80 */
	int colour;       /* ANSI colours */
	int brief;        /* DATA to FIX FIRST, in at most 24 lines */
	const char *only; /* one section, by its name in render/sections.def; NULL: all */
};

/* Renderers. 0, or the sink's failure or VPT_ENOMEM. */
int vpa_render_text(const struct vpa_report *r, const struct vpa_text *form, struct vpt_sink *sink,
	struct vpt_err *err);
int vpa_text_has_section(const char *name);
int vpa_render_json(const struct vpa_report *r, struct vpt_sink *sink, struct vpt_err *err);
/* What every JSON report holds: as a JSON Schema, and as a list for people. */
int vpa_render_json_schema(struct vpt_sink *sink, struct vpt_err *err);
int vpa_render_schema_text(struct vpt_sink *sink, struct vpt_err *err);

#endif

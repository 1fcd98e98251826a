/* report.h - the results of an analysis: plain tables, ready to be shown. DEFINITIONS.md and the
 * fold that fills it define every number; renderers only lay them out.
 *
 * All memory belongs to the report's arena and is freed by vpa_report_free(). Strings may hold any
 * bytes except NUL: whoever prints them must escape them. Times are integer nanoseconds on the
 * trace clock. */
#ifndef VPA_ANALYSIS_REPORT_REPORT_H
#define VPA_ANALYSIS_REPORT_REPORT_H

#include "analysis/base/arena.h"
#include "analysis/base/durations.h"
#include "analysis/names/families.h"
#include "analysis/report/code_line.h"
#include "analysis/report/counter.h"
#include "analysis/report/device.h"
#include "analysis/report/expert.h"
#include "analysis/report/forecast.h"
#include "analysis/report/request.h"
#include "formats/base/error.h"
#include "formats/event_schema.h"
#include "formats/metadata.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* Per cent of the window: where the profiling library's own work takes more, it stretches gaps. */
#define VPA_DEGRADED_PERCENT 5

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
	struct vpa_pair *reading_meta; /* META rows for a copy of the trace, see completeness.h */
	size_t reading_meta_count;
	uint64_t received, written, dropped; /* events */
	uint64_t ops_without_launch, launches_without_op, late_ops;
	/* Part of ops_without_launch: began before the first call, hence launched before the
	 * capture; or after recording had been paused, hence launched in a pause. */
	uint64_t early_ops;
	uint64_t launches_lost; /* part of launches_without_op: their kernels are missing */
	uint64_t zero_duration, reversed, zero_time; /* ops: end = start, end < start, time 0 */
	uint64_t unmatched_ranges, late_ranges;
	uint64_t deep_ranges; /* in more others than are counted */
	/* Of Python stacks: their gaps had been decided; left out, since a later one of the thread
	 * had come. */
	uint64_t late_samples, unsorted_samples;
	uint64_t damaged_chunks, torn_chunks, unknown_sections;
	int is_refused;       /* GPU work could not be recorded; a reason says why */
	int is_ranges_only;   /* GPU work was not requested */
	uint64_t overhead_ns; /* time of the profiling library's own records inside the window */
	double tracing_cost_share;  /* of the window; negative: unknown */
	enum vpa_metric_state gaps; /* degraded: overhead_ns is above VPA_DEGRADED_PERCENT */
};

/* The word for a verdict in text and on pages. */
static inline const char *vpa_verdict_word(int complete)
{
	return complete ? "COMPLETE" : "INCOMPLETE";
}

struct vpa_counts {
	uint64_t kernels, memcpy, memset, calls, ranges, cpu_ops;
	uint64_t marks, syncs, counters, samples, other; /* other: of all other kinds */
};

struct vpa_family_row {
	enum vpa_family family; /* of copies and memsets VPA_FAMILY_MEMCPY and VPA_FAMILY_MEMSET */
	uint64_t calls, total_ns, exclusive_ns;
	double share_of_busy; /* exclusive / busy of all devices */
};

struct vpa_kernel_row {
	const char *name; /* demangled where possible */
	enum vpa_family family;
	enum vpa_backend backend; /* VPA_BACKEND_NONE: not attention */
	uint64_t exclusive_ns;
	struct vpa_durations time;
	double blocks_mean; /* thread blocks of a call's grid; 0: not known */
	unsigned marks;     /* see families.h */
};

struct vpa_backend_row {
	enum vpa_backend backend;
	uint64_t calls, total_ns;   /* main kernels, forward and backward */
	uint64_t aux_calls, aux_ns; /* helpers: combine, convert, preprocess */
	/* Copies between layouts, and quantisations, that ran right before its calls on their stream. */
	uint64_t before_kernels, before_ns;
	double share_of_busy; /* exclusive time of main kernels and helpers */
};

struct vpa_eager_row {
	const char *range; /* NULL: outside all ranges */
	const char *gemm, *softmax;
	uint64_t count, total_ns, softmax_ns; /* count: sequences GEMM, softmax, GEMM */
};

/* Places of a denoising step whose attention is done by more than one back-end: the fastest there,
 * and another one. */
struct vpa_backend_change {
	enum vpa_backend fast, slow;
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

/* Two or more kernels that run one after the other on a stream, elementwise or fused with such by a compiler; see
 * ../folds/kernels/neighbours.c. */
struct vpa_chains {
	uint64_t count, kernels, total_ns; /* chains; kernels in them */
	uint64_t longest_ns;               /* of the longest kernel of each */
	const char *kernel; /* the elementwise one that takes most time; NULL: no chain */
};

/* Matrix products by the format of their factors. */
struct vpa_precision_row {
	const char *precision; /* vpa_precision_name() */
	uint64_t calls, total_ns, exclusive_ns;
};

enum {
	VPA_INSTANCES_MOST = 256, /* of a range; the first ones */
	VPA_INSTANCES_ALL = 1 << 16,
	/* Ranges with instances, and the least part of the devices' time that they have: 1 / this. */
	VPA_INSTANCES_RANGES = 16,
	VPA_INSTANCES_PART = 10
};

/* An instance of a range on a device that it launched work on. */
struct vpa_range_instance {
	uint64_t first_ns, envelope_ns, idle_ns; /* as of the range */
	uint32_t device;
};

struct vpa_range_row {
	const char *name, *domain; /* domain "" is NVTX's default domain */
	int is_imported;           /* an operator of PyTorch's profiler */
	/* Instances that began inside one of the same name, and are part of it: in no other member. */
	uint64_t nested;
	uint64_t unmatched;
	struct vpa_durations host; /* start to end on the host */
	/* On the GPU, over instances that launched work; per device and instance: envelope = first
	 * start to last end of its ops, without pauses; busy + foreign + idle = envelope. foreign:
	 * time covered only by other ops. */
	uint64_t ops, launches, envelope_ns, busy_ns, foreign_ns, idle_ns;
	/* Idle time within the envelopes and the range's time on the host: of the devices it
	 * launched on, or, if it launched nothing, of those its process has used by its end. */
	uint64_t idle_host_ns;
	struct vpa_durations lag; /* first op's start - range's start */
	struct vpa_durations gpu; /* the envelopes */
	/* By device, then start; if the options request step_parts, of ranges with a good part of the devices' time, not of
	 * operators. What a comparison may pair. */
	const struct vpa_range_instance *instances;
	size_t instance_count;
};

struct vpa_copy_row {
	unsigned kind;           /* VPT_COPYKIND_HTOD ... _MEMSET; one without a name is _UNKNOWN */
	unsigned source, target; /* VPT_MEMKIND_PAGEABLE ...; likewise */
	uint64_t count, bytes, total_ns;
	double gb_per_s; /* 1e9 bytes per second while copying; 0: unknown */
};

/* Copies from a device to pageable memory, those that a call waits for whatever the memory, and all of a few bytes, by
 * place of launch. */
struct vpa_read_row {
	const char *range;     /* innermost range around the launch; NULL: none */
	uint64_t small, large; /* small: at most VPA_SMALL_BYTES, as from .item() */
	uint64_t small_bytes, large_bytes;
	uint64_t pageable, pageable_bytes; /* of the small ones: to pageable memory */
};

struct vpa_sync_row {
	const char *call;
	uint64_t count, total_ns; /* time in the call, on all threads */
	uint64_t gaps, idle_ns;   /* device idle time it caused: its cost */
};

enum vpa_finding_status { VPA_FINDING_INFO, VPA_FINDING_WARN, VPA_FINDING_FAIL };

/* What it is about: VPA_FOUND_SYNC_DRAIN ... */
enum vpa_finding_id {
#define VPA_FINDING_ID(name, text) VPA_FOUND_##name,
#include "analysis/report/finding_ids.def"
	VPA_FOUND_COUNT
};

struct vpa_finding {
	enum vpa_finding_id id;
	const char *title; /* one line */
	const char *measured, *threshold;
	double gain_at_most_ms; /* 0: not about time; assumes nothing else becomes the bottleneck */
	const char **evidence;
	size_t evidence_count;
	enum vpa_finding_status status;
	const char *caveat; /* NULL: none */
	/* Part of gain_at_most_ms that other causes would save too. */
	double gain_shared_ms;
	/* By how much a replay saves more than what the cause is to blame for; part of gain_at_most_ms. */
	double gain_excess_ms;
	/* Part of gain_at_most_ms that no finding before it in the list may save too: no two of these parts are the
	 * same time. instead_of: the finding before it that may save most of the rest; VPA_FOUND_NONE: none. */
	double adds_ms;
	enum vpa_finding_id instead_of;
	/* the bound is a range from here to gain_at_most_ms; 0: it is one number */
	double gain_from_ms;
	/* What the gain is a part of. With several devices the figures are those of the device that would gain
	 * most. */
	enum vpa_base base;
	double base_ms, base_gain_ms, base_gain_from_ms;
	/* What findings are ordered by: of host code, which can hardly go away, what half of it would save in the base;
	 * of a range its middle; of any other gain all of it. */
	double base_likely_ms;
	/* Steady, of a request end to end: now, and at most; 0: unavailable. */
	double fps_from, fps_to;
	/* Steps or iterations per second: now, and at most; 0: the base is no such unit. */
	double steps_per_s_from, steps_per_s_to;
	/* Where most of it is, or how busy the GPU is; NULL: nothing to add. */
	const char *note;
	/* The same in few words: "in self_attn"; NULL: no place has most of it. */
	const char *where;
	int is_mostly;     /* a part that is worth a word is elsewhere */
	const char *words; /* the title in few words; NULL: those of all findings with this id */
	int is_idle; /* it saves idle time, of which all such findings together save all at most */
	int is_code; /* of a wait: most of it is the host's own code after it */
	/* Of the idle time that a wait is to blame for: the host ran its own code, see host_code.h. 0: none. */
	double host_code_ms;
	int touched; /* missing records may change these figures */
	const char
		*change; /* that it asks for, as `what-if --change` takes it; NULL: there is none */
	/* With the change: the base's length, and FPS or steps per second as above; 0: no prediction. */
	double predicted_ms, fps_predicted, steps_per_s_predicted;
	int predicted_at_least; /* the change leaves out a part of the repair, so that brings as much or more */
};

struct vpa_overview;

struct vpa_report {
	struct vpa_arena arena;
	const char *path, *format; /* format: "vptrace", "kineto", "nsight" */
	int is_import;             /* of another tool's file, which does not record drops */
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
	uint64_t any_busy_ns;     /* time in which at least one device works */
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
	struct vpa_chains chains;
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
	/* problems of the recording, then by the gain's share of its base, descending */
	struct vpa_finding *findings;
	size_t finding_count;
	/* What only a prediction can make a finding: other causes would save the same idle time. None after predictions. */
	struct vpa_finding *candidates;
	size_t candidate_count;
	struct vpa_request *requests; /* by start; none without blocks and steps */
	size_t request_count;
	struct vpa_stage_row *stages; /* in order of their first op */
	size_t stage_count;
	/* If the options request them; by request, then time. Iterations if there are no steps. */
	struct vpa_step_part *step_parts;
	size_t step_part_count;
	struct vpa_step_totals step_totals; /* of all of them */
	/* Of those of all requests but the first with steps; all zeros: only one has some. */
	struct vpa_step_totals steady_totals;
	uint64_t steps_marked; /* all such steps of the window */
	int steps_are_iterations;
	struct vpa_only_step only_step;
	struct vpa_inferred *inferred; /* a row per device; none if anything is marked */
	size_t inferred_count;
	/* Two repetitions, the smaller first, of which nothing tells which is the steps, on the first GPU that
	 * has such; then that one has no row. count 0: there are none. */
	struct vpa_step_rival *step_rivals;
	size_t step_rival_count;
	/* Why figures of requests are unavailable; the verdict's reasons include them. */
	const char **block_notes;
	size_t block_note_count;
	uint64_t target_millifps; /* the requested rate, in frames per 1,000 seconds; 0: none */
	size_t top;               /* maximum rows per table, as requested; 0: none */
	int touched;              /* missing records may change figures of the window */
	int is_diffusion;         /* 1: something says that steps are denoising steps */
	int has_marks;            /* 1: some `touched` in the report is set */
	struct vpa_forecast forecast;
	struct vpa_expert expert; /* the checklist, graphs, overlap and the like */
	struct vpa_said said;
	struct vpa_overview *overview; /* what happened when, see overview.h; NULL: not requested */
};

/* The run's metadata under a key, newest value; NULL: none. */
static inline const char *vpa_meta_of_key(const struct vpa_report *r, const char *key)
{
	size_t i;

	for (i = 0; i < r->meta_count; i++)
		if (r->meta[i].key && r->meta[i].value && !strcmp(r->meta[i].key, key))
			return r->meta[i].value;
	return NULL;
}

static inline const char *vpa_meta(const struct vpa_report *r, enum vpt_metadata fact)
{
	return vpa_meta_of_key(r, vpt_metadata_key(fact));
}

/* The name of a process, if the trace gives it one; else the run's command. NULL: neither is known. */
const char *vpa_process_name(const struct vpa_report *r, int64_t pid);

/* This series of a device (-1: of none); NULL: none. */
const struct vpa_counter *vpa_find_counter(
	const struct vpa_report *r, int64_t device, enum vpt_series series);

/* The request that a page shows: of those with most measured blocks, else most steps, the steady ones: without the
 * report's first, which sets up what others reuse, the one with the median rate of the next 64. NULL: none. */
const struct vpa_request *vpa_main_request(const struct vpa_report *r);

/* What is known of all gaps of a device with this cause, range and call, as a row of its causes has them;
 * NULL: nothing. */
const struct vpa_top_line *vpa_top_line_of_place(const struct vpa_report *r, int64_t device,
	enum vpa_cause cause, const struct vpa_place *place, const char *call);

/* The line of the call's largest place that has one; NULL: none. */
const struct vpa_top_line *vpa_top_line_of_call(const struct vpa_report *r, const char *call);

/* part / whole, at most 1: instances may reach beyond the blocks that they are in; 0 if whole is. */
static inline double vpa_part_of(uint64_t part_ns, uint64_t whole_ns)
{
	if (!whole_ns)
		return 0;
	return part_ns < whole_ns ? (double)part_ns / (double)whole_ns : 1;
}

/* From the window's start to its end, pauses included. */
static inline uint64_t vpa_window_span_ns(const struct vpa_report *r)
{
	return r->window_end_ns > r->window_start_ns ? r->window_end_ns - r->window_start_ns : 0;
}

/* The window's length: that of the device with the longest part of it, see vpa_device_window_ns(). */
static inline uint64_t vpa_window_ns(const struct vpa_report *r)
{
	uint64_t ns = vpa_window_span_ns(r);

	return ns > r->paused_ns ? ns - r->paused_ns : 0;
}

/* The parts of it that the devices have, summed. */
static inline uint64_t vpa_windows_ns(const struct vpa_report *r)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		vpt_sat_add_to(&ns, vpa_device_window_ns(&r->devices[i]));
	return ns;
}

/* The part of it that a device has; of one without ops the whole. */
static inline uint64_t vpa_window_of_device(const struct vpa_report *r, int64_t device)
{
	size_t i;

	for (i = 0; i < r->device_count; i++)
		if (r->devices[i].device == device)
			return vpa_device_window_ns(&r->devices[i]);
	return vpa_window_ns(r);
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

/* Whether it is of one rank of several: others decide how long its collectives last. */
static inline int vpa_has_collectives(const struct vpa_report *r)
{
	size_t i;

	for (i = 0; i < r->device_count; i++)
		if (r->devices[i].comm_ns)
			return 1;
	return 0;
}

/* Busy time of all devices: the base of shares of busy. */
static inline uint64_t vpa_busy_ns(const struct vpa_report *r)
{
	uint64_t busy = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		busy += r->devices[i].busy_ns;
	return busy;
}

/* The id as reports have it: "sync-drain". */
const char *vpa_finding_text(enum vpa_finding_id id);

void vpa_report_free(struct vpa_report *r); /* accepts NULL */

#endif

/* report.h - the results of an analysis: plain tables, ready to be shown. DEFINITIONS.md and the
 * fold that fills it define every number; renderers only lay them out.
 *
 * All memory belongs to the report's arena and is freed by vpa_report_free(). Strings may hold any
 * bytes except NUL: whoever prints them must escape them. Times are integer nanoseconds on the
 * trace clock. */
#ifndef VPA_ANALYSIS_REPORT_REPORT_H
#define VPA_ANALYSIS_REPORT_REPORT_H

#include "analysis/base/arena.h"
#include "analysis/report/rows/attention_rows.h"
#include "analysis/report/rows/finding.h"
#include "analysis/report/rows/stream_rows.h"
#include "analysis/report/rows/counter.h"
#include "analysis/report/rows/device.h"
#include "analysis/report/rows/forecast.h"
#include "analysis/report/rows/kernel_rows.h"
#include "analysis/report/rows/range_rows.h"
#include "analysis/report/rows/request.h"
#include "analysis/report/rows/said_rows.h"
#include "analysis/report/rows/verdict_row.h"
#include "formats/base/error.h"
#include "formats/event_schema.h"
#include "formats/metadata.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What people who tune a GPU pipeline look up by hand. */
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
	struct vpa_stage_work_row *stage_work; /* by busy_ns, descending */
	size_t stage_work_count;
	struct vpa_attention_shape *shapes; /* by total_ns, descending; at most --top */
	size_t shape_count, shapes_used;
	struct vpa_marked_row *marked; /* each after the row around it */
	size_t marked_count;
};

struct vpa_overview;

/* ---- of the run: its GPUs, its metadata, how many events it has ---- */

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

struct vpa_counts {
	uint64_t kernels, memcpy, memset, calls, ranges, cpu_ops;
	uint64_t marks, syncs, counters, samples, other; /* other: of all other kinds */
};

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
	uint64_t any_busy_ns; /* time in which at least one device works */
	int launches_block;   /* see ../model/blocking_launches.h */
	struct vpa_host_stops host_stops;
	struct vpa_pauses *pauses; /* by ns, descending; at most VPA_PAUSES_MOST */
	size_t pause_count;
	struct vpa_gap_row *gaps; /* the longest, at most --top of them */
	size_t gap_count;
	struct vpa_long_gap *long_gaps; /* by length, descending; at most VPA_LONG_GAPS */
	size_t long_gap_count;
	/* Of long gaps that allocations made: their time, and the part in operators that do nothing but allocate. */
	struct {
		uint64_t gaps_ns, operators_ns;
	} allocating;
	uint64_t gaps_listed_of;         /* all gaps of at least min_gap_ns */
	struct vpa_family_row *families; /* by exclusive time, descending */
	size_t family_count;
	struct vpa_kernel_row *kernels;    /* by exclusive time, descending; at most --top */
	size_t kernel_count, kernel_names; /* kernel_names: distinct ones, listed or not */
	/* Names without a family: the largest, until they cover most of that time; at most 3. */
	const char **unknown_kernels;
	size_t unknown_count;
	const char *hopper_kernel; /* a kernel that runs only on a Hopper; NULL: none */
	struct vpa_attention attention;
	struct vpa_chains chains;
	struct vpa_unpacking unpacking;
	struct vpa_quantised quantised;
	struct vpa_column_convs column_convs;
	struct vpa_adapters adapters;
	struct vpa_reducing reducing;
	struct vpa_recomputed recomputed;
	struct vpa_trials trials;
	struct vpa_move_row *moves; /* by kind, then total_ns, descending */
	size_t move_count;
	struct vpa_precision_row *precisions; /* of GEMMs, by exclusive time, descending */
	size_t precision_count;
	/* NVTX ranges and cpu_op, by the larger of host time and busy_ns, descending; at most --top per domain. */
	struct vpa_range_row *ranges;
	size_t range_count, range_names;
	/* Ranges with numbers in their names, one after the other, as one range; by name. */
	struct vpa_range_row *series;
	size_t series_count;
	struct vpa_copy_row *copies;
	size_t copy_count;
	struct vpa_upload_row *uploads; /* by total_ns, descending */
	size_t upload_count;
	/* Of copies of at least 1 MiB, told by their sizes: what came back to the host from what had gone to a device, and
	 * what went to a device again after that. */
	uint64_t came_back_bytes, uploaded_again_bytes;
	uint64_t block_uploads; /* copies of more than 4 KiB to a device that marked blocks make */
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
	uint64_t iterations_per_cycle; /* see ../pipeline/unit.h; 0: there are no cycles */
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

/* The row of the GPU with this number; NULL: none. */
const struct vpa_gpu *vpa_report_gpu(const struct vpa_report *r, int64_t device);
/* What a device did; NULL: it has no ops. */
const struct vpa_device *vpa_report_device(const struct vpa_report *r, int64_t device);

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
	const struct vpa_device *d = vpa_report_device(r, device);

	return d ? vpa_device_window_ns(d) : vpa_window_ns(r);
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

void vpa_report_free(struct vpa_report *r); /* accepts NULL */

#endif

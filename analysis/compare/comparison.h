/* comparison.h - two sides of reports compared: which is faster, by how much, how sure that is, and why.
 *
 * A side is one or several runs of the same thing. Nothing is analyzed again: a comparison is a function
 * of finished reports. Every difference is b - a, so times below zero are time saved.
 *
 * The runs are compared by the best unit that all of them have, see compared_units.c. The units are paired by
 * request and index; those without a counterpart are left out, and counted. With VPA_RUNS_LEAST or more
 * runs on each side the test is between runs, on the median period of each; with fewer it is between the
 * paired periods, and says nothing about further runs.
 *
 * The difference of the mean period is divided into the GPU's busy time by kernel family and its idle time
 * by cause; these add up to it to the nanosecond, see account.c. Another account divides the whole window
 * by kernel and by place of idle time, per unit in the window. */
#ifndef VPA_ANALYSIS_COMPARE_COMPARISON_H
#define VPA_ANALYSIS_COMPARE_COMPARISON_H

#include "analysis/compare/series_stats.h"
#include "analysis/pipeline/unit.h"
#include "analysis/report/overview.h"
#include "analysis/report/report.h"
#include "analysis/report/similar_names.h"

#include <stddef.h>
#include <stdint.h>

/* ---- account.c: divides the difference of two means into parts that add up exactly.
 *
 * Each side has a total time over n units, and the same parts. The difference of the means,
 *
 *	B / n_B - A / n_A = (B * n_A - A * n_B) / (n_A * n_B)
 *
 * is a fraction; so is that of each part, with the same denominator, and these numerators add up without
 * any error. In whole nanoseconds: the difference is rounded half away from zero, each part towards zero,
 * and the nanoseconds then left go, one each, to the parts with the largest rest, the first of equal
 * ones. So the parts' integers add up to the difference's, and exchanging the sides negates them all. */

/* More units count as this many: the fractions then fit 128 bits for any times and up to 2^20 parts. */
#define VPA_ACCOUNT_UNITS_MAX (((uint64_t)1 << 40) - 1)

struct vpa_account_part {
	uint64_t a_ns, b_ns; /* totals */
	int64_t delta_ns;    /* of the mean */
};

/* Fills the parts' delta_ns, and *delta_ns with their sum, the difference of the means. 0 units count as 1. A difference
 * beyond int64_t, as a file may give, is INT64_MAX or -INT64_MAX, and the parts then need not add up. 0, or VPT_ENOMEM with
 * all deltas 0. */
int vpa_account(struct vpa_account_part *parts, size_t count, uint64_t a_units, uint64_t b_units,
	int64_t *delta_ns);

/* ---- compared_units.c: what two captures are compared by: the units of work that both have.
 *
 * A unit is a measured video block, a request, a step, an iteration, an instance of a range, or the whole window. It has a key,
 * by which units of two captures are paired: the request's number among those with such units, and the unit's index in it; of a
 * step, its place among all steps of the request, also those without a period, or block and place in it. A series drifts and
 * its neighbours resemble each other, so the k-th unit is compared with the k-th. */

enum {
	/* Of a unit's time on its devices: those of overview.h, where what the host did is part of the causes; then
	 * what else there is. */
	VPA_UNIT_PAUSED = VPA_OVERVIEW_ALL,
	VPA_UNIT_BUSY, /* busy time without a family, idle time without a cause */
	VPA_UNIT_IDLE,
	VPA_UNIT_PARTS
};

struct vpa_unit {
	uint64_t request;
	int64_t index;
	int64_t block, in_block;    /* of a step: its block, and its place there; block -1: none */
	uint64_t period_ns, frames; /* frames 0: not known */
	unsigned devices;
	/* busy + idle + paused = period * devices. */
	uint64_t busy_ns, idle_ns, paused_ns;
	const uint64_t *parts_ns; /* VPA_OVERVIEW_ALL of them; NULL: not known */
	int lacks_instead;        /* what the host did is not known */
	double judged_ns;         /* of a frame: judged by it, not by the period; 0: by that */
	int touched;              /* missing records may change the figures */
	int paired;               /* every capture of the comparison has the key */
};

struct vpa_units {
	const struct vpa_report *report;
	enum vpa_unit_kind kind;
	struct vpa_unit *units; /* by key */
	size_t count;
	uint64_t in_window; /* units in the whole window, measured or not; 1 for windows */
};

/* The report's units of a kind, in the arena; none: count 0. range: whose instances; NULL: of none. 0 or VPT_ENOMEM. */
int vpa_units_of(const struct vpa_report *r, enum vpa_unit_kind kind,
	const struct vpa_range_row *range, struct vpa_arena *arena, struct vpa_units *out);

/* Marks in all series the units whose key is in each of them. Returns how many that are. Where all steps of all
 * series are in blocks, their keys are block and place in it. */
size_t vpa_units_pair(struct vpa_units *all, size_t count);

/* Adds the parts of the paired units to sums[VPA_UNIT_PARTS]. Without `by_part`, busy and idle time are one
 * part each. Returns whether the parts are known. Sets *lacks_instead if what the host did is not. */
int vpa_units_sum(const struct vpa_units *u, int by_part, uint64_t *sums, int *lacks_instead);

struct vpt_sink;

enum vpa_verdict_change {
	VPA_CHANGE_SAME,
	VPA_CHANGE_FASTER, /* b needs less time */
	VPA_CHANGE_SLOWER,
	VPA_CHANGE_INCONCLUSIVE,
	VPA_CHANGES
};

/* "same", "faster", "slower", "inconclusive" */
const char *vpa_change_name(enum vpa_verdict_change change);

/* The runs of one side. */
struct vpa_side {
	const struct vpa_report *const *reports;
	size_t count; /* 1 .. VPA_RUNS_MOST */
};

struct vpa_compare_options {
	double margin; /* relative changes up to this are no change: 0.005 */
	/* Bit 1 << kind for each kind of unit that may be chosen, besides the window; 0: all. */
	unsigned kinds;
	/* Both sides are one report: of requests as units the first is left out where there is a later one, as the report
	 * does; else only if three are left. */
	int is_of_itself;
};

/* The runs whose VAE's work, or copies of frames, come after their last block. */
enum vpa_compared_after { VPA_AFTER_NONE, VPA_AFTER_SOME, VPA_AFTER_ALL };

/* A fact of the set-up that differs. NULL: not recorded. */
struct vpa_compared_fact {
	const char *name, *a, *b;
	int is_work; /* it changes the work itself: frames, steps, GPUs */
};

/* Of the mean unit. Idle time that counts to an earlier wait, in which the host did something else than launch, is a
 * part of its own. */
struct vpa_compared_part {
	enum vpa_block_part_kind kind;
	unsigned
		part; /* a family, or VPA_OVERVIEW_IDLE + a cause; VPA_UNIT_PAUSED, VPA_UNIT_BUSY, VPA_UNIT_IDLE */
	const char *name;    /* family, cause's key, "all" or "recording paused" */
	enum vpa_cause host; /* what the host did in such time; else 0 */
	/* The place with most of that, the call it was in, the call that had held it; NULL: none, or not known. */
	struct vpa_place host_place;
	const char *host_call, *call;
	struct vpa_account_part times; /* totals, and the difference of the means */
	uint64_t a_mean_ns, b_mean_ns;
	double share; /* the difference, of A's mean unit */
};

struct vpa_compared_stage {
	const char *name, *kind;
	double a_per_unit, b_per_unit; /* below 0: unknown */
	/* Mean duration of an instance; below 0: the side has none. */
	double a_ns, b_ns;
	double delta_ns, change; /* change: of a_ns; both valid if both sides have the stage */
	int nested;
	double p; /* between runs, corrected by Holm; below 0: no test */
};

enum vpa_row_state {
	VPA_ROW_BOTH,
	VPA_ROW_NEW,
	VPA_ROW_GONE,
	VPA_ROW_OTHER_SHAPE, /* a kernel whose mean grid differs by more than VPA_SHAPE_MARGIN */
	VPA_ROW_STATES
};

#define VPA_SHAPE_MARGIN 0.05 /* of the larger one */

/* "both", "new", "gone", "other shape" */
const char *vpa_row_state_name(enum vpa_row_state state);

/* A kernel, copies, memsets, or the idle time of a cause at a place: parts of the whole window. */
struct vpa_compared_row {
	enum vpa_block_part_kind kind;
	const char *name;       /* of the kernel; the cause's key */
	int is_kernel;          /* busy time: else of copies or memsets */
	enum vpa_cause cause;   /* of idle time */
	struct vpa_place place; /* of idle time */
	const char *call;       /* of idle time; NULL: none */
	uint64_t similar; /* ranges besides this one (or the host's), alike as in similar_names.h */
	struct vpa_alike ranges; /* their names, with this one's */
	enum vpa_cause host;     /* as of parts; 0: none */
	struct vpa_place host_place;
	const char *host_call;
	const char *family;        /* of busy time */
	uint64_t a_count, b_count; /* calls or gaps, in all runs of the side */
	struct vpa_account_part times;
	enum vpa_row_state state;
	/* For each unit in the window. share: the difference, of A's whole unit. */
	double a_per_unit, b_per_unit, share;
	uint64_t a_mean_ns, b_mean_ns;
	uint64_t a_call_ns, b_call_ns; /* mean of a call or gap; 0: the side has none */
	double a_blocks, b_blocks;     /* mean thread blocks of a kernel's call; 0: not known */
};

/* Idle time of a cause at a line of Python, in the whole window. */
struct vpa_compared_line {
	enum vpa_cause cause;
	struct vpa_code_line line; /* function NULL: no line is known */
	struct vpa_account_part times;
	uint64_t a_mean_ns, b_mean_ns;
	uint64_t a_samples, b_samples; /* 0 in both: stacks are exact, or no line is known */
	/* 1: it changed by more than three standard errors of these numbers of samples. */
	int beyond_samples;
};

enum vpa_count_group {
	VPA_COUNTS_EVENTS,
	VPA_COUNTS_GRAPHS,
	VPA_COUNTS_COPIES,
	VPA_COUNTS_SYNCS,
	VPA_COUNTS_ATTENTION,
	VPA_COUNTS_GEMM,
	VPA_COUNT_GROUPS
};

/* "events", "graphs", ...; NULL: there are no more. */
const char *vpa_count_group_name(enum vpa_count_group group);

/* A count, for each unit in the window. */
struct vpa_compared_count {
	enum vpa_count_group group;
	const char *name, *unit; /* unit: "count", "bytes", "ns idle" */
	double a, b;
	double change; /* of A's; valid if that is above 0 */
};

/* A series of samples, or a memory peak: its mean and maximum; below 0: the side has none. */
struct vpa_compared_counter {
	const char *name, *unit;
	int64_t device;
	double a_mean, b_mean, a_max, b_max;
	double change; /* of A's mean; valid if that is above 0 and B has a mean */
};

/* A finding that only one side has. */
struct vpa_compared_finding {
	enum vpa_finding_id id;
	const char *title;
	int in_b;
};

/* What a replay of A's trace predicts with the changes of findings that B lacks, beside B: see predicted_change.c. */
struct vpa_compared_prediction {
	const char **titles, **ids; /* of the findings */
	size_t finding_count, id_count;
	const char *change; /* of all of them, as what-if takes it */
	const char *confidence;
	enum vpa_base unit;
	double recorded_ms, predicted_ms, measured_ms; /* A's mean unit, with the change, B's */
	double error_percent;                          /* of the prediction, beside B */
	double fps_predicted, fps_measured;            /* 0: unavailable */
};

struct vpa_comparison {
	struct vpa_arena arena;
	struct vpa_side a, b;
	const char **a_paths, **b_paths; /* of the reports */

	enum vpa_verdict_change verdict;
	enum vpa_unit_kind unit;
	int per_frame; /* frames per unit differ: times are for each frame */
	enum vpa_compared_after after;
	/* "FPS", "FPS end to end", "denoise rate", "blocks/s", "requests/s", "steps/s", "iterations/s", "instances/s",
	 * "windows/s" */
	const char *rate_name;
	int counts_frames,
		is_fps; /* of the rate; a denoise rate counts frames that cannot be shown yet */
	/* 1: the requests' own FPS end to end is judged, one value a run: there are too few requests, or one. */
	int judges_requests;
	double a_rate, b_rate;                     /* of the paired units */
	double a_fps_end_to_end, b_fps_end_to_end; /* of all requests; below 0: not known */
	/* Relative change of the time of a unit (or frame), and of the rate. Low and high: the ends of
	 * the interval; valid if level is not 0. */
	double time_change, time_low, time_high;
	double rate_change, rate_low, rate_high;
	double level;
	size_t outliers;   /* units that the change and its interval leave out; the rates do not */
	double all_change; /* of the time, with these */
	/* Units a side that it takes to tell a change from noise that changes slowly; 0: there are as many. `resembles`: and
	 * neighbours look as if the noise did. */
	size_t units_needed;
	int resembles;
	double detectable;               /* relative; below 0: unknown */
	double a_noise, b_noise;         /* deviation / mean of the periods; below 0: unknown */
	double a_run_noise, b_run_noise; /* the same of the runs' medians; below 0: one run */
	int between_runs;                /* 1: p and the interval are of a test between runs */
	double p, least_p;               /* below 0: no test between runs */
	double margin;
	size_t pairs;              /* units paired */
	int without_first;         /* of several requests of each run the first is left out */
	struct vpa_units *series;  /* the units of each run, A's runs before B's; marked: paired */
	uint64_t a_units, b_units; /* units of all runs, paired or not */
	const char **notes;        /* what limits the comparison, most important first */
	size_t note_count;

	struct vpa_compared_fact *facts;
	size_t fact_count;
	/* The account of the mean unit: the parts add up to delta_ns. */
	struct vpa_compared_part *parts; /* by kind, then change, the largest first */
	size_t part_count;
	uint64_t a_total_ns, b_total_ns; /* device time of the paired units */
	uint64_t a_over, b_over;         /* what it is divided by: units (or frames) * devices */
	int64_t delta_ns, busy_delta_ns, idle_delta_ns;
	int by_part;                       /* 0: busy and idle time are one part each */
	struct vpa_compared_stage *stages; /* in the pipeline's order */
	size_t stage_count;
	/* The account of the window: the rows add up to window_delta_ns. Largest change first. */
	struct vpa_compared_row *rows;
	size_t row_count;
	uint64_t a_window_units, b_window_units; /* units in the windows of all runs */
	uint64_t a_window_over, b_window_over;   /* the same, each times its GPUs */
	int64_t window_delta_ns;
	int a_lists_all, b_lists_all; /* 0: that side lists only some of its kernels */
	/* Idle time of the windows by line, if all runs have stacks: the rows add up to lines_delta_ns. Largest change
	 * first. */
	struct vpa_compared_line *lines;
	size_t line_count;
	int64_t lines_delta_ns;
	struct vpa_compared_count *counts;
	size_t count_count;
	struct vpa_compared_counter *counters;
	size_t counter_count;
	struct vpa_compared_finding *findings;
	size_t finding_count;
	struct vpa_compared_prediction *prediction; /* NULL: none */
	int complete;                               /* all inputs are complete */
};

/* Compares. The caller frees *out; it borrows the reports. options.step_parts
 * makes reports with the parts of each block and step. VPT_EINVAL with a sentence if there is nothing to compare, VPT_EDATA if
 * an incomplete capture is why; VPT_ENOMEM. */
int vpa_compare(const struct vpa_side *a, const struct vpa_side *b,
	const struct vpa_compare_options *options, struct vpa_comparison **out,
	struct vpt_err *err);
void vpa_comparison_free(struct vpa_comparison *c); /* accepts NULL */

/* The cause of a part of idle time; VPA_CAUSE_NOT_IDLE: of all idle time, or of another kind. */
static inline enum vpa_cause vpa_compared_cause(const struct vpa_compared_part *p)
{
	return p->part >= VPA_OVERVIEW_IDLE && p->part < VPA_OVERVIEW_PARTS
		       ? (enum vpa_cause)(p->part - VPA_OVERVIEW_IDLE)
		       : VPA_CAUSE_NOT_IDLE;
}

/* The parts of the mean unit that explain most of its change: those with the same sign, the largest first,
 * at most `most`. Returns how many; the smallest ones, below a twentieth of the largest, are left out. What the host
 * did, and counts to a wait on one side only, is one part, with the name of its cause. */
size_t vpa_compare_leading(
	const struct vpa_comparison *c, struct vpa_compared_part *out, size_t most);

/* The line with at least half of the change of a cause's idle time, in the direction of delta_ns, and beyond the error of
 * its samples; NULL: none. */
const struct vpa_code_line *vpa_compare_line_of(
	const struct vpa_comparison *c, enum vpa_cause cause, int64_t delta_ns);

/* The change of a part of the unit, of each GPU (and frame), in ns, by the verdict's test. part: as of a part; VPA_UNIT_PARTS: all
 * of this kind. Level 0: there is no test, since a side has one value, or its parts are not known. -1: no memory. */
int vpa_compare_part_shift(const struct vpa_comparison *c, enum vpa_block_part_kind kind,
	unsigned part, struct vpa_shift *out);

/* Whether a difference is beyond noise; without an interval, beyond the margin. */
int vpa_compare_is_change(const struct vpa_comparison *c);

/* Kernels that only one side has, or that have another grid, and take a ten thousandth of A's unit or more. Returns how
 * many there are of a state. */
size_t vpa_compare_kernels(const struct vpa_comparison *c, enum vpa_row_state state);

/* ---- renderers ---- */

#define VPA_COMPARE_SCHEMA "vptrace.compare/1"
#define VPA_TOP_COMPARED   12 /* rows per table of the text */

/* Text for a terminal of `width` columns, at most `top` rows per table (0: VPA_TOP_COMPARED). 0, the sink's error or
 * VPT_ENOMEM. */
int vpa_compare_text(const struct vpa_comparison *c, unsigned width, int colour, size_t top,
	struct vpt_sink *sink, struct vpt_err *err);
/* The same as GitHub-flavoured Markdown, for a pull request. */
int vpa_compare_markdown(
	const struct vpa_comparison *c, struct vpt_sink *sink, struct vpt_err *err);
/* One page for browsers. command: that makes it; NULL: not known. */
int vpa_compare_html(const struct vpa_comparison *c, const char *command, struct vpt_sink *sink,
	struct vpt_err *err);
int vpa_compare_json(const struct vpa_comparison *c, struct vpt_sink *sink, struct vpt_err *err);

#endif

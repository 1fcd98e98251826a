/* request.h - the report's rows of requests: one video each, with its blocks and steps; and of stages, the parts of
 * the pipeline. Part of report.h; ../../folds/blocks/blocks.c and blocks_write.c define the figures.
 *
 * Unavailable figures: doubles below 0; times, counts and frames of 0. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_REQUEST_H
#define VPA_ANALYSIS_REPORT_ROWS_REQUEST_H

#include "analysis/base/durations.h"
#include "analysis/report/rows/block.h"
#include "analysis/report/rows/code_line.h"
#include "analysis/report/rows/step.h"
#include "analysis/report/rows/unit_kind.h"

#include <stddef.h>
#include <stdint.h>

/* What devices did in a part of a request, summed over them:
 * busy + idle + paused = period * devices. */
struct vpa_request_gpu {
	uint64_t period_ns, busy_ns, idle_ns, paused_ns;
	unsigned devices;
	struct vpa_block_part *parts; /* by kind, then time, descending */
	size_t part_count;
};

struct vpa_request {
	const char *name; /* of its range; NULL: the whole window */
	enum vpa_scope_source source;
	/* start: of the range on the host; end: of its last op, of the range if it has none. */
	uint64_t start_ns, end_ns;
	uint64_t frames; /* that it made */
	double fps_end_to_end;
	uint64_t ttfb_ns, ttff_ns; /* from start to first block; to first frames-ready mark */
	struct vpa_blocks blocks;
	struct vpa_step_times steps;
	int touched; /* missing records may change its figures */
	/* From its first op's start to that of the next request, of all devices; to its last op's end, if no request
	 * has a next one. All zeros: no request follows it, the window cuts it, or the options do not request
	 * step_parts. */
	struct vpa_request_gpu gpu;
	/* What it was asked for, and was, as it says itself. */
	uint64_t height, width, steps_asked, batch, frames_asked;
	uint64_t frames_told; /* of `frames`: as a fact at its end */
	double guidance;
	const char *seed, *error; /* NULL: unknown; it did not fail, as far as known */
	struct vpa_pair *facts;   /* others */
	size_t fact_count;
	double passes_per_step; /* of the model: 2 and more for guidance */
	/* From each step to the next, of the devices that work in steps. All zeros: measured blocks contain steps,
	 * no step follows another, or the options do not request step_parts. */
	struct vpa_request_gpu loop;
};

/* ---- stages ---- */

/* Figures are of the instances inside measured blocks; if there are none, of all instances. */
struct vpa_stage_row {
	const char *name;
	enum vpa_scope_source source;
	enum vpa_scope_kind kind;
	uint64_t count; /* all instances with work on a GPU */
	uint64_t in_blocks;
	double per_block;
	int nested;                /* always inside other stages or steps */
	struct vpa_durations time; /* first op's start to last op's end */
	uint64_t top_ns;           /* total of those not inside others */
	/* busy and idle: as for ranges, summed over devices */
	uint64_t busy_ns, idle_ns, attention_ns, ops;
	double share; /* covered_ns of the measured blocks' time, else of the window; at most 1 */
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
	/* Its work had the device to itself, as in ../../folds/blocks/table/blocks_table.h; of the device with most of it, and
	 * only of what is not inside others. */
	uint64_t alone_ns;
	double alone_share; /* as `share` */
	/* Some instance lasts: those that overlap, in threads or on devices, count once. */
	uint64_t covered_ns;
};

#endif

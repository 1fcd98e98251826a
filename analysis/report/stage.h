/* stage.h - the report's rows of stages, the parts of the pipeline. Part of report.h; ../folds/blocks/blocks.c and
 * blocks_write.c define the figures.
 *
 * Unavailable figures: doubles below 0; times, counts and frames of 0. */
#ifndef VPA_ANALYSIS_REPORT_STAGE_H
#define VPA_ANALYSIS_REPORT_STAGE_H

#include "analysis/base/durations.h"
#include "analysis/report/code_line.h"
#include "analysis/report/unit_kind.h"

#include <stddef.h>
#include <stdint.h>

/* Figures are of the instances inside measured blocks; if there are none, of all instances. */
struct vpa_stage_row {
	const char *name, *source;
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
	/* Its work had the device to itself, as in ../folds/blocks/blocks_alone.h; of the device with most of it, and
	 * only of what is not inside others. */
	uint64_t alone_ns;
	double alone_share; /* as `share` */
	/* Some instance lasts: those that overlap, in threads or on devices, count once. */
	uint64_t covered_ns;
};

#endif

/* block.h - the report's rows of generated video blocks: when each ended, what its time was made of, and what
 * follows from the measured ones. Part of report.h; ../../folds/blocks/blocks.c and blocks_write.c define the figures.
 *
 * Unavailable figures: doubles below 0; times, counts and frames of 0. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_BLOCK_H
#define VPA_ANALYSIS_REPORT_ROWS_BLOCK_H

#include "analysis/base/durations.h"
#include "analysis/names/families.h"
#include "analysis/report/rows/causes.h"
#include "analysis/report/rows/code_line.h"
#include "analysis/report/rows/unit_kind.h"

#include <stddef.h>
#include <stdint.h>

/* A part of the blocks' periods: exclusive time of a kernel family, idle time by cause, or a
 * recording pause. */
struct vpa_block_part {
	enum vpa_block_part_kind { VPA_PART_BUSY, VPA_PART_IDLE, VPA_PART_PAUSED } kind;
	unsigned part;      /* VPA_PART_FIRST + the family or cause, see ../overview.h */
	uint64_t ns, count; /* ops, or pieces of gaps, that began there */
	/* Of idle time that counts to an earlier call: what the host did in it, by ns, descending. NULL: not known,
	 * as in a report of an older version. */
	struct vpa_block_instead {
		enum vpa_cause host;
		uint64_t ns;
	} * instead;
	size_t instead_count;
};

struct vpa_block_row {
	int64_t index;            /* within its request; -1: not given */
	uint64_t frames, latents; /* 0: not known */
	/* start: of the first op; end: of the last op, or when its frames were ready. */
	uint64_t start_ns, end_ns;
	uint64_t latency_ns; /* end - start */
	/* Since the end of the previous block; its latency where that is not known: of the first block, and of
	 * the first one after a pause. */
	uint64_t period_ns;
	/* In the period, summed over the devices it used: busy + idle + paused = period *
	 * devices. */
	uint64_t busy_ns, idle_ns, paused_ns;
	uint64_t
		ops; /* that begin in the period; 0: not known, as in a report of an older version */
	uint64_t attention_ns; /* part of busy: all attention families */
	uint64_t eager_ns;     /* part of attention: softmax that is not fused with its GEMMs */
	unsigned devices;
	int warmup;     /* not measured */
	int ready_mark; /* end_ns is when a mark says its frames were ready */
	int missed;     /* took longer than its frames last at the target rate */
	int touched;    /* missing records may change these figures */
	/* In the period, VPA_OVERVIEW_ALL of them, by part of overview.h; NULL: not requested. */
	uint64_t *parts_ns;
	/* Idle time between ops that ended with one launched in the block, summed over devices, and the
	 * line with most of it by the samples that belong to it. NULL: fewer than VPA_LINE_SAMPLES_MIN,
	 * and no exact stacks. */
	uint64_t waited_ns, line_samples;
	const struct vpa_stage_line *line;
	uint32_t scope; /* of the pass, to find it again */
};

/* A block whose period differs from its neighbours', compared with the neighbour that has their
 * median period. */
struct vpa_outlier_row {
	size_t block;     /* row index in the series */
	int64_t delta_ns; /* of the period; the parts' deltas sum to it times the devices */
	/* The part with the largest delta of the same sign, as of struct vpa_block_part; 0: none. */
	unsigned part;
	int64_t part_delta_ns;
	const char *stage; /* the stage with the largest delta of the same sign; NULL: none */
	int64_t stage_delta_ns;
};

struct vpa_blocks {
	size_t count; /* with work on a GPU, wholly inside the window */
	size_t warmup,
		measured; /* = count; warmup: the first ones, and the first after each pause */
	size_t left_out;  /* cut by the window's edge or a pause, or without work on a GPU */
	uint64_t frames;  /* of the measured blocks */
	uint64_t span_ns; /* sum of the measured blocks' periods */
	/* frames / span; unavailable if VAE or frame copies run after the blocks: denoise_rate
	 * then holds the quotient, which is never called FPS. */
	double fps;
	double denoise_rate;
	double bps, fps_busy, fps_denoise, latent_fps;
	const char **includes; /* what is included in the span */
	size_t include_count;
	enum vpa_rest after; /* the last block, instead of inside the span */
	struct vpa_durations latency, period, attention; /* measured */
	uint64_t jitter_ns;                              /* p99 - p50 of the period */
	/* Against the target; -1 without a target. */
	int64_t misses, longest_miss_run;
	int64_t prebuffer_frames; /* frames to buffer for stall-free playback */
	/* Against the index in the series of measured blocks. */
	int has_drift;
	/* Per block, Theil-Sen, as all that drift: up to row grown_until of the series; -1: over all blocks. */
	double period_drift_ns, attention_drift_ns, eager_drift_ns;
	int64_t grown_until;
	/* The same of attention if the GEMMs of unfused attention grow as its softmax does. */
	double attention_drift_most_ns;
	/* Of other kinds of work, the one that grows most, by drift; 0: none grows. */
	enum vpa_family grown;
	double grown_drift_ns;
	/* The same of stages outside steps, by their busy time; NULL: none grows. */
	const char *grown_stage;
	double grown_stage_drift_ns;
	/* What it works in measured blocks, and of that beyond what it works in the first whole block of as many latents. */
	uint64_t grown_stage_busy_ns, grown_stage_more_ns;
	int64_t saturated_at; /* row of the series from which attention stops growing; -1: none */
	uint64_t busy_ns, idle_ns, paused_ns; /* measured */
	uint64_t work_ns; /* the most that one device did in them itself, as vpa_work_ns() */
	unsigned devices; /* maximum used by a measured block */
	/* over all measured periods; by kind, then time, descending */
	struct vpa_block_part *parts;
	size_t part_count;
	struct vpa_block_row *series; /* by end */
	struct vpa_outlier_row *outliers;
	size_t outlier_count;
	int touched; /* missing records may change figures of the measured blocks */
};

#endif

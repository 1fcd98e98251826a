/* step.h - the report's rows of denoising steps: marked by the pipeline, or inferred from a pattern of ops
 * where nothing is marked. Part of report.h; ../../folds/blocks/blocks_steps.c and ../../folds/unmarked_steps_table.c define the figures.
 *
 * Unavailable figures: doubles below 0; times, counts and frames of 0. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_STEP_H
#define VPA_ANALYSIS_REPORT_ROWS_STEP_H

#include "analysis/report/rows/block.h"

#include <stddef.h>
#include <stdint.h>

struct vpa_step_times {
	uint64_t count; /* Denoising steps with work on a GPU, without passes over the context. */
	struct vpa_durations time; /* first op's start to last op's end */
	uint64_t context_count;
	struct vpa_durations context;
	double per_block; /* in measured blocks */
	/* From one step to the next in its loop: in measured blocks if they have steps. */
	uint64_t periods;
	struct vpa_durations period;
	double s_per_it;    /* the mean period; without periods: the mean of `time` */
	double steps_per_s; /* 1 / s_per_it */
};

/* From the start of a marked step, or of an iteration, to that of the next in its block, or in its request
 * outside blocks; none spans a pause. */
struct vpa_step_part {
	uint64_t request; /* its number among those with such steps */
	/* Its place, from 0: among all steps of its request, by time, also those without a period; and in its
	 * block. block: that one's index, or its number among those with steps if their indices do not rise; -1:
	 * outside blocks. */
	int64_t order, order_in_block, block;
	uint64_t start_ns, period_ns;
	/* Summed over all devices: busy + idle + paused = period * devices. */
	uint64_t busy_ns, idle_ns, paused_ns;
	uint64_t ops; /* that begin in it; 0: not known, as in a report of an older version */
	unsigned devices;
	uint64_t *
		parts_ns; /* VPA_OVERVIEW_ALL of them, by part of overview.h; NULL: not requested */
};

/* Sums over such periods. */
struct vpa_step_totals {
	struct vpa_block_part *parts; /* by kind, then time, descending */
	size_t part_count;
	uint64_t work_ns; /* the most that one device did in them itself, as vpa_work_ns() */
};

/* The step or iteration of a window that has only one, so no period. Zeros: there is none, or there are more. */
struct vpa_only_step {
	/* From its range's start on the host to its end, or to that of its last op. */
	uint64_t start_ns, end_ns;
	uint64_t first_ns, last_ns; /* start of its first op, end of its last */
	/* Between these, summed over devices. */
	uint64_t busy_ns, idle_ns;
	/* Of an iteration: idle time from its start to its first op on each device. */
	uint64_t idle_before_ns;
	uint64_t work_ns; /* the most that one device did itself, as vpa_work_ns(); 0: not known */
	struct vpa_block_part *parts; /* NULL: not known */
	size_t part_count;
	int is_iteration;
};

/* ---- steps that nothing marks: inferred by ../../folds/unmarked_steps_table.c ---- */

struct vpa_inferred_step {
	uint64_t start_ns, end_ns; /* of its first op, of its last */
	/* From its start to that of the pass that follows it directly, else to its end. busy + idle = period,
	 * but for pauses. */
	uint64_t period_ns, busy_ns, idle_ns;
	int followed; /* it counts in the mean; 0 also where the first one is left out */
};

/* The loop of one device. */
struct vpa_inferred {
	int64_t device, stream; /* CUDA's numbers of the device and of its busiest stream */
	double explained;       /* share of the steps' ops that the repeating pattern explains */
	double confidence;      /* that these are the steps, see loop.h */
	struct vpa_inferred_step *steps;
	size_t step_count;
	struct vpa_durations period;
	double s_per_it; /* mean period of the steps that are followed */
	/* Period of the first step, if it sets up what the others reuse, or the recording began in it: no mean has it. 0: it counts. */
	uint64_t left_first_ns;
	double steps_per_s;        /* 1 / s_per_it */
	uint64_t busy_ns, idle_ns; /* sums over the steps */
	unsigned passes_per_step;  /* of the model; 2 and more: guidance */
	unsigned layers;           /* repetitions in a pass; 0: none were found */
	/* Rows of steps that follow each other directly, if all have as many, and there are several; 0: not so. */
	unsigned rows, row_steps;
	/* Rounds: a row of steps, and the work up to the next row, as the loading of models, a decoder and copies of frames. So a round
	 * may be a request, a block or a frame. Where the steps are not known one by one, there are rounds without `steps`. */
	struct vpa_inferred_step *rounds;
	size_t round_count;   /* 0: there are none */
	unsigned round_steps; /* in each */
	uint64_t
		round_step_ns; /* of the rounds' steps, the median; in a loop that is not known one by one their device time */
	uint64_t round_left_first_ns; /* as left_first_ns */
	size_t context_passes;        /* passes that are no step */
	size_t cut;                   /* passes at the edges that are not whole */
	uint64_t ops, ops_left_out;   /* in the steps; after the limit of ops */
	int touched;                  /* missing records may change these figures */
};

/* A repetition that may be the steps, or not. */
struct vpa_step_rival {
	uint64_t count, median_ns; /* median_ns: device time of one */
};

/* ---- steps by their kernels: ../../folds/step_kinds_table.c, ../../steps/step_kinds.c ---- */

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

#endif

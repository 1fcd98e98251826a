/* blocks_table.h - what is gathered of requests, blocks, steps and stages as the trace goes by: what each scope did on the
 * devices; sums by block and kind of scope, which are what the report says of stages; each step and part by itself, as a
 * sample; and where sweep.h cuts device time. Private to the files of this name and blocks.c's. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_TABLE_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_TABLE_H

#include "analysis/folds/fold.h"
#include "analysis/folds/sweep.h"
#include "analysis/index.h"

enum {
	/* Beyond these a trace is no longer a video's: what comes on top is left out, and that is said. */
	VPA_MARKS_MAX = 16384,
	VPA_STAGE_ROWS_MAX = 64,
	VPA_SAMPLES_MAX = 1 << 19
};

/* What a scope did on the devices. */
struct vpa_scope_gpu {
	uint8_t known;         /* 0: nothing is filled in yet */
	uint64_t first_ns;     /* of its ops; UINT64_MAX: none so far */
	uint64_t attention_ns; /* sum of its attention kernels' durations */
	/* Of requests and blocks: its last op's end, its first op's start; VPA_NONE. */
	uint32_t cut, pin;
	uint32_t devices; /* mask */
	uint32_t block,
		request; /* scopes around it; VPA_NONE: none. A lap may go on from one to the next. */
	uint32_t lap;    /* the step around it that is a lap, as scope + VPA_FIRST_SCOPE; 0: none */
	uint32_t row;    /* of the stages; requests and blocks: VPA_NONE, mostly */
	uint8_t finished;               /* of a lap: it counts */
	struct vpa_projection *lap_gpu; /* of a lap; NULL: none, or a range's */
};

/* What scopes of one row did inside one block. */
struct vpa_stage_sum {
	uint64_t count, total_ns, busy_ns, idle_ns, attention_ns;
	uint64_t top_ns,
		lap_top_ns; /* not inside another; the second: inside a step that is a lap */
};

struct vpa_stage_kept {
	enum vpa_scope_kind kind;
	enum vpa_scope_source source;
	uint32_t name; /* 0: the kind says it */
	uint64_t count, nested, in_lap;
	int holds_steps; /* some scope had a step inside */
	uint8_t lap;     /* enum vpa_lap_kind, if the source is VPA_SOURCE_MARKS */
};

struct vpa_stage_sample {
	uint64_t first_ns, ns;
	uint32_t block, request, row;
	uint32_t lap; /* of one that is not inside another: as its scope's */
};

struct vpa_ready_mark {
	uint64_t time_ns;
	uint64_t
		end_ns; /* of what had been launched before it and was out before the first block */
	int64_t index, frames;
	uint32_t thread, cut;
	uint32_t previous; /* of its thread; VPA_NONE: none */
};

struct vpa_blocks_table {
	struct vpa_pipeline *pipeline;
	struct vpa_sweep sweep;
	struct vpa_scope_gpu *gpu; /* by scope */
	size_t gpu_count, gpu_cap;
	uint64_t too_many;          /* requests, blocks, marks or samples that were left out */
	struct vpa_index row_index; /* (kind, source), name */
	struct vpa_stage_kept *rows;
	size_t row_cap;
	struct vpa_index sum_index; /* block + 1, row */
	struct vpa_stage_sum *sums;
	size_t sum_cap;
	struct vpa_stage_sample *samples;
	size_t sample_count, sample_cap;
	struct vpa_ready_mark *marks;
	size_t mark_count, mark_cap;
	struct vpa_blocks_thread {
		uint64_t end_ns;    /* of what it has launched */
		uint32_t cut, mark; /* VPA_NONE: none; the newest mark */
	} * threads;
	size_t thread_count, thread_cap;
	int has_blocks;       /* one has been met: marks may ask for what threads launched */
	int watches_threads;  /* and so they have cuts */
	uint64_t last_end_ns; /* of all ops */
};

static inline const struct vpa_scope *vpa_blocks_scope(
	const struct vpa_blocks_table *s, uint32_t scope)
{
	return &s->pipeline->scopes[scope];
}

/* What is known of all scopes that there are; new ones begin zeroed. 0 or VPT_ENOMEM. */
int vpa_blocks_know_scopes(struct vpa_blocks_table *s);
/* Begins a scope: a row if its kind has one, a cut if it stays. `lap` is the step around it that is a lap, as scope +
 * VPA_FIRST_SCOPE; 0: none. 0 or VPT_ENOMEM. */
int vpa_blocks_begin_scope(
	struct vpa_blocks_table *s, const struct vpa_fold_context *c, uint32_t scope, uint32_t lap);
/* The row of the stages for scopes of the label and a range's name; VPA_NONE: no memory. */
uint32_t vpa_blocks_row(struct vpa_blocks_table *s, const struct vpa_fold_context *c,
	const struct vpa_scope_label *label, uint32_t name);
/* The sums of a row in a block; NULL: no memory. */
struct vpa_stage_sum *vpa_blocks_sum(struct vpa_blocks_table *s, uint32_t block, uint32_t row);
/* Adds a scope that is over, and has a row, to the sums of its block. 0 or VPT_ENOMEM. */
int vpa_blocks_end_scope(
	struct vpa_blocks_table *s, uint32_t scope, const struct vpa_projection *projection);

#endif

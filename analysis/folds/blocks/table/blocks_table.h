/* blocks_table.h - gathers requests, blocks, steps and stages during the pass: what each scope did on
 * the devices; sums by block and row, from which the report's stages are made; a sample for each step
 * and part; and where sweep.h cuts device time. Private to blocks.c and the blocks_*.c files. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_TABLE_BLOCKS_TABLE_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_TABLE_BLOCKS_TABLE_H

#include "analysis/base/index.h"
#include "analysis/folds/fold.h"
#include "analysis/model/model.h"
#include "analysis/pipeline/sweep.h"

/* ---- blocks_frames.c: frames-ready marks: when the ops that a thread had launched before each of them were done.
 *
 *	launches   --o---o--|--o--|--|----o---o--    marks   1: |   2, 3: | |
 *	groups              1     2                  2 and 3 have all ops in common
 *
 * Marks of a thread with the same ops so far are a group with one cut. Each op that is launched before a
 * mark extends the cuts of all later ones. The ends of those that the op outlasts are equal then, and the
 * groups become one: an op costs no more where many marks follow. */

enum {
	VPA_MARKS_MAX = 16384,
};

struct vpa_ready_mark {
	uint64_t time_ns;
	int64_t index, frames;
	uint32_t thread, cut; /* cut: set at the end */
};

struct vpa_mark_group {
	uint32_t first;  /* of its marks in `order` */
	uint32_t cut;    /* VPA_NONE before the first block */
	uint64_t end_ns; /* of its ops, before the first block */
};

struct vpa_blocks_thread {
	uint64_t end_ns; /* of the ops it has launched, before the first block */
	uint32_t cut;    /* VPA_NONE: none */
	uint32_t *order; /* its marks by time */
	size_t count, cap;
	struct vpa_mark_group *groups; /* in the same order; their ends rise */
	size_t group_count, group_cap;
};

/* Adds a mark of this number, in time order. 0 or VPT_ENOMEM. */
int vpa_thread_marks_add(struct vpa_blocks_thread *t, struct vpa_sweep *sweep,
	const struct vpa_ready_mark *marks, uint32_t mark);
/* Narrows launches from *from_ns to *until_ns around `at_ns` to those between two marks. */
void vpa_thread_marks_limit(const struct vpa_blocks_thread *t, const struct vpa_ready_mark *marks,
	uint64_t at_ns, uint64_t *from_ns, uint64_t *until_ns);
/* Begins an op that was launched from `from_ns` on, before any later mark, and runs from `start_ns` on. Sets *cut
 * to the one that it extends; VPA_NONE: there are no later marks, or no cuts yet. 0 or VPT_ENOMEM. */
int vpa_thread_marks_begin(struct vpa_blocks_thread *t, struct vpa_sweep *sweep,
	const struct vpa_ready_mark *marks, uint64_t from_ns, uint64_t start_ns, uint32_t *cut);
/* The op has ended, and that cut is extended. 0 or VPT_ENOMEM. */
int vpa_thread_marks_end(struct vpa_blocks_thread *t, struct vpa_sweep *sweep,
	const struct vpa_ready_mark *marks, uint64_t from_ns, uint64_t end_ns);
/* At the first block: makes the cuts. 0 or VPT_ENOMEM. */
int vpa_thread_marks_watch(struct vpa_blocks_thread *t, struct vpa_sweep *sweep);
/* After the last op: gives each mark its cut. */
void vpa_thread_marks_settle(const struct vpa_blocks_thread *t, struct vpa_ready_mark *marks);
void vpa_thread_marks_free(struct vpa_blocks_thread *t);

/* ---- blocks_alone.c: how long the work of each stage, or of the steps, has a device to itself: the most
 * that removing it would save.
 *
 * A moment counts for a stage if only its ops run then, or if the device is idle between two of its ops
 * with none of others between them. What runs beside other work does not count, since that work would
 * take as long without it. Ops outside of all stages are other work, too. Steps that are marked spans are not
 * told apart from those. */

/* Ops of so many stages at once are told apart; those of more do not run on a GPU. */
enum { VPA_ALONE_MAX = 16 };

/* Whose work an op is. */
struct vpa_alone_owner {
	uint32_t stage;    /* row of the stages; VPA_NONE: outside of all */
	uint32_t block;    /* scope that it began in; VPA_NONE: none */
	uint64_t first_ns; /* start of the instance's first op */
};

/* One device. */
struct vpa_alone_device {
	uint64_t at_ns; /* counted up to here */
	struct vpa_alone_running {
		uint64_t end_ns;
		uint32_t stage, cell;
	} running[VPA_ALONE_MAX]; /* at most one of a stage, the latest to end */
	size_t count;
	uint32_t last; /* the stage whose op ended last */
};

/* All zeros is empty. */
struct vpa_alone {
	struct vpa_alone_device *devices;
	size_t device_count, device_cap;
	struct vpa_index index; /* (block + 1, stage), device */
	uint64_t *ns;           /* by row of the index */
	size_t cap;
};

static inline uint32_t vpa_alone_block(const struct vpa_index_entry *e)
{
	return (uint32_t)(e->a >> 32) - 1;
}

static inline uint32_t vpa_alone_stage(const struct vpa_index_entry *e)
{
	return (uint32_t)e->a;
}

/* Adds ops [begin, end) of one run, all of one owner. 0 or VPT_ENOMEM. */
int vpa_alone_ops(struct vpa_alone *a, const struct vpa_alone_owner *owner,
	const struct vpa_ops *ops, const struct vpa_op_run *run, size_t begin, size_t end);
/* After the last op. */
void vpa_alone_end(struct vpa_alone *a);
void vpa_alone_free(struct vpa_alone *a);

enum {
	/* No trace of a video needs more. The excess is left out, and the report says so. */
	VPA_STAGE_ROWS_MAX = 64,
	VPA_PLAIN_PARTS_MAX = 16, /* of them names of plain parts; others have no row */
	VPA_SAMPLES_MAX = 1 << 19,
	VPA_STEP_PARTS_MAX = 4096,   /* steps whose parts are known */
	VPA_REQUEST_PARTS_MAX = 1024 /* requests whose parts are known */
};

/* What a scope did on the devices. */
struct vpa_scope_gpu {
	uint8_t known;         /* 0: not filled in yet */
	uint64_t first_ns;     /* start of its first op; UINT64_MAX: none so far */
	uint64_t attention_ns; /* sum of its attention kernels' durations */
	/* Of requests and blocks: the cut at its last op's end, the edge at its first op's start, of
	 * requests and steps only if their parts are wanted; VPA_NONE: none. */
	uint32_t cut, pin;
	/* The cut at the last op's end of the first step, which may be the only one, and of each iteration, which may be the
	 * last, if parts are wanted. VPA_NONE: none. */
	uint32_t end_cut;
	uint32_t devices; /* mask */
	uint64_t busy_ns; /* of a block that has ended: its own ops, summed over the devices */
	/* Scopes around it; VPA_NONE: none. A marked span may continue from one into the next. */
	uint32_t block, request;
	uint32_t
		marked_span; /* the step around it that is a marked span, as scope + VPA_FIRST_SCOPE; 0: none */
	uint32_t row;     /* of the stages; VPA_NONE for most requests and blocks */
	uint32_t loop;    /* of a step with ops: in `loops`; else VPA_NONE */
	uint8_t finished; /* of a marked span: it counts */
	struct vpa_projection
		*marked_span_gpu; /* of a marked span; NULL: none, or the scope is a range's */
};

/* Sums over the scopes of one row inside one block. */
struct vpa_stage_sum {
	uint64_t count, total_ns, busy_ns, idle_ns, attention_ns, ops;
	/* Of scopes not inside another; marked_span_top_ns: only inside a step that is a marked span. */
	uint64_t top_ns, marked_span_top_ns;
};

struct vpa_stage_kept {
	enum vpa_scope_kind kind;
	enum vpa_scope_source source;
	uint32_t name; /* 0: the kind is the name */
	uint64_t count, nested, in_marked_span;
	int holds_steps;     /* some scope contained a step */
	int holds_scopes;    /* of plain parts: some contained a scope */
	int is_part;         /* of plain parts, at the end: it counts, see blocks_plain_parts.c */
	uint8_t marked_span; /* enum vpa_marked_span_kind if the source is VPA_SOURCE_MARKS */
};

struct vpa_stage_sample {
	uint64_t start_ns, end_ns; /* on the host */
	uint64_t first_ns, ns;
	uint32_t block, request, row;
	uint32_t marked_span; /* of a sample not inside another: as in struct vpa_scope_gpu */
	uint32_t pin; /* of a step or iteration: the edge at its first op's start; VPA_NONE: none */
};

/* A step, pass over the context or iteration: what its sample lacks. Pauses of the recording that cut it may
 * become known later. */
struct vpa_step_kept {
	uint64_t busy_ns, idle_ns, attention_ns, ops;
	uint32_t sample;  /* has its times and its row */
	uint32_t end_cut; /* as in struct vpa_scope_gpu */
	uint8_t nested, in_marked_span;
};

/* The steps of a request, of one source. */
struct vpa_steps_loop {
	uint32_t devices; /* mask */
};

struct vpa_blocks_table {
	struct vpa_pipeline *pipeline;
	struct vpa_sweep sweep;
	struct vpa_scope_gpu *gpu; /* by scope */
	size_t gpu_count, gpu_cap;
	uint64_t too_many;          /* requests, blocks, marks and samples left out */
	struct vpa_index row_index; /* (kind, source), name */
	struct vpa_stage_kept *rows;
	size_t row_cap;
	size_t plain_parts;         /* rows of them */
	struct vpa_index sum_index; /* block + 1, row */
	struct vpa_stage_sum *sums;
	size_t sum_cap;
	struct vpa_alone alone;
	struct vpa_stage_sample *samples;
	size_t sample_count, sample_cap;
	struct vpa_step_kept *steps; /* of those samples that are steps and the like */
	size_t step_count, step_cap;
	uint64_t steps_cut;          /* left out, since a pause cuts them */
	struct vpa_index loop_index; /* request + 1, source */
	struct vpa_steps_loop *loops;
	size_t loop_cap;
	struct vpa_ready_mark *marks;
	size_t mark_count, mark_cap;
	struct vpa_mark *facts; /* those that are facts */
	size_t fact_count, fact_cap;
	struct vpa_blocks_thread *threads;
	size_t thread_count, thread_cap;
	int has_blocks;       /* a block was met: marks may need the ends of threads' ops */
	int watches_threads;  /* so threads have cuts */
	uint64_t last_end_ns; /* of all ops */
	int pins_steps;       /* options.step_parts */
	size_t pinned_steps, pinned_requests;
	int has_end_cut[VPA_SCOPE_KINDS]; /* the first step has got its end_cut */
};

static inline const struct vpa_scope *vpa_blocks_scope(
	const struct vpa_blocks_table *s, uint32_t scope)
{
	return &s->pipeline->scopes[scope];
}

/* Makes room in `gpu` for every scope of the pipeline; new ones are zeroed. 0 or VPT_ENOMEM. */
int vpa_blocks_know_scopes(struct vpa_blocks_table *s);
/* Begins a scope: a row if its kind has one, a cut if it is retained. `marked_span` is the step around it
 * that is a marked span, as scope + VPA_FIRST_SCOPE; 0: none. 0 or VPT_ENOMEM. */
int vpa_blocks_begin_scope(struct vpa_blocks_table *s, const struct vpa_fold_context *c,
	uint32_t scope, uint32_t marked_span);
/* The row of the stages for a label and a range's name, made on first use; VPA_NONE: no memory. */
uint32_t vpa_blocks_row(struct vpa_blocks_table *s, const struct vpa_fold_context *c,
	const struct vpa_scope_label *label, uint32_t name);
/* The sums of a row in a block; NULL: no memory. */
struct vpa_stage_sum *vpa_blocks_sum(struct vpa_blocks_table *s, uint32_t block, uint32_t row);
/* The outermost stage or step among an op's scopes. */
struct vpa_alone_owner vpa_blocks_owner(
	const struct vpa_blocks_table *s, const uint32_t *scopes, size_t count);
void vpa_stage_sum_add(struct vpa_stage_sum *to, const struct vpa_stage_sum *from);
/* Adds a scope that has a row, and ended at `end_ns` on the host, to the sums of its block. 0 or
 * VPT_ENOMEM. */
int vpa_blocks_end_scope(struct vpa_blocks_table *s, uint32_t scope, uint64_t end_ns,
	const struct vpa_projection *projection);

/* At the end of the trace: takes the steps and the like that a pause cuts out of samples and sums. 0 or
 * VPT_ENOMEM. */
int vpa_blocks_drop_cut(struct vpa_blocks_table *s, const struct vpa_intervals *paused);

#endif

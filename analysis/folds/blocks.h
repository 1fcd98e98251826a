/* blocks.h - what blocks.c gathers and blocks_write.c makes a report of. For the files of that name alone. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_H

#include "analysis/folds/fold.h"
#include "analysis/folds/sweep.h"
#include "analysis/index.h"
#include "analysis/stages.h"

enum {
	/* Beyond these a trace is no longer a video's: what comes on top is left out, and that is said. */
	VPA_BLOCKS_MAX = 16384,
	VPA_MARKS_MAX = 16384,
	VPA_STAGE_ROWS_MAX = 64,
	VPA_SAMPLES_MAX = 1 << 19,
	VPA_LABELS_MAX = 4096 /* names that are something; what more there are is asked each time */
};

/* A range that is something to the pipeline. Requests and blocks stay; steps and parts go when they
 * are over, and their place is used again. */
struct vpa_instance {
	struct vpa_stage_label label;
	uint64_t start_ns, end_ns; /* on the host; the end once it is finished */
	uint64_t first_ns;         /* of its ops; UINT64_MAX: none so far */
	uint64_t attention_ns;     /* sum of its attention kernels' durations */
	uint32_t cut,
		pin; /* requests and blocks: its last op's end, its first op's start; VPA_NONE */
	uint32_t devices; /* mask */
	uint32_t name, thread;
	uint32_t block, request;    /* instances around it; VPA_NONE: none */
	struct vpa_projection *gpu; /* of a lap; NULL: none, or a range's */
	uint32_t
		lap; /* the step around it that is a lap, as instance + VPA_FIRST_INSTANCE; 0: none */
	uint32_t row; /* of the stages; requests and blocks: VPA_NONE, mostly */
	uint8_t finished, cut_off, nested, nests; /* nests: a push/pop range */
};

/* What instances of one row did inside one block. */
struct vpa_stage_sum {
	uint64_t count, total_ns, busy_ns, idle_ns, attention_ns;
	uint64_t top_ns,
		lap_top_ns; /* not inside another; the second: inside a step that is a lap */
};

struct vpa_stage_kept {
	enum vpa_stage_kind kind;
	enum vpa_stage_source source;
	uint32_t name; /* 0: the kind says it */
	uint64_t count, nested, in_lap;
	int holds_steps; /* some instance had a step inside */
	uint8_t lap;     /* enum vpa_lap_kind, if the source is VPA_SOURCE_MARKS */
};

struct vpa_stage_sample {
	uint64_t first_ns, ns;
	uint32_t block, request, row;
	uint32_t lap; /* of one that is not inside another: as its instance's */
};

struct vpa_ready_mark {
	uint64_t time_ns;
	uint64_t
		end_ns; /* of what had been launched before it and was out before the first block */
	int64_t index, frames;
	uint32_t thread, cut;
	uint32_t previous; /* of its thread; VPA_NONE: none */
};

struct vpa_blocks_state {
	struct vpa_sweep sweep;
	struct vpa_instance *instances;
	size_t instance_count, instance_cap;
	uint32_t unused; /* instance, linked by `block`; VPA_NONE: none */
	size_t block_count;
	uint64_t too_many;    /* blocks, marks or samples that were left out */
	uint64_t without_ops; /* blocks that launched nothing */
	uint32_t *known; /* by name: 0 not asked, 1 rules say that it is nothing, else 2 + label */
	size_t known_cap;
	struct vpa_stage_label *labels;
	size_t label_count, label_cap;
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
	int begun;
	int has_blocks;       /* one has been met: marks may ask for what threads launched */
	int watches_threads;  /* and so they have cuts */
	uint64_t last_end_ns; /* of all ops */
};

/* ---- blocks_instances.c ---- */

/* What range->stage says besides 0, which is that nobody has asked: it is nothing, or the number of its instance and
 * this. */
enum { VPA_STAGE_NOTHING = 1, VPA_FIRST_INSTANCE = 2, VPA_PLACE_MAX = 16 };

/* Ops of one thread with the same instances around them. What ends with them is held until there are no more: then it
 * is moved to the end of its ops once. */
struct vpa_blocks_place {
	const struct vpa_range *own, *wide; /* innermost ranges that are not nothing */
	uint64_t at_ns, until_ns; /* launches inside of them in [at, until) belong to it */
	uint64_t end_ns, attention_ns;
	uint32_t thread;
	uint32_t devices;              /* mask */
	uint32_t items[VPA_PLACE_MAX]; /* instances */
	uint32_t laps[VPA_LAP_KINDS];  /* those of them that are laps */
	size_t lap_count;
	uint32_t *cuts; /* of them, of the thread, and of its marks behind the launch */
	size_t count, cut_count, cut_cap;
	int vae, known;
};

/* The instances around a range, from the outermost on. */
struct vpa_blocks_around {
	uint32_t request, block, iteration, step, part;
	const struct vpa_lap *lap; /* a step that is one; NULL: none */
};

#define VPA_NOTHING_AROUND                                                                         \
	{                                                                                          \
		VPA_NONE, VPA_NONE, VPA_NONE, VPA_NONE, VPA_NONE, NULL                             \
	}

/* Fills items, count and vae for a launch at `at_ns` in the stretch, and what else belongs to it, but for marks of the
 * launch's thread. 0 or VPT_ENOMEM. */
int vpa_blocks_find_place(struct vpa_blocks_state *s, const struct vpa_fold_context *c,
	const struct vpa_op_stretch *stretch, uint64_t at_ns, struct vpa_blocks_place *p);
/* The innermost range from `range` on outwards that is open at `at_ns` and not known to be nothing; NULL: none. */
const struct vpa_range *vpa_blocks_inner(
	const struct vpa_blocks_state *s, struct vpa_range *range, uint64_t at_ns);
/* Makes an instance of a range and notes that in range->stage. 0 or VPT_ENOMEM. */
int vpa_blocks_begin(struct vpa_blocks_state *s, const struct vpa_fold_context *c,
	struct vpa_range *range, const struct vpa_blocks_around *around);
/* What a range is by its annotation, else its name. 0 or VPT_ENOMEM. */
int vpa_blocks_label(struct vpa_blocks_state *s, const struct vpa_fold_context *c,
	const struct vpa_range *range, struct vpa_stage_label *out);
/* The row of the stages for instances of the label and a range's name; VPA_NONE: no memory. */
uint32_t vpa_blocks_row(struct vpa_blocks_state *s, const struct vpa_fold_context *c,
	const struct vpa_stage_label *label, uint32_t name);
uint32_t vpa_blocks_new_instance(struct vpa_blocks_state *s); /* VPA_NONE: no memory */
/* The sums of a row in a block; NULL: no memory. */
struct vpa_stage_sum *vpa_blocks_sum(struct vpa_blocks_state *s, uint32_t block, uint32_t row);
/* Adds a step or part that is over to the sums of its block. 0 or VPT_ENOMEM. */
int vpa_blocks_end_stage(
	struct vpa_blocks_state *s, const struct vpa_instance *i, const struct vpa_projection *gpu);
/* Whether instances of the kind stay to the end. */
int vpa_blocks_stays(enum vpa_stage_kind kind);

/* ---- blocks_laps.c ---- */

/* Makes an instance of a lap. 0 or VPT_ENOMEM. */
int vpa_blocks_begin_lap(struct vpa_blocks_state *s, const struct vpa_fold_context *c,
	enum vpa_lap_kind kind, uint32_t thread, struct vpa_lap *lap);
/* Adds the laps that a launch at `at_ns` of the place's thread is in, and narrows what belongs to the place. 0 or
 * VPT_ENOMEM. */
int vpa_blocks_find_laps(struct vpa_blocks_state *s, const struct vpa_fold_context *c,
	uint64_t at_ns, const struct vpa_blocks_around *around, struct vpa_blocks_place *p);
/* Adds ops [begin, end) of one run to them. 0 or VPT_ENOMEM. */
int vpa_blocks_lap_ops(struct vpa_blocks_state *s, const struct vpa_blocks_place *p,
	const struct vpa_ops *ops, size_t begin, size_t end);
/* The trace is over: all that have ended become stages. 0 or VPT_ENOMEM. */
int vpa_blocks_end_laps(struct vpa_blocks_state *s, const struct vpa_fold_context *c);
void vpa_blocks_free_laps(struct vpa_blocks_state *s);

/* ---- the report ---- */

/* A block that is in it. */
struct vpa_kept_block {
	const struct vpa_instance *instance;
	uint32_t id;               /* of the instance */
	uint32_t edge;             /* at its end */
	uint64_t start_ns, end_ns; /* on the device */
	uint64_t frames, latents;
	int64_t mark_frames; /* -1: not told */
	int ready_mark;
	uint64_t mark_ns; /* on the host */
};

/* A request and what belongs to it. */
struct vpa_blocks_group {
	const struct vpa_instance *instance; /* NULL: the whole window */
	uint64_t start_ns, host_end_ns;
	uint32_t end_edge; /* VPA_NONE: where the trace ends */
	struct vpa_kept_block *blocks;
	size_t block_count, left_out;
	const uint32_t *samples; /* of steps and parts in it, by number */
	size_t sample_count;
	struct vpa_request *request;
};

struct vpa_blocks_writer {
	struct vpa_blocks_state *s;
	const struct vpa_fold_context *c;
	struct vpa_report *out;
	const struct vpa_stage_kept
		*laps; /* of rows that are laps the one that counts; NULL: none does */
	int has_annotation
		[VPA_STAGE_KINDS];     /* by kind, alike for those that stand for each other */
	struct vpa_kept_block *blocks; /* of all groups, one behind the other */
	size_t block_count;
	struct vpa_blocks_group *groups;
	size_t group_count;
	uint32_t *samples; /* of all groups, one behind the other */
	uint32_t *
		group_of; /* by instance: 1 + group of a block that is kept, or of a request; 0: none */
	uint8_t *measured; /* by instance: 1 if it is a measured block */
};

/* What a row counts as: VPA_STAGE_NONE if it is put aside. */
enum vpa_stage_kind vpa_row_kind(
	const struct vpa_blocks_writer *w, const struct vpa_stage_kept *row);
/* The sum of a block (VPA_NONE: outside all) and row; NULL: nothing. */
const struct vpa_stage_sum *vpa_stage_sum_of(
	const struct vpa_blocks_writer *w, uint32_t block, uint32_t row);
/* Whether all of an instance lies in the window. */
int vpa_instance_is_whole(const struct vpa_blocks_writer *w, const struct vpa_instance *i);
/* A sentence about what is unavailable. */
void vpa_block_note(struct vpa_blocks_writer *w, const char *text);
const char *vpa_stage_row_name(const struct vpa_blocks_writer *w, const struct vpa_stage_kept *row);

/* blocks_measure.c: fills group->request from its blocks, which stand in order of their ends. */
int vpa_group_measure(struct vpa_blocks_writer *w, struct vpa_blocks_group *g);
/* blocks_steps.c: its steps, once its blocks are measured. */
int vpa_group_steps(struct vpa_blocks_writer *w, struct vpa_blocks_group *g);

/* -1 where there is no time. */
static inline double vpa_per_second(double count, uint64_t ns)
{
	return ns ? count * 1e9 / (double)ns : -1;
}

int vpa_blocks_write(
	struct vpa_blocks_state *s, const struct vpa_fold_context *c, struct vpa_report *out);

#endif

/* lines_scopes.h - idle time inside the pipeline's scopes, by line of Python. Private to the fold of
 * lines.
 *
 * A gap belongs to the scopes around the launch of the op that ended it: requests, blocks, steps and
 * stages. These are known once the batch of that op is passed on, after its gaps; until then what is
 * noted of them waits. A gap with the line of a launch waits longer: for the stack of that launch. */
#ifndef VPA_ANALYSIS_FOLDS_LINES_LINES_SCOPES_H
#define VPA_ANALYSIS_FOLDS_LINES_LINES_SCOPES_H

#include "analysis/base/index.h"
#include "analysis/folds/fold.h"

struct lines_state;

enum vpa_scoped_kind {
	VPA_SCOPED_TIME,  /* samples of the part split it */
	VPA_SCOPED_EXACT, /* time at a stack */
	VPA_SCOPED_SAMPLE /* a sample of the part; its time is its weight */
};

/* Some time of a gap, or a sample of it. */
struct vpa_scoped_time {
	uint64_t op_start_ns, ns;
	uint64_t sample_ns; /* when the sample was taken */
	uint32_t op_stream; /* with op_start_ns: the op that ended the gap */
	uint32_t part;      /* of the fold */
	uint32_t stack;     /* of EXACT and SAMPLE */
	uint32_t thread;    /* of SAMPLE */
	uint8_t kind;       /* enum vpa_scoped_kind */
};

/* Time that has the line of a launch, until that is known. All zeros is empty. */
struct vpa_scoped_queue {
	struct vpa_scoped_cause {
		uint64_t key; /* row << 8 | cause */
		uint64_t ns;
	} * items;
	size_t count, cap;
};

/* Rows of the scopes of a position, each once. */
struct vpa_scoped_rows {
	size_t end; /* of the position */
	uint32_t items[VPA_SCOPES_OPEN_MAX + 1];
	size_t count;
	uint32_t block; /* one of the items; VPA_NONE: outside all blocks */
};

/* A row of stages, or one block. */
struct vpa_scoped_row {
	uint64_t waited_ns; /* idle time before its ops */
	uint64_t samples;   /* of a block: that belong to this time, each once */
	int has_exact;      /* of a block: some of it has exact stacks */
};

/* Time of a part in a row. */
struct vpa_scoped_part {
	uint64_t ns;
	uint64_t weight_ns; /* of a block's own samples */
};

/* In vpa_lines_scopes.rows_index: a block, whose name is the number of its scope. */
#define VPA_SCOPED_BLOCK (UINT64_C(1) << 32)

/* All zeros is empty. */
struct vpa_lines_scopes {
	struct vpa_scoped_time *waiting; /* of the current batch */
	size_t waiting_count, waiting_cap;
	struct vpa_scoped_rows *places; /* by position of the current batch */
	size_t place_cap, place;        /* place: of the op that was looked up last */
	struct vpa_index rows_index;    /* (kind << 8 | source, name), (VPA_SCOPED_BLOCK, scope) */
	struct vpa_scoped_row *rows;
	size_t row_cap, stage_count;  /* stage_count: rows that are no blocks */
	struct vpa_index parts_index; /* (row, part) */
	struct vpa_scoped_part *parts;
	size_t part_cap;
	struct vpa_index samples_index; /* of blocks: (row << 32 | thread, time) */
	struct vpa_index own_index;     /* (row of parts, stack) */
	uint64_t *own_ns;               /* weight of the samples */
	size_t own_cap;
	struct vpa_index exact_index; /* (row << 8 | cause, stack) */
	uint64_t *exact_ns;
	size_t exact_cap;
	uint64_t *seen_ns; /* by device: 1 + idle time up to its newest op; 0: no op yet */
	size_t seen_cap;
};

/* Notes time of a gap between two ops; that of others is left out. 0 or VPT_ENOMEM. */
int vpa_lines_scopes_note(
	struct vpa_lines_scopes *s, const struct vpa_gap *gap, const struct vpa_scoped_time *time);
/* The batch is passed on: adds its idle time to its scopes. 0 or VPT_ENOMEM. */
int vpa_lines_scopes_ops(
	struct lines_state *all, const struct vpa_fold_context *c, const struct vpa_ops *ops);
/* After that: adds the gap before op `i` of the batch, which has only one cause, to what waits for a
 * stack. Call it in the order of the ops. 0 or VPT_ENOMEM. */
int vpa_lines_scopes_queue(struct vpa_lines_scopes *s, const struct vpa_ops *ops, size_t i,
	struct vpa_scoped_queue *queue);
/* Gives what waits to the stack of a sample; 0: to none. `sample` has its kind, time, thread and stack.
 * 0 or VPT_ENOMEM. */
int vpa_lines_scopes_settle(struct vpa_lines_scopes *s, struct vpa_scoped_queue *queue,
	const struct vpa_scoped_time *sample);
/* Fills in the lines of out->stages and of blocks. 0 or VPT_ENOMEM. */
int vpa_lines_scopes_write(
	struct lines_state *all, const struct vpa_fold_context *c, struct vpa_report *out);
void vpa_lines_scopes_free(struct vpa_lines_scopes *s);

/* Adds time to the row of (a, b). 0 or VPT_ENOMEM. */
static inline int vpa_scoped_add(
	struct vpa_index *x, uint64_t a, uint64_t b, uint64_t **ns, size_t *cap, uint64_t more)
{
	uint32_t row = vpa_index_row(x, a, b, ns, cap, sizeof(**ns));

	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	(*ns)[row] += more;
	return VPT_OK;
}

#endif

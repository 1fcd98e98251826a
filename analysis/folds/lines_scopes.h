/* lines_scopes.h - idle time inside the pipeline's scopes, by line of Python. Private to the fold of
 * lines.
 *
 * A gap belongs to the scopes around the launch of the op that ended it: requests, blocks, steps and
 * stages. These are known once the batch of that op is passed on, after its gaps; until then what is
 * noted of them waits. */
#ifndef VPA_ANALYSIS_FOLDS_LINES_SCOPES_H
#define VPA_ANALYSIS_FOLDS_LINES_SCOPES_H

#include "analysis/folds/fold.h"
#include "analysis/index.h"

struct lines_state;

/* Some time of a gap. */
struct vpa_scoped_time {
	uint64_t op_start_ns, ns;
	uint32_t op_stream; /* with op_start_ns: the op that ended the gap */
	uint32_t part;      /* of the fold */
	uint32_t stack;     /* of is_exact */
	uint8_t is_exact;   /* 0: the part's samples split it */
};

/* All zeros is empty. */
struct vpa_lines_scopes {
	struct vpa_scoped_time *waiting; /* of the current batch */
	size_t waiting_count, waiting_cap;
	struct vpa_index rows_index; /* (kind << 8 | source, name) */
	uint64_t *waited_ns;         /* by row: idle time before its ops */
	size_t row_cap;
	struct vpa_index parts_index; /* (row, part) */
	uint64_t *part_ns;
	size_t part_cap;
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
/* Fills in the lines of out->stages. 0 or VPT_ENOMEM. */
int vpa_lines_scopes_write(
	struct lines_state *all, const struct vpa_fold_context *c, struct vpa_report *out);
void vpa_lines_scopes_free(struct vpa_lines_scopes *s);

#endif

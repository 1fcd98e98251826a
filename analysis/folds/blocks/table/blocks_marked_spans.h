/* blocks_marked_spans.h - marked spans, see ../../../past/marked_spans.h, as scopes of the table of blocks; and stays: runs of ops
 * in the same scopes, where a marked span is a scope too. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_TABLE_BLOCKS_MARKED_SPANS_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_TABLE_BLOCKS_MARKED_SPANS_H

#include "analysis/folds/blocks/table/blocks_table.h"
#include "analysis/past/marked_spans.h"

/* Scopes around one op beyond this number are ignored. */
enum { VPA_STAY_SCOPES_MAX = 16 };

/* Adjacent ops of one thread in the same scopes, with no mark between their launches. The cuts that
 * end with them are held until the stay is over, then extended once. */
struct vpa_blocks_stay {
	const struct vpa_position *position; /* NULL: none */
	uint64_t at_ns, until_ns;            /* launches in [at, until) belong to it */
	uint64_t end_ns, attention_ns;
	uint32_t thread;
	uint32_t devices; /* mask */
	uint32_t scopes[VPA_STAY_SCOPES_MAX];
	uint32_t marked_spans[VPA_MARKED_SPAN_KINDS]; /* those of `scopes` that are marked spans */
	size_t marked_span_count;
	struct vpa_alone_owner owner; /* the outermost of `scopes` that is no marked span */
	uint32_t *cuts; /* of the scopes, the thread, and its marks after the launch */
	size_t count, cut_count, cut_cap;
	int vae, known;
};

/* Makes a scope of a marked span. 0 or VPT_ENOMEM. */
int vpa_blocks_begin_marked_span(struct vpa_blocks_table *s, const struct vpa_fold_context *c,
	enum vpa_marked_span_kind kind, uint32_t thread, struct vpa_marked_span *marked_span);
/* Adds the marked spans around a launch of the stay's thread at `at_ns`, and narrows the stay to them. 0 or
 * VPT_ENOMEM. */
int vpa_blocks_find_marked_spans(struct vpa_blocks_table *s, const struct vpa_fold_context *c,
	uint64_t at_ns, struct vpa_blocks_stay *p);
/* Adds ops [begin, end) of one run to the stay's marked spans. 0 or VPT_ENOMEM. */
int vpa_blocks_marked_span_ops(struct vpa_blocks_table *s, const struct vpa_blocks_stay *p,
	const struct vpa_ops *ops, size_t begin, size_t end);
/* At the end of the trace: turns every marked span that has ended into a stage, and drops the steps that a pause
 * cuts. 0 or VPT_ENOMEM. */
int vpa_blocks_end_marked_spans(struct vpa_blocks_table *s, const struct vpa_fold_context *c);
void vpa_blocks_free_marked_spans(struct vpa_blocks_table *s);

#endif

/* blocks_groups.h - orders the table of blocks for the report: requests, each with its blocks, steps
 * and stages. Private to the files that write them. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_GROUPS_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_GROUPS_H

#include "analysis/folds/blocks/table/blocks_table.h"

/* A block of the report. */
struct vpa_kept_block {
	const struct vpa_scope *scope;
	uint32_t id;               /* of the scope */
	uint32_t edge;             /* of the sweep, at the block's end */
	uint64_t start_ns, end_ns; /* on the device */
	uint64_t frames, latents;
	int64_t mark_frames; /* -1: unknown */
	int ready_mark;
	uint64_t mark_ns; /* on the host */
	/* Cut by the window or a pause: it is left out. `end_is_cut`: when it ended is not known either. */
	int is_cut, end_is_cut;
	/* The edge and the end of the block before it, if that is known; before: 0 of a request's first
	 * block, and of the first one after a pause. */
	int has_before;
	uint32_t before;
	uint64_t before_ns;
};

/* A request and what belongs to it. */
struct vpa_blocks_group {
	uint32_t id;                   /* of the request's scope; VPA_NONE: the whole window */
	const struct vpa_scope *scope; /* NULL: the whole window */
	uint64_t start_ns, host_end_ns;
	uint32_t end_edge; /* VPA_NONE: the end of the trace */
	struct vpa_kept_block *blocks;
	size_t block_count, left_out;
	size_t after_pause;      /* blocks, not the first one, whose `has_before` is 0 */
	const uint32_t *samples; /* of its steps and parts, by number */
	size_t sample_count;
	struct vpa_request *request;
};

struct vpa_blocks_writer {
	struct vpa_blocks_table *s;
	const struct vpa_fold_context *c;
	struct vpa_report *out;
	/* The row of marked spans that counts; NULL: none does. */
	const struct vpa_stage_kept *marked_spans;
	/* By kind; the same for kinds of one family. */
	int has_annotation[VPA_SCOPE_KINDS];
	struct vpa_kept_block *blocks; /* of all groups, group by group */
	size_t block_count;
	struct vpa_blocks_group *groups;
	size_t group_count;
	uint32_t *samples; /* of all groups, group by group */
	/* By scope: 1 + the group of a retained block or of a request; 0: none. */
	uint32_t *group_of;
	uint8_t *measured; /* by scope: 1 for a measured block */
};

/* What a row counts as; VPA_SCOPE_NONE if it is ignored. */
enum vpa_scope_kind vpa_row_kind(
	const struct vpa_blocks_writer *w, const struct vpa_stage_kept *row);
/* The block around something whose innermost one is `block`; VPA_NONE: none that counts. */
uint32_t vpa_block_around(const struct vpa_blocks_writer *w, uint32_t block);
/* The sum of a row in a block (VPA_NONE: outside all blocks); NULL if there is none. */
const struct vpa_stage_sum *vpa_stage_sum_of(
	const struct vpa_blocks_writer *w, uint32_t block, uint32_t row);
/* Whether a request or block lies entirely in the window, and no pause takes its beginning or end. */
int vpa_scope_is_whole(const struct vpa_blocks_writer *w, uint32_t id);
/* Adds a sentence about what is unavailable; drops a repeated one, and all beyond the maximum. */
enum { VPA_BLOCK_NOTES_MAX = 6 };
void vpa_block_note(struct vpa_blocks_writer *w, const char *text);
const char *vpa_stage_row_name(const struct vpa_blocks_writer *w, const struct vpa_stage_kept *row);

/* Fills the writer, whose first three members are set: which names count, the groups, and what
 * belongs to each. The caller frees it, also on failure. 0 or VPT_ENOMEM. */
int vpa_blocks_groups_find(struct vpa_blocks_writer *w);
void vpa_blocks_groups_free(struct vpa_blocks_writer *w);

/* ---- blocks_plain_parts.c: which ranges without a meaning are stages of the blocks that they begin in ---- */

/* Sets is_part of the rows of plain parts, of which vpa_row_kind() knows nothing before. Needs the blocks of all groups. */
void vpa_plain_parts_choose(struct vpa_blocks_writer *w);

/* -1 if `ns` is 0. */
static inline double vpa_per_second(double count, uint64_t ns)
{
	return ns ? count * 1e9 / (double)ns : -1;
}

#endif

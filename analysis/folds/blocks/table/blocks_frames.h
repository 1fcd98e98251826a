/* blocks_frames.h - frames-ready marks: when the ops that a thread had launched before each of them were done.
 *
 *	launches   --o---o--|--o--|--|----o---o--    marks   1: |   2, 3: | |
 *	groups              1     2                  2 and 3 have all ops in common
 *
 * Marks of a thread with the same ops so far are a group with one cut. Each op that is launched before a
 * mark extends the cuts of all later ones. The ends of those that the op outlasts are equal then, and the
 * groups become one: an op costs no more where many marks follow. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_TABLE_BLOCKS_FRAMES_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_TABLE_BLOCKS_FRAMES_H

#include "analysis/pipeline/sweep.h"

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

#endif

/* loop_rounds.h - rows of steps, and the rounds that they make with the work between them.
 *
 *	text | step step step step | VAE | text | step step step step | VAE | text ...
 *	       a row                              the next one
 *	       a round: from the first op of a row to that of the next
 *
 * Rows and what lies between them repeat. Where that differs by turns, as when a pipeline has one model for the first steps and
 * another for the rest, a round is several rows.
 *
 * A round is what a request, a block or a frame is made of, though nothing tells which. */
#ifndef VPA_ANALYSIS_STEPS_LOOP_ROUNDS_H
#define VPA_ANALYSIS_STEPS_LOOP_ROUNDS_H

#include "analysis/steps/loop.h"

/* Steps that follow each other directly. */
struct vpa_loop_rows {
	size_t *first; /* of each row, its first step; then the number of steps */
	size_t count;
	unsigned
		steps; /* in each row, but for the first and the last, which may be cut; 0: they differ, or it is one row */
	unsigned
		in_round; /* rows in a round: 2, where a pipeline changes the model half way; 0: what lies between rows differs */
};

/* Free it in all cases. 0 or VPT_ENOMEM. */
int vpa_loop_rows_find(const struct vpa_loop *loop, struct vpa_loop_rows *out);
void vpa_loop_rows_free(struct vpa_loop_rows *rows);

/* Whether there are several, of several steps each, and none is cut. */
int vpa_loop_rows_are_whole(const struct vpa_loop_rows *rows);

/* Leaves *rounds, which is empty, so where rows differ or have one step each: that is the round. The last round is followed by none.
 * The caller frees *rounds in all cases. 0 or VPT_ENOMEM. */
int vpa_loop_rounds_find(
	const struct vpa_loop *loop, const struct vpa_loop_rows *rows, struct vpa_loop *rounds);

#endif

/* blocks_periods.h - the time from one marked step, or iteration, to the next.
 *
 *	| step   | step   | step | VAE | step   | step   | step |
 *	|-period-|-period-|            |-period-|-period-|          a block each: four periods
 *
 * A loop is a block, or what a request has outside blocks; of these, an instance of a stage that holds several steps is a loop of its
 * own, since a decoder or the next prompt may come before its next instance. From the start of a step's first op to the start
 * of the next one's in the same loop is a period. So the last step of a loop has none, and a pause of the
 * recording between two steps ends the loop: steps may be missing there. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_PERIODS_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_PERIODS_H

#include "analysis/folds/blocks/blocks_groups.h"

struct vpa_marked_step {
	uint64_t start_ns, end_ns;  /* on the host */
	uint64_t first_ns, last_ns; /* start of its first op, end of its last */
	uint32_t loop;              /* scope of the block; VPA_NONE: outside blocks */
	uint32_t
		stage; /* 1 + the sample of the shortest stage that holds it and other steps; 0: none */
	uint32_t order;   /* among all steps of the group, by time */
	uint32_t pin;     /* the edge at first_ns; VPA_NONE: none */
	uint32_t sample;  /* of the table */
	uint8_t measured; /* in a measured block */
};

/* The steps, or what else has this kind, of a group: loop by loop, each in order of time. `out` has room for
 * its samples. Returns how many there are. */
size_t vpa_marked_steps(const struct vpa_blocks_writer *w, const struct vpa_blocks_group *g,
	enum vpa_scope_kind kind, struct vpa_marked_step *out);

/* From `step` to the one after it in its array; 0: that one is in another loop, or behind a pause. */
uint64_t vpa_marked_period(const struct vpa_blocks_writer *w, const struct vpa_marked_step *step);

#endif

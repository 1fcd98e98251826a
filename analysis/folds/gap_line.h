/* gap_line.h - the line of Python that one gap waited for, where a profiler recorded every call. */
#ifndef VPA_ANALYSIS_FOLDS_GAP_LINE_H
#define VPA_ANALYSIS_FOLDS_GAP_LINE_H

#include "analysis/folds/fold.h"

struct vpa_gap_line {
	uint32_t frame; /* see vpa_stacks_frame_at(); VPA_NONE: not known */
	double share;   /* of the gap's largest cause, that it covers; above 0.5, up to 1 */
};

/* Finds the innermost frame of the user's code that covers most of what the gap's largest cause has of
 * it. Call it while the gap is emitted. 0 or VPT_ENOMEM. */
int vpa_gap_line(
	const struct vpa_fold_context *c, const struct vpa_gap *gap, struct vpa_gap_line *out);

#endif

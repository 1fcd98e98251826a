/* gap_line.h - the line of Python that one gap waited for.
 *
 * Where a profiler recorded every call, it is the innermost line that covers most of the gap. Else it is the line of most
 * of the gap's own samples, if they are VPA_LINE_SAMPLES_MIN or more. */
#ifndef VPA_ANALYSIS_FOLDS_GAP_LINE_H
#define VPA_ANALYSIS_FOLDS_GAP_LINE_H

#include "analysis/folds/fold.h"

struct vpa_gap_line {
	/* See vpa_stacks_frame_at(); VPA_NONE: not known, or no line has most of it. */
	uint32_t frame;
	uint32_t samples : 31;   /* of the gap's largest cause; 0: none, or the stacks are exact */
	uint32_t is_foreign : 1; /* only other threads have stacks, not the one that launched */
	double share; /* of the largest cause, or of the weight of its samples; above 0.5, up to 1 */
};

/* Whether it is the gap's line. Fewer samples only speak for a line of the gap's place, or against it. */
static inline int vpa_gap_line_is_known(const struct vpa_gap_line *line)
{
	return line->frame != VPA_NONE && (!line->samples || line->samples >= VPA_LINE_SAMPLES_MIN);
}

/* Whether a gap without a line of its own may have that of all gaps with its cause, range and call; NULL: no. If it has
 * samples, most of them must be at this line, and it must not be foreign. */
static inline int vpa_gap_may_have_line_of(const struct vpa_top_line *place)
{
	return place && place->line.file && place->samples && place->share >= 0.9;
}

/* Finds the line of what the gap's largest cause has of it. Call it while the gap is emitted. 0 or VPT_ENOMEM. */
int vpa_gap_line(
	const struct vpa_fold_context *c, const struct vpa_gap *gap, struct vpa_gap_line *out);

#endif

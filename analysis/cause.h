/* cause.h - why a gap is there. Two questions, each answered so that the parts sum to the gap exactly:
 *
 *   opened by  one answer a gap: what to mend
 *   spent in   the gap cut at the edges of what the launching thread did
 *
 * With g0 the gap's start, K the op that ends it and L the call that launched K, on thread T, the first rule
 * that holds opens the gap:
 *
 *   head, tail                         before first work, after last work
 *   loss overlaps · no launch record   unknown (...)
 *   K and the op before it came from one graph launch          inside graph
 *   L begins at or after g0: the host was late. T was, at g0,
 *     in a synchronising call · a copy that blocks · an allocation · loading code · building a graph ·
 *     another call                                             sync drain ... other CUDA call
 *     in none, and its last call ended < 100 us before L · or longer ago     launch rate · host stall
 *   L ends later than 10 us before g0                          launch latency
 *   K's stream was told to wait since its previous op          dependency
 *   K begins a graph                                           graph start
 *   the gap is at most 10 us                                   scheduling
 *   otherwise                                                  queued, reason not recorded */
#ifndef VPA_ANALYSIS_CAUSE_H
#define VPA_ANALYSIS_CAUSE_H

#include "analysis/idle.h"

/* Fills opened_by, call, range and thread; adds what the gaps were spent in to their devices' spent_ns. */
void vpa_cause_answer(struct vpa_idle *s, struct vpa_gap *gaps, size_t count);

struct vpa_cause_piece {
	enum vpa_cause cause;
	uint32_t range; /* name of T's innermost range; 0: none */
	uint64_t ns;
};

/* The pieces of an answered gap in order of time, cut at T's ranges too; at most `max`, of which the last takes
 * what does not fit. Must be asked before anything is trimmed. Returns how many. */
size_t vpa_cause_pieces(
	struct vpa_idle *s, const struct vpa_gap *gap, struct vpa_cause_piece *pieces, size_t max);

#endif

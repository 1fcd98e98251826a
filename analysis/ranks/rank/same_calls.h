/* same_calls.h - ranks that made the same calls from the first to the last: their messages are then paired by order.
 *
 * Ends say little of messages: in a ring, ranks far from a late one leave long before those beside it. But the collectives
 * between them are left together:
 *
 *	rank 0   gather  send send send  gather  send send send  gather
 *	rank 4   gather  send send send  gather  send send send  gather       the second send is the second send
 */
#ifndef VPA_ANALYSIS_RANKS_RANK_SAME_CALLS_H
#define VPA_ANALYSIS_RANKS_RANK_SAME_CALLS_H

#include "analysis/ranks/rank/rank_summary.h"

/* Whether both ranks, whose captures lack nothing, have the same calls in the same order, and among them collectives of one
 * communicator that both are in, which they left together. share_clock: they have one clock. Without messages it is 0: their
 * ends say more. */
int vpa_same_calls(const struct vpa_rank *a, const struct vpa_rank *b, int share_clock);

/* Of ranks that made the same calls: of how many of these messages, indexes of both ranks' collectives, one rank left before the
 * other came. The collectives between them say how the clocks lie. */
size_t vpa_messages_apart(const struct vpa_rank *a, const struct vpa_rank *b, const uint32_t *items,
	size_t count, int share_clock);

#endif

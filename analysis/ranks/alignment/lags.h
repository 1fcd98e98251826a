/* lags.h - lays two ranks' sequences of collectives beside each other. */
#ifndef VPA_ANALYSIS_RANKS_ALIGNMENT_LAGS_H
#define VPA_ANALYSIS_RANKS_ALIGNMENT_LAGS_H

#include "analysis/ranks/rank/rank_summary.h"

/* Collectives of a rank in one group, in order of start: indexes of the rank's. */
struct vpa_sequence {
	const struct vpa_rank *rank;
	const uint32_t *items;
	size_t count;
};

struct vpa_lag {
	int64_t lag; /* item i of the first is item i + lag of the second */
	/* Second's clock - first's at the end of the first's first item, and by how much that grows per thousand million:
	 * medians over ends. */
	int64_t offset_ns, ppb;
	uint64_t deviation_ns; /* how far the quarter of ends is from that which is nearest */
	int share_clock;       /* as it was asked for */
	int is_by_order;       /* items are paired by their number, whatever the ends say */
	size_t pairs;          /* 0: none fits */
};

/* Finds the lag of the second sequence against the first. share_clock: both have one clock, so the offset is about 0.
 * `partner` has room for the first, and is overwritten. */
struct vpa_lag vpa_lag_find(const struct vpa_sequence *a, const struct vpa_sequence *b,
	int share_clock, uint32_t *partner);

/* The lag of two sequences that begin together, which most do: 0, and what their ends say of it. Whether it is the one, its pairs
 * tell. 0: it is not. */
int vpa_lag_none(const struct vpa_sequence *a, const struct vpa_sequence *b, int share_clock,
	struct vpa_lag *out);

/* The same for messages of ranks that made the same calls, see same_calls.h: each is paired with the one of its number. 0: they
 * are none. Ranks of different communicators may make the same calls too, so it is asked within one only. */
int vpa_lag_by_order(const struct vpa_sequence *a, const struct vpa_sequence *b, int share_clock,
	struct vpa_lag *out);

/* Pairs the sequences, beginning with what `lag` says: partner[i] is the index in b->items of item i of the first, or
 * UINT32_MAX. Returns how many have one. */
size_t vpa_lag_follow(const struct vpa_sequence *a, const struct vpa_sequence *b,
	const struct vpa_lag *lag, uint32_t *partner);

/* How far the ends of followed pairs are from each other: the changes from one pair to the next, whatever the clocks do. 0: there
 * is one pair in all. UINT64_MAX: no pair, or fewer than three in four of the shorter sequence have partners. */
struct vpa_agreement {
	uint64_t median_ns;
	uint64_t mean_ns; /* what has no partner counts as much as any can differ */
};
struct vpa_agreement vpa_lag_agreement(
	const struct vpa_sequence *a, const struct vpa_sequence *b, const uint32_t *partner);

/* Whether only the name of their host says that two ranks ran on one machine. */
int vpa_ranks_share_host(const struct vpa_rank *a, const struct vpa_rank *b);
/* Whether two ranks had one clock, as far as their traces say: they ran on one machine since it was started. */
int vpa_ranks_share_clock(const struct vpa_rank *a, const struct vpa_rank *b);

#endif

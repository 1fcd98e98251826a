/* spread.h - durations as they come in, percentiles when asked.
 *
 * Up to 4,096 samples are kept and percentiles are exact (nearest rank). From then on samples fall into a
 * logarithmic histogram of 64 buckets an octave: a percentile is a bucket's middle, at most 1 % off. */
#ifndef VPA_ANALYSIS_SPREAD_H
#define VPA_ANALYSIS_SPREAD_H

#include "analysis/report.h"

enum { VPA_SPREAD_EXACT = 4096 };

/* All zeros is empty. What the samples add up to is known once they are settled. */
struct vpa_spread_builder {
	uint64_t count, total_ns, min_ns, max_ns;
	unsigned __int128 squares;
	uint64_t *values; /* samples, or the counts of the histogram */
	size_t cap;
	/* Beside a histogram: samples below 2^28 that are laid down until there are enough to be counted at once. */
	uint32_t *fresh;
	uint32_t fresh_count, fresh_room;
};

/* Values below 128 have buckets of their own; above, the top seven bits choose. */
static inline size_t vpa_spread_bucket(uint64_t ns)
{
	unsigned shift;

	if (ns < 128)
		return (size_t)ns;
	shift = 57 - (unsigned)__builtin_clzll(ns);
	return (size_t)shift * 64 + (size_t)(ns >> shift);
}

/* What vpa_spread_add() does where it cannot just lay the sample down. */
int vpa_spread_add_slowly(struct vpa_spread_builder *b, uint64_t ns);

/* 0 or VPT_ENOMEM. */
static inline int vpa_spread_add(struct vpa_spread_builder *b, uint64_t ns)
{
	uint32_t at = b->fresh_count;

	if (at < b->fresh_room && !(ns >> 28)) {
		b->fresh[at] = (uint32_t)ns;
		b->fresh_count = at + 1;
		return 0;
	}
	return vpa_spread_add_slowly(b, ns);
}

/* Adds many. */
int vpa_spread_add_all(struct vpa_spread_builder *b, const uint64_t *values, size_t count);

/* Brings the sums up to date. */
void vpa_spread_settle(struct vpa_spread_builder *b);

void vpa_spread_free(struct vpa_spread_builder *b);

/* The summary; sorts the samples. Empty: all zeros. */
struct vpa_spread vpa_spread_of(struct vpa_spread_builder *b);

/* How many samples are at least `ns`: exact while samples are kept, else to the bucket. */
uint64_t vpa_spread_at_least(struct vpa_spread_builder *b, uint64_t ns);

#endif

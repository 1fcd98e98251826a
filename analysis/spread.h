/* spread.h - durations as they come in, percentiles when asked.
 *
 * Up to 4,096 samples are kept and percentiles are exact (nearest rank). From then on samples fall into a
 * logarithmic histogram of 64 buckets an octave: a percentile is a bucket's middle, at most 1 % off. */
#ifndef VPA_ANALYSIS_SPREAD_H
#define VPA_ANALYSIS_SPREAD_H

#include "analysis/report.h"

enum { VPA_SPREAD_EXACT = 4096 };

struct vpa_spread_builder {
	uint64_t count, total_ns, min_ns, max_ns;
	unsigned __int128 squares;
	uint64_t *values; /* samples, or the counts of the histogram */
	size_t cap;
	int is_histogram;
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

/* Keeps one more sample as it is, or turns the samples into a histogram and counts it there. */
int vpa_spread_keep(struct vpa_spread_builder *b, uint64_t ns);

/* All zeros is empty. 0 or VPT_ENOMEM. */
static inline int vpa_spread_add(struct vpa_spread_builder *b, uint64_t ns)
{
	if (b->is_histogram)
		b->values[vpa_spread_bucket(ns)]++;
	else if (vpa_spread_keep(b, ns))
		return -1;
	/* The first sample is beyond both zeros, or is zero. */
	if (ns < b->min_ns || ns > b->max_ns) {
		b->min_ns = !b->count || ns < b->min_ns ? ns : b->min_ns;
		b->max_ns = ns > b->max_ns ? ns : b->max_ns;
	}
	b->count++;
	b->total_ns += ns;
	b->squares += (unsigned __int128)ns * ns;
	return 0;
}

/* Adds many. */
int vpa_spread_add_all(struct vpa_spread_builder *b, const uint64_t *values, size_t count);

void vpa_spread_free(struct vpa_spread_builder *b);

/* The summary; sorts the samples. Empty: all zeros. */
struct vpa_spread vpa_spread_of(struct vpa_spread_builder *b);

/* How many samples are at least `ns`: exact while samples are kept, else to the bucket. */
uint64_t vpa_spread_at_least(struct vpa_spread_builder *b, uint64_t ns);

#endif

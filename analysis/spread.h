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

/* All zeros is empty. 0 or VPT_ENOMEM. */
int vpa_spread_add(struct vpa_spread_builder *b, uint64_t ns);
void vpa_spread_free(struct vpa_spread_builder *b);

/* The summary; sorts the samples. Empty: all zeros. */
struct vpa_spread vpa_spread_of(struct vpa_spread_builder *b);

/* How many samples are at least `ns`: exact while samples are kept, else to the bucket. */
uint64_t vpa_spread_at_least(struct vpa_spread_builder *b, uint64_t ns);

#endif

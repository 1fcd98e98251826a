/* durations.h - collects durations and computes their percentiles.
 *
 * Up to 4,096 samples are kept and percentiles are exact (nearest rank). Beyond that samples go
 * into a logarithmic histogram of 64 buckets per octave: a percentile is a bucket's middle, at most
 * 1 % off. */
#ifndef VPA_ANALYSIS_BASE_DURATIONS_H
#define VPA_ANALYSIS_BASE_DURATIONS_H

#include <stddef.h>
#include <stdint.h>

enum {
	VPA_SPREAD_EXACT = 4096,
	VPA_SPREAD_FRESH = 256 /* samples that a histogram counts in one go */
};

/* The distribution of durations. Percentiles are nearest rank: exact up to 4,096 samples, then from
 * a logarithmic histogram with at most 1 % error, and `approximate` is set. */
struct vpa_durations {
	uint64_t count, total_ns, min_ns, p50_ns, p90_ns, p95_ns, p99_ns, max_ns;
	double mean_ns, deviation_ns; /* population standard deviation */
	int approximate;
};

/* All zeros is empty. Sums are valid after vpa_durations_settle(). */
struct vpa_durations_builder {
	uint64_t count, total_ns, min_ns, max_ns;
	unsigned __int128 squares;
	uint64_t *values; /* samples, or the counts of the histogram: see octaves */
	size_t cap;
	/* With a histogram: samples below 2^28 and of these octaves, buffered until there are enough to count in one
	 * go. They are in [low, low + span). */
	uint32_t *fresh;
	uint32_t fresh_count, low_ns, span_ns;
	uint8_t first_octave, octaves; /* those that the histogram has */
	uint8_t only_sums; /* set before the first sample: no percentiles, no vpa_durations_at_least() */
};

/* Values below 128 have buckets of their own; above, the top seven bits choose. */
static inline size_t vpa_durations_bucket(uint64_t ns)
{
	unsigned shift;

	if (ns < 128)
		return (size_t)ns;
	shift = 57 - (unsigned)__builtin_clzll(ns);
	return (size_t)shift * 64 + (size_t)(ns >> shift);
}

/* The slow path of vpa_durations_add(), when the sample cannot just be buffered. */
int vpa_durations_add_slowly(struct vpa_durations_builder *b, uint64_t ns);

/* 0 or VPT_ENOMEM. */
static inline int vpa_durations_add(struct vpa_durations_builder *b, uint64_t ns)
{
	uint32_t at = b->fresh_count;

	if (at < VPA_SPREAD_FRESH && ns - b->low_ns < b->span_ns) {
		b->fresh[at] = (uint32_t)ns;
		b->fresh_count = at + 1;
		return 0;
	}
	return vpa_durations_add_slowly(b, ns);
}

/* Adds `count` samples. 0 or VPT_ENOMEM. */
int vpa_durations_add_all(struct vpa_durations_builder *b, const uint64_t *values, size_t count);

/* Adds the samples of another, as if they had been added one by one. Neither has only_sums. 0 or VPT_ENOMEM. */
int vpa_durations_merge(struct vpa_durations_builder *b, struct vpa_durations_builder *from);

/* Brings the sums up to date. */
void vpa_durations_settle(struct vpa_durations_builder *b);

void vpa_durations_free(struct vpa_durations_builder *b);

/* The summary; sorts the samples. All zeros if there are none. */
struct vpa_durations vpa_durations_of(struct vpa_durations_builder *b);

/* How many samples are at least `ns`: exact while samples are kept, else to a bucket. */
uint64_t vpa_durations_at_least(struct vpa_durations_builder *b, uint64_t ns);

#endif

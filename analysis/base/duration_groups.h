/* duration_groups.h - durations of calls that fall into two groups, short and long.
 *
 * Durations are kept as at most VPA_LENGTHS clusters: number, sum, shortest and longest of each. A
 * duration within a quarter of a cluster joins it; else it begins a cluster of its own, and where
 * there are too many, the closest two become one. At the end the clusters are split where two
 * neighbours are furthest apart.
 *
 * There are two groups if the shortest of the long is at least VPA_LENGTHS_APART times the longest of
 * the short, and each group has at least a quarter of all durations, and no fewer than
 * VPA_LENGTHS_LEAST. */
#ifndef VPA_ANALYSIS_BASE_DURATION_GROUPS_H
#define VPA_ANALYSIS_BASE_DURATION_GROUPS_H

#include <stddef.h>
#include <stdint.h>

enum { VPA_LENGTHS = 8, VPA_LENGTHS_APART = 2, VPA_LENGTHS_LEAST = 4 };

/* Durations of calls, in ns; of none if `count` is 0. */
struct vpa_length {
	uint64_t count, total_ns, min_ns, max_ns;
};

struct vpa_lengths {
	struct vpa_length clusters[VPA_LENGTHS]; /* in ascending order; they do not overlap */
	size_t used;
};

/* Counts a duration. All zero is a valid start. */
void vpa_lengths_add(struct vpa_lengths *l, uint64_t ns);

/* All durations. */
struct vpa_length vpa_lengths_all(const struct vpa_lengths *l);

/* Whether there are two groups; sets both to them if so. */
int vpa_lengths_split(
	const struct vpa_lengths *l, struct vpa_length *short_ones, struct vpa_length *long_ones);

#endif

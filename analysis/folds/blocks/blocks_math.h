/* blocks_math.h - statistics over a series of blocks. Pure functions of arrays; all times in nanoseconds. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_MATH_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_BLOCKS_MATH_H

#include <stddef.h>
#include <stdint.h>

/* The number of warm-up periods at the start of a series: those before the first, from the second
 * on, that is at most a fifth above the median of itself and all after it. At least one, at most
 * half of them and 64; 0 for an empty series. */
size_t vpa_warmup_of(const uint64_t *periods, size_t count);

/* Theil-Sen: the median slope of all pairs, per step of the series. A series of more than 2,000
 * values is sampled at even steps. Needs at least two values. 0 or VPT_ENOMEM. */
int vpa_slope_of(const uint64_t *values, size_t count, double *slope);

/* Where growth ends: the index from which the values stay level, by the best fit of a straight rise
 * followed by a constant; -1 if they do not rise, or rise to the end. */
int64_t vpa_saturation_of(const uint64_t *values, size_t count);

/* Whether value `at` is an outlier among (up to) 19 neighbours, itself included:
 * |x - median| > max(4 ms, 20 %, 5 * MAD): one that a person would ask about. A comparison leaves out more, by
 * vpa_shift_of_series(). *reference: the index of the median neighbour. */
int vpa_is_outlier(const uint64_t *values, size_t count, size_t at, size_t *reference);

/* The number of frames to buffer for stall-free playback at `millifps`: `frames[k]` frames are ready
 * at `ready_ns[k]`, rising. */
uint64_t vpa_prebuffer_of(
	const uint64_t *ready_ns, const uint64_t *frames, size_t count, uint64_t millifps);

#endif

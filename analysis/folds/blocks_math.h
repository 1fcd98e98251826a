/* blocks_math.h - statistics over a series of blocks. Pure functions of arrays; all times in nanoseconds. */
#ifndef VPA_ANALYSIS_FOLDS_BLOCKS_MATH_H
#define VPA_ANALYSIS_FOLDS_BLOCKS_MATH_H

#include <stddef.h>
#include <stdint.h>

/* How many of the first periods belong to warming up: those before the first, from the second on, that is
 * at most a fifth above the median of itself and all behind it. At least one, at most half of them
 * and 64; 0 for an empty series. */
size_t vpa_warmup_of(const uint64_t *periods, size_t count);

/* Theil-Sen: the median of the slopes of all pairs, a step of the series; every so manieth value of a series of
 * more than 2,000. 0 or VPT_ENOMEM. At least two values. */
int vpa_slope_of(const uint64_t *values, size_t count, double *slope);

/* Where growth ends: the place from which on the values lie level, by the best fit of "rises by the same each step, then
 * stays"; -1 if they do not rise, or go on rising to the end. */
int64_t vpa_saturation_of(const uint64_t *values, size_t count);

/* Whether value `at` is an outlier among its (up to) 19 neighbours, itself among them:
 * |x - median| > max(4 ms, 20 %, 5 * MAD). *reference: the neighbour that has the median. */
int vpa_is_outlier(const uint64_t *values, size_t count, size_t at, size_t *reference);

/* How many frames must be there when playback at `millifps` starts, so that none is ever late: `frames[k]` of
 * them are ready at `ready_ns[k]`, rising. */
uint64_t vpa_prebuffer_of(
	const uint64_t *ready_ns, const uint64_t *frames, size_t count, uint64_t millifps);

#endif

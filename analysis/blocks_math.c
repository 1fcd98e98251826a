/* blocks_math.c - statistics over a series of blocks. Series are short (some hundred blocks), so the
 * obvious way is taken wherever it is fast enough for a few thousand. */
#include "analysis/blocks_math.h"

#include "formats/error.h"
#include "formats/memory.h"

#include <stdlib.h>
#include <string.h>

enum { WARMUP_MAX = 64, SLOPE_VALUES = 2000, NEIGHBOURS = 9, OUTLIER_NS = 4000000 };

static int compare(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* The lower median of up to 2 * WARMUP_MAX values. */
static uint64_t median_of(const uint64_t *values, size_t count)
{
	uint64_t sorted[2 * WARMUP_MAX];

	memcpy(sorted, values, count * sizeof(*values));
	qsort(sorted, count, sizeof(*sorted), compare);
	return sorted[(count - 1) / 2];
}

size_t vpa_warmup_of(const uint64_t *periods, size_t count)
{
	size_t most = count / 2 < WARMUP_MAX ? count / 2 : WARMUP_MAX, at;

	if (count > 2 * WARMUP_MAX)
		count = 2 * WARMUP_MAX;
	for (at = 1; at < most; at++) {
		uint64_t usual = median_of(periods + at, count - at);

		if (periods[at] <= usual || periods[at] - usual <= usual / 5)
			break;
	}
	return count ? at : 0;
}

/* ---- drift ---- */

/* Puts the element of rank `rank` in its place. */
static double select_rank(double *values, size_t count, size_t rank)
{
	size_t low = 0, high = count - 1;

	while (low < high) {
		double pivot = values[low + (high - low) / 2];
		size_t i = low, k = high;

		for (;;) {
			while (values[i] < pivot)
				i++;
			while (values[k] > pivot)
				k--;
			if (i >= k)
				break;
			double swap = values[i];

			values[i++] = values[k];
			values[k--] = swap;
		}
		if (rank <= k)
			high = k;
		else
			low = k + 1;
	}
	return values[rank];
}

int vpa_slope_of(const uint64_t *values, size_t count, double *slope)
{
	size_t step = (count + SLOPE_VALUES - 1) / SLOPE_VALUES, n = 0, i, k;
	size_t taken = (count + step - 1) / step;
	double *slopes = vpt_alloc(taken * (taken - 1) / 2, sizeof(*slopes));

	*slope = 0;
	if (!slopes)
		return VPT_ENOMEM;
	for (i = 0; i < count; i += step)
		for (k = i + step; k < count; k += step)
			slopes[n++] = ((double)values[k] - (double)values[i]) / (double)(k - i);
	*slope = select_rank(slopes, n, (n - 1) / 2);
	if (n % 2 == 0)
		*slope = (*slope + select_rank(slopes, n, n / 2)) / 2;
	vpt_free(slopes);
	return VPT_OK;
}

/* Least squares of y = a + b * min(x, at): the sum of squares that remains, and b. */
static double hinge(const uint64_t *values, size_t count, size_t at, double *b)
{
	double n = (double)count, sx = 0, sy = 0, sxx = 0, sxy = 0, a, rest = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		double x = (double)(i < at ? i : at), y = (double)values[i] - (double)values[0];

		sx += x;
		sy += y;
		sxx += x * x;
		sxy += x * y;
	}
	*b = n * sxx - sx * sx > 0 ? (n * sxy - sx * sy) / (n * sxx - sx * sx) : 0;
	a = (sy - *b * sx) / n;
	for (i = 0; i < count; i++) {
		double x = (double)(i < at ? i : at),
		       y = (double)values[i] - (double)values[0] - a - *b * x;

		rest += y * y;
	}
	return rest;
}

int64_t vpa_saturation_of(const uint64_t *values, size_t count)
{
	size_t step = (count + SLOPE_VALUES - 1) / SLOPE_VALUES, best = 0, at;
	double b, straight, least;

	if (count < 6)
		return -1;
	straight = least = hinge(values, count, count, &b);
	/* Two values at least on either side: one alone is no slope. */
	for (at = 2; at + 2 <= count; at += step) {
		double rest = hinge(values, count, at, &b);

		if (b > 0 && rest < least) {
			least = rest;
			best = at;
		}
	}
	/* A straight line that is nearly as good has no corner, and growth that cannot be seen is none. */
	if (!best || least > straight / 4)
		return -1;
	hinge(values, count, best, &b);
	return b * (double)best > 0.02 * (double)values[0] ? (int64_t)best : -1;
}

/* ---- outliers ---- */

int vpa_is_outlier(const uint64_t *values, size_t count, size_t at, size_t *reference)
{
	size_t from = at > NEIGHBOURS ? at - NEIGHBOURS : 0, i;
	size_t to = count - at > NEIGHBOURS + 1 ? at + NEIGHBOURS + 1 : count;
	uint64_t far[2 * NEIGHBOURS + 1], median = median_of(values + from, to - from), limit;

	for (*reference = from; values[*reference] != median; ++*reference)
		;
	for (i = from; i < to; i++)
		far[i - from] = distance(values[i], median);
	limit = 5 * median_of(far, to - from);
	limit = limit > median / 5 ? limit : median / 5;
	limit = limit > OUTLIER_NS ? limit : OUTLIER_NS;
	return distance(values[at], median) > limit;
}

/* ---- playback ---- */

uint64_t vpa_prebuffer_of(
	const uint64_t *ready_ns, const uint64_t *frames, size_t count, uint64_t millifps)
{
	__int128 latest = 0, late;
	uint64_t shown = 0, buffered = 0;
	size_t i;

	/* Each block's first frame has to be there when those before it have been shown. */
	for (i = 0; i < count; i++) {
		late = (__int128)(ready_ns[i] - ready_ns[0]) * millifps -
		       (__int128)shown * 1000000000000;
		latest = late > latest ? late : latest;
		shown += frames[i];
	}
	for (i = 0; i < count; i++) {
		buffered += frames[i];
		if ((__int128)(ready_ns[i] - ready_ns[0]) * millifps >= latest)
			break;
	}
	return buffered;
}

/* spread.c - counting durations. Sums are integers, so the order of samples never shows. */
#include "analysis/spread.h"

#include "formats/memory.h"
#include "formats/vectorise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OCTAVE = 64, BUCKETS = 58 * OCTAVE + 128 };

static uint64_t middle_of(size_t bucket)
{
	unsigned shift;

	if (bucket < 128)
		return bucket;
	shift = (unsigned)(bucket / OCTAVE) - 1;
	return ((uint64_t)(bucket % OCTAVE + OCTAVE) << shift) + (((uint64_t)1 << shift) >> 1);
}

static int become_histogram(struct vpa_spread_builder *b)
{
	uint64_t *counts = vpt_calloc(BUCKETS, sizeof(*counts));
	size_t i;

	if (!counts)
		return VPT_ENOMEM;
	for (i = 0; i < b->count; i++)
		counts[vpa_spread_bucket(b->values[i])]++;
	vpt_free(b->values);
	b->values = counts;
	b->is_histogram = 1;
	return VPT_OK;
}

int vpa_spread_keep(struct vpa_spread_builder *b, uint64_t ns)
{
	if (b->count == VPA_SPREAD_EXACT) {
		if (become_histogram(b))
			return VPT_ENOMEM;
		b->values[vpa_spread_bucket(ns)]++;
		return VPT_OK;
	}
	if (vpt_grow(&b->values, &b->cap, b->count + 1, sizeof(*b->values)))
		return VPT_ENOMEM;
	b->values[b->count] = ns;
	return VPT_OK;
}

/* What many samples add up to. */
struct sums {
	uint64_t total_ns, least, most;
	unsigned __int128 squares;
};

enum { FEW = 256 };

/* Of at most FEW samples below 2^28, so that nothing overflows. */
VPT_VECTORISE
static struct sums sum_small(const uint64_t *values, size_t count)
{
	uint64_t total_ns = 0, squares = 0;
	int64_t least = INT64_MAX, most = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		int64_t ns = (int64_t)values[i];

		total_ns += values[i];
		squares += (uint64_t)(uint32_t)values[i] * (uint32_t)values[i];
		least = ns < least ? ns : least;
		most = ns > most ? ns : most;
	}
	return (struct sums){total_ns, (uint64_t)least, (uint64_t)most, squares};
}

static struct sums sum_any(const uint64_t *values, size_t count)
{
	struct sums s = {.least = UINT64_MAX};
	size_t i;

	for (i = 0; i < count; i++) {
		uint64_t ns = values[i];

		s.least = ns < s.least ? ns : s.least;
		s.most = ns > s.most ? ns : s.most;
		s.total_ns += ns;
		s.squares += (unsigned __int128)ns * ns;
	}
	return s;
}

int vpa_spread_add_all(struct vpa_spread_builder *b, const uint64_t *values, size_t count)
{
	struct sums sums;
	uint64_t bits = 0;
	size_t i = 0, k;

	/* Until samples fall into the histogram, and so that there is a least and a most. */
	for (; i < count && !b->is_histogram; i++)
		if (vpa_spread_add(b, values[i]))
			return VPT_ENOMEM;
	if (i == count)
		return VPT_OK;
	for (k = i; k < count; k++) {
		b->values[vpa_spread_bucket(values[k])]++;
		bits |= values[k];
	}
	sums = bits >> 28 || count > FEW ? sum_any(values + i, count - i)
					 : sum_small(values + i, count - i);
	b->count += count - i;
	b->min_ns = sums.least < b->min_ns ? sums.least : b->min_ns;
	b->max_ns = sums.most > b->max_ns ? sums.most : b->max_ns;
	b->total_ns += sums.total_ns;
	b->squares += sums.squares;
	return VPT_OK;
}

void vpa_spread_free(struct vpa_spread_builder *b)
{
	vpt_free(b->values);
	memset(b, 0, sizeof(*b));
}

static int compare_ns(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/* Nearest rank: the smallest sample such that at least `percent` of all are not above it. */
static uint64_t percentile(const struct vpa_spread_builder *b, unsigned percent)
{
	uint64_t rank = (uint64_t)(((unsigned __int128)b->count * percent + 99) / 100), seen = 0,
		 value;
	size_t i;

	if (!b->is_histogram)
		return b->values[rank ? rank - 1 : 0];
	for (i = 0; i < BUCKETS; i++) {
		seen += b->values[i];
		if (seen >= rank)
			break;
	}
	value = middle_of(i);
	return value < b->min_ns ? b->min_ns : value > b->max_ns ? b->max_ns : value;
}

struct vpa_spread vpa_spread_of(struct vpa_spread_builder *b)
{
	struct vpa_spread s = {.count = b->count,
		.total_ns = b->total_ns,
		.min_ns = b->min_ns,
		.max_ns = b->max_ns,
		.approximate = b->is_histogram};
	double variance;

	if (!b->count)
		return s;
	if (!b->is_histogram)
		qsort(b->values, b->count, sizeof(*b->values), compare_ns);
	s.p50_ns = percentile(b, 50);
	s.p90_ns = percentile(b, 90);
	s.p95_ns = percentile(b, 95);
	s.p99_ns = percentile(b, 99);
	s.mean_ns = (double)b->total_ns / (double)b->count;
	variance = (double)b->squares / (double)b->count - s.mean_ns * s.mean_ns;
	s.deviation_ns = variance > 0 ? sqrt(variance) : 0;
	return s;
}

uint64_t vpa_spread_at_least(struct vpa_spread_builder *b, uint64_t ns)
{
	uint64_t n = 0;
	size_t i;

	if (b->is_histogram)
		for (i = vpa_spread_bucket(ns); i < BUCKETS; i++)
			n += b->values[i];
	else
		for (i = 0; i < b->count; i++)
			n += b->values[i] >= ns;
	return n;
}

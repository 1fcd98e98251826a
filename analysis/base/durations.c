/* durations.c - counts durations. Sums are integers, so results do not depend on the order of
 * samples. */
#include "analysis/base/durations.h"

#include "analysis/base/rare.h"
#include "analysis/base/sort.h"
#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "formats/base/vectorise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Samples are counted in whole groups, FEW at a time; the last group is padded. */
enum { OCTAVE = 64, GROUP = 8, FEW = VPA_SPREAD_FRESH, SMALL_BITS = 28 };
_Static_assert(FEW % GROUP == 0, "whole groups");

/* From SORTED_BY_BYTES samples on, sorting by their bytes takes less time than comparing them. */
enum { BYTES = 256, SORTED_BY_BYTES = 64 };

static uint64_t middle_of(size_t bucket)
{
	unsigned shift;

	if (bucket < 128)
		return bucket;
	shift = (unsigned)(bucket / OCTAVE) - 1;
	return ((uint64_t)(bucket % OCTAVE + OCTAVE) << shift) + (((uint64_t)1 << shift) >> 1);
}

/* Sums over samples. */
struct sums {
	uint64_t total_ns, least, most;
	unsigned __int128 squares;
};

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

/* Gives access to the bits of floats. */
union floats {
	float numbers[FEW];
	uint32_t bits[FEW];
};

/* Finds the buckets of whole groups of samples below 2^28, counted from the first: from 64 on, a float's exponent and the
 * next six bits equal vpa_durations_bucket() of the number plus a constant. One of the lower bits is
 * cleared, so that rounding never carries into the higher ones. */
VPT_VECTORISE
static void find_buckets(const uint32_t *restrict values, size_t count, uint32_t first,
	union floats *restrict scratch, uint32_t *restrict buckets)
{
	size_t i;

	_Static_assert(OCTAVE == 64, "six bits");
	for (i = 0; i < (count & ~(size_t)(GROUP - 1)); i++)
		scratch->numbers[i] = (float)(int32_t)(values[i] & ~(values[i] >> 8));
	for (i = 0; i < (count & ~(size_t)(GROUP - 1)); i++) {
		uint32_t ns = values[i], small = 0 - (uint32_t)(ns < OCTAVE);
		uint32_t bits = (scratch->bits[i] >> 17) - (127 + 5) * OCTAVE;

		buckets[i] = ((ns & small) | (bits & ~small)) - first;
	}
}

/* The sums of whole groups: at most FEW samples below 2^28, so nothing overflows. */
VPT_VECTORISE
static struct sums sum_small(const uint32_t *values, size_t count)
{
	uint64_t total_ns = 0, squares = 0;
	uint32_t least = UINT32_MAX, most = 0;
	size_t i;

	for (i = 0; i < (count & ~(size_t)(GROUP - 1)); i++) {
		uint32_t ns = values[i];

		least = ns < least ? ns : least;
		most = ns > most ? ns : most;
		total_ns += ns;
		squares += (uint64_t)ns * ns;
	}
	return (struct sums){total_ns, least, most, squares};
}

/* Adds the sums of samples that are in the histogram. */
static void count_sums(struct vpa_durations_builder *b, size_t count, const struct sums *sums)
{
	b->min_ns = !b->count || sums->least < b->min_ns ? sums->least : b->min_ns;
	b->max_ns = sums->most > b->max_ns ? sums->most : b->max_ns;
	b->count += count;
	b->total_ns += sums->total_ns;
	b->squares += sums->squares;
}

/* ---- the octaves that are there ---- */

static size_t first_bucket(const struct vpa_durations_builder *b)
{
	return (size_t)b->first_octave * OCTAVE;
}

/* The least number of an octave. */
static uint64_t octave_ns(unsigned octave)
{
	return octave ? (uint64_t)OCTAVE << (octave - 1) : 0;
}

/* Sets which samples may be buffered: those of the octaves below 2^28. */
static void limit_fresh(struct vpa_durations_builder *b)
{
	unsigned last = SMALL_BITS - 6, end = b->first_octave + (unsigned)b->octaves;

	end = end > last + 1 ? last + 1 : end;
	b->low_ns = b->span_ns = 0;
	if (b->first_octave >= end)
		return;
	b->low_ns = (uint32_t)octave_ns(b->first_octave);
	b->span_ns = (uint32_t)(octave_ns(end) - b->low_ns);
}

/* Makes the histogram have all octaves between two samples. 0 or VPT_ENOMEM. */
static int widen(struct vpa_durations_builder *b, uint64_t least_ns, uint64_t most_ns)
{
	size_t from = vpa_durations_bucket(least_ns) / OCTAVE, before = b->first_octave,
	       to = vpa_durations_bucket(most_ns) / OCTAVE + 1, end = before + b->octaves;
	uint64_t *counts;

	if (b->only_sums)
		b->span_ns = (uint32_t)1 << SMALL_BITS;
	if (b->only_sums || (b->octaves && from >= before && to <= end))
		return VPT_OK;
	from = b->octaves && before < from ? before : from;
	to = b->octaves && end > to ? end : to;
	counts = vpt_calloc((to - from) * OCTAVE, sizeof(*counts));
	if (!counts)
		return VPT_ENOMEM;
	if (b->octaves)
		memcpy(counts + (before - from) * OCTAVE, b->values,
			b->octaves * OCTAVE * sizeof(*counts));
	vpt_free(b->values);
	b->values = counts;
	b->first_octave = (uint8_t)from;
	b->octaves = (uint8_t)(to - from);
	limit_fresh(b);
	return VPT_OK;
}

/* ---- counting: of octaves that are there ---- */

static void count_any(struct vpa_durations_builder *b, const uint64_t *values, size_t count)
{
	struct sums sums = sum_any(values, count);
	size_t i;

	for (i = 0; i < count && !b->only_sums; i++)
		b->values[vpa_durations_bucket(values[i]) - first_bucket(b)]++;
	count_sums(b, count, &sums);
}

/* Counts samples below 2^28 in the histogram; `whole` of them, in whole groups, are numbers. */
static void count_buckets(
	struct vpa_durations_builder *b, const uint32_t *values, size_t count, size_t whole)
{
	uint64_t *counts = b->values;
	uint32_t buckets[FEW];
	union floats scratch;
	size_t i;

	find_buckets(values, whole, (uint32_t)first_bucket(b), &scratch, buckets);
	for (i = 0; i + 4 <= count; i += 4) {
		counts[buckets[i]]++;
		counts[buckets[i + 1]]++;
		counts[buckets[i + 2]]++;
		counts[buckets[i + 3]]++;
	}
	for (; i < count; i++)
		counts[buckets[i]]++;
}

/* The same as count_any() for 1 to FEW samples below 2^28; `values` has room for padding. */
static void count_small(struct vpa_durations_builder *b, uint32_t *values, size_t count)
{
	size_t whole = (count + GROUP - 1) & ~(size_t)(GROUP - 1), i;
	uint64_t first = values[0], extra = whole - count;
	struct sums sums;

	for (i = count; i < whole; i++)
		values[i] = values[0];
	sums = sum_small(values, whole);
	sums.total_ns -= extra * first;
	sums.squares -= extra * first * first;
	if (!b->only_sums)
		count_buckets(b, values, count, whole);
	count_sums(b, count, &sums);
}

static int become_histogram(struct vpa_durations_builder *b)
{
	uint64_t *samples = b->values;
	size_t count = b->count;
	int rc;

	b->fresh = vpt_alloc(FEW, sizeof(*b->fresh));
	if (!b->fresh)
		return VPT_ENOMEM;
	b->values = NULL;
	b->count = b->total_ns = b->max_ns = 0;
	b->squares = 0;
	rc = vpa_durations_add_all(b, samples, count);
	vpt_free(samples);
	return rc;
}

/* Counts the buffered samples. */
static void count_fresh(struct vpa_durations_builder *b)
{
	uint32_t count = b->fresh_count;

	b->fresh_count = 0;
	if (count)
		count_small(b, b->fresh, count);
}

void vpa_durations_settle(struct vpa_durations_builder *b)
{
	struct sums sums;

	count_fresh(b);
	if (b->fresh || !b->count)
		return;
	sums = sum_any(b->values, b->count);
	b->min_ns = sums.least;
	b->max_ns = sums.most;
	b->total_ns = sums.total_ns;
	b->squares = sums.squares;
}

VPA_RARE int vpa_durations_add_slowly(struct vpa_durations_builder *b, uint64_t ns)
{
	if (!b->fresh && b->count < VPA_SPREAD_EXACT) {
		if (vpt_grow(&b->values, &b->cap, b->count + 1, sizeof(*b->values)))
			return VPT_ENOMEM;
		b->values[b->count++] = ns;
		return VPT_OK;
	}
	if ((!b->fresh && become_histogram(b)) || widen(b, ns, ns))
		return VPT_ENOMEM;
	count_fresh(b);
	if (ns >> SMALL_BITS)
		count_any(b, &ns, 1);
	else
		b->fresh[b->fresh_count++] = (uint32_t)ns;
	return VPT_OK;
}

/* The least and the most of some samples. */
struct bounds {
	uint64_t least, most;
};

/* Writes the samples as 32 bits, and returns their bounds: as signed numbers, which refuses none below 2^63. */
VPT_VECTORISE
static struct bounds narrow(const uint64_t *restrict values, size_t count, uint32_t *restrict out)
{
	int64_t least = INT64_MAX, most = INT64_MIN;
	size_t i;

	for (i = 0; i < count; i++) {
		int64_t ns = (int64_t)values[i];

		least = ns < least ? ns : least;
		most = ns > most ? ns : most;
		out[i] = (uint32_t)values[i];
	}
	return (struct bounds){(uint64_t)least, (uint64_t)most};
}

int vpa_durations_add_all(struct vpa_durations_builder *b, const uint64_t *values, size_t count)
{
	uint32_t few[FEW];
	size_t i = 0, n;

	for (; i < count && !b->fresh; i++)
		if (vpa_durations_add(b, values[i]))
			return VPT_ENOMEM;
	for (; i < count; i += n) {
		struct bounds bounds;

		n = count - i < FEW ? count - i : FEW;
		bounds = narrow(values + i, n, few);
		if ((bounds.least | bounds.most) >> 63)
			bounds = (struct bounds){0, UINT64_MAX};
		if (widen(b, bounds.least, bounds.most))
			return VPT_ENOMEM;
		if (bounds.most >> SMALL_BITS)
			count_any(b, values + i, n);
		else
			count_small(b, few, n);
	}
	return VPT_OK;
}

int vpa_durations_merge(struct vpa_durations_builder *b, struct vpa_durations_builder *from)
{
	struct sums sums;
	size_t i;

	vpa_durations_settle(from);
	if (!from->fresh)
		return vpa_durations_add_all(b, from->values, from->count);
	if ((!b->fresh && become_histogram(b)) || widen(b, from->min_ns, from->max_ns))
		return VPT_ENOMEM;
	for (i = 0; i < (size_t)from->octaves * OCTAVE; i++)
		if (from->values[i])
			b->values[first_bucket(from) + i - first_bucket(b)] += from->values[i];
	sums = (struct sums){from->total_ns, from->min_ns, from->max_ns, from->squares};
	count_sums(b, from->count, &sums);
	return VPT_OK;
}

void vpa_durations_free(struct vpa_durations_builder *b)
{
	vpt_free(b->values);
	vpt_free(b->fresh);
	memset(b, 0, sizeof(*b));
}

/* Sorts at most VPA_SPREAD_EXACT samples by one byte after the other, the lowest first. Mostly few bytes
 * differ: durations of one name are alike. */
static void sort_bytes(uint64_t *values, size_t count)
{
	uint64_t room[VPA_SPREAD_EXACT], *from = values, *to = room, *swap, differ = 0;
	unsigned shift;
	size_t i;

	for (i = 1; i < count; i++)
		differ |= values[i] ^ values[0];
	for (shift = 0; shift < 64; shift += 8) {
		size_t places[BYTES + 1] = {0}; /* where the samples with each byte go */

		if (!(differ >> shift & (BYTES - 1)))
			continue;
		for (i = 0; i < count; i++)
			places[(from[i] >> shift & (BYTES - 1)) + 1]++;
		for (i = 1; i < BYTES; i++)
			places[i] += places[i - 1];
		for (i = 0; i < count; i++)
			to[places[from[i] >> shift & (BYTES - 1)]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != values)
		memcpy(values, from, count * sizeof(*values));
}

static void sort_samples(uint64_t *values, size_t count)
{
	if (count < SORTED_BY_BYTES)
		qsort(values, count, sizeof(*values), vpa_by_u64);
	else
		sort_bytes(values, count);
}

/* Nearest rank: the smallest sample such that at least `percent` of all samples do not exceed
 * it. */
static uint64_t percentile(const struct vpa_durations_builder *b, unsigned percent)
{
	uint64_t rank = (uint64_t)(((unsigned __int128)b->count * percent + 99) / 100), seen = 0,
		 value;
	size_t i = 0;

	if (!b->fresh)
		return b->values[rank ? rank - 1 : 0];
	while ((seen += b->values[i]) < rank)
		i++;
	value = middle_of(first_bucket(b) + i);
	return value < b->min_ns ? b->min_ns : value > b->max_ns ? b->max_ns : value;
}

static void find_percentiles(struct vpa_durations_builder *b, struct vpa_durations *out)
{
	if (!b->fresh)
		sort_samples(b->values, b->count);
	out->p50_ns = percentile(b, 50);
	out->p90_ns = percentile(b, 90);
	out->p95_ns = percentile(b, 95);
	out->p99_ns = percentile(b, 99);
}

struct vpa_durations vpa_durations_of(struct vpa_durations_builder *b)
{
	struct vpa_durations s;
	double variance;

	vpa_durations_settle(b);
	s = (struct vpa_durations){.count = b->count,
		.total_ns = b->total_ns,
		.min_ns = b->min_ns,
		.max_ns = b->max_ns,
		.approximate = b->fresh != NULL};
	if (!b->count)
		return s;
	if (!b->only_sums)
		find_percentiles(b, &s);
	s.mean_ns = (double)b->total_ns / (double)b->count;
	variance = (double)b->squares / (double)b->count - s.mean_ns * s.mean_ns;
	s.deviation_ns = variance > 0 ? sqrt(variance) : 0;
	return s;
}

uint64_t vpa_durations_at_least(struct vpa_durations_builder *b, uint64_t ns)
{
	size_t count = (size_t)b->octaves * OCTAVE, from = vpa_durations_bucket(ns), i;
	uint64_t n = 0;

	vpa_durations_settle(b);
	if (b->fresh)
		for (i = from > first_bucket(b) ? from - first_bucket(b) : 0; i < count; i++)
			n += b->values[i];
	else
		for (i = 0; i < b->count; i++)
			n += b->values[i] >= ns;
	return n;
}

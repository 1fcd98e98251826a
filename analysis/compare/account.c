/* account.c - exact differences of means, in whole nanoseconds. */
#include "analysis/compare/comparison.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>

struct rest {
	__int128 rest; /* what rounding towards zero left of the numerator */
	size_t part;
};

static int by_rest(const void *pa, const void *pb)
{
	const struct rest *a = pa, *b = pb;

	if (a->rest != b->rest)
		return a->rest > b->rest ? -1 : 1;
	return a->part < b->part ? -1 : a->part > b->part;
}

/* The same for a sum below zero: the most negative first. */
static int by_negative_rest(const void *pa, const void *pb)
{
	const struct rest *a = pa, *b = pb;

	if (a->rest != b->rest)
		return a->rest < b->rest ? -1 : 1;
	return a->part < b->part ? -1 : a->part > b->part;
}

static __int128 rounded(__int128 numerator, __int128 denominator)
{
	__int128 whole = numerator / denominator, rest = numerator % denominator;

	if (2 * rest >= denominator)
		whole++;
	else if (2 * rest <= -denominator)
		whole--;
	return whole;
}

static __int128 units_of(uint64_t units)
{
	return !units ? 1 : units > VPA_ACCOUNT_UNITS_MAX ? VPA_ACCOUNT_UNITS_MAX : units;
}

int vpa_account(struct vpa_account_part *parts, size_t count, uint64_t a_units, uint64_t b_units,
	int64_t *delta_ns)
{
	__int128 na = units_of(a_units), nb = units_of(b_units), all = 0, left;
	struct rest *rests = vpt_alloc(count ? count : 1, sizeof(*rests));
	size_t i;
	int is_exact = 1;

	*delta_ns = 0;
	for (i = 0; i < count; i++)
		parts[i].delta_ns = 0;
	if (!rests)
		return VPT_ENOMEM;
	for (i = 0; i < count; i++) {
		__int128 numerator = (__int128)parts[i].b_ns * na - (__int128)parts[i].a_ns * nb;

		all += numerator;
		parts[i].delta_ns = vpt_sat_i128(numerator / (na * nb));
		is_exact &= parts[i].delta_ns == numerator / (na * nb);
		rests[i] = (struct rest){numerator % (na * nb), i};
	}
	*delta_ns = vpt_sat_i128(rounded(all, na * nb));
	is_exact &= *delta_ns == rounded(all, na * nb);
	left = is_exact ? *delta_ns : 0;
	for (i = 0; i < count && is_exact; i++)
		left -= parts[i].delta_ns;
	qsort(rests, count, sizeof(*rests), left > 0 ? by_rest : by_negative_rest);
	for (i = 0; left; i++) {
		parts[rests[i].part].delta_ns += left > 0 ? 1 : -1;
		left += left > 0 ? -1 : 1;
	}
	vpt_free(rests);
	return VPT_OK;
}

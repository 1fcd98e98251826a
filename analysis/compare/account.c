/* account.c - exact differences of means, in whole nanoseconds. */
#include "analysis/compare/account.h"

#include "formats/error.h"
#include "formats/memory.h"

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

int vpa_account(struct vpa_account_part *parts, size_t count, uint64_t a_units, uint64_t b_units,
	int64_t *delta_ns)
{
	__int128 na = a_units ? a_units : 1, nb = b_units ? b_units : 1, all = 0, left;
	struct rest *rests = vpt_alloc(count ? count : 1, sizeof(*rests));
	size_t i;

	*delta_ns = 0;
	for (i = 0; i < count; i++)
		parts[i].delta_ns = 0;
	if (!rests)
		return VPT_ENOMEM;
	for (i = 0; i < count; i++) {
		__int128 numerator = (__int128)parts[i].b_ns * na - (__int128)parts[i].a_ns * nb;

		all += numerator;
		parts[i].delta_ns = (int64_t)(numerator / (na * nb));
		rests[i] = (struct rest){numerator % (na * nb), i};
	}
	*delta_ns = (int64_t)rounded(all, na * nb);
	left = *delta_ns;
	for (i = 0; i < count; i++)
		left -= parts[i].delta_ns;
	qsort(rests, count, sizeof(*rests), left > 0 ? by_rest : by_negative_rest);
	for (i = 0; left; i++) {
		parts[rests[i].part].delta_ns += left > 0 ? 1 : -1;
		left += left > 0 ? -1 : 1;
	}
	vpt_free(rests);
	return VPT_OK;
}

/* tried_ranks.c - by blame, and by what a rank waits less than others. */
#include "analysis/ranks/replay/tried_ranks.h"

#include "analysis/base/sort.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>

/* What others would wait for a rank if nobody were later: what they do wait for it, and what it waits less than the median rank. A
 * rank that is a little less late than another one comes last to nothing. */
struct candidate {
	size_t rank;
	uint64_t ns, less_ns; /* less_ns: than the median rank, a quarter of that or more */
};

static int by_ns(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* One whose capture ends early waits less than the others for no other reason than that. */
static int can_be_tried(const struct vpa_job_rank *r)
{
	return r->matched && !r->cut_ns;
}

/* Of the ranks that can be tried. */
static uint64_t median_wait(const struct vpa_job *job, int64_t *numbers)
{
	size_t i, count = 0;

	for (i = 0; i < job->rank_count; i++)
		if (can_be_tried(&job->ranks[i]))
			numbers[count++] =
				(int64_t)(vpa_job_wait_of(job, &job->ranks[i]) & INT64_MAX);
	return count ? (uint64_t)vpa_nth(numbers, count, count / 2) : 0;
}

int vpa_tried_ranks(const struct vpa_job *job, size_t ranks[VPA_FIX_RANKS_MOST], size_t *count)
{
	struct candidate *order = vpt_calloc(job->rank_count + 1, sizeof(*order));
	int64_t *numbers = vpt_alloc(job->rank_count + 1, sizeof(*numbers));
	uint64_t median_ns, blame_ns = 0;
	int waits_less = 0;
	size_t i;

	*count = 0;
	if (!order || !numbers) {
		vpt_free(order);
		vpt_free(numbers);
		return VPT_ENOMEM;
	}
	median_ns = median_wait(job, numbers);
	for (i = 0; i < job->rank_count; i++) {
		const struct vpa_job_rank *r = &job->ranks[i];
		uint64_t less_ns =
			can_be_tried(r) ? vpt_sat_sub(median_ns, vpa_job_wait_of(job, r)) : 0;

		order[i] = (struct candidate){
			i, vpa_job_blame_of(job, r), less_ns > median_ns / 4 ? less_ns : 0};
		vpt_sat_add_to(&blame_ns, order[i].ns);
		vpt_sat_add_to(&order[i].ns, vpt_sat_mul(order[i].less_ns, job->rank_count - 1));
		waits_less |= order[i].less_ns != 0;
	}
	qsort(order, job->rank_count, sizeof(*order), by_ns);
	for (i = 0;
		i < job->rank_count && *count < VPA_FIX_RANKS_MOST && order[i].ns > blame_ns / 10;
		i++) {
		const struct vpa_job_rank *r = &job->ranks[order[i].rank];

		if (!can_be_tried(r) || (waits_less && !order[i].less_ns))
			continue;
		ranks[(*count)++] = order[i].rank;
	}
	vpt_free(order);
	vpt_free(numbers);
	return VPT_OK;
}

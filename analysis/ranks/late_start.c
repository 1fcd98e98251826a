/* late_start.c - who came last to the calls that make communicators: there the others wait on their hosts, before any kernel shows it.
 *
 *	rank 0   |-- ncclCommInitRank, 220 ms ----------|
 *	rank 3                       |-- 20 ms, ... ----|     what all need; it came 200 ms later
 */
#include "analysis/ranks/job_parts.h"

#include "analysis/base/sort.h"
#include "analysis/ranks/number_list.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>

enum {
	LEAST = 50,      /* of the time, or of a unit all, is worth a word */
	NEAR = 10,       /* ranks that wait 1 / this of what the others do came as late */
	MOST = INT32_MAX /* calls: more are no start */
};

/* What each rank waited there; 0: not known of all, or they made different calls, so that they cannot be compared. */
static int list_waits(const struct vpa_job *job, int64_t *waits)
{
	uint64_t least_ns = UINT64_MAX;
	size_t i;

	for (i = 0; i < job->rank_count; i++) {
		const struct vpa_rank *r = job->list.items[i];

		if (!r->inits || r->inits > MOST || r->inits != job->list.items[0]->inits)
			return 0;
		least_ns = r->init_ns < least_ns ? r->init_ns : least_ns;
	}
	for (i = 0; i < job->rank_count; i++)
		waits[i] = vpt_sat_diff(job->list.items[i]->init_ns, least_ns);
	return 1;
}

/* At most half of all: where more are late the others came early. */
static int name_late(struct vpa_job *job, const int64_t *waits, uint64_t ns, int64_t *numbers)
{
	size_t i, count = 0;

	for (i = 0; i < job->rank_count; i++)
		if ((uint64_t)waits[i] < ns / NEAR)
			numbers[count++] = job->ranks[i].number;
	if (!count || count > job->rank_count / 2)
		return VPT_OK;
	qsort(numbers, count, sizeof(*numbers), vpa_by_i64);
	job->init_late_ranks = vpa_number_list(&job->arena, numbers, count);
	job->init_late_ns = ns;
	return job->init_late_ranks ? VPT_OK : VPT_ENOMEM;
}

int vpa_late_start_find(struct vpa_job *job)
{
	int64_t *waits = vpt_alloc(job->rank_count + 1, sizeof(*waits));
	int64_t *numbers = vpt_alloc(job->rank_count + 1, sizeof(*numbers));
	int rc = waits && numbers ? VPT_OK : VPT_ENOMEM;

	if (!rc && job->rank_count > 1 && list_waits(job, waits)) {
		uint64_t ns;
		size_t i;

		for (i = 0; i < job->rank_count; i++)
			numbers[i] = waits[i];
		ns = (uint64_t)vpa_nth(numbers, job->rank_count, job->rank_count / 2);
		if (ns && (ns >= job->span_ns / LEAST || ns >= job->unit_ns))
			rc = name_late(job, waits, ns, numbers);
	}
	vpt_free(waits);
	vpt_free(numbers);
	return rc;
}

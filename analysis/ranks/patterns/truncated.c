/* truncated.c - ranks whose captures end while the others go on, see cut_ranks.c. */
#include "analysis/ranks/patterns/patterns.h"

int vpa_find_truncated(struct vpa_job *job, const struct vpa_job_rows *rows)
{
	size_t rank;
	int rc = VPT_OK;

	(void)rows;
	for (rank = 0; rank < job->rank_count && !rc; rank++) {
		struct vpa_job_pattern p = {.kind = VPA_PATTERN_TRUNCATED,
			.collectives = job->ranks[rank].cut_collectives,
			.ns = job->ranks[rank].cut_ns};

		if (!p.ns)
			continue;
		p.ranks = vpa_pattern_ranks(job, &rank, 1);
		rc = p.ranks ? vpa_pattern_put(job, p) : VPT_ENOMEM;
	}
	return rc;
}

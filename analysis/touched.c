/* touched.c - which figures the missing records may change. A figure that no loss reaches in time is as good as in a complete
 * trace; where nobody knows when records were lost, all are touched. */
#include "analysis/report.h"

int vpa_request_is_touched(const struct vpa_report *r, const struct vpa_request *q)
{
	return vpa_is_touched(r, q->start_ns, q->end_ns);
}

int vpa_block_is_touched(const struct vpa_report *r, const struct vpa_block_row *b)
{
	uint64_t from_ns = b->end_ns > b->period_ns ? b->end_ns - b->period_ns : 0;

	return vpa_is_touched(r, from_ns < b->start_ns ? from_ns : b->start_ns, b->end_ns);
}

/* A block that is missing from the middle makes the period of the next one longer, which spans the loss. */
int vpa_blocks_are_touched(const struct vpa_report *r, const struct vpa_blocks *b)
{
	size_t i;

	for (i = b->warmup; i < b->count; i++)
		if (vpa_block_is_touched(r, &b->series[i]))
			return 1;
	return 0;
}

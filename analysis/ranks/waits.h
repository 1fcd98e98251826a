/* waits.h - the waits of a job's collectives, and who is to blame for them.
 *
 *	vpa_job_waits_begin()   from times alone: how long ranks wait, and for whom
 *	vpa_job_waits_take()    of each rank, its detail: what it did more or less of than those it waited for
 *	vpa_job_waits_end()     parts of the job
 */
#ifndef VPA_ANALYSIS_RANKS_WAITS_H
#define VPA_ANALYSIS_RANKS_WAITS_H

#include "analysis/ranks/job_rows.h"

struct vpa_job_waits;

/* Fills in the waits of a job. Job and rows are borrowed until vpa_job_waits_free(). 0 or VPT_ENOMEM; *out is NULL then. */
int vpa_job_waits_begin(struct vpa_job *job, const struct vpa_job_rows *rows, unsigned threads,
	struct vpa_job_waits **out);
/* Of each rank once, in any order and in any thread of those. */
void vpa_job_waits_take(
	struct vpa_job_waits *w, unsigned thread, size_t rank, const struct vpa_rank_detail *d);
/* Fills in what ranks are later by. 0 or VPT_ENOMEM. */
int vpa_job_waits_end(struct vpa_job_waits *w);
void vpa_job_waits_free(struct vpa_job_waits *w); /* accepts NULL */

#endif

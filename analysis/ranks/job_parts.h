/* job_parts.h - what job.c puts a job together from: who waits for whom, what a change would bring, what is set up differently. */
#ifndef VPA_ANALYSIS_RANKS_JOB_PARTS_H
#define VPA_ANALYSIS_RANKS_JOB_PARTS_H

#include "analysis/ranks/job.h"
#include "analysis/ranks/job_rows.h"

/* ---- cut_ranks.c: ranks whose captures end while the others go on ---- */

/* Fills in cut_ns and cut_collectives of ranks whose collectives are matched, and whose clocks are known. */
void vpa_cut_ranks_find(struct vpa_job *job);

/* ---- waits/: the waits of a job's collectives, and who is to blame for them.
 *
 *	vpa_job_waits_begin()   from times alone: how long ranks wait, and for whom
 *	vpa_job_waits_take()    of each rank, its detail: what it did more or less of than those it waited for
 *	vpa_job_waits_end()     parts of the job */

struct vpa_job_waits;

/* Fills in the waits of a job. Job and rows are borrowed until vpa_job_waits_free(). 0 or VPT_ENOMEM; *out is NULL then. */
int vpa_job_waits_begin(struct vpa_job *job, const struct vpa_job_rows *rows, unsigned threads,
	struct vpa_job_waits **out);
/* Of each rank once, in any order and in any thread of those: its detail. Most ranks can also be taken while that is read:
 * after vpa_job_waits_begin_rank(), which says so, all their stretches, see struct vpa_stretch_taker. 0 or VPT_ENOMEM. */
void vpa_job_waits_take(
	struct vpa_job_waits *w, unsigned thread, size_t rank, const struct vpa_rank_detail *d);
int vpa_job_waits_begin_rank(
	struct vpa_job_waits *w, unsigned thread, size_t rank, int *can_take_stretches);
void vpa_job_waits_take_stretches(struct vpa_job_waits *w, unsigned thread,
	const struct vpa_rank_detail *d, size_t first, size_t count);
/* Fills in what ranks are later by. 0 or VPT_ENOMEM. */
int vpa_job_waits_end(struct vpa_job_waits *w);
void vpa_job_waits_free(struct vpa_job_waits *w); /* accepts NULL */

/* ---- late_start.c: ranks that came late to the first communicator ---- */

/* Fills in init_late_ns and init_late_ranks of a job whose unit is known. 0 or VPT_ENOMEM. */
int vpa_late_start_find(struct vpa_job *job);

/* ---- job_asked.c ---- */

/* Whether the ranks that the changes are of are there, and none has another one beside the one that makes it like the median; joins
 * their texts. 0 or VPT_EINVAL. */
int vpa_job_check_asked(struct vpa_job *job, struct vpt_err *err);

/* Whether some change is about parts of what ranks do: how soon these can begin then, their paces say. */
int vpa_job_asks_for_paces(const struct vpa_job *job);

/* ---- replay/: what a late rank really costs, and what a change of all would bring: all ranks replayed together.
 *
 * A change takes host code or work away between collectives. Where the others would be late by themselves, or next, making a rank
 * faster brings nothing. */

struct vpa_joint;

/* Chooses what is tried, of a job whose ranks' blame is known. *out is NULL where not all ranks have terms, and on failure: 0
 * or VPT_ENOMEM. Job and rows are borrowed. */
int vpa_joint_begin(struct vpa_job *job, const struct vpa_job_rows *rows, unsigned threads,
	struct vpa_joint **out);
/* Of each rank once, in any thread of those: begins it, takes its detail or, if it has no overlaps, its stretches, and puts it into
 * the replay, with the terms of its detail. What is asked about needs all of the detail. 0 or VPT_ENOMEM. */
int vpa_joint_begin_rank(struct vpa_joint *j, unsigned thread, size_t rank);
void vpa_joint_take(
	struct vpa_joint *j, unsigned thread, size_t rank, const struct vpa_rank_detail *d);
void vpa_joint_take_stretches(struct vpa_joint *j, unsigned thread, const struct vpa_rank_detail *d,
	size_t first, size_t count);
int vpa_joint_end_rank(
	struct vpa_joint *j, unsigned thread, size_t rank, const struct vpa_rank_detail *d);
/* Fills in job->fixes and job->replay_error_ns. 0, VPT_ENOMEM or VPT_EDATA. */
int vpa_joint_end(struct vpa_joint *j, struct vpt_err *err);
/* Begins again, with what the user asks about, after the end: all ranks are taken once more. It is a run of its own, since its terms
 * are many, and both would need more memory than the usual limit with a thousand ranks. 0 or VPT_ENOMEM. */
int vpa_joint_begin_asked(struct vpa_joint *j, const struct vpa_job_rows *rows);
void vpa_joint_free(struct vpa_joint *j); /* accepts NULL */

/* ---- setup_differences.c: what is set up differently on some ranks of a job ---- */

/* Fills in job->differences: a row for each fact and value that fewer ranks have than another one. 0 or VPT_ENOMEM. */
int vpa_setup_differences_find(struct vpa_job *job);

#endif

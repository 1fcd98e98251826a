/* job_rates.h - how many frames and blocks a job makes in a second.
 *
 *	rank 0 ==== rank 1       rank 2 ==== rank 3       collectives in the steady part tie ranks that work on the same units
 *	   a replica                a replica             a job's rate is the sum over its replicas
 *
 * A set of tied ranks makes the units of any of them, so its rate is that of a rank. What a collective is about no capture says: ranks
 * that meet less than once a unit, or only in barriers and messages of a few numbers, may work on the same units or not. Then, where
 * ranks are missing, and where replicas did not run at the same time, there is only the rate of a rank. */
#ifndef VPA_ANALYSIS_RANKS_FIGURES_JOB_RATES_H
#define VPA_ANALYSIS_RANKS_FIGURES_JOB_RATES_H

#include "analysis/ranks/job.h"

enum {
	VPA_TIE_BYTES = 1024,    /* a message of this size or less says nothing of the work */
	VPA_TIED_RATES_APART = 5 /* %, by which rates of tied ranks may differ */
};

/* Sets job->rates, of a job whose patterns are found. 0 or VPT_ENOMEM. */
int vpa_job_rates_find(struct vpa_job *job);

#endif

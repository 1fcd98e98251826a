/* setup_differences.h - what is set up differently on some ranks of a job. */
#ifndef VPA_ANALYSIS_RANKS_SETUP_DIFFERENCES_H
#define VPA_ANALYSIS_RANKS_SETUP_DIFFERENCES_H

#include "analysis/ranks/job.h"

/* Fills in job->differences: a row for each fact and value that fewer ranks have than another one. 0 or VPT_ENOMEM. */
int vpa_setup_differences_find(struct vpa_job *job);

#endif

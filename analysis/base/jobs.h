/* jobs.h - how many threads work on a pass. */
#ifndef VPA_ANALYSIS_BASE_JOBS_H
#define VPA_ANALYSIS_BASE_JOBS_H

/* `asked`, at most `most`; 0 means as many as there are cores, at most 4. */
unsigned vpa_jobs(unsigned asked, unsigned most);

#endif

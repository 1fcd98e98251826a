/* jobs.h - how many threads a pass takes for decoding or compressing. */
#ifndef VPA_ANALYSIS_JOBS_H
#define VPA_ANALYSIS_JOBS_H

/* 1..most for what was asked; 0 asks for as many as there are cores, at most 4. */
unsigned vpa_jobs(unsigned asked, unsigned most);

#endif

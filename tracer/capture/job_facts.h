/* job_facts.h - facts about the job of which the process is a rank. */
#ifndef VPTRACE_TRACER_CAPTURE_JOB_FACTS_H
#define VPTRACE_TRACER_CAPTURE_JOB_FACTS_H

struct vtr_capture;

/* Puts place, job, this boot of the host, and what is set for NCCL; nothing that is unknown. */
void vtr_job_facts(struct vtr_capture *c);

#endif

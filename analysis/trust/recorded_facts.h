/* recorded_facts.h - what chunks say about the devices and the run. */
#ifndef VPA_ANALYSIS_TRUST_RECORDED_FACTS_H
#define VPA_ANALYSIS_TRUST_RECORDED_FACTS_H

#include "analysis/report/report.h"
#include "formats/chunk/batch.h"

/* Adds what a chunk says for the first time to out->gpus and out->meta; sets out->simulated. 0 or
 * VPT_ENOMEM. */
int vpa_recorded_facts_read(struct vpa_report *out, const struct vpt_batch *b);

#endif

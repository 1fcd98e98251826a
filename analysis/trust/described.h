/* described.h - what chunks say about the devices and the run. */
#ifndef VPA_ANALYSIS_TRUST_DESCRIBED_H
#define VPA_ANALYSIS_TRUST_DESCRIBED_H

#include "analysis/report/report.h"
#include "formats/chunk/batch.h"

/* Adds what a chunk says for the first time to out->gpus and out->meta; sets out->simulated. 0 or
 * VPT_ENOMEM. */
int vpa_described_read(struct vpa_report *out, const struct vpt_batch *b);

#endif

/* described.h - what chunks say of the devices and of the run. */
#ifndef VPA_ANALYSIS_DESCRIBED_H
#define VPA_ANALYSIS_DESCRIBED_H

#include "analysis/report.h"
#include "formats/batch.h"

/* Adds what is new in a chunk to out->gpus and out->meta, and fills out->simulated. 0 or VPT_ENOMEM. */
int vpa_described_read(struct vpa_report *out, const struct vpt_batch *b);

#endif

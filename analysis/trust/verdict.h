/* verdict.h - whether the numbers can be trusted. Every report begins with it. */
#ifndef VPA_ANALYSIS_TRUST_VERDICT_H
#define VPA_ANALYSIS_TRUST_VERDICT_H

#include "analysis/join/resolver.h"
#include "analysis/report/report.h"
#include "analysis/trust/completeness.h"
#include "formats/chunk/batch.h"

/* Fills out->verdict, and out->simulated if that is not known. 0 or VPT_ENOMEM. */
int vpa_verdict_write(const struct vpa_resolver *r, const struct vpa_completeness *reading,
	struct vpa_report *out);

/* ---- recorded_facts.c: what chunks say about the devices and the run ---- */

/* Adds what a chunk says for the first time to out->gpus and out->meta; sets out->simulated. 0 or
 * VPT_ENOMEM. */
int vpa_recorded_facts_read(struct vpa_report *out, const struct vpt_batch *b);

/* ---- private to this folder ---- */

/* Fills in its numbers. 0 or VPT_ENOMEM. */
int vpa_verdict_count(const struct vpa_resolver *r, const struct vpa_completeness *reading,
	struct vpa_report *out);

/* Whether every op without a launch began after recording had been paused. A launch that was lost
 * in another way is known as a loss. */
int vpa_verdict_launched_in_pauses(const struct vpa_resolver *r);

#endif

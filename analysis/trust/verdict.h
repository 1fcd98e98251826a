/* verdict.h - whether the numbers can be trusted. Every report begins with it. */
#ifndef VPA_ANALYSIS_TRUST_VERDICT_H
#define VPA_ANALYSIS_TRUST_VERDICT_H

#include "analysis/join/resolver.h"
#include "analysis/trust/completeness.h"

/* Fills out->verdict, and out->simulated if that is not known. 0 or VPT_ENOMEM. */
int vpa_verdict_write(const struct vpa_resolver *r, const struct vpa_completeness *reading,
	struct vpa_report *out);

#endif

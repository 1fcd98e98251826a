/* verdict.h - can the numbers be trusted? It stands first in every report. */
#ifndef VPA_ANALYSIS_VERDICT_H
#define VPA_ANALYSIS_VERDICT_H

#include "analysis/reading.h"
#include "analysis/resolver.h"

/* Fills out->verdict, and out->simulated where that is not known. 0 or VPT_ENOMEM. */
int vpa_verdict_write(
	const struct vpa_resolver *r, const struct vpa_reading *reading, struct vpa_report *out);

#endif

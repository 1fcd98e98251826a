/* verdict.h - can the numbers be trusted? It stands first in every report. */
#ifndef VPA_ANALYSIS_VERDICT_H
#define VPA_ANALYSIS_VERDICT_H

#include "analysis/resolver.h"
#include "formats/trace.h"

/* What was met while chunks were read. */
struct vpa_reading {
	uint64_t damaged_chunks, torn_chunks, unknown_sections, skipped_critical;
	uint64_t rows;                       /* of events, LOSS not among them */
	uint64_t received, dropped, invalid; /* of the newest STATS */
	uint64_t header_lost;                /* sum of lost_events of chunk headers */
	uint64_t names_cut;                  /* see long_names.h */
	int has_stats, has_last;
	char first_damage[256];
};

/* Fills out->verdict. 0 or VPT_ENOMEM. */
int vpa_verdict_write(const struct vpa_resolver *r, const struct vpa_reading *reading,
	const struct vpt_trace *trace, struct vpa_report *out);

/* Fills out->findings from the tables. 0 or VPT_ENOMEM. */
int vpa_findings_write(struct vpa_report *out);

#endif

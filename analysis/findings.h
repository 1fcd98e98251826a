/* findings.h - what the files behind vpa_findings_write() share; nobody else includes it. */
#ifndef VPA_ANALYSIS_FINDINGS_H
#define VPA_ANALYSIS_FINDINGS_H

#include "analysis/report.h"

/* A new finding, its other members the caller's to fill; `id` and `status` are constants. NULL: there are too many, or no
 * memory. */
struct vpa_finding *vpa_finding_add(struct vpa_report *r, const char *id, const char *status);
/* Of more than three the first count. */
void vpa_finding_evidence(struct vpa_finding *f, const char *text);

/* findings_blocks.c: about FPS, blocks, steps and stages. */
void vpa_find_blocks(struct vpa_report *r);

#endif

/* small_copies.h - copies that the host waits for: those of a few bytes, as in .item(), and all others. */
#ifndef VPA_ANALYSIS_MODEL_SMALL_COPIES_H
#define VPA_ANALYSIS_MODEL_SMALL_COPIES_H

#include "analysis/report/report.h"

/* Whether those in a range, "NAME" or NULL, are of a few bytes each: nine of ten are. */
int vpa_small_copies(const struct vpa_report *r, const char *range);

/* "54 copies of at most 64 bytes, 432 B in all"; in the report's arena. NULL: there are none. */
const char *vpa_small_reads_text(struct vpa_report *r);
/* "3 copies through pageable memory, 158 MB in all": without the small ones. */
const char *vpa_large_copies_text(struct vpa_report *r);

#endif

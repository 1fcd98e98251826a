/* chrome_ranges.h - ranges and marks as annotations and operators of PyTorch's profiler. Private to this
 * folder. */
#ifndef VPA_ANALYSIS_EXPORT_CHROME_CHROME_RANGES_H
#define VPA_ANALYSIS_EXPORT_CHROME_CHROME_RANGES_H

#include "analysis/export/chrome/chrome_event.h"

/* Replaces the contents of `open` with the events of the ranges that are open when a chunk closes
 * (NULL: none). */
void vpa_chrome_keep_open(struct vpa_chrome *x, struct vpa_line *open, const struct vpt_section *s);
/* Writes those events when the end of the trace is known. */
void vpa_chrome_open(struct vpa_chrome *x, const struct vpa_line *open, uint64_t end_ns);

#endif

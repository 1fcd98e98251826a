/* gpu_ranges.h - ranges as spans on the streams where their ops ran. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_CHROME_GPU_RANGES_H
#define VPA_ANALYSIS_EXPORT_CHROME_GPU_RANGES_H

#include "analysis/export/chrome/chrome_event.h"

struct vpa_chrome_gpu;

struct vpa_chrome_gpu *vpa_chrome_gpu_new(struct vpa_chrome *x); /* NULL: no memory */
void vpa_chrome_gpu_free(struct vpa_chrome_gpu *g);              /* accepts NULL */

/* Both return 0 or VPT_ENOMEM. */
int vpa_chrome_gpu_ops(struct vpa_chrome_gpu *g, const struct vpa_ops *ops);
/* Writes the spans of a range that nothing refers to any more. */
int vpa_chrome_gpu_range(struct vpa_chrome_gpu *g, const struct vpa_range *range);

#endif

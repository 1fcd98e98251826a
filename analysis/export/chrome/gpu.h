/* gpu.h - ranges where their ops ran. For this folder alone. */
#ifndef VPA_ANALYSIS_EXPORT_CHROME_GPU_H
#define VPA_ANALYSIS_EXPORT_CHROME_GPU_H

#include "analysis/export/chrome/event.h"

struct vpa_chrome_gpu;

struct vpa_chrome_gpu *vpa_chrome_gpu_new(struct vpa_chrome *x); /* NULL: no memory */
void vpa_chrome_gpu_free(struct vpa_chrome_gpu *g);              /* accepts NULL */

/* Both return 0 or VPT_ENOMEM. */
int vpa_chrome_gpu_ops(struct vpa_chrome_gpu *g, const struct vpa_ops *ops);
/* Writes what a range came to; nothing refers to it any more. */
int vpa_chrome_gpu_range(struct vpa_chrome_gpu *g, const struct vpa_range *range);

#endif

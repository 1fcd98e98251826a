/* chrome_ops.h - kernels, copies and calls as events of PyTorch's profiler. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_CHROME_CHROME_OPS_H
#define VPA_ANALYSIS_EXPORT_CHROME_CHROME_OPS_H

#include "analysis/export/chrome/chrome_event.h"

vpa_chrome_put_fn vpa_chrome_put_kernel, vpa_chrome_put_copy, vpa_chrome_put_call;

#endif

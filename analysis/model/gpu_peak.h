/* gpu_peak.h - how fast a GPU multiplies at most. */
#ifndef VPA_ANALYSIS_MODEL_GPU_PEAK_H
#define VPA_ANALYSIS_MODEL_GPU_PEAK_H

#include "analysis/names/number_format.h"
#include "analysis/report/report.h"

/* The maker's figure for dense matrix products of this precision, without sparsity and at the boost
 * clock, in 10^12 floating-point operations per second; with sums in 32 bits, where they are slower. -1:
 * not known, also of a simulated GPU. */
double vpa_gpu_peak_tflops(const struct vpa_gpu *gpu, enum vpa_precision precision);

#endif

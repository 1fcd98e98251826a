/* gpu_peak.h - how fast a GPU multiplies, and reads and writes its memory, at most. */
#ifndef VPA_ANALYSIS_MODEL_GPU_PEAK_H
#define VPA_ANALYSIS_MODEL_GPU_PEAK_H

#include "analysis/names/number_format.h"
#include "analysis/report/report.h"

/* The maker's figure for dense matrix products of this precision, without sparsity and at the boost
 * clock, in 10^12 floating-point operations per second; with sums in 32 bits, where they are slower. -1:
 * not known, also of a simulated GPU. */
double vpa_gpu_peak_tflops(const struct vpa_gpu *gpu, enum vpa_precision precision);

/* The maker's figure for its memory, reading and writing together, in 10^9 bytes per second. -1: not known. */
double vpa_gpu_peak_gb_per_s(const struct vpa_gpu *gpu);

#endif

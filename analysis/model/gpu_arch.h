/* gpu_arch.h - a GPU's generation: NVIDIA's by compute capability, AMD's by what ROCm reports in
 * its place. */
#ifndef VPA_ANALYSIS_MODEL_GPU_ARCH_H
#define VPA_ANALYSIS_MODEL_GPU_ARCH_H

#include "analysis/report/report.h"

enum { VPA_ARCH_BYTES = 32 };

/* Whether the GPU's name is one of AMD's. */
int vpa_gpu_is_amd(const struct vpa_gpu *gpu);

/* A Hopper: NVIDIA, compute capability 9.x. AMD's gfx942 reports 9.4. */
int vpa_gpu_is_hopper(const struct vpa_gpu *gpu);

/* "sm_90", "gfx942"; "gfx90x" if the stepping is not known, "" if nothing is. */
void vpa_gpu_arch(const struct vpa_gpu *gpu, char text[VPA_ARCH_BYTES]);

/* Whether a kernel of this name was compiled for Hopper only: sm_90a code runs on no other GPU. */
int vpa_kernel_is_hopper(const char *name);

#endif

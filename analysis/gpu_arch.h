/* gpu_arch.h - what generation a GPU is of: NVIDIA's by compute capability, AMD's by what ROCm reports in its place. */
#ifndef VPA_ANALYSIS_GPU_ARCH_H
#define VPA_ANALYSIS_GPU_ARCH_H

#include "analysis/report.h"

enum { VPA_ARCH_BYTES = 32 };

/* Whether the GPU's name is one of AMD's. */
int vpa_gpu_is_amd(const struct vpa_gpu *gpu);

/* A Hopper: compute capability 9.x of NVIDIA. AMD's gfx942 calls itself 9.4. */
int vpa_gpu_is_hopper(const struct vpa_gpu *gpu);

/* "sm_90", "gfx942"; "gfx90x" where the stepping is not known, "" where nothing is. */
void vpa_gpu_arch(const struct vpa_gpu *gpu, char text[VPA_ARCH_BYTES]);

/* Whether a kernel of this name was compiled for Hopper alone: code of sm_90a runs on no other GPU. */
int vpa_kernel_is_hopper(const char *name);

#endif

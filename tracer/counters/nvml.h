/* nvml.h - what NVML measures on the GPUs of this process: memory, utilization, power, clocks.
 *
 * One thread. Any call may be slow, and hang in a broken driver: never call from a thread that the
 * host waits for. */
#ifndef VPTRACE_TRACER_COUNTERS_NVML_H
#define VPTRACE_TRACER_COUNTERS_NVML_H

#include <stddef.h>
#include <stdint.h>

enum vtr_gpu_quantity {
	VTR_GPU_MEMORY_USED,        /* bytes, of all processes and the driver */
	VTR_GPU_MEMORY_TOTAL,       /* bytes */
	VTR_GPU_UTILIZATION,        /* per cent of NVML's last sample period */
	VTR_GPU_MEMORY_UTILIZATION, /* the same: time in which memory was read or written */
	VTR_GPU_POWER,              /* W, of the whole board */
	VTR_GPU_SM_CLOCK,           /* MHz */
	VTR_GPU_MEMORY_CLOCK,       /* MHz */
	VTR_GPU_CLOCK_REASONS,      /* bits of nvml.h's nvmlClocksEventReason* */
	VTR_GPU_TEMPERATURE,        /* degrees Celsius */
	VTR_GPU_QUANTITIES
};

struct vtr_gpu_values {
	unsigned known; /* bit by quantity: what NVML refused is left out */
	double value[VTR_GPU_QUANTITIES];
};

struct vtr_nvml;

/* Loads libnvidia-ml.so.1 and starts it. NULL: there is none, or it does not work. `words` gets
 * NVML's version, or why it cannot be used. The library stays loaded. */
struct vtr_nvml *vtr_nvml_open(char *words, size_t size);

/* A GPU by the UUID that CUDA gives it; of a GPU instance (MIG) too. NULL: NVML does not know
 * it. */
void *vtr_nvml_find(const struct vtr_nvml *n, const uint8_t uuid[16]);

/* `wanted`: bit by quantity. NVML is called for these alone. */
void vtr_nvml_read(
	const struct vtr_nvml *n, void *gpu, unsigned wanted, struct vtr_gpu_values *out);

void vtr_nvml_close(struct vtr_nvml *n); /* accepts NULL */

#endif

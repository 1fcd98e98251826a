/* machine.h - the GPUs and processes of a file, and their numbers. For this folder alone. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_MACHINE_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_MACHINE_H

#include "analysis/export/perfetto/out.h"

int vpa_ex_machine_new(struct vpa_ex_out *x); /* x->machine; 0 or VPT_ENOMEM */
void vpa_ex_machine_free(struct vpa_ex_machine *m);

struct vpa_ex_gpu {
	int known;
	uint32_t gpu_id;
};

/* A device of the model in the file; valid until the next call. NULL: no memory. */
const struct vpa_ex_gpu *vpa_ex_gpu_of(struct vpa_ex_out *x, uint32_t device);
/* The row of the report about a device; NULL: none. */
const struct vpa_gpu *vpa_ex_gpu_row(const struct vpa_ex_out *x, uint32_t device);
/* All GPUs that are known: of the machine, else those of the trace. */
const struct vpa_gpu *vpa_ex_all_gpus(const struct vpa_ex_out *x, size_t *count);
/* The place of a GPU among them, by PCI address: that is how the machine counts them. */
uint32_t vpa_ex_gpu_place(const struct vpa_ex_out *x, const struct vpa_gpu *g);

/* The track of a process, described on first use. */
uint64_t vpa_ex_process(struct vpa_ex_out *x, int64_t pid);
/* How many were described before it; UINT32_MAX: it is not. */
uint32_t vpa_ex_process_row(const struct vpa_ex_out *x, int64_t pid);

#endif

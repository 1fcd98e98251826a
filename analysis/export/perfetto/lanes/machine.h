/* machine.h - the GPUs and processes of a file, and their numbers. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_LANES_MACHINE_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_LANES_MACHINE_H

#include "analysis/export/perfetto/lanes/perfetto_names.h"

int vpa_ex_machine_new(struct vpa_ex_out *x); /* x->machine; 0 or VPT_ENOMEM */
void vpa_ex_machine_free(struct vpa_ex_machine *m);

struct vpa_ex_gpu {
	int known;
	uint32_t gpu_id;
};

/* The file's GPU for a device of the model; valid until the next call. NULL: no memory. */
const struct vpa_ex_gpu *vpa_ex_gpu_of(struct vpa_ex_out *x, uint32_t device);
/* The report's row for a device; NULL: none. */
const struct vpa_gpu *vpa_ex_gpu_row(const struct vpa_ex_out *x, uint32_t device);
/* The position of one among the trace's GPUs by PCI address, as the machine counts. */
uint32_t vpa_ex_gpu_place(const struct vpa_ex_out *x, const struct vpa_gpu *g);

/* The track of a process, described on first use. */
uint64_t vpa_ex_process(struct vpa_ex_out *x, int64_t pid);
/* The number of processes described before it; UINT32_MAX: it has not been described. */
uint32_t vpa_ex_process_row(const struct vpa_ex_out *x, int64_t pid);

#endif

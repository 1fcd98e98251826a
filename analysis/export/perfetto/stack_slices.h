/* stack_slices.h - Python stacks of threads as stack samples. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_STACK_SLICES_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_STACK_SLICES_H

#include "analysis/export/perfetto/lanes/perfetto_names.h"

struct vpa_ex_stacks;

struct vpa_ex_stacks *vpa_ex_stacks_new(struct vpa_ex_out *x); /* NULL: no memory */
void vpa_ex_stacks_free(struct vpa_ex_stacks *all);            /* accepts NULL */

/* Both return 0 or an error code. The second writes what only the trace's end completes. */
int vpa_ex_stacks_add(struct vpa_ex_stacks *all, const struct vpt_batch *b);
int vpa_ex_stacks_end(struct vpa_ex_stacks *all);

#endif

/* op_slices.h - kernels, copies and memsets, each emitted once. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_OP_SLICES_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_OP_SLICES_H

#include "analysis/export/perfetto/lanes/perfetto_names.h"
#include "analysis/join/op_waits.h"

struct vpa_ex_ops;

/* Borrows both arguments. Needs x->links and x->call_waits. NULL: no memory. */
struct vpa_ex_ops *vpa_ex_ops_new(struct vpa_ex_out *x, struct vpa_op_waits *waits);
void vpa_ex_ops_free(struct vpa_ex_ops *o); /* accepts NULL */

/* Add a chunk's rows about streams; a section of KERNEL or COPY; one of EVENT or SYNC. All return 0
 * or an error code. */
int vpa_ex_ops_lanes(struct vpa_ex_ops *o, const struct vpt_batch *b);
int vpa_ex_ops_add(struct vpa_ex_ops *o, const struct vpt_batch *b, const struct vpt_section *s);
int vpa_ex_ops_syncs(struct vpa_ex_ops *o, const struct vpt_section *s);
/* Writes the ops that began before `until_ns`, which later chunks must not add to. */
int vpa_ex_ops_release(struct vpa_ex_ops *o, uint64_t until_ns);

#endif

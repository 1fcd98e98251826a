/* host_slices.h - calls, ranges and marks of all threads. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_HOST_SLICES_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_HOST_SLICES_H

#include "analysis/export/perfetto/lanes/perfetto_names.h"

struct vpa_ex_host;

/* Needs x->links, x->tracks and x->call_waits. NULL: no memory. */
struct vpa_ex_host *vpa_ex_host_new(struct vpa_ex_out *x);
void vpa_ex_host_free(struct vpa_ex_host *h); /* accepts NULL */

/* Takes a chunk's rows. All return 0 or an error code. */
int vpa_ex_host_add(struct vpa_ex_host *h, const struct vpt_batch *b);
/* Writes what is complete, after the chunk's ops: later ops have no launch before `times_from_ns`. */
int vpa_ex_host_release(struct vpa_ex_host *h, uint64_t times_from_ns);
/* Writes the rest when the window's end is known. */
int vpa_ex_host_end(struct vpa_ex_host *h);

#endif

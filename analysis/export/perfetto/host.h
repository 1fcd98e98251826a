/* host.h - calls, ranges and marks of all threads. For this folder alone. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_HOST_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_HOST_H

#include "analysis/export/perfetto/out.h"

struct vpa_ex_host;

/* x->links, x->tracks and x->call_waits must be there too. NULL: no memory. */
struct vpa_ex_host *vpa_ex_host_new(struct vpa_ex_out *x);
void vpa_ex_host_free(struct vpa_ex_host *h); /* accepts NULL */

/* Takes a chunk's rows; all return 0 or why not. */
int vpa_ex_host_add(struct vpa_ex_host *h, const struct vpt_batch *b);
/* Writes what can be, when the chunk's ops have been: those to come bring no launch before `times_from_ns`. */
int vpa_ex_host_release(struct vpa_ex_host *h, uint64_t times_from_ns);
/* Writes the rest: the window's end is known. */
int vpa_ex_host_end(struct vpa_ex_host *h);

#endif

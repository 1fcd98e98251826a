/* counters.h - samples as counter tracks. For this folder alone. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_COUNTERS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_COUNTERS_H

#include "analysis/export/perfetto/out.h"

struct vpa_ex_counters;

struct vpa_ex_counters *vpa_ex_counters_new(struct vpa_ex_out *x); /* NULL: no memory */
void vpa_ex_counters_free(struct vpa_ex_counters *all);            /* accepts NULL */

/* Both return 0 or why not. */
int vpa_ex_counters_add(struct vpa_ex_counters *all, const struct vpt_batch *b);
/* The window's end is known: what each series was then. */
int vpa_ex_counters_end(struct vpa_ex_counters *all);

#endif

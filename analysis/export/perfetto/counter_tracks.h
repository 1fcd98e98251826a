/* counter_tracks.h - samples as counter tracks. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_COUNTER_TRACKS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_COUNTER_TRACKS_H

#include "analysis/export/perfetto/lanes/perfetto_names.h"

struct vpa_ex_counters;

struct vpa_ex_counters *vpa_ex_counters_new(struct vpa_ex_out *x); /* NULL: no memory */
void vpa_ex_counters_free(struct vpa_ex_counters *all);            /* accepts NULL */

/* Adds a chunk's samples, then, when the window's end is known, the last value of each series. Both
 * return 0 or an error code. */
int vpa_ex_counters_add(struct vpa_ex_counters *all, const struct vpt_batch *b);
int vpa_ex_counters_end(struct vpa_ex_counters *all);

#endif

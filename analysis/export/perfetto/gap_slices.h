/* gap_slices.h - idle gaps of each GPU, with their cause and line of Python. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_GAP_SLICES_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_GAP_SLICES_H

#include "analysis/export/perfetto/lanes/track_event.h"

int vpa_ex_gaps_new(struct vpa_ex_out *x); /* x->gaps; 0 or VPT_ENOMEM */
void vpa_ex_gaps_free(struct vpa_ex_gaps *g);

/* See struct vpa_observer. */
int vpa_ex_gaps_add(struct vpa_ex_out *x, const struct vpa_gap *gap);
/* The report is complete: writes the gaps that were held back for it. */
void vpa_ex_gaps_end(struct vpa_ex_out *x);

#endif

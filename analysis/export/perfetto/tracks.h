/* tracks.h - what the analysis knows, in GPU time. For this folder alone. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_TRACKS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_TRACKS_H

#include "analysis/export/perfetto/event.h"

int vpa_ex_tracks_new(struct vpa_ex_out *x); /* x->tracks; 0 or VPT_ENOMEM */
void vpa_ex_tracks_free(struct vpa_ex_tracks *t);

/* As the tap's. */
int vpa_ex_tracks_ops(struct vpa_ex_out *x, const struct vpa_ops *ops);
int vpa_ex_tracks_gap(struct vpa_ex_out *x, const struct vpa_gap *gap);
int vpa_ex_tracks_range(struct vpa_ex_out *x, const struct vpa_range *range);
/* Writes what waited for the report. */
void vpa_ex_tracks_end(struct vpa_ex_out *x);

/* Adds which block, step or stage a range on a thread is, if it is one: by an annotation (a text; 0: none), else by its name.
 * *inside (enum vpa_scope_inside) is what it began in, and becomes what begins in it. */
void vpa_ex_stage_args(struct vpa_ex_out *x, uint32_t name, uint32_t annotation, unsigned *inside,
	struct vpa_ex_event *e);

#endif

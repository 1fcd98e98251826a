/* tracks.h - results of the analysis as tracks in GPU time. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_TRACKS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_TRACKS_H

#include "analysis/export/perfetto/event.h"

int vpa_ex_tracks_new(struct vpa_ex_out *x); /* x->tracks; 0 or VPT_ENOMEM */
void vpa_ex_tracks_free(struct vpa_ex_tracks *t);

/* See struct vpa_tap. */
int vpa_ex_tracks_ops(struct vpa_ex_out *x, const struct vpa_ops *ops);
int vpa_ex_tracks_gap(struct vpa_ex_out *x, const struct vpa_gap *gap);
int vpa_ex_tracks_range(struct vpa_ex_out *x, const struct vpa_range *range);
/* Writes what was held back for the report. */
void vpa_ex_tracks_end(struct vpa_ex_out *x);

/* If a range on a thread is a block, step or stage, by its annotation (a text; 0: none) or else by its
 * name, adds arguments that say which. *inside (enum vpa_scope_inside): on entry for this range, on
 * return for ranges that begin in it. */
void vpa_ex_stage_args(struct vpa_ex_out *x, uint32_t name, uint32_t annotation, unsigned *inside,
	struct vpa_ex_event *e);

#endif

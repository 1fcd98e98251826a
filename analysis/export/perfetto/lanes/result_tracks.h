/* result_tracks.h - results of the analysis as tracks in GPU time. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_LANES_RESULT_TRACKS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_LANES_RESULT_TRACKS_H

#include "analysis/export/perfetto/lanes/track_event.h"

int vpa_ex_tracks_new(struct vpa_ex_out *x); /* x->tracks; 0 or VPT_ENOMEM */
void vpa_ex_tracks_free(struct vpa_ex_tracks *t);

/* See struct vpa_observer. */
int vpa_ex_tracks_ops(struct vpa_ex_out *x, const struct vpa_ops *ops);
int vpa_ex_tracks_range(struct vpa_ex_out *x, const struct vpa_range *range);

/* The tracks of each GPU, in their order. */
enum vpa_ex_gpu_track {
	EX_TRACK_STAGES,
	EX_TRACK_STEPS,
	EX_TRACK_BLOCKS,
	EX_TRACK_ATTENTION,
	EX_TRACK_GAPS,
	EX_GPU_TRACKS
};

/* Puts a span where it belongs on a GPU: sets the event's track, and emits begin and end. */
void vpa_ex_tracks_put(struct vpa_ex_out *x, uint32_t device, enum vpa_ex_gpu_track track,
	struct vpa_ex_event *e, uint64_t end_ns);

/* If a range on a thread is a block, step or stage, by its annotation (a text; 0: none) or else by its
 * name, adds arguments that say which. *inside (enum vpa_scope_inside): on entry for this range, on
 * return for ranges that begin in it. */
void vpa_ex_stage_args(struct vpa_ex_out *x, uint32_t name, uint32_t annotation, unsigned *inside,
	struct vpa_ex_event *e);

#endif

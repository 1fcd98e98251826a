/* plain_slices.h - ops as plain slices, for readers without support for GPUs. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_PLAIN_SLICES_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_PLAIN_SLICES_H

#include "analysis/export/perfetto/lanes/stream_tracks.h"
#include "analysis/export/perfetto/slice_shapes.h"
#include "analysis/join/op_waits.h"

/* Writes the next op as a slice on a track of its stream. 0 or an error code. */
int vpa_ex_op_slice(struct vpa_ex_out *x, struct vpa_ex_streams *streams,
	const struct vpa_numbered_op *op, const struct vpa_ex_shape *s);

#endif

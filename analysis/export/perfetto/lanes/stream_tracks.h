/* stream_tracks.h - streams and contexts, as events refer to them. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_LANES_STREAM_TRACKS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_LANES_STREAM_TRACKS_H

#include "analysis/export/perfetto/lanes/side_by_side.h"

/* Numbers of specifications: stages from 1, then a queue per stream. */
enum { VPA_EX_STAGES = 1, VPA_EX_QUEUES = 4 };

/* All zeros is an empty set. */
struct vpa_ex_streams {
	struct vpa_ex_stream {
		uint32_t emitted; /* the generation in which it was described */
		uint32_t context; /* 0: none yet */
		int64_t priority;
		uint64_t flags;
		uint32_t name; /* text; 0: none */
		struct vpa_ex_track slices;
	} * items; /* by stream of the model */
	size_t cap;
	struct vpa_ex_context {
		int64_t pid;
		uint64_t id;
		uint32_t iid, emitted;
	} * contexts;
	size_t context_count, context_cap;
};

void vpa_ex_streams_free(struct vpa_ex_streams *o);
/* Adds a chunk's rows about streams. 0 or VPT_ENOMEM. */
int vpa_ex_streams_add(struct vpa_ex_out *x, struct vpa_ex_streams *o, const struct vpt_batch *b);
/* A stream, made zeroed on first use; valid until another one is made. NULL: no memory. */
struct vpa_ex_stream *vpa_ex_stream_of(struct vpa_ex_streams *o, uint32_t stream);
/* Describes a stream's context and queue once per generation. 0 or VPT_ENOMEM. */
int vpa_ex_stream_describe(struct vpa_ex_out *x, struct vpa_ex_streams *o, uint32_t stream);

#endif

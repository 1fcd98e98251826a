/* idle_parts.h - what idle.c and idle_gaps.c share. Private to them. */
#ifndef VPA_ANALYSIS_IDLE_PARTS_H
#define VPA_ANALYSIS_IDLE_PARTS_H

#include "analysis/idle.h"

struct vpa_question;

/* Answers the gaps in front of a run's ops, in order. 0 or what gap() returned. */
int vpa_idle_answer(struct vpa_idle *s, struct vpa_ops *ops, struct vpa_op_run *run);

/* Explains one gap and hands it out, in parts where pauses cut it. */
int vpa_idle_explain(struct vpa_idle *s, const struct vpa_question *q);

/* The stream's newest op has this id, and was launched then. */
static inline void vpa_idle_note_launch(
	struct vpa_idle_stream *stream, uint64_t id, uint64_t since_ns)
{
	if (!id || id != stream->id) {
		stream->other_since_ns = stream->since_ns;
		stream->id = id;
	}
	stream->since_ns = since_ns;
}

#endif

/* event_rows.h - application threads' events as rows of a capture. The writer's thread only. */
#ifndef VPTRACE_TRACER_WRITE_EVENT_ROWS_H
#define VPTRACE_TRACER_WRITE_EVENT_ROWS_H

#include "tracer/ranges/event_words.h"
#include "tracer/write/recorder.h"

/* Puts an event as a row of its kind; the recorder counts what cannot be written. */
void vtr_event_put(struct vtr_recorder *r, const struct vtr_event *e);
/* Puts a range that has not ended, as an OPEN row. */
void vtr_event_put_open(struct vtr_recorder *r, const struct vtr_event *e);

#endif

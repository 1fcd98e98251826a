/* event_rows.h - what application threads did, as rows of a capture. The writer's thread alone. */
#ifndef VPTRACE_TRACER_EVENT_ROWS_H
#define VPTRACE_TRACER_EVENT_ROWS_H

#include "tracer/event_words.h"
#include "tracer/recorder.h"

/* A row of the kind that the event is; what cannot be written the recorder counts. */
void vtr_event_put(struct vtr_recorder *r, const struct vtr_event *e);
/* A range that has not ended, as an OPEN row. */
void vtr_event_put_open(struct vtr_recorder *r, const struct vtr_event *e);

#endif

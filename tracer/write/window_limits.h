/* window_limits.h - the writer's side of the window: applies its changes to the recorder, and ends the
 * recording where a limit of time or size is reached.
 *
 * A limit of time is exact: the pause that follows it is known from the moment that the window
 * opens. */
#ifndef VPTRACE_TRACER_WRITE_WINDOW_LIMITS_H
#define VPTRACE_TRACER_WRITE_WINDOW_LIMITS_H

#include "tracer/write/recorder.h"

#include <stdint.h>

struct vtr_limits {
	struct vtr_recorder *recorder;
	uint64_t duration_ns; /* of recorded time; 0: no limit */

	uint64_t spent_ns; /* of the duration, in windows that are closed */
	uint64_t open_ns;  /* when the open window opened */
	int is_open, is_over;
};

/* A capture begins at `start_ns`, with its window open. */
void vtr_limits_begin(struct vtr_limits *l, uint64_t start_ns);

/* Applies all new changes. */
void vtr_limits_follow(struct vtr_limits *l);

/* Why nothing more will be recorded: "duration", "max-bytes", or "window" where the trigger has
 * closed it for good; NULL: there may be more. */
const char *vtr_limits_over(struct vtr_limits *l, uint64_t now_ns);

#endif

/* follow.h - `vptrace run --live`: beside the command, a process that follows its first capture.
 *
 * It waits until a file is in the list, then is `vptrace-analyze watch`. The tracer does nothing for it. */
#ifndef VPTRACE_TRACER_COMMAND_FOLLOW_H
#define VPTRACE_TRACER_COMMAND_FOLLOW_H

#include "formats/base/error.h"

#include <sys/types.h>

/* Whether `text`, of --live, can be followed: "" (every 2 seconds), SECONDS, or prometheus:FILE. VPT_EINVAL with a
 * sentence. */
int vtr_live_check(const char *text, struct vpt_err *err);

/* Starts the process, before the command. `list`: path of the list. -1: it cannot be started. */
pid_t vtr_live_start(const char *list, const char *analyzer, const char *text);

/* After the command: lets it look at the end of the capture, and waits for it. */
void vtr_live_end(pid_t live);

#endif

/* say.h - the launcher's lines on standard error. */
#ifndef VPTRACE_TRACER_COMMAND_BASE_SAY_H
#define VPTRACE_TRACER_COMMAND_BASE_SAY_H

/* Writes "vptrace: ", the text and a newline, in one write. Bytes that a terminal would obey are
 * escaped. A reader that is gone, or a full disk, loses the line and nothing else. */
__attribute__((format(printf, 1, 2))) void vtr_say(const char *fmt, ...);

#endif

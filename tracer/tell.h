/* tell.h - the one line that the host's standard error may get from us. */
#ifndef VPTRACE_TRACER_TELL_H
#define VPTRACE_TRACER_TELL_H

/* Writes "vptrace: ", the text and a newline to standard error in one write. A reader that has gone
 * away costs the line, not the host: no SIGPIPE is left behind. Any thread. */
__attribute__((format(printf, 1, 2))) void vtr_tell(const char *fmt, ...);

#endif

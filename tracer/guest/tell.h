/* tell.h - the one line that we may write to the host's standard error. */
#ifndef VPTRACE_TRACER_GUEST_TELL_H
#define VPTRACE_TRACER_GUEST_TELL_H

/* Writes "vptrace: ", the text and a newline to standard error in one write. If the reader is gone,
 * or the file may not grow, the line is lost, and the host gets no signal. Any thread. */
__attribute__((format(printf, 1, 2))) void vtr_tell(const char *fmt, ...);

#endif

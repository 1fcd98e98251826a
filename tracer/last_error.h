/* last_error.h - why the last public function that failed in this thread failed. */
#ifndef VPTRACE_TRACER_LAST_ERROR_H
#define VPTRACE_TRACER_LAST_ERROR_H

/* Words a failure for vptrace_last_error() and returns `code`, a VPTRACE_E*. Any thread. */
__attribute__((format(printf, 2, 3))) int vtr_fail(int code, const char *fmt, ...);

/* The same with a constant text. Allocates nothing: for signal handlers and forked children too. */
int vtr_refuse(int code, const char *constant);

#endif

/* last_error.h - why the last public function that failed in this thread failed, and other text that
 * is a thread's own. */
#ifndef VPTRACE_TRACER_SETTINGS_LAST_ERROR_H
#define VPTRACE_TRACER_SETTINGS_LAST_ERROR_H

/* Words a failure for vptrace_last_error() and returns `code`, a VPTRACE_E*. Any thread. */
__attribute__((format(printf, 2, 3))) int vtr_fail(int code, const char *fmt, ...);

/* The same with a constant text. Allocates nothing: for signal handlers and forked children too. */
int vtr_refuse(int code, const char *constant);

/* A copy of the path that no other thread changes: valid until this thread's next call of it, "" without
 * memory. Call it with cancellation held, see cancel.h. */
const char *vtr_own_path(const char *path);

#endif

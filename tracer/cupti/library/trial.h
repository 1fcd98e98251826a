/* trial.h - does something that may crash or hang in a child process first. */
#ifndef VPTRACE_TRACER_CUPTI_LIBRARY_TRIAL_H
#define VPTRACE_TRACER_CUPTI_LIBRARY_TRIAL_H

#include <stddef.h>

/* Runs `body` in a child of this process that has this thread alone, and waits until it has returned. The child has no
 * handlers of signals, nothing runs at its end, and the host sees neither SIGCHLD nor, by wait(), the child. Twice
 * if its time ran out: another thread may have held a lock of the C library when the first child was made.
 *
 * 0: it returned, or no child could be made, so nothing is known; -1: it did not, and `out` says how it ended: "it
 * crashed (signal 11)". Any thread. Takes a few seconds at most. */
int vtr_trial(void (*body)(void *ctx), void *ctx, char *out, size_t size);

#endif

/* snapshot_signal.h - the one signal handler of the library, installed only where the user names a
 * signal. */
#ifndef VPTRACE_TRACER_FLIGHT_SNAPSHOT_SIGNAL_H
#define VPTRACE_TRACER_FLIGHT_SNAPSHOT_SIGNAL_H

/* From now on the signal calls `act`, which must be async-signal-safe, once, then the handler that was
 * there before; its default action is replaced. 0; -1: there is no room for another handler, since the
 * host has installed too many of its own above ours. One at a time; the session's thread. */
int vtr_snapshot_signal_begin(int number, void (*act)(void));

/* Puts the former handler back, unless the host has installed another one meanwhile: that one may
 * chain ours, which then does nothing but chain in turn. */
void vtr_snapshot_signal_end(void);

#endif

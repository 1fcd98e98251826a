/* cancel.h - keeps pthread_cancel() out of a piece of code that holds a lock or memory.
 *
 * To disable cancellation is not enough. The signal by which the C library cancels a thread may be on its way already, and
 * the handler of glibc 2.36, for one, then heeds the type of cancellation, not whether it is enabled: and that is
 * asynchronous inside write(), say. At the end of such a call glibc waits for a signal that is on its way. So
 * one is made before code that makes such calls; the type is deferred by then, or glibc would not wait. Pairs may nest. */
#ifndef VPTRACE_TRACER_GUEST_CANCEL_H
#define VPTRACE_TRACER_GUEST_CANCEL_H

#include <poll.h>
#include <pthread.h>

/* Returns what vtr_cancel_restore() takes. For code that makes no system call. */
static inline int vtr_cancel_hold(void)
{
	int state, type;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
	return state | type << 8;
}

/* The same for code that may: no signal is on its way any more. */
static inline int vtr_cancel_hold_calls(void)
{
	int held = vtr_cancel_hold();

	if ((held & 0xff) == PTHREAD_CANCEL_ENABLE)
		poll(NULL, 0, 0);
	return held;
}

/* A cancellation that was asked for meanwhile may happen here. */
static inline void vtr_cancel_restore(int held)
{
	pthread_setcanceltype(held >> 8, NULL);
	pthread_setcancelstate(held & 0xff, NULL);
}

#endif

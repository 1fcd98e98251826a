/* own_thread.c - a stack that takes pages only as it is used. */
#include "tracer/guest/own_thread.h"

#include <errno.h>
#include <signal.h>

/* For us 64 KiB would do; the rest is for CUPTI, the driver and NVML, which are called too. */
enum { STACK_BYTES = 2 << 20 };

int vtr_own_thread(pthread_t *out, void *(*run)(void *arg), void *arg)
{
	sigset_t all, before;
	pthread_attr_t attr;
	int rc = pthread_attr_init(&attr);

	if (rc)
		return rc;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(out, &attr, run, arg);
	/* The host's variables of a thread may not fit into that. */
	if (rc == EINVAL)
		rc = pthread_create(out, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return rc;
}

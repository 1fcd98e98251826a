/* thread_id.c - the calling thread's id. Initial-exec, so that a first access allocates nothing: an event may come from
 * a signal handler. */
#include "tracer/guest/thread_id.h"

#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local __attribute__((tls_model("initial-exec"))) uint32_t own_id;

uint32_t vtr_tid(void)
{
	if (!own_id)
		own_id = (uint32_t)syscall(SYS_gettid);
	return own_id;
}

void vtr_tid_forked(void)
{
	own_id = 0;
}

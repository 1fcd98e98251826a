/* gate.c - a flag under a condition variable that waits by the monotonic clock, so that setting the
 * time of day, or simulating it, does not change how long it waits. */
#include "tracer/handover/gate.h"

#include <time.h>

void vtr_gate_init(struct vtr_gate *g)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&g->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&g->moved, &attr);
	pthread_condattr_destroy(&attr);
	g->open = g->nudged = 0;
}

void vtr_gate_free(struct vtr_gate *g)
{
	pthread_cond_destroy(&g->moved);
	pthread_mutex_destroy(&g->lock);
}

void vtr_gate_open(struct vtr_gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->open = 1;
	pthread_cond_broadcast(&g->moved);
	pthread_mutex_unlock(&g->lock);
}

void vtr_gate_close(struct vtr_gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->open = 0;
	pthread_mutex_unlock(&g->lock);
}

void vtr_gate_nudge(struct vtr_gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->nudged = 1;
	pthread_cond_broadcast(&g->moved);
	pthread_mutex_unlock(&g->lock);
}

int vtr_gate_wait(struct vtr_gate *g, uint64_t deadline_ns)
{
	struct timespec until = {
		(time_t)(deadline_ns / 1000000000u), (long)(deadline_ns % 1000000000u)};
	int open;

	pthread_mutex_lock(&g->lock);
	while (!g->open && !g->nudged && !pthread_cond_timedwait(&g->moved, &g->lock, &until))
		;
	open = g->open;
	g->nudged = 0;
	pthread_mutex_unlock(&g->lock);
	return open;
}

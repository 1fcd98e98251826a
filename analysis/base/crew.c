/* crew.c - a lock, two conditions and a list of sources. */
#include "analysis/base/crew.h"

#include "formats/base/memory.h"

#include <pthread.h>
#include <signal.h>

struct source {
	vpa_crew_take *take; /* NULL: unused */
	void *ctx;
};

struct vpa_crew {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	pthread_t threads[VPA_CREW_MAX];
	unsigned count, met; /* threads; those that have a number */
	struct source sources[VPA_CREW_SOURCES];
	int stop;
};

/* Takes a piece of work of the newest source that has any. */
static int work(struct vpa_crew *c, unsigned who)
{
	int i;

	for (i = VPA_CREW_SOURCES - 1; i >= 0; i--)
		if (c->sources[i].take && c->sources[i].take(c->sources[i].ctx, who))
			return 1;
	return 0;
}

static void *run(void *arg)
{
	struct vpa_crew *c = arg;
	unsigned who;

	vpa_crew_lock(c);
	who = ++c->met;
	while (!c->stop)
		if (!work(c, who))
			pthread_cond_wait(&c->work, &c->lock);
	vpa_crew_unlock(c);
	return NULL;
}

/* Signals are blocked in the crew: the owner's thread gets them. */
struct vpa_crew *vpa_crew_start(unsigned count)
{
	struct vpa_crew *c = count ? vpt_calloc(1, sizeof(*c)) : NULL;
	sigset_t all, before;

	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->work, NULL);
	pthread_cond_init(&c->done, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (c->count < count && c->count < VPA_CREW_MAX &&
		!pthread_create(&c->threads[c->count], NULL, run, c))
		c->count++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (c->count)
		return c;
	vpa_crew_stop(c);
	return NULL;
}

void vpa_crew_stop(struct vpa_crew *c)
{
	if (!c)
		return;
	vpa_crew_lock(c);
	c->stop = 1;
	vpa_crew_call(c);
	vpa_crew_unlock(c);
	while (c->count)
		pthread_join(c->threads[--c->count], NULL);
	pthread_cond_destroy(&c->work);
	pthread_cond_destroy(&c->done);
	pthread_mutex_destroy(&c->lock);
	vpt_free(c);
}

void vpa_crew_serve(struct vpa_crew *c, vpa_crew_take *take, void *source)
{
	int i = 0;

	vpa_crew_lock(c);
	while (c->sources[i].take)
		i++;
	c->sources[i] = (struct source){take, source};
	vpa_crew_call(c);
	vpa_crew_unlock(c);
}

void vpa_crew_leave(struct vpa_crew *c, void *source)
{
	int i;

	vpa_crew_lock(c);
	for (i = 0; i < VPA_CREW_SOURCES; i++)
		if (c->sources[i].ctx == source)
			c->sources[i] = (struct source){.take = NULL};
	vpa_crew_unlock(c);
}

void vpa_crew_lock(struct vpa_crew *c)
{
	pthread_mutex_lock(&c->lock);
}

void vpa_crew_unlock(struct vpa_crew *c)
{
	pthread_mutex_unlock(&c->lock);
}

void vpa_crew_call(struct vpa_crew *c)
{
	pthread_cond_broadcast(&c->work);
}

void vpa_crew_tell(struct vpa_crew *c)
{
	pthread_cond_broadcast(&c->done);
}

void vpa_crew_await(struct vpa_crew *c)
{
	pthread_cond_wait(&c->done, &c->lock);
}

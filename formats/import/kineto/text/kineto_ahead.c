/* kineto_ahead.c - a ring of slabs. The thread fills them in order and waits while all are full; the caller has
 * one of them at a time. */
#include "formats/import/kineto/text/kineto_bytes.h"

#include "formats/base/memory.h"

#include <pthread.h>
#include <signal.h>

enum { SLABS = 4 };

struct vpt_kineto_ahead {
	struct vpt_kineto_unpack *unpack;
	size_t slab_bytes;
	struct vpt_kineto_slab slabs[SLABS];
	uint64_t filled, taken; /* counted without end */
	int stopping;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

static void *work(void *arg)
{
	struct vpt_kineto_ahead *a = arg;
	int rc = VPT_OK;

	pthread_mutex_lock(&a->lock);
	while (!rc) {
		struct vpt_kineto_slab *slab = &a->slabs[a->filled % SLABS];

		/* The caller still reads the slab before the one that it takes next. */
		while (!a->stopping && a->filled + 1 - a->taken >= SLABS)
			pthread_cond_wait(&a->changed, &a->lock);
		if (a->stopping)
			break;
		pthread_mutex_unlock(&a->lock);
		rc = vpt_kineto_unpack(
			a->unpack, slab->text, a->slab_bytes, &slab->size, &slab->err);
		slab->rc = rc;
		slab->finished = a->unpack->finished;
		slab->torn = a->unpack->torn;
		pthread_mutex_lock(&a->lock);
		a->filled++;
		pthread_cond_signal(&a->changed);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* Signals are for the threads of the caller. */
static int start_thread(struct vpt_kineto_ahead *a)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&a->thread, NULL, work, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static void free_all(struct vpt_kineto_ahead *a)
{
	int i;

	for (i = 0; i < SLABS; i++)
		vpt_free(a->slabs[i].text);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	vpt_free(a);
}

struct vpt_kineto_ahead *vpt_kineto_ahead_start(struct vpt_kineto_unpack *unpack, size_t slab_bytes)
{
	struct vpt_kineto_ahead *a = vpt_calloc(1, sizeof(*a));
	int i, lacks = 0;

	if (!a)
		return NULL;
	a->unpack = unpack;
	a->slab_bytes = slab_bytes;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	for (i = 0; i < SLABS; i++) {
		a->slabs[i].text = vpt_alloc(slab_bytes, 1);
		lacks |= !a->slabs[i].text;
	}
	if (lacks || start_thread(a)) {
		free_all(a);
		return NULL;
	}
	return a;
}

const struct vpt_kineto_slab *vpt_kineto_ahead_next(struct vpt_kineto_ahead *a)
{
	const struct vpt_kineto_slab *slab;

	pthread_mutex_lock(&a->lock);
	while (a->filled == a->taken)
		pthread_cond_wait(&a->changed, &a->lock);
	slab = &a->slabs[a->taken % SLABS];
	/* The last one has no other after it. */
	a->taken += !slab->rc;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	return slab;
}

void vpt_kineto_ahead_stop(struct vpt_kineto_ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stopping = 1;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	free_all(a);
}

/* kineto_ahead.c - a ring of blocks. The thread fills them in order and waits while all are full; the caller has
 * one of them at a time. */
#include "formats/import/kineto/text/kineto_bytes.h"

#include "formats/base/memory.h"

#include <pthread.h>
#include <signal.h>

enum { BLOCKS = 4 };

struct vpt_kineto_ahead {
	struct vpt_kineto_unpack *unpack;
	size_t block_bytes;
	struct vpt_kineto_block blocks[BLOCKS];
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
		struct vpt_kineto_block *block = &a->blocks[a->filled % BLOCKS];

		/* The caller still reads the block before the one that it takes next. */
		while (!a->stopping && a->filled + 1 - a->taken >= BLOCKS)
			pthread_cond_wait(&a->changed, &a->lock);
		if (a->stopping)
			break;
		pthread_mutex_unlock(&a->lock);
		rc = vpt_kineto_unpack(
			a->unpack, block->text, a->block_bytes, &block->size, &block->err);
		block->rc = rc;
		block->finished = a->unpack->finished;
		block->torn = a->unpack->torn;
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

	for (i = 0; i < BLOCKS; i++)
		vpt_free(a->blocks[i].text);
	pthread_cond_destroy(&a->changed);
	pthread_mutex_destroy(&a->lock);
	vpt_free(a);
}

struct vpt_kineto_ahead *vpt_kineto_ahead_start(
	struct vpt_kineto_unpack *unpack, size_t block_bytes)
{
	struct vpt_kineto_ahead *a = vpt_calloc(1, sizeof(*a));
	int i, lacks = 0;

	if (!a)
		return NULL;
	a->unpack = unpack;
	a->block_bytes = block_bytes;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	for (i = 0; i < BLOCKS; i++) {
		a->blocks[i].text = vpt_alloc(block_bytes, 1);
		lacks |= !a->blocks[i].text;
	}
	if (lacks || start_thread(a)) {
		free_all(a);
		return NULL;
	}
	return a;
}

const struct vpt_kineto_block *vpt_kineto_ahead_next(struct vpt_kineto_ahead *a)
{
	const struct vpt_kineto_block *block;

	pthread_mutex_lock(&a->lock);
	while (a->filled == a->taken)
		pthread_cond_wait(&a->changed, &a->lock);
	block = &a->blocks[a->taken % BLOCKS];
	/* The last one has no other after it. */
	a->taken += !block->rc;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	return block;
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

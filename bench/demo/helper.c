/* helper.c - a thread and a ring of deeds, under one lock. */
#include "bench/demo/helper.h"

#include <pthread.h>
#include <stdlib.h>

enum { RING = 16 };

struct demo_helper {
	struct demo_player player;
	int in_step;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under the lock */
	struct demo_deed ring[RING];
	uint64_t given, done;
	int finish;
};

static void *run(void *argument)
{
	struct demo_helper *h = argument;

	pthread_mutex_lock(&h->lock);
	for (;;) {
		struct demo_deed deed;

		while (h->done == h->given && !h->finish)
			pthread_cond_wait(&h->changed, &h->lock);
		if (h->done == h->given)
			break;
		deed = h->ring[h->done % RING];
		pthread_mutex_unlock(&h->lock);
		h->player.put(h->player.ctx, &deed);
		pthread_mutex_lock(&h->lock);
		h->done++;
		pthread_cond_broadcast(&h->changed);
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}

struct demo_helper *demo_helper_start(struct demo_player player, int in_step)
{
	struct demo_helper *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->player = player;
	h->in_step = in_step;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->changed, NULL);
	if (pthread_create(&h->thread, NULL, run, h)) {
		free(h);
		return NULL;
	}
	return h;
}

void demo_helper_give(struct demo_helper *h, const struct demo_deed *deed)
{
	pthread_mutex_lock(&h->lock);
	while (h->given - h->done == RING)
		pthread_cond_wait(&h->changed, &h->lock);
	h->ring[h->given++ % RING] = *deed;
	pthread_cond_broadcast(&h->changed);
	while (h->in_step && h->done < h->given)
		pthread_cond_wait(&h->changed, &h->lock);
	pthread_mutex_unlock(&h->lock);
}

void demo_helper_finish(struct demo_helper *h)
{
	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	h->finish = 1;
	pthread_cond_broadcast(&h->changed);
	pthread_mutex_unlock(&h->lock);
	pthread_join(h->thread, NULL);
	pthread_mutex_destroy(&h->lock);
	pthread_cond_destroy(&h->changed);
	free(h);
}

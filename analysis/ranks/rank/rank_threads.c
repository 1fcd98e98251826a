/* rank_threads.c - each thread takes the next item that nobody has. */
#include "analysis/ranks/rank/rank_threads.h"

#include "analysis/base/jobs.h"

#include <pthread.h>

enum { COLLECTIVES_LEAST = 200000 /* of a job that threads are begun for */ };

struct crew {
	int (*work)(void *ctx, unsigned thread, size_t i);
	void *ctx;
	size_t next, count;
	int rc;
};

struct worker {
	struct crew *crew;
	unsigned number;
	pthread_t thread;
};

unsigned vpa_rank_threads(const struct vpa_rank_list *list)
{
	size_t collectives = 0, i;

	if (list->jobs)
		return vpa_jobs(list->jobs, VPA_RANK_THREADS_MOST);
	for (i = 0; i < list->count && collectives < COLLECTIVES_LEAST; i++)
		collectives += list->items[i]->collective_count;
	return collectives < COLLECTIVES_LEAST ? 1 : vpa_jobs(0, VPA_RANK_THREADS_MOST);
}

static void *run(void *arg)
{
	struct worker *w = arg;
	struct crew *c = w->crew;
	size_t i;

	while (!__atomic_load_n(&c->rc, __ATOMIC_RELAXED) &&
		(i = __atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED)) < c->count) {
		int rc = c->work(c->ctx, w->number, i);

		if (rc)
			__atomic_store_n(&c->rc, rc, __ATOMIC_RELAXED);
	}
	return NULL;
}

int vpa_in_threads(unsigned threads, size_t count,
	int (*work)(void *ctx, unsigned thread, size_t i), void *ctx)
{
	struct crew crew = {.work = work, .ctx = ctx, .count = count};
	struct worker workers[VPA_RANK_THREADS_MOST];
	unsigned n = 1, i;

	workers[0] = (struct worker){.crew = &crew};
	for (; n < threads && n < count && n < VPA_RANK_THREADS_MOST; n++) {
		workers[n] = (struct worker){.crew = &crew, .number = n};
		/* Those that are there do the rest. */
		if (pthread_create(&workers[n].thread, NULL, run, &workers[n]))
			break;
	}
	run(&workers[0]);
	for (i = 1; i < n; i++)
		pthread_join(workers[i].thread, NULL);
	return crew.rc;
}

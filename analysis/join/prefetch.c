/* prefetch.c - a ring of batches. Workers take the next chunk number, decode into its slot, and
 * wait while that slot is in use; the consumer waits for the next slot in order. So the result
 * never depends on which thread was faster. */
#include "analysis/join/prefetch.h"

#include "analysis/base/jobs.h"
#include "formats/base/memory.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

enum { JOBS_MAX = 16 };

enum slot_state { FREE, BUSY, READY };

struct slot {
	struct vpt_batch batch;
	struct vpt_err err;
	int rc;
	enum slot_state state;
};

struct vpa_prefetch {
	const struct vpt_trace *trace;
	size_t chunk_count, next_out, next_in;
	struct slot *slots;
	size_t slot_count;
	struct slot *held; /* returned to the caller */
	struct vpt_decoder *own;
	pthread_t threads[JOBS_MAX];
	unsigned thread_count;
	pthread_mutex_t lock;
	pthread_cond_t freed, ready;
	int stop;
};

/* Whether the next chunk must wait: its slot is in use, or memory is scarce and others are ahead of
 * it. */
static int must_wait(const struct vpa_prefetch *p, const struct slot *slot)
{
	return slot->state != FREE || (p->next_in > p->next_out && vpt_memory_is_scarce());
}

static void *work(void *arg)
{
	struct vpa_prefetch *p = arg;
	struct vpt_decoder *decoder = vpt_decoder_new();

	pthread_mutex_lock(&p->lock);
	while (!p->stop && p->next_in < p->chunk_count) {
		struct slot *slot = &p->slots[p->next_in % p->slot_count];
		size_t index;

		if (must_wait(p, slot)) {
			pthread_cond_wait(&p->freed, &p->lock);
			continue;
		}
		index = p->next_in++;
		slot->state = BUSY;
		pthread_mutex_unlock(&p->lock);
		slot->rc = decoder ? vpt_trace_chunk(
					     p->trace, decoder, index, &slot->batch, &slot->err)
				   : vpt_fail(&slot->err, VPT_ENOMEM, "no memory for a decoder");
		pthread_mutex_lock(&p->lock);
		slot->state = READY;
		pthread_cond_broadcast(&p->ready);
	}
	pthread_mutex_unlock(&p->lock);
	vpt_decoder_free(decoder);
	return NULL;
}

/* Signals are blocked in workers: the caller's thread gets them. */
static void start_threads(struct vpa_prefetch *p, unsigned count)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (p->thread_count < count &&
		!pthread_create(&p->threads[p->thread_count], NULL, work, p))
		p->thread_count++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int vpa_prefetch_start(const struct vpt_trace *trace, unsigned jobs, struct vpa_prefetch **out,
	struct vpt_err *err)
{
	struct vpa_prefetch *p = vpt_calloc(1, sizeof(*p));
	size_t i;

	*out = NULL;
	if (!p)
		return vpt_fail(err, VPT_ENOMEM, "no memory to read chunks ahead");
	p->trace = trace;
	p->chunk_count = vpt_trace_chunks(trace);
	jobs = p->chunk_count < 2 ? 1 : vpa_jobs(jobs, JOBS_MAX);
	p->slot_count = jobs > 1 ? jobs + 1 : 1;
	p->slots = vpt_calloc(p->slot_count, sizeof(*p->slots));
	p->own = vpt_decoder_new();
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->freed, NULL);
	pthread_cond_init(&p->ready, NULL);
	if (!p->slots || !p->own) {
		p->slot_count = p->slots ? p->slot_count : 0;
		vpa_prefetch_stop(p);
		return vpt_fail(err, VPT_ENOMEM, "no memory to read chunks ahead");
	}
	for (i = 0; i < p->slot_count; i++) {
		vpt_batch_init(&p->slots[i].batch);
		p->slots[i].batch.packs = 1;
	}
	start_threads(p, jobs - 1);
	*out = p;
	return VPT_OK;
}

/* Frees the memory of a batch. */
static void renew(struct vpt_batch *b)
{
	vpt_batch_free(b);
	vpt_batch_init(b);
	b->packs = 1;
}

static int next_alone(struct vpa_prefetch *p, struct vpt_batch **batch, struct vpt_err *err)
{
	*batch = &p->slots[0].batch;
	if (vpt_memory_is_scarce())
		renew(*batch);
	return vpt_trace_chunk(p->trace, p->own, p->next_out++, *batch, err);
}

int vpa_prefetch_next(struct vpa_prefetch *p, struct vpt_batch **batch, struct vpt_err *err)
{
	struct slot *slot;

	*batch = NULL;
	if (p->next_out == p->chunk_count)
		return VPT_END;
	if (!p->thread_count)
		return next_alone(p, batch, err);
	pthread_mutex_lock(&p->lock);
	if (p->held) {
		if (vpt_memory_is_scarce())
			renew(&p->held->batch);
		p->held->state = FREE;
	}
	pthread_cond_broadcast(&p->freed);
	slot = &p->slots[p->next_out++ % p->slot_count];
	while (slot->state != READY)
		pthread_cond_wait(&p->ready, &p->lock);
	p->held = slot;
	pthread_mutex_unlock(&p->lock);
	if (slot->rc && err)
		*err = slot->err;
	*batch = &slot->batch;
	return slot->rc;
}

void vpa_prefetch_stop(struct vpa_prefetch *p)
{
	size_t i;

	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = 1;
	pthread_cond_broadcast(&p->freed);
	pthread_mutex_unlock(&p->lock);
	while (p->thread_count)
		pthread_join(p->threads[--p->thread_count], NULL);
	for (i = 0; i < p->slot_count; i++)
		vpt_batch_free(&p->slots[i].batch);
	vpt_free(p->slots);
	vpt_decoder_free(p->own);
	pthread_cond_destroy(&p->freed);
	pthread_cond_destroy(&p->ready);
	pthread_mutex_destroy(&p->lock);
	vpt_free(p);
}

/* prefetch.c - a ring of batches. Whoever is free takes the next chunk number and decodes into its slot, unless
 * that slot is in use; the consumer takes the next slot in order, and decodes it if nobody has begun to. So the
 * result never depends on which thread was faster. */
#include "analysis/join/prefetch.h"

#include "analysis/base/crew.h"
#include "analysis/base/jobs.h"
#include "formats/base/memory.h"

enum slot_state { FREE, BUSY, READY };

struct slot {
	struct vpt_batch batch;
	struct vpt_decoder *decoder; /* NULL: it has not been used yet */
	struct vpt_err err;
	int rc;
	enum slot_state state;
};

struct vpa_prefetch {
	const struct vpt_trace *trace;
	const struct vpt_chunk_choice *choice;
	size_t chunk_count, next_out, next_in; /* of the chunks that are read */
	size_t at;                             /* none before it is left to decode */
	struct slot *slots;
	size_t slot_count;
	struct slot *held;     /* returned to the caller */
	struct vpa_crew *crew; /* NULL: the caller decodes */
};

/* Whether the next chunk must wait: its slot is in use, or memory is scarce and others are ahead of
 * it. */
static int must_wait(const struct vpa_prefetch *p, const struct slot *slot)
{
	return slot->state != FREE || (p->next_in > p->next_out && vpt_memory_is_scarce());
}

static void decode(struct vpa_prefetch *p, size_t index, struct slot *slot)
{
	if (!slot->decoder)
		slot->decoder = vpt_decoder_new();
	slot->rc = slot->decoder ? vpt_trace_chunk(
					   p->trace, slot->decoder, index, &slot->batch, &slot->err)
				 : vpt_fail(&slot->err, VPT_ENOMEM, "no memory for a decoder");
}

/* The next chunk to decode. */
static size_t next_chunk(struct vpa_prefetch *p)
{
	while (vpt_chunk_use(p->choice, p->at) == VPT_CHUNK_LEFT)
		p->at++;
	return p->at++;
}

/* Decodes the next chunk that nobody has begun, see vpa_crew_take. */
static int decode_next(void *source, unsigned who)
{
	struct vpa_prefetch *p = source;
	struct slot *slot = &p->slots[p->next_in % p->slot_count];
	size_t index;

	(void)who;
	if (p->next_in == p->chunk_count || must_wait(p, slot))
		return 0;
	p->next_in++;
	index = next_chunk(p);
	slot->state = BUSY;
	vpa_crew_unlock(p->crew);
	decode(p, index, slot);
	vpa_crew_lock(p->crew);
	slot->state = READY;
	vpa_crew_tell(p->crew);
	return 1;
}

int vpa_prefetch_start(const struct vpt_trace *trace, const struct vpt_chunk_choice *choice,
	unsigned jobs, unsigned ahead, struct vpa_prefetch **out, struct vpt_err *err)
{
	static const struct vpt_chunk_choice all;
	struct vpa_prefetch *p = vpt_calloc(1, sizeof(*p));
	size_t i;

	*out = NULL;
	if (!p)
		return vpt_fail(err, VPT_ENOMEM, "no memory to read chunks ahead");
	p->trace = trace;
	p->choice = choice ? choice : &all;
	p->chunk_count = p->choice->uses ? choice->read : vpt_trace_chunks(trace);
	jobs = !jobs && p->chunk_count < 2 ? 1 : vpa_jobs(jobs, 1 + VPA_CREW_MAX);
	if (!ahead || ahead > jobs)
		ahead = jobs;
	p->slot_count = jobs > 1 ? (size_t)ahead + 1 : 1;
	p->slots = vpt_calloc(p->slot_count, sizeof(*p->slots));
	if (!p->slots) {
		p->slot_count = 0;
		vpa_prefetch_stop(p);
		return vpt_fail(err, VPT_ENOMEM, "no memory to read chunks ahead");
	}
	for (i = 0; i < p->slot_count; i++) {
		vpt_batch_init(&p->slots[i].batch);
		p->slots[i].batch.packs = 1;
	}
	p->crew = vpa_crew_start(jobs - 1);
	if (p->crew)
		vpa_crew_serve(p->crew, decode_next, p);
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

/* The slot of the next chunk, decoded. The slot before is free from now on. */
static struct slot *next_slot(struct vpa_prefetch *p)
{
	struct slot *slot;

	vpa_crew_lock(p->crew);
	slot = &p->slots[p->next_out++ % p->slot_count];
	if (p->held) {
		if (vpt_memory_is_scarce())
			renew(&p->held->batch);
		p->held->state = FREE;
	}
	vpa_crew_call(p->crew);
	if (slot->state == FREE)
		decode_next(p, 0);
	while (slot->state != READY)
		vpa_crew_await(p->crew);
	vpa_crew_unlock(p->crew);
	return p->held = slot;
}

static struct slot *next_alone(struct vpa_prefetch *p)
{
	struct slot *slot = &p->slots[0];

	if (vpt_memory_is_scarce())
		renew(&slot->batch);
	p->next_out++;
	decode(p, next_chunk(p), slot);
	return slot;
}

int vpa_prefetch_next(struct vpa_prefetch *p, struct vpt_batch **batch, struct vpt_err *err)
{
	struct slot *slot;

	*batch = NULL;
	if (p->next_out == p->chunk_count)
		return VPT_END;
	slot = p->crew ? next_slot(p) : next_alone(p);
	if (slot->rc && err)
		*err = slot->err;
	*batch = &slot->batch;
	return slot->rc;
}

struct vpa_crew *vpa_prefetch_crew(const struct vpa_prefetch *p)
{
	return p->crew;
}

void vpa_prefetch_stop(struct vpa_prefetch *p)
{
	size_t i;

	if (!p)
		return;
	vpa_crew_stop(p->crew);
	for (i = 0; i < p->slot_count; i++) {
		vpt_batch_free(&p->slots[i].batch);
		vpt_decoder_free(p->slots[i].decoder);
	}
	vpt_free(p->slots);
	vpt_free(p);
}

/* range_pool.c - allocates ranges in slabs of whole cache lines, and takes them back when nothing refers to them. */
#include "analysis/past/timeline.h"

#include "formats/base/memory.h"

#include <string.h>

enum { POOL_SLAB = 256, CACHE_LINE = 64 };

_Static_assert(sizeof(void *) < 8 || sizeof(struct vpa_range) == 2 * CACHE_LINE, "two whole lines");

/* The first range of a slab, aligned to a cache line. */
static struct vpa_range *first_of(struct vpa_range *slab)
{
	uintptr_t at = (uintptr_t)slab + CACHE_LINE - 1;

	return (struct vpa_range *)(at - at % CACHE_LINE);
}

struct vpa_range *vpa_range_new(struct vpa_range_pool *pool)
{
	struct vpa_range *r;
	size_t i;

	if (!pool->unused) {
		if (vpt_grow(&pool->slabs, &pool->slab_cap, pool->slab_count + 1,
			    sizeof(*pool->slabs)))
			return NULL;
		r = vpt_calloc(POOL_SLAB + 1, sizeof(*r));
		if (!r)
			return NULL;
		pool->slabs[pool->slab_count++] = r;
		r = first_of(r);
		for (i = 0; i < POOL_SLAB; i++) {
			r[i].parent = pool->unused;
			pool->unused = &r[i];
		}
	}
	r = pool->unused;
	pool->unused = r->parent;
	/* Ranges are reused long after they were last touched: fetch the next one. */
	__builtin_prefetch(pool->unused, 1);
	__builtin_prefetch(pool->unused ? &pool->unused->gpu : NULL, 1);
	/* In two pieces: as one, compilers clear them with an instruction that is slow to start. */
	memset(r, 0, offsetof(struct vpa_range, gpu));
	r->references = 1;
	r->gpu = (struct vpa_projection){.device = VPA_NONE};
	return r;
}

/* Frees a range without references. Returns its parent, to which it held a reference. */
static struct vpa_range *recycle(struct vpa_range_pool *pool, struct vpa_range *range)
{
	struct vpa_range *parent = range->parent;
	struct vpa_projection *p = range->gpu.next, *next;

	if (range->kind == VPA_RANGE_FORK) {
		pool->fork_count--;
		if (--range->before->references == 0)
			pool->pending[pool->pending_count++] = range->before;
	} else if (pool->finished) {
		pool->finished(pool->ctx, range);
	}
	for (; p; p = next) {
		next = p->next;
		vpt_free(p);
	}
	range->parent = pool->unused;
	pool->unused = range;
	return parent;
}

void vpa_range_finish(struct vpa_range_pool *pool, struct vpa_range *range)
{
	/* Loops instead of recursion: chains of parents may be long. */
	for (;;) {
		do
			range = recycle(pool, range);
		while (range && --range->references == 0);
		if (!pool->pending_count)
			return;
		range = pool->pending[--pool->pending_count];
	}
}

void vpa_range_pool_free(struct vpa_range_pool *pool)
{
	size_t b, i;

	for (b = 0; b < pool->slab_count; b++) {
		for (i = 0; i < POOL_SLAB; i++) {
			struct vpa_range *r = first_of(pool->slabs[b]) + i;
			struct vpa_projection *p = r->references ? r->gpu.next : NULL, *next;

			for (; p; p = next) {
				next = p->next;
				vpt_free(p);
			}
		}
		vpt_free(pool->slabs[b]);
	}
	vpt_free(pool->slabs);
	vpt_free(pool->pending);
	memset(pool, 0, sizeof(*pool));
}

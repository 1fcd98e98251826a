/* rank_slab.c - a block, and how many use it. */
#include "analysis/ranks/rank/rank_slab.h"

#include "formats/base/memory.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

enum { STEP = 64 }; /* parts begin so far from each other, or a multiple of it */
#define BYTES_MOST ((size_t)16 << 20)

struct vpa_slab {
	size_t users, used, size;
	alignas(max_align_t) unsigned char bytes[]; /* as vpt_alloc() aligns */
};

/* Twice as large as the one before, so that few ranks take little. */
static struct vpa_slab *new_slab(const struct vpa_slab *before, size_t bytes)
{
	size_t size = !before                         ? bytes
		      : before->size < BYTES_MOST / 2 ? 2 * before->size
						      : BYTES_MOST;
	struct vpa_slab *s;

	size = size < bytes ? bytes : size;
	s = size < SIZE_MAX / 2 ? vpt_alloc(sizeof(*s) + size, 1) : NULL;
	if (s) {
		s->users = 1;
		s->used = 0;
		s->size = size;
	}
	return s;
}

void *vpa_slab_take(struct vpa_slab **slab, size_t bytes, struct vpa_slab **of)
{
	struct vpa_slab *s = *slab;

	*of = NULL;
	if (bytes > SIZE_MAX / 4)
		return NULL;
	bytes = (bytes + STEP - 1) / STEP * STEP;
	if (s && __atomic_load_n(&s->users, __ATOMIC_ACQUIRE) == 1)
		s->used = 0;
	if (!s || bytes > s->size - s->used) {
		s = new_slab(*slab, bytes);
		if (!s)
			return NULL;
		vpa_slab_drop(*slab);
		*slab = s;
	}
	s->used += bytes;
	__atomic_add_fetch(&s->users, 1, __ATOMIC_RELAXED);
	*of = s;
	return s->bytes + s->used - bytes;
}

void vpa_slab_drop(struct vpa_slab *slab)
{
	if (slab && !__atomic_sub_fetch(&slab->users, 1, __ATOMIC_ACQ_REL))
		vpt_free(slab);
}

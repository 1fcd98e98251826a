/* kineto_threads.c - the threads a trace names, by process and thread id.
 *
 * Names and rows come in any order, and many a named thread has no rows: an entry remembers both
 * sides, and only those that have a lane are named in the end. A hash table with open addressing,
 * never more than half full. */
#include "formats/import/kineto_threads.h"

#include "formats/error.h"
#include "formats/memory.h"

static struct vpt_kineto_thread *find_slot(
	struct vpt_kineto_thread *slots, size_t slot_count, int64_t pid, int64_t tid)
{
	int64_t id[2] = {pid, tid};
	size_t i = (size_t)vpt_hash(id, sizeof(id));

	for (;; i++) {
		struct vpt_kineto_thread *t = &slots[i & (slot_count - 1)];

		if (!t->used || (t->pid == pid && t->tid == tid))
			return t;
	}
}

static int grow(struct vpt_kineto_threads *all)
{
	size_t slot_count = all->slot_count ? all->slot_count * 2 : 64, i;
	struct vpt_kineto_thread *slots = vpt_calloc(slot_count, sizeof(*slots));

	if (!slots)
		return VPT_ENOMEM;
	for (i = 0; i < all->slot_count; i++) {
		const struct vpt_kineto_thread *old = &all->slots[i];

		if (old->used)
			*find_slot(slots, slot_count, old->pid, old->tid) = *old;
	}
	vpt_free(all->slots);
	all->slots = slots;
	all->slot_count = slot_count;
	return 0;
}

struct vpt_kineto_thread *vpt_kineto_threads_get(
	struct vpt_kineto_threads *all, int64_t pid, int64_t tid)
{
	struct vpt_kineto_thread *t;

	if (all->count >= all->slot_count / 2 && grow(all))
		return NULL;
	t = find_slot(all->slots, all->slot_count, pid, tid);
	if (!t->used) {
		t->used = 1;
		t->pid = pid;
		t->tid = tid;
		all->count++;
	}
	return t;
}

void vpt_kineto_threads_name_lanes(const struct vpt_kineto_threads *all, struct vpt_collect *c)
{
	size_t i;

	for (i = 0; i < all->slot_count; i++)
		if (all->slots[i].lane && all->slots[i].name)
			vpt_collect_name_lane(c, all->slots[i].lane, all->slots[i].name);
}

void vpt_kineto_threads_free(struct vpt_kineto_threads *all)
{
	vpt_free(all->slots);
	all->slots = NULL;
	all->slot_count = all->count = 0;
}

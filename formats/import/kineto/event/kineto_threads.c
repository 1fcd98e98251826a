/* kineto_threads.c - the threads that a trace names or uses, by process and thread id.
 *
 * Names and rows come in any order, and many named threads have no rows. So an entry holds both the
 * name and the lane, and in the end only threads with a lane are named. */
#include "formats/import/kineto/event/kineto_import.h"

#include "formats/base/hash.h"
#include "formats/base/memory.h"

struct vpt_kineto_thread *vpt_kineto_threads_get(
	struct vpt_kineto_threads *all, int64_t pid, int64_t tid)
{
	uint64_t hash = vpt_hash_pair((uint64_t)pid, (uint64_t)tid), at = hash;
	uint32_t row;

	while ((row = vpt_map_next(&all->map, hash, &at)) != VPT_MAP_NONE)
		if (all->at[row].pid == pid && all->at[row].tid == tid)
			return &all->at[row];
	if (all->count >= VPT_MAP_NONE ||
		vpt_grow(&all->at, &all->cap, all->count + 1, sizeof(*all->at)) ||
		vpt_map_put(&all->map, hash, (uint32_t)all->count))
		return NULL;
	all->at[all->count] = (struct vpt_kineto_thread){.pid = pid, .tid = tid};
	return &all->at[all->count++];
}

void vpt_kineto_threads_name_lanes(const struct vpt_kineto_threads *all, struct vpt_collect *c)
{
	size_t i;

	for (i = 0; i < all->count; i++)
		if (all->at[i].lane && all->at[i].name)
			vpt_collect_name_lane(c, all->at[i].lane, all->at[i].name);
}

void vpt_kineto_threads_free(struct vpt_kineto_threads *all)
{
	vpt_free(all->at);
	vpt_map_free(&all->map);
	*all = (struct vpt_kineto_threads){0};
}

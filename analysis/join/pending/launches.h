/* launches.h - find the call with a correlation id, within one process.
 *
 * Ids are given out in order, so a table indexed by their low bits acts almost as a ring: new calls
 * overwrite calls long gone. An entry is valid while its call is kept in its thread's past; nothing
 * is ever removed. Colliding entries go to neighbouring slots. If those are full of live calls, one
 * that has been live for very long makes room, else the table grows. */
#ifndef VPA_ANALYSIS_JOIN_PENDING_LAUNCHES_H
#define VPA_ANALYSIS_JOIN_PENDING_LAUNCHES_H

#include "analysis/past/timeline.h"

enum {
	VPA_LAUNCH_WAIT_S = 10,
	VPA_LAUNCH_IDS = 4096 /* marks of doubled ids; a power of two */
}; /* how long a launch waits for its op, and a graph launch for all of its ops */

#define VPA_LAUNCH_WAIT_NS (VPA_LAUNCH_WAIT_S * (uint64_t)1000000000)

struct vpa_launch {
	uint32_t owner;    /* 1 + index of the thread; 0: never used */
	uint32_t position; /* low 32 bits of the call's position on its thread */
};

struct vpa_launches {
	struct vpa_launch *slots;
	size_t slot_count;
	/* Some id was seen on more than one live call; of each such id a bit, by the id's low bits: all near slots
	 * must be checked. */
	int doubled;
	uint64_t doubles[VPA_LAUNCH_IDS / 64];
	/* The same of each id that was put near its own slot, not into it. */
	uint64_t displaced[VPA_LAUNCH_IDS / 64];
	uint64_t released_ns; /* the owner's: ops before this time have been released */
	uint64_t added;       /* calls so far; limits the table's length */
	uint64_t ambiguous;   /* calls left out because the same id recurs again and again */
};

/* Whether the id's bit is set. */
static inline int vpa_launches_is_marked(
	const uint64_t marks[VPA_LAUNCH_IDS / 64], uint64_t correlation)
{
	return marks[correlation % VPA_LAUNCH_IDS / 64] >> correlation % 64 & 1;
}

/* Whether there may be more than one call with this id. */
static inline int vpa_launches_may_double(const struct vpa_launches *l, uint64_t correlation)
{
	return l->doubled && vpa_launches_is_marked(l->doubles, correlation);
}

/* The slow path of vpa_launches_find(): the id's own slot does not decide it. */
struct vpa_call *vpa_launches_find_near(
	const struct vpa_launches *l, const struct vpa_thread_past *pasts, uint64_t correlation);

/* Enumerates the calls with this id, starting with *i = 0; NULL: no more. */
struct vpa_call *vpa_launches_next(const struct vpa_launches *l,
	const struct vpa_thread_past *pasts, uint64_t correlation, int *i);

/* The first call with this id that made a stream wait. NULL: none. */
struct vpa_call *vpa_launches_find_wait(
	const struct vpa_launches *l, const struct vpa_thread_past *pasts, uint64_t correlation);

/* Whether a slot's call is still kept. */
static inline int vpa_launch_is_live(
	const struct vpa_launch *s, const struct vpa_thread_past *pasts)
{
	const struct vpa_calls *calls;

	if (!s->owner)
		return 0;
	calls = &pasts[s->owner - 1].calls;
	return (uint32_t)(s->position - (uint32_t)calls->begin) < calls->end - calls->begin;
}

/* The call of a live slot. */
static inline struct vpa_call *vpa_launch_call(
	const struct vpa_launch *s, const struct vpa_thread_past *pasts)
{
	const struct vpa_calls *calls = &pasts[s->owner - 1].calls;

	return vpa_calls_at(calls, calls->begin + (uint32_t)(s->position - (uint32_t)calls->begin));
}

/* Adds the `count` calls of `thread` from `position` on, with these ids; id 0: no id. 0 or
 * VPT_ENOMEM. */
int vpa_launches_add(struct vpa_launches *l, const struct vpa_thread_past *pasts, uint32_t thread,
	uint64_t position, const uint64_t *correlations, size_t count);

/* The kept call with this id; of several, prefers calls that put work on a device, then the first,
 * then the longest. NULL: none. */
static inline struct vpa_call *vpa_launches_find(
	const struct vpa_launches *l, const struct vpa_thread_past *pasts, uint64_t correlation)
{
	const struct vpa_launch *own =
		l->slot_count ? l->slots + (correlation & (l->slot_count - 1)) : NULL;
	struct vpa_call *call;

	if (own && correlation && !vpa_launches_may_double(l, correlation) &&
		vpa_launch_is_live(own, pasts)) {
		call = vpa_launch_call(own, pasts);
		if (vpa_call_correlation(call) == correlation)
			return call;
	}
	return vpa_launches_find_near(l, pasts, correlation);
}

/* No call is kept any more: frees the table; its counts stay. */
void vpa_launches_end(struct vpa_launches *l);
void vpa_launches_free(struct vpa_launches *l);

#endif

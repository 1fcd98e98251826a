/* launches.h - from a correlation id to the call that carries it, for one process.
 *
 * Ids are handed out in order, so a table indexed by their low bits is nearly a ring: the newest calls push out
 * those that are long gone. An entry is good as long as its call is kept in its thread's past; nothing is ever
 * removed. Neighbouring slots take what collides; when they are full of live calls, the table doubles. */
#ifndef VPA_ANALYSIS_LAUNCHES_H
#define VPA_ANALYSIS_LAUNCHES_H

#include "analysis/timeline.h"

struct vpa_launch {
	uint64_t correlation; /* 0: never used */
	uint32_t thread;
	uint32_t position; /* low 32 bits of the call's position on its thread */
};

struct vpa_launches {
	struct vpa_launch *slots;
	size_t slot_count;
	int doubled; /* some id was met on more than one live call: all near slots must be looked at */
	uint64_t ambiguous; /* calls left out because the same id is met over and over */
};

/* Adds a call: the one at `position` of `thread`. 0 or VPT_ENOMEM. */
int vpa_launches_add(struct vpa_launches *l, const struct vpa_thread_past *pasts, uint64_t correlation,
	uint32_t thread, uint64_t position);

/* The call with this id that is still kept; of several on one thread the one around the others, else the first.
 * NULL: none. */
struct vpa_call *vpa_launches_find(
	const struct vpa_launches *l, const struct vpa_thread_past *pasts, uint64_t correlation);

void vpa_launches_free(struct vpa_launches *l);

#endif

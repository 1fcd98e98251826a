/* joint_links.h - what the events of a replay wait for, of all ranks together:
 *
 *	latest arrival at an event, in a lane = max(a fixed time,
 *	                                            the latest arrival at an earlier event + ns,   a link
 *	                                            ...)
 *
 * A rank leaves an event a constant time after the latest arrival, whatever the lane. So what a rank waits for after the end of a
 * collective is a time after that event's latest arrival, and of all ranks that come from the same event to the same one
 * only the latest counts. A thousand ranks have few links more than eight.
 *
 * Ranks are put by several threads: slabs of events have a lock each. */
#ifndef VPA_ANALYSIS_RANKS_REPLAY_JOINT_LINKS_H
#define VPA_ANALYSIS_RANKS_REPLAY_JOINT_LINKS_H

#include "analysis/base/index.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define VPA_NO_LINK UINT32_MAX

enum { VPA_LINK_SLAB = 1024 /* events that have a lock in common */ };

struct vpa_links {
	unsigned lanes;
	size_t count; /* of events */
	/* Of event e and lane l: e * lanes + l. */
	int64_t *fixed_ns; /* INT64_MIN: none */
	int64_t *ns;       /* of its first link */
	uint32_t *from;    /* the event of its first link; VPA_NO_LINK: it has none */
	uint32_t *more;    /* another link, in the slab of the event; VPA_NO_LINK: none */
	struct vpa_link_slab {
		pthread_mutex_t lock;
		struct vpa_index links; /* event, from */
		int64_t *ns;            /* by link and lane */
		uint32_t *next;         /* another one of the same event; VPA_NO_LINK: none */
		size_t ns_cap, next_cap;
	} * slabs;
	size_t slab_count;
};

/* Makes room for events without links, in `threads` threads. 0 or VPT_ENOMEM; the caller frees them after either. */
int vpa_links_init(struct vpa_links *x, size_t events, unsigned lanes, unsigned threads);
void vpa_links_free(struct vpa_links *x);

/* Locks the slab of an event, and unlocks the one that is held, if it is another one; *held is NULL at first. */
static inline void vpa_links_hold(struct vpa_links *x, struct vpa_link_slab **held, uint32_t event)
{
	struct vpa_link_slab *slab = &x->slabs[event / VPA_LINK_SLAB];

	if (*held == slab)
		return;
	if (*held)
		pthread_mutex_unlock(&(*held)->lock);
	pthread_mutex_lock(&slab->lock);
	*held = slab;
}

static inline void vpa_links_release(struct vpa_link_slab *held)
{
	if (held)
		pthread_mutex_unlock(&held->lock);
}

/* to = max(to, ns) in each lane */
static inline void vpa_lanes_join(int64_t *to, const int64_t *ns, unsigned lanes)
{
	unsigned l;

	for (l = 0; l < lanes; l++)
		to[l] = ns[l] > to[l] ? ns[l] : to[l];
}

/* Private: puts a link of an event whose first one is after another event. 0 or VPT_ENOMEM. */
int vpa_links_put_more(struct vpa_links *x, uint32_t event, uint32_t from, const int64_t *ns);

/* Nobody comes to this event earlier than `ns`, by lane, after the latest arrival at `from`. Its slab is held. `lanes` is
 * x->lanes, which the caller may know better than the compiler. 0 or VPT_ENOMEM. */
static inline int vpa_links_put(
	struct vpa_links *x, uint32_t event, uint32_t from, const int64_t *ns, unsigned lanes)
{
	int64_t *first = &x->ns[(size_t)event * lanes];
	unsigned l;

	if (x->from[event] == from) {
		vpa_lanes_join(first, ns, lanes);
		return 0;
	}
	if (x->from[event] != VPA_NO_LINK)
		return vpa_links_put_more(x, event, from, ns);
	x->from[event] = from;
	for (l = 0; l < lanes; l++)
		first[l] = ns[l];
	return 0;
}

/* Tells that vpa_links_arrive() is called for an event soon. */
static inline void vpa_links_expect(const struct vpa_links *x, uint32_t event)
{
	__builtin_prefetch(&x->ns[(size_t)event * x->lanes], 1);
	__builtin_prefetch(&x->fixed_ns[(size_t)event * x->lanes], 1);
	__builtin_prefetch(&x->from[event]);
	__builtin_prefetch(&x->more[event]);
}

/* Sets the latest arrivals at an event, in place of the times of its first link: those of the events that it has links to are set.
 * Returns them, by lane. */
const int64_t *vpa_links_arrive(struct vpa_links *x, uint32_t event);

#endif

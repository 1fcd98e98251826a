/* past_waits.h - when a stream was made to wait, or a thread made some stream wait: times in order.
 *
 * The only query is for the last wait before a moment, so of the waits before every future query
 * one is enough. */
#ifndef VPA_ANALYSIS_PAST_PAST_WAITS_H
#define VPA_ANALYSIS_PAST_PAST_WAITS_H

#include <stddef.h>
#include <stdint.h>

struct vpa_wait {
	uint64_t time_ns;
	uint64_t id;   /* of the call: correlation id (streams) or position (threads) */
	uint8_t looks; /* how many more times its call is looked for */
};

struct vpa_waits {
	struct vpa_wait *items; /* by time, after settling */
	size_t count, cap;
	size_t sorted;  /* how many at the front are in order */
	int is_looking; /* the calls of some waits are still looked for */
	struct vpa_wait *spare;
	size_t spare_cap;
};

static inline int vpa_waits_are_settled(const struct vpa_waits *w)
{
	return w->sorted == w->count && !w->is_looking;
}

/* Adds a wait. With `moves` its call is looked for when the waits are settled, and once more the
 * next time. Keeps at most 2^17, the newest. 0 or VPT_ENOMEM. */
int vpa_waits_add(struct vpa_waits *w, uint64_t time_ns, uint64_t id, int moves);

/* When the call of a wait began, which is then the wait's time; ~0: not known. */
typedef uint64_t vpa_waits_find(void *ctx, uint64_t id);

/* Sorts all waits, at the times of their calls if `find` knows them; it may be NULL if none moves.
 * 0 or VPT_ENOMEM. */
int vpa_waits_settle(struct vpa_waits *w, vpa_waits_find *find, void *ctx);

/* Index of the last wait before `t`; SIZE_MAX: none. */
size_t vpa_waits_before(const struct vpa_waits *w, uint64_t t);

/* No later query is about a time before `t`. */
void vpa_waits_trim(struct vpa_waits *w, uint64_t t);

void vpa_waits_free(struct vpa_waits *w);

#endif

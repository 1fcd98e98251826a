/* waits.h - when a stream was told to wait, or a thread told some stream to: moments in order.
 *
 * All that is asked is when the last one before a moment was, so of those before anything that may still be asked about
 * one is enough. */
#ifndef VPA_ANALYSIS_WAITS_H
#define VPA_ANALYSIS_WAITS_H

#include <stddef.h>
#include <stdint.h>

struct vpa_wait {
	uint64_t time_ns;
	uint64_t id;   /* of the call: correlation id (streams) or position (threads) */
	uint8_t looks; /* its call is looked for so often still */
};

struct vpa_waits {
	struct vpa_wait *items; /* once settled, by time */
	size_t count, cap;
	size_t sorted;  /* the first of them are in order */
	int is_looking; /* the calls of some are looked for */
	struct vpa_wait *spare;
	size_t spare_cap;
};

/* Adds a wait. With `moves` its call is looked for when this is settled, and once more the next time. At most 2^17 are kept,
 * the newest. 0 or VPT_ENOMEM. */
int vpa_waits_add(struct vpa_waits *w, uint64_t time_ns, uint64_t id, int moves);

/* When the call of a wait began, which counts as its time; ~0: not known. */
typedef uint64_t vpa_waits_find(void *ctx, uint64_t id);

/* Puts all in order, at the times of their calls where `find` knows them; it may be NULL where none moves. 0 or
 * VPT_ENOMEM. */
int vpa_waits_settle(struct vpa_waits *w, vpa_waits_find *find, void *ctx);

/* Index of the last wait before `t`; SIZE_MAX: none. */
size_t vpa_waits_before(const struct vpa_waits *w, uint64_t t);

/* Nothing before `t` will be asked about any more. */
void vpa_waits_trim(struct vpa_waits *w, uint64_t t);

void vpa_waits_free(struct vpa_waits *w);

#endif

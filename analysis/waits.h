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
	uint64_t id; /* of the call: correlation id (streams) or position (threads) */
};

struct vpa_waits {
	struct vpa_wait *items; /* by time */
	size_t count, cap;
	/* Streams: the calls of those before `settled` are not looked for any more; those before `seen` have been once. */
	size_t settled, seen;
};

/* Adds a wait. At most 2^17 are kept, the newest. 0 or VPT_ENOMEM. */
int vpa_waits_add(struct vpa_waits *w, uint64_t time_ns, uint64_t id);

/* Moves a wait to its call's time, where that is known only now. */
void vpa_waits_move(struct vpa_waits *w, size_t i, uint64_t time_ns);

/* Index of the last wait before `t`; SIZE_MAX: none. */
size_t vpa_waits_before(const struct vpa_waits *w, uint64_t t);

/* Nothing before `t` will be asked about any more. */
void vpa_waits_trim(struct vpa_waits *w, uint64_t t);

void vpa_waits_free(struct vpa_waits *w);

#endif

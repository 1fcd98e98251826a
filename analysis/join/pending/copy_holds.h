/* copy_holds.h - ops held back although no later chunk brings an earlier one.
 *
 * A copy blocks the host if a copy inside it does, and the inner copy's op may begin after the
 * outer copy's own. Until that op is known nothing may ask what the outer copy did. */
#ifndef VPA_ANALYSIS_JOIN_PENDING_COPY_HOLDS_H
#define VPA_ANALYSIS_JOIN_PENDING_COPY_HOLDS_H

#include <stddef.h>
#include <stdint.h>

struct vpa_copy_holds {
	struct vpa_copy_hold {
		uint64_t start_ns, end_ns;
	} * items;
	size_t count, cap;
};

/* Holds back what begins from `start_ns` on until everything that begins before `end_ns` is known.
 * 0 or VPT_ENOMEM. */
int vpa_copy_holds_add(struct vpa_copy_holds *h, uint64_t start_ns, uint64_t end_ns);

/* Everything that begins before `until_ns` is known: drops the holds that are over, and of the
 * others all but 4,096. Returns the time before which nothing has to wait, at most `until_ns`. */
uint64_t vpa_copy_holds_pass(struct vpa_copy_holds *h, uint64_t until_ns);

void vpa_copy_holds_free(struct vpa_copy_holds *h);

#endif

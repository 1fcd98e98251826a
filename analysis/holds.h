/* holds.h - why ops wait although no later chunk brings an earlier one.
 *
 * A copy blocks the host if a copy inside it does, and that one's op may begin after the outer copy's own: until then
 * nothing may ask what the outer one did. */
#ifndef VPA_ANALYSIS_HOLDS_H
#define VPA_ANALYSIS_HOLDS_H

#include <stddef.h>
#include <stdint.h>

struct vpa_holds {
	struct vpa_hold {
		uint64_t start_ns, end_ns;
	} * items;
	size_t count, cap;
};

/* Lets what begins from `start_ns` on wait until everything is known that begins before `end_ns`. 0 or VPT_ENOMEM. */
int vpa_holds_add(struct vpa_holds *h, uint64_t start_ns, uint64_t end_ns);

/* Everything is known that begins before `until_ns`: drops the holds that are over, and all but 4,096 of the others.
 * Returns the moment before which nothing has to wait, at most `until_ns`. */
uint64_t vpa_holds_pass(struct vpa_holds *h, uint64_t until_ns);

void vpa_holds_free(struct vpa_holds *h);

#endif

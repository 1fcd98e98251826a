/* call_waits.h - which ops a synchronising call waited for. */
#ifndef VPA_ANALYSIS_JOIN_CALL_WAITS_H
#define VPA_ANALYSIS_JOIN_CALL_WAITS_H

#include "analysis/join/op_waits.h"

struct vpa_call_waits;

enum { VPA_CALL_WAITS_MAX = 8 }; /* per call; of more ops, those that ended last */

/* `records`, borrowed, knows the recorded events. NULL: no memory. */
struct vpa_call_waits *vpa_call_waits_new(
	struct vpa_resolver *resolver, const struct vpa_op_waits *records);
void vpa_call_waits_free(struct vpa_call_waits *y); /* accepts NULL */

/* Adds a SYNC section, after the resolver took it. 0 or VPT_ENOMEM. */
int vpa_call_waits_add(struct vpa_call_waits *y, const struct vpt_section *s);
/* Whether any row so far says what a call waited for; if none does, nothing below is needed. */
int vpa_call_waits_any(const struct vpa_call_waits *y);

/* All ops that began before `until_ns` are done. 0 or VPT_ENOMEM. */
int vpa_call_waits_until(struct vpa_call_waits *y, uint64_t until_ns);
/* The next op is done, and so is every op that began before it. 0 or VPT_ENOMEM. */
int vpa_call_waits_done(struct vpa_call_waits *y, const struct vpa_numbered_op *op);

/* The numbers of the ops a call waited for, ascending; NULL: none known. Valid until the next
 * change. */
struct vpa_waiting_call {
	uint64_t correlation, start_ns, end_ns;
	int64_t pid; /* -1: not known */
};
const uint32_t *vpa_call_waits_of(
	const struct vpa_call_waits *y, const struct vpa_waiting_call *call, size_t *count);
/* No later query is about a call that began before `before_ns`, except a late one. */
void vpa_call_waits_forget(struct vpa_call_waits *y, uint64_t before_ns);

#endif

/* host_late.h - why the host was late: what the launching thread did while its device was idle.
 *
 * [g0, l) is the part of a gap before the launch L of thread T began. It is cut at the start and
 * end of each of T's outermost calls. Time inside a call gets that call's cause if the call is of a
 * kind that holds the host (sync, blocking copy, allocation, module load, graph build, other), else
 * launch call. Time outside all calls is launch rate if the whole stretch of host code lasts less
 * than 100 us, else host code; while T captures a stream it is graph build.
 *
 * Then credit: a call that held T back before the gap opened also made it late. S is T's last
 * submitting call that began before g0. Each call of those kinds that began before g0 and ended
 * after S began takes as much of the cuts, earliest first, as it lasted between S and g0, less what
 * earlier gaps of the device have counted of it; never time inside a sync, a blocking copy or
 * itself. Had the host not been held there, it would have come that much earlier to L. The credit of
 * a sync or blocking copy is used up by host code of 1 ms and more, and by allocations of more than 100 us each, but does not take
 * them: such work is the host's own. For code, the call is what the host could do without instead; allocations wait for the GPU
 * themselves. */
#ifndef VPA_ANALYSIS_IDLE_HOST_LATE_H
#define VPA_ANALYSIS_IDLE_HOST_LATE_H

#include "analysis/join/resolver.h"
#include "formats/base/memory.h"

#include <string.h>

/* A piece of a gap before overhead records are applied. */
struct vpa_cut {
	struct vpa_cause_piece piece;
	struct vpa_call *in; /* the call that T was in; NULL: none */
	uint64_t taken_ns;   /* up to here credit has taken it */
};

struct vpa_cuts {
	struct vpa_cut *items;
	size_t count, cap;
};

/* The stretch to cut. */
struct vpa_host_late {
	struct vpa_resolver *resolver;
	uint32_t device, thread;
	uint64_t start_ns, end_ns; /* g0, l */
	struct vpa_call *launch;   /* L */
	/* The place of L, and when it began to be that of its thread; ~0: unknown. */
	uint32_t launch_place;
	uint64_t place_from_ns;
	int first_use; /* the op that ends the gap is the first of its name on the device */
	int no_credit; /* only cut, count nothing: before the first work nothing was held back */
};

/* The cause of time in a call, unless a first use makes it another. */
extern const uint8_t vpa_cause_of_class[];
static inline enum vpa_cause vpa_host_late_cause_of(const struct vpa_call *call)
{
	return (enum vpa_cause)vpa_cause_of_class[vpa_call_effect(call)];
}

/* What a stretch of host code is. */
struct vpa_late_code {
	uint32_t place;
	uint8_t cause;   /* VPA_CAUSE_LAUNCH_RATE, _HOST_CODE or _GRAPH_BUILD */
	uint8_t is_long; /* see struct vpa_cause_piece */
};

/* Whether [start_ns, end_ns) is all host code that no credit takes from: T was in no call, and nothing has held it
 * since S. Sets what all of it is. */
int vpa_host_late_is_code(const struct vpa_host_late *l, struct vpa_late_code *out);

/* Appends the cuts of [start_ns, end_ns), in order; `spare` is scratch memory. 0 or VPT_ENOMEM. */
int vpa_host_late_cut(const struct vpa_host_late *l, struct vpa_cuts *out, struct vpa_cuts *spare);

/* Appends a cut of zeros, to be filled in. NULL: no memory. */
static inline struct vpa_cut *vpa_cuts_add(struct vpa_cuts *c)
{
	if (vpt_grow(&c->items, &c->cap, c->count + 1, sizeof(*c->items)))
		return NULL;
	memset(&c->items[c->count], 0, sizeof(*c->items));
	return &c->items[c->count++];
}

#endif

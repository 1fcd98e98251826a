/* gain.h - how much sooner a device would be done if one cause of its idle time went away and everything else stayed.
 *
 * The sum of a cause's pieces is what the device waited for it. It is not what goes away with it: where the host was held
 * twice, the second hold may take over; where it runs ahead of the device, host time costs nothing until a later gap
 * opens. So for each host and each cause that takes host time there is a counter
 *
 *	early   how much earlier the host would be, beyond what the device already is
 *
 *	host time of the cause        early += its length, with or without a gap
 *	the host waits for the device early  = 0: both come back as much earlier
 *	it waits for an idle device   early  = at most for how long the device had been idle
 *	the device's queue is full    early  = 0: the next launch waits until there is room
 *	a gap that the host made      gain  += min(early, gap), early -= the same
 *
 * and the sum of these gains is what removing the cause alone would save. Causes are asked one by one, so where either of
 * two would do, each gains all of it, though both together save it only once. So each nanosecond is one cause's own: of the
 * cause whose piece it is, if that gains it, else of the first that does. What a cause gains beyond is shared. Waits of
 * the device itself (scheduling, dependencies and the like) are not host time; their gain is the sum of their pieces.
 *
 * A host is a thread as a device sees it. What it does is known call by call: stretches of host code as late.h cuts them,
 * and calls by kind. A synchronisation within 10 us of a blocking copy belongs to it, as in PyTorch's .item(). Memory is a
 * few counters for each thread and device; blocks of plain launches are passed as one.
 *
 * Exact where one thread launches on one stream, less what a wait takes to return. What is not known: which of several
 * streams that overlap a host waited for and what that stream alone has gained, threads that wait for each other, and
 * where the queue would be full without the cause. */
#ifndef VPA_ANALYSIS_GAIN_H
#define VPA_ANALYSIS_GAIN_H

#include "analysis/index.h"
#include "analysis/resolver.h"

enum {
	/* Causes of host time: the others have no counters. */
	VPA_GAIN_FIRST = VPA_CAUSE_SYNC,
	VPA_GAIN_CAUSES = VPA_CAUSE_LAUNCH_CALL - VPA_CAUSE_SYNC + 1,
	/* A device takes so many launches ahead; the next has to wait. CUDA's queue holds 1,024. */
	VPA_GAIN_QUEUE = 1000
};

struct vpa_gain_host {
	uint32_t thread;
	uint64_t position; /* of its first call that has not been passed */
	uint64_t at_ns;    /* its time is counted up to here */
	uint64_t ended_ns; /* end of the call before */
	uint64_t full_ns;  /* the queue was full then, and the host at its limit */
	int copied;        /* the call before was a blocking copy */
	uint64_t early_ns[VPA_GAIN_CAUSES];
};

struct vpa_gain {
	struct vpa_gain_host *hosts; /* threads that have put work on the device */
	size_t host_cap;
	struct vpa_index index; /* of them, by thread */
	uint32_t newest;        /* the one that was found last */
	uint64_t ns[VPA_GAIN_CAUSES];
	uint64_t own_ns[VPA_GAIN_CAUSES]; /* of ns: no other cause's */
};

struct vpa_cuts;

/* A gap that a launch of the host ended. */
struct vpa_gain_gap {
	uint32_t thread;
	uint64_t start_ns;
	uint64_t host_ns; /* where the launch call ended, at most the end of the gap */
	uint64_t most_ns; /* so much of it was recorded */
	const struct vpa_cause_pieces *pieces;
	const struct vpa_cuts *cuts; /* what they were made of */
};

/* Whether a cause has gains that are counted here. */
static inline int vpa_gain_is_counted(enum vpa_cause cause)
{
	return (unsigned)cause - VPA_GAIN_FIRST < VPA_GAIN_CAUSES;
}

/* The thread as a host; NULL: it has put nothing on the device. Most questions are about the same as the one before. */
struct vpa_gain_host *vpa_gain_find(struct vpa_gain *g, uint32_t thread);
static inline struct vpa_gain_host *vpa_gain_host_of(struct vpa_gain *g, uint32_t thread)
{
	return g->index.count && g->hosts[g->newest].thread == thread ? &g->hosts[g->newest]
								      : vpa_gain_find(g, thread);
}

/* The call is the first of its thread that put work on the device: from here on the thread is a host. 0 or VPT_ENOMEM. */
int vpa_gain_meet(struct vpa_gain *g, const struct vpa_resolver *r, struct vpa_call *launch);

/* Counts what the host did until the gap ended, and what the gap would have lost without each cause. */
void vpa_gain_count(
	struct vpa_gain *g, const struct vpa_resolver *r, const struct vpa_gain_gap *gap);

/* Counts calls that have ended by `until_ns`, before they are forgotten; no gap that is still to come begins before
 * `gap_ns`. */
void vpa_gain_pass(
	struct vpa_gain *g, const struct vpa_resolver *r, uint64_t until_ns, uint64_t gap_ns);

/* An op of this launch begins at `at_ns`: if the launches that wait behind it fill the queue, the host is at its limit. */
void vpa_gain_look_at_queue(struct vpa_gain *g, const struct vpa_resolver *r,
	const struct vpa_call *launch, uint64_t at_ns);

void vpa_gain_free(struct vpa_gain *g);

#endif

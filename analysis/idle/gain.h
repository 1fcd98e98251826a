/* gain.h - how much sooner a device would finish if one cause of its idle time went away and
 * everything else stayed.
 *
 * The sum of a cause's pieces is how long the device waited for it, not what removing it saves: if
 * the host was held up twice, the second holdup may take over; if the host runs ahead of the
 * device, host time costs nothing until a later gap opens. So each host has a counter for each
 * cause that takes host time:
 *
 *	early   how much earlier the host would be, beyond what the device already is
 *
 *	host time of the cause        early += its length, with or without a gap
 *	the host waits for the device early  = 0: both return that much earlier
 *	it waits for an idle device   early  = at most how long the device had been idle
 *	the device's queue is full    early  = 0: the next launch waits until there is room
 *	a gap that the host made      gain  += min(early, gap), early -= the same
 *
 * The sum of these gains is what removing that cause alone would save. Causes are evaluated one at
 * a time: if removing either of two would do, each gains all of it, though both together save it
 * only once. So each nanosecond is also assigned to one cause: to the cause of its piece if that
 * cause gains it, else to the first that does. Any further gain of a cause is shared. Waits of the
 * device itself (scheduling, dependencies and the like) are not host time; their gain is the sum of
 * their pieces.
 *
 * Time that overhead records cover is the profiling library's, not the program's: it is no cause's. The driver's
 * loader's is module load.
 *
 * Waits have different remedies: reads of a few bytes, other blocking copies, other synchronisations. So each
 * of these parts has a counter of its own, and so have all waits together: where one part waits for what
 * another would have waited for, neither alone gains what both do. A read to pinned memory is no wait, but the
 * synchronisation that follows it is: it is of the read's part. At each gap the parts divide what waits own.
 *
 * Code of the host can hardly be removed, but it can get shorter: a counter gains what half of it would.
 *
 * A host is a thread as one device sees it. Its activity is known call by call: stretches of host
 * code as host_late.h cuts them, and calls by kind. A synchronisation within 10 us of a blocking copy
 * belongs to the copy, as in PyTorch's .item(). Memory is a few counters per thread and device.
 *
 * The gain is exact if one thread launches on one stream, less the time a wait takes to return. Not
 * known: which of several overlapping streams a host waited for and what that stream alone has
 * gained, threads that wait for each other, and where the queue would be full without the cause. */
#ifndef VPA_ANALYSIS_IDLE_GAIN_H
#define VPA_ANALYSIS_IDLE_GAIN_H

#include "analysis/base/index.h"
#include "analysis/join/resolver.h"

enum {
	/* Causes of host time; the others have no counters. */
	VPA_GAIN_FIRST = VPA_CAUSE_SYNC,
	VPA_GAIN_CAUSES = VPA_CAUSE_LAUNCH_CALL - VPA_CAUSE_SYNC + 1,
	/* Parts of the waits, causes sync and blocking copy; all of them; half of the host code. */
	VPA_GAIN_SMALL_READS = VPA_GAIN_CAUSES,
	VPA_GAIN_LARGE_COPIES,
	VPA_GAIN_OTHER_SYNCS,
	VPA_GAIN_WAITS,
	VPA_GAIN_HALF_CODE,
	VPA_GAIN_COUNTERS,
	/* A device accepts this many launches ahead; the next has to wait. CUDA's queue holds
	 * 1,024. */
	VPA_GAIN_QUEUE = 1000
};

struct vpa_gain_host {
	uint32_t thread;
	uint64_t position; /* of its first call not yet passed */
	uint64_t at_ns;    /* its time is counted up to here */
	uint64_t ended_ns; /* end of the call before */
	uint64_t full_ns;  /* when the queue was last full and the host at its limit */
	unsigned copied;   /* the call before was a copy of this part; 0: it was none */
	int copy_waited;   /* that copy waited for the device */
	unsigned counting; /* a bit of each counter that may be above 0 */
	uint64_t early_ns[VPA_GAIN_COUNTERS];
};

struct vpa_gain {
	struct vpa_gain_host *hosts; /* threads that have put work on the device */
	size_t host_cap;
	struct vpa_index index; /* of hosts, by thread */
	uint32_t newest;        /* the host found last */
	uint64_t ns[VPA_GAIN_COUNTERS];
	uint64_t own_ns
		[VPA_GAIN_COUNTERS]; /* of ns: assigned to no other cause; half of the code has none */
	/* Of parts of the waits and of all of them, part of ns: not the time of long host code, which is seldom ready
	 * to run without what it waited for. */
	uint64_t claim_ns[VPA_GAIN_COUNTERS];
};

struct vpa_cuts;

/* A gap that a launch of the host ended. */
struct vpa_gain_gap {
	uint32_t thread;
	uint64_t start_ns;
	uint64_t host_ns; /* end of the launch call, at most the end of the gap */
	uint64_t most_ns; /* how much of it was recorded */
	uint64_t
		made_ns; /* part of that: would have been shorter with an earlier host, see vpa_gain_made() */
	uint64_t ns[VPA_CAUSES];
	uint64_t long_ns; /* long code and allocations of the host */
	/* Both NULL: nothing in it was set up for a first use. */
	const struct vpa_cause_pieces *pieces;
	const struct vpa_cuts *cuts; /* the cuts that pieces were made from */
};

/* Whether gains of this cause are counted here. */
static inline int vpa_gain_is_counted(enum vpa_cause cause)
{
	return (unsigned)cause - VPA_GAIN_FIRST < VPA_GAIN_CAUSES;
}

/* The thread as a host; NULL: it has put nothing on the device. Most lookups ask for the same
 * thread as the one before. */
struct vpa_gain_host *vpa_gain_find(struct vpa_gain *g, uint32_t thread);
static inline struct vpa_gain_host *vpa_gain_host_of(struct vpa_gain *g, uint32_t thread)
{
	return g->index.count && g->hosts[g->newest].thread == thread ? &g->hosts[g->newest]
								      : vpa_gain_find(g, thread);
}

/* `launch` is its thread's first call that put work on the device: from here on the thread is a
 * host. 0 or VPT_ENOMEM. */
int vpa_gain_meet(struct vpa_gain *g, const struct vpa_resolver *r, struct vpa_call *launch);

/* How much of a gap would have been shorter with an earlier host. */
uint64_t vpa_gain_made(const struct vpa_gain_gap *gap);

/* Counts what the host did until the gap ended, and what the gap would have lost without each
 * cause. */
void vpa_gain_count(
	struct vpa_gain *g, const struct vpa_resolver *r, const struct vpa_gain_gap *gap);

/* Counts calls that ended by `until_ns`, before they are dropped; no future gap begins before
 * `gap_ns`. */
void vpa_gain_pass(
	struct vpa_gain *g, const struct vpa_resolver *r, uint64_t until_ns, uint64_t gap_ns);

/* An op of this launch begins at `at_ns`: if the launches queued after it fill the queue, the host
 * is at its limit. */
void vpa_gain_look_at_queue(struct vpa_gain *g, const struct vpa_resolver *r,
	const struct vpa_call *launch, uint64_t at_ns);

void vpa_gain_free(struct vpa_gain *g);

#endif

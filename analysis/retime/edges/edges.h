/* edges.h - why each call and op of a tape began and ended when it did.
 *
 * A time is the latest of several sums, each the time of something earlier plus a length, an edge:
 *
 *	start of a call    end of the call before it on its thread + the host code between; after a long stretch in
 *	                   which other threads made calls, the end of the last of these instead (a hand-over), if the
 *	                   thread mostly goes on soon after that one's calls, not at any moment between two of them
 *	end of a call      its start + its cost; the end of an op that it waits for + the way back; where the queue of
 *	                   its device was full, the end of the launch `queue_launches` before it
 *	start of an op     its launch + latency; the end of the op before it on its stream + a gap; the end of the op
 *	                   of another stream that it waits for, recorded, or inferred where nothing else explains it
 *
 * The latest one is the binding edge and has the length that it really had; the others get the smaller of what is
 * usual and what was there. So the unchanged tape is reproduced to the nanosecond, and every edge leads forward in
 * recorded time. */
#ifndef VPA_ANALYSIS_RETIME_EDGES_H
#define VPA_ANALYSIS_RETIME_EDGES_H

#include "analysis/retime/tape/tape.h"

/* No such edge. */
#define VPA_EDGE_NONE INT64_MIN

enum {
	VPA_QUEUE_LAUNCHES =
		1024, /* as many wait on a device, where nothing shows another number */
	/* An op that began so soon after the end of one on another stream waited for it, if nothing else explains it:
	 * traces of PyTorch record no waits of streams for each other. */
	VPA_INFER_NS = 8000,
	VPA_HAND_OVER_NS = 100000, /* shorter host code is the thread's own */
	VPA_LAUNCH_GAP_NS = 100000 /* longer host code before a launch is not the launch's own */
};

enum vpa_binding {
	VPA_BINDING_NONE, /* nothing precedes it: its recorded time stays */
	VPA_BINDING_LAUNCH,
	VPA_BINDING_STREAM,
	VPA_BINDING_EVENT,
	VPA_BINDING_INFERRED
};

enum vpa_wait { VPA_WAIT_NONE, VPA_WAIT_OP, VPA_WAIT_QUEUE };

struct vpa_edges {
	uint32_t *targets; /* of calls that wait: ops */
	size_t target_count, target_cap;
	int64_t latency_ns, graph_latency_ns; /* usual, from a launch to its op */
	int64_t stream_gap_ns;                /* usual, between two ops of a stream */
	uint64_t launch_gap_ns;               /* usual host code before a launch */
	/* How many launches a device's queue holds: a launch returns once the one that is this many before it has ended.
	 * At most VPA_QUEUE_LAUNCHES + 1, see launch_queue.h. */
	uint32_t queue_launches;
	/* Time of ops before which nothing known explains the delay; that which only an inferred edge explains; host code
	 * of threads that went on after another one's call. */
	uint64_t unexplained_ns, inferred_ns, handed_over_ns;
};

/* Fills in the edges of a tape. The caller calls vpa_edges_free(), whatever this returns. 0 or VPT_ENOMEM. */
int vpa_edges_find(struct vpa_tape *t, struct vpa_edges *out);
void vpa_edges_free(struct vpa_edges *e);

/* The cost of a call of this class that no longer waits, at most. */
uint64_t vpa_edges_cost_without_wait(uint8_t klass);

#endif

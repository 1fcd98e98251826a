/* gap_causes.h - what a device waited for while it was idle. Every nanosecond of a gap has one cause.
 *
 * K is the op that ends the gap [g0, g1); if there are several, the first by stream and id. Its own
 * call is the one with its correlation id, L is the outermost call around it, T is its thread.
 *
 *	head, tail of the window                                 before first work, after last work
 *	records lost in it; K has no own call                    unknown (...)
 *	K and the op before the gap came from one graph launch   inside graph
 *	the clocks of device and host disagree                   unknown (...)
 *	otherwise three stretches, in this order of time:
 *
 *	g0        L begins     L ends                  g1
 *	 |-- late ----|--- call ---|------ queue -------|
 *
 *	queue   up to 10 us after L: launch latency. Then, if the stream was told to wait, dependency
 *	        while another device works. The rest: graph start, scheduling (up to 10 us), queued
 *	call    blocking copy; L's own cause, if it is a call that holds the host; module load (a
 *	        first launch of 1 ms and more); else launch call
 *	late    host_late.h: what T did, and how far earlier waits had held it back
 *
 * In late and call, time in which the profiling library or the driver's loader worked has that as
 * its cause. Then, if K is the first op of its name on the device: gap_first_use.c. */
#ifndef VPA_ANALYSIS_IDLE_GAP_CAUSES_H
#define VPA_ANALYSIS_IDLE_GAP_CAUSES_H

#include "analysis/idle/gain.h"
#include "analysis/idle/host_late.h"

/* A gap to explain. */
struct vpa_question {
	uint32_t device;
	uint64_t start_ns, end_ns;
	const struct vpa_op
		*before; /* the op that ended last before it; NULL: head of the window */
	const struct vpa_op *gating; /* the op that ends it; NULL: tail of the window */
	/* When the previous op on the gating op's stream that came from another launch was
	 * launched; if that is unknown, when it began. 0: there was none. */
	uint64_t since_ns;
	/* The latest end of the ops of other devices that began before the gap ended. */
	uint64_t others_ns;
	/* Of the gating op's own call, if it has one: see struct vpa_host_late. */
	uint32_t place;
	uint64_t place_from_ns;
	int first_use; /* the gating op is the first of its name on the device */
};

/* The gap explained last, and scratch memory. Initialise to zero. */
struct vpa_answer {
	struct vpa_cause_pieces pieces;
	struct vpa_cause_pieces host_pieces; /* see struct vpa_gap */
	struct vpa_cuts cuts, spare;
	struct vpa_cause_pieces spare_pieces;
	struct vpa_setup_edge *edges;
	size_t edge_count, edge_cap;
};

/* Answers a question, and counts in the device's `gain` what the gap would have lost without each
 * of its causes. 0 or VPT_ENOMEM. */
int vpa_cause_answer(struct vpa_resolver *r, struct vpa_gain *gain, const struct vpa_question *q,
	struct vpa_answer *out);
void vpa_answer_free(struct vpa_answer *a);

/* Finds a gap's headline: the longest piece that has the cause of most of it. Ties go to the earlier cause in
 * causes.def, then to the earlier piece. It has at least one piece. */
void vpa_cause_headline(struct vpa_gap *gap);

enum {
	/* An op may be on its way this long after its launch returned, and the device may take this
	 * long to start it. */
	VPA_NEAR_NS = 10000,
	/* A call this long before the first use of a kernel is setting something up; a graph may
	 * take this long to start. */
	VPA_LOAD_NS = 1000000
};

/* Whether all of a gap [from, from + ns) is scheduling, unless a record gives another reason. */
static inline int vpa_cause_is_scheduling(uint64_t from_ns, uint64_t ns, uint64_t launch_end_ns)
{
	return launch_end_ns <= from_ns && from_ns - launch_end_ns >= VPA_NEAR_NS &&
	       ns - 1 < VPA_NEAR_NS;
}

/* The cause of the `ns` of a gap that follow 10 us after the end of L and any dependency. */
static inline enum vpa_cause vpa_cause_queued(int is_graph, uint64_t ns)
{
	return is_graph && ns <= VPA_LOAD_NS ? VPA_CAUSE_GRAPH_START
	       : ns <= VPA_NEAR_NS           ? VPA_CAUSE_SCHEDULING
					     : VPA_CAUSE_QUEUED;
}

/* Whether a stream got a wait after `since_ns` and before the outermost call `launch` began. */
static inline int vpa_cause_has_stream_wait(const struct vpa_resolver *r, uint32_t stream,
	uint32_t thread, uint64_t since_ns, uint64_t launch_start_ns)
{
	uint64_t last_ns;

	/* Usually no stream got a wait since. */
	if (r->newest_wait_ns <= since_ns)
		return 0;
	last_ns = vpa_resolver_last_wait(r, stream, thread, launch_start_ns);
	return last_ns != UINT64_MAX && last_ns > since_ns;
}

/* ---- gap_first_use.c: idle time before the first op of a name: a library sets itself up, compiles, and loads code.
 *
 * Its items are the time that counts as module load, and queries of 1 ms and more that make a library load code,
 * whose time then counts as module load too. With at least one item, first use is all time between the start of
 * the first and the end of the last, and long host code beside them. Never time inside a sync or a blocking copy,
 * nor the profiling library's. */

/* An end of an item. */
struct vpa_setup_edge {
	uint64_t at_ns;
	int queries; /* +1: a query begins, -1: one ends, 0: the items' first start or last end */
};

/* Judges `pieces` again, which are the late and the call stretch of a gap before the first op of its name; `thread`
 * launched it. Scratch memory is the answer's. 0 or VPT_ENOMEM. */
int vpa_cause_first_use(const struct vpa_resolver *r, uint32_t thread, struct vpa_answer *a,
	struct vpa_cause_pieces *pieces);

#endif

/* model_causes.h - what each nanosecond of a device's idle time waited for, in the slowest and most obvious way.
 *
 *	model_call_kinds.c  what a call does, from its name
 *	model_threads.c     the order of a thread's calls, its captures, its ranges
 *	model_work.c        the order of ops, their launches, what streams waited for
 *	model_late.c        what a thread did before it called, and what had held it back
 *	model_causes.c      gaps, their stretches, the sums
 *
 * Everything is kept in flat arrays and looked at as often as a question comes up; nothing is forgotten.
 *
 * A pause (LOSS rows of kind "paused") belongs to no gap and changes no other answer: a gap around it is one gap,
 * with one op that ends it, and its stretches, thresholds and credit are what they would be without the pause. Last
 * of all, the paused time is cut out of its pieces: a piece around a pause becomes two. A gap of which nothing is
 * left is none, and counts nothing of any call.
 *
 * Loss of ops is every LOSS row of positive length but those of kind "paused" and "cap" (names were dropped, not
 * rows). Process-wide ranges are annotations of every thread of their process. Ops, calls and waits outside of the
 * window are history like any other: --from and --to clip ops, and a device's gaps are those of the clipped ops,
 * but what was first of its name or before on its stream is asked of the whole trace. */
#ifndef VPT_TESTS_SUPPORT_MODEL_CAUSES_H
#define VPT_TESTS_SUPPORT_MODEL_CAUSES_H

#include "tests/support/model/model.h"

/* In the order in which an earlier one wins. */
enum model_cause {
	MODEL_BEFORE_FIRST_WORK,
	MODEL_AFTER_LAST_WORK,
	MODEL_RECORDS_LOST,
	MODEL_NO_LAUNCH_RECORD,
	MODEL_INSIDE_GRAPH,
	MODEL_SYNC,
	MODEL_BLOCKING_COPY,
	MODEL_ALLOCATION,
	MODEL_MODULE_LOAD,
	MODEL_FIRST_USE,
	MODEL_GRAPH_BUILD,
	MODEL_OTHER_CALL,
	MODEL_LAUNCH_RATE,
	MODEL_HOST_CODE,
	MODEL_LAUNCH_CALL,
	MODEL_LAUNCH_LATENCY,
	MODEL_DEPENDENCY,
	MODEL_GRAPH_START,
	MODEL_SCHEDULING,
	MODEL_QUEUED,
	MODEL_PROFILER,
	MODEL_CAUSES
};
extern const char *const model_cause_names[MODEL_CAUSES];

/* Neighbours may say the same: two stretches of host code are two pieces. Names are NULL where there is none. */
struct model_piece {
	uint64_t start, end;
	enum model_cause cause;
	const char *call, *range;
	/* By credit: what the time was without, with its place; the call that the host was in, if any. */
	int is_credited;
	enum model_cause host;
	const char *host_range, *inside;
	/* Long code of the host that a wait's credit was used up by: the call and place of the wait,
	 * NULL if there is none. */
	const char *instead_call, *instead_range;
};

struct model_gap {
	uint64_t start, end;
	uint64_t idle_ns; /* of it: what is left without pauses, the sum of the pieces */
	const struct model_op *before, *after; /* NULL at the window's edges */
	struct model_piece *pieces;            /* in order of time */
	size_t piece_count, piece_cap;
	/* The headline: the largest cause, its sum, call and place of its longest piece. */
	enum model_cause cause;
	uint64_t cause_ns;
	const char *call, *range;
	const char
		*launch_range; /* the place of the outermost call around the launch; NULL: none */
};

/* One cause with one range and call, over all gaps of a device. */
struct model_cause_row {
	enum model_cause cause;
	const char *range, *call;
	uint64_t ns, gaps; /* gaps that have such a piece */
	size_t newest;     /* the last of these, counted from 1 */
};

struct model_device {
	int64_t device;
	struct model_gap *gaps; /* in order of time */
	size_t gap_count, gap_cap;
	uint64_t idle_ns, ns[MODEL_CAUSES];
	struct model_cause_row *rows; /* in order of first appearance */
	size_t row_count, row_cap;
};

struct model_causes {
	struct model m; /* owns the names */
	uint64_t window_start, window_end;
	struct model_device *devices; /* that run an op in the window, by number */
	size_t device_count, device_cap;
};

/* Answers for a trace, whatever its format, with the window of these options (NULL: all of it). `out` is freed with
 * model_causes_free(), also on failure. Returns NULL, or why the trace cannot be read: good as long as `out`. */
const char *model_causes_compute(
	const struct vpt_trace *trace, const struct vpa_options *options, struct model_causes *out);
void model_causes_free(struct model_causes *c);

#endif

/* resolver.h - chunks in, joined events out.
 *
 * Chunks overlap in time and bring ops, their launches and the ranges around them separately. The resolver
 * holds an op back until no later chunk can bring an earlier one, then releases it: ops leave in order of
 * (start, stream, correlation), each with the call that launched it. Memory is bounded by the overlap of
 * chunks, and by what may still be asked about the threads' recent past. */
#ifndef VPA_ANALYSIS_RESOLVER_H
#define VPA_ANALYSIS_RESOLVER_H

#include "analysis/intervals.h"
#include "analysis/laps.h"
#include "analysis/launches.h"
#include "analysis/model.h"
#include "analysis/op_queue.h"
#include "analysis/timeline.h"
#include "formats/batch.h"

struct vpa_process {
	int64_t pid;
	struct vpa_timeline ranges; /* start/end ranges */
	struct vpa_step_span range; /* what launches were looked up in last; until the next chunk */
	struct vpa_launches launches;
};

/* Waits that were queued on a stream: correlation ids, rising. */
struct vpa_waits {
	uint64_t *ids;
	size_t count, cap, taken;
};

/* Where resolved events go. Ops come in batches, in order, all of positive length inside the window. */
struct vpa_resolver_sink {
	int (*ops)(void *ctx, struct vpa_ops *ops);
	/* A call that waits for a device and starts inside the window; its ops are known by then. */
	int (*call)(void *ctx, const struct vpa_call *call);
	int (*range)(void *ctx, const struct vpa_range *range); /* nothing refers to it any more */
	/* Inside the window. All ops that its thread launched before it and that are not out yet come later. */
	int (*mark)(void *ctx, const struct vpa_mark *mark);
	void *ctx;
};

struct vpa_resolver {
	struct vpa_model *model;
	struct vpa_resolver_sink sink;
	const struct vpa_rules *rules;
	struct vpa_thread_past *pasts; /* by thread */
	size_t past_cap;
	struct vpa_process *processes;
	size_t process_count, process_cap;
	struct vpa_waits *waits; /* by stream */
	size_t waits_cap;
	struct vpa_range_pool pool;
	struct vpa_laps laps;
	struct vpa_intervals lost, profiler, loading;
	struct vpa_intervals paused; /* recording was switched off: belongs to no gap */
	uint64_t quiet_ns;           /* none of them reaches beyond this */

	struct vpa_resolver_maps *maps; /* ids of the chunk at hand, lanes, names */
	struct vpa_op_queue queue;
	struct vpa_ops ops;            /* on their way to the sink */
	const struct vpt_batch *batch; /* the chunk at hand */
	uint64_t released_ns;          /* ops before it have been released */
	int failed;

	struct vpa_counts counts;
	uint64_t ops_without_launch, zero_duration, reversed, zero_time, late_ops, unmatched_ranges;
	uint64_t launches_without_op, lost_events; /* records */
	uint64_t losses;                           /* LOSS rows, pauses not among them */
	uint64_t names_lost;                       /* beyond a cap */
};

int vpa_resolver_init(struct vpa_resolver *r, struct vpa_model *model,
	const struct vpa_rules *rules, const struct vpa_resolver_sink *sink);
void vpa_resolver_free(struct vpa_resolver *r);

/* Takes in a chunk, which must stay as it is until vpa_resolver_release() has returned. 0 or VPT_ENOMEM. */
int vpa_resolver_add(struct vpa_resolver *r, const struct vpt_batch *b);

/* Releases every op that starts before `until_ns`, and copies what has to wait. */
int vpa_resolver_release(struct vpa_resolver *r, uint64_t until_ns);

/* Forgets what lies before `frontier_ns`: a gap that begins earlier is not told all. Pauses, which are few and decide
 * how long a gap is, are kept. */
int vpa_resolver_trim(struct vpa_resolver *r, uint64_t frontier_ns);

/* The trace is over: open ranges are closed at `end_ns`, everything left is handed out and counted. */
int vpa_resolver_end(struct vpa_resolver *r, uint64_t end_ns);

/* The range that is innermost on a thread at a moment, its process-wide ones included; NULL: none. */
const struct vpa_range *vpa_resolver_range_at(struct vpa_resolver *r, uint32_t thread, uint64_t t);

/* The innermost of each: those of the thread itself, and the process-wide ones. */
void vpa_resolver_ranges_at(struct vpa_resolver *r, uint32_t thread, uint64_t t,
	const struct vpa_range **own, const struct vpa_range **wide);

/* Whether a wait for another stream was queued on `stream` after the call `after` and before the call `before`
 * (correlation ids). Questions for one stream come in order. */
static inline int vpa_resolver_waited(
	struct vpa_resolver *r, uint32_t stream, uint64_t after, uint64_t before)
{
	struct vpa_waits *w = &r->waits[stream];
	int found = 0;

	while (w->taken < w->count && w->ids[w->taken] < before)
		found |= w->ids[w->taken++] > after;
	return found;
}

#endif

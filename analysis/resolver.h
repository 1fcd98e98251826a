/* resolver.h - chunks in, joined events out.
 *
 * Chunks overlap in time and bring ops, their launches and the ranges around them separately. The resolver
 * holds an op back until no later chunk can bring an earlier one, then releases it: ops leave in order of
 * (start, stream, correlation), each with the call that launched it. Memory is bounded by the overlap of
 * chunks, and by what may still be asked about the threads' recent past. */
#ifndef VPA_ANALYSIS_RESOLVER_H
#define VPA_ANALYSIS_RESOLVER_H

#include "analysis/holds.h"
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
	struct vpa_overhead overhead; /* of its threads */
};

/* Where resolved events go. Ops come in batches, in order, all of positive length inside the window. */
struct vpa_resolver_sink {
	int (*ops)(void *ctx, struct vpa_ops *ops);
	/* An op that began before the window, or with it. Such ops come in order, before all others. */
	int (*early)(void *ctx, const struct vpa_ops *ops, size_t i);
	/* A call that waits for a device and starts inside the window; its ops are known by then. */
	int (*call)(void *ctx, const struct vpa_call *call);
	int (*range)(void *ctx, struct vpa_range *range); /* nothing refers to it any more */
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
	struct vpa_waits *waits; /* by stream: when it was told to wait */
	size_t waits_cap;
	uint32_t *ranks; /* by stream, for `rank_count` of them, see op_queue.h */
	size_t rank_count, rank_cap;
	int waits_name_streams;  /* some record says which stream waits: then all do */
	uint64_t newest_wait_ns; /* no stream was told to wait later than this */
	struct vpa_range_pool pool;
	struct vpa_laps laps;
	struct vpa_intervals lost;
	struct vpa_overhead overhead; /* of no thread in particular */
	struct vpa_intervals
		tracing; /* the profiling library was at work on some thread: what tracing cost */
	struct vpa_intervals paused; /* recording was switched off: belongs to no gap */
	uint64_t quiet_ns;           /* neither losses nor overhead reach beyond this */

	struct vpa_resolver_maps *maps; /* ids of the chunk at hand, lanes, names */
	struct vpa_op_queue queue;
	struct vpa_ops ops;            /* on their way to the sink */
	const struct vpt_batch *batch; /* the chunk at hand */
	struct vpa_holds holds;        /* copies that calls inside them may make blocking */
	uint64_t released_ns;          /* ops before it have been released */
	int failed;

	struct vpa_counts counts;
	uint64_t ops_without_launch, zero_duration, reversed, zero_time, late_ops, unmatched_ranges;
	uint64_t launches_without_op;
	/* Ops without launch that began before every call known by then, the last such op, and the first call of all; ~0: none. */
	uint64_t early_ops, last_early_ns, first_call_ns;
	uint64_t names_lost; /* beyond a cap */
	/* How often a name was cut, see long_names.h, or called like others, for there were too many. */
	uint64_t names_cut, names_left_out;
	/* Ranges that are open now, and the most that were open beside as many as are kept. */
	uint64_t open_count, open_left_out;
	uint64_t
		lanes_left_out; /* threads and streams that share one with others, for there were too many */
	uint64_t rows_since_trim;
};

int vpa_resolver_init(struct vpa_resolver *r, struct vpa_model *model,
	const struct vpa_rules *rules, const struct vpa_resolver_sink *sink);
void vpa_resolver_free(struct vpa_resolver *r);

/* Takes in a chunk, which must stay as it is until vpa_resolver_release() has returned. 0 or VPT_ENOMEM. */
int vpa_resolver_add(struct vpa_resolver *r, const struct vpt_batch *b);

/* No row will be met between these moments, since the chunks that had them cannot be read. 0 or VPT_ENOMEM. */
int vpa_resolver_lose(struct vpa_resolver *r, uint64_t start_ns, uint64_t end_ns);

/* Releases every op that starts before `until_ns`, but for those that holds.h lets wait, and copies what has to wait. Up to
 * when ops are out `released_ns` says. */
int vpa_resolver_release(struct vpa_resolver *r, uint64_t until_ns);

/* Forgets what lies before `frontier_ns`: a gap that begins earlier is not told all. Pauses, which are few and decide
 * how long a gap is, are kept. */
int vpa_resolver_trim(struct vpa_resolver *r, uint64_t frontier_ns);

/* The trace is over: open ranges are closed at `end_ns`, everything left is handed out and counted. */
int vpa_resolver_end(struct vpa_resolver *r, uint64_t end_ns);

/* The place of a moment on a thread: the innermost annotation open, process-wide ones included, else the innermost
 * operator, else the profiler's iteration. Returns the range's name; 0: none. */
uint32_t vpa_resolver_place(struct vpa_resolver *r, uint32_t thread, uint64_t t);

/* The same of a stretch of time: ranges that are open in its middle and cover more than half of it. */
uint32_t vpa_resolver_place_of(
	struct vpa_resolver *r, uint32_t thread, uint64_t from_ns, uint64_t to_ns);

/* The innermost of each: those of the thread itself, and the process-wide ones. */
void vpa_resolver_ranges_at(struct vpa_resolver *r, uint32_t thread, uint64_t t,
	const struct vpa_range **own, const struct vpa_range **wide);

/* When the stream was last told to wait before `before_ns`, or where no record names streams, the thread last told one
 * to. ~0: never. */
uint64_t vpa_resolver_last_wait(
	const struct vpa_resolver *r, uint32_t stream, uint32_t thread, uint64_t before_ns);

/* How much of [start, end) was recorded: pauses are not. */
static inline uint64_t vpa_resolver_recorded_ns(
	const struct vpa_resolver *r, uint64_t start_ns, uint64_t end_ns)
{
	return r->paused.count ? vpa_intervals_outside(&r->paused, start_ns, end_ns)
			       : end_ns - start_ns;
}

#endif

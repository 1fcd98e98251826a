/* resolver.h - chunks in, joined events out.
 *
 * Chunks overlap in time, and deliver ops, their launches and the ranges around them separately.
 * The resolver holds an op back until no later chunk can bring an earlier one, then releases it:
 * ops leave in order of (start, stream, correlation), each with the call that launched it. Memory
 * is bounded by the overlap of chunks and by the part of the threads' past that later queries may
 * need. */
#ifndef VPA_ANALYSIS_JOIN_RESOLVER_H
#define VPA_ANALYSIS_JOIN_RESOLVER_H

#include "analysis/base/intervals.h"
#include "analysis/join/pending/op_queue.h"
#include "analysis/join/pending/launches.h"
#include "analysis/model/model.h"
#include "analysis/past/marked_spans.h"
#include "analysis/past/timeline.h"
#include "formats/chunk/batch.h"

struct vpa_process {
	int64_t pid;
	uint32_t main_thread;       /* the one whose id is the process's; VPA_NONE: not seen */
	struct vpa_timeline ranges; /* start/end ranges */
	/* result of the last launch lookup; valid until the next chunk */
	struct vpa_range_span range;
	struct vpa_launches launches;
	struct vpa_overhead overhead; /* of its threads */
	uint64_t first_id;            /* the smallest correlation id of its calls; ~0: none */
	/* See resolver_lost.c. Its ops are on `device`, if it has_device; on others too, if it has_devices. */
	uint32_t device;
	uint8_t has_device, has_devices;
	/* The latest wait of a thread for a whole device: when it began; 0: none. */
	uint64_t device_wait_ns;
	/* Of its threads' captures of streams: when the first began and the last ended, and how many
	 * are open. */
	uint64_t captured_from_ns, captured_until_ns, open_captures;
};

/* Ops of a stream without launch before its first op with one: if their ids are smaller than those of
 * all calls of the process, they were launched before the recording began. */
struct vpa_backlog {
	uint64_t count, newest_id;
	uint8_t is_over; /* 1: an op has a launch */
};

/* Receives resolved events. Ops come in batches, in order, all of positive length inside the
 * window. */
struct vpa_resolver_sink {
	int (*ops)(void *ctx, struct vpa_ops *ops);
	/* What other threads may read of the batches before is about to change: the model's names; its threads,
	 * streams or kernels, or what is known of pauses. May be NULL. */
	int (*grow_names)(void *ctx);
	int (*grow)(void *ctx);
	/* Ops of no length inside the window, in order, before the ops of their batch. They take no
	 * time, so what idle.h fills in and `first_of_launch` are undefined. May be NULL. */
	int (*instants)(void *ctx, const struct vpa_ops *ops);
	/* An op that began before the window, or with it. All such ops come in order, before all
	 * others. */
	int (*early)(void *ctx, const struct vpa_ops *ops, size_t i);
	/* A call that waits for a device and starts inside the window; its ops are known by now. */
	int (*call)(void *ctx, const struct vpa_call *call);
	/* A call that loads code or makes a CUDA graph, and starts inside the window: as soon as it
	 * is known, so calls inside it come first, and whether it is nested is not known yet. */
	int (*setup)(void *ctx, const struct vpa_call *call);
	int (*range)(void *ctx, struct vpa_range *range); /* nothing refers to it any more */
	/* A mark inside the window. Ops that its thread launched before it may still come later. */
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
	struct vpa_waits *waits; /* by stream: when it was made to wait */
	size_t waits_cap;
	struct vpa_backlog *backlogs; /* by stream */
	size_t backlog_cap;
	/* By stream, for `rank_count` of them, see op_queue.h; and these streams by rank. */
	uint32_t *ranks, *ranked;
	size_t rank_count, rank_cap, ranked_cap;
	/* What a chunk settles: threads that it named, and streams whose waits are not in order. */
	struct vpa_unsettled {
		uint32_t *items;
		size_t count, cap;
	} threads, streams;
	int waits_name_streams;  /* 1: some record names the waiting stream; then all do */
	uint64_t newest_wait_ns; /* no stream was made to wait after this */
	struct vpa_range_pool pool;
	struct vpa_marked_spans marked_spans;
	struct vpa_intervals lost;
	struct vpa_overhead overhead; /* of no particular thread */
	/* The profiling library was at work on some thread: what tracing cost. */
	struct vpa_intervals tracing;
	struct vpa_intervals paused; /* recording was off: belongs to no gap */
	/* By device: pages of unified memory were on their way. Only if there were any. */
	struct vpa_intervals *faults;
	size_t fault_cap;
	/* A gap that begins later may be explained from its launch alone: no loss or overhead record
	 * reaches beyond this. ~0: the clocks of device and host disagree. */
	uint64_t quiet_ns;

	struct vpa_resolver_maps *maps; /* ids of the current chunk, lanes, names */
	struct vpa_op_queue queue;
	struct vpa_ops ops, instants;  /* being sent to the sink */
	const struct vpt_batch *batch; /* the current chunk */
	struct vpa_copy_holds holds;   /* copies that inner calls may make blocking */
	uint64_t first_left_id;        /* the smallest id of calls that are not added; ~0: none */
	uint64_t released_ns;          /* ops before it have been released */
	uint64_t newest_op_ns;         /* the start of the last one */
	uint64_t chunks;               /* added so far */
	uint64_t asked_ns;             /* `until_ns` of the last vpa_resolver_release() */
	int failed;

	struct vpa_counts counts;
	/* Ops with a launch; of these, those that began well before it; by how much, at most. */
	uint64_t joined_ops, premature_ops, lead_ns;
	uint64_t ops_without_launch, zero_duration, reversed, zero_time, late_ops, unmatched_ranges;
	uint64_t launches_without_op;
	uint64_t launches_lost; /* part of them, see resolver_lost.c */
	uint64_t far_ops;       /* with times outside the capture */
	uint64_t ops_before;    /* that ended before the window */
	uint64_t late_samples;  /* of stacks; an op that begins later had been released */
	uint64_t exact_samples;
	/* Ops without launch that began before every call known by then, and are in no backlog; the
	 * last such op; the first call of all. ~0: none. */
	uint64_t early_ops, last_early_ns, first_call_ns;
	uint64_t first_unlaunched_ns; /* of all ops without launch; ~0: none */
	uint64_t names_lost;          /* beyond a limit */
	/* Names that were shortened, see long_names.h; names replaced by a common one, because
	 * there were too many. */
	uint64_t names_cut, names_left_out;
	/* Open ranges now; the maximum number of open ranges beyond those kept. */
	uint64_t open_count, open_left_out;
	/* Threads and streams that share a lane with others, because there were too many. */
	uint64_t lanes_left_out;
	uint64_t rows_since_trim;
};

/* `r` is of zeros: it has 100 KB. 0 or VPT_ENOMEM. */
int vpa_resolver_init(struct vpa_resolver *r, struct vpa_model *model,
	const struct vpa_rules *rules, const struct vpa_resolver_sink *sink);
void vpa_resolver_free(struct vpa_resolver *r);

/* Adds a chunk, which must not change until vpa_resolver_release() returns. 0 or VPT_ENOMEM. */
int vpa_resolver_add(struct vpa_resolver *r, const struct vpt_batch *b);

/* Counts the rows of a chunk that is not added, since none of them matters to the window: by enum vpt_contents_column. */
void vpa_resolver_leave(struct vpa_resolver *r, const uint64_t *values);

/* No row between these times will come, since the chunks that held them cannot be read. 0 or
 * VPT_ENOMEM. */
int vpa_resolver_lose(struct vpa_resolver *r, uint64_t start_ns, uint64_t end_ns);

/* Releases every op that starts before `until_ns`, except those that copy_holds.c holds back and those
 * that wait for samples of stacks, and copies what must wait. `released_ns` says up to where ops are
 * out. Chunks do not say which samples they hold, so an op waits until each sampled thread has a
 * sample after the op's start, but at most until the next call. */
int vpa_resolver_release(struct vpa_resolver *r, uint64_t until_ns);

/* Drops what lies before `frontier_ns`: a gap that begins earlier gets an incomplete explanation.
 * Keeps pauses, which are few and decide a gap's length. */
int vpa_resolver_trim(struct vpa_resolver *r, uint64_t frontier_ns);

/* The trace has ended: closes open ranges at `end_ns`, emits and counts everything left. */
int vpa_resolver_end(struct vpa_resolver *r, uint64_t end_ns);

/* How many ops without launch were launched before the recording began. Call at the end. */
uint64_t vpa_resolver_launched_before(const struct vpa_resolver *r);

/* The place of a moment on a thread: the innermost open annotation that it opened, process-wide ones
 * included, else the innermost operator, else a process-wide annotation of another thread, else the
 * profiler's iteration. Returns the range's name; 0: none. */
uint32_t vpa_resolver_place(struct vpa_resolver *r, uint32_t thread, uint64_t t);

/* The same for a stretch of time: considers ranges that are open in its middle and cover more than
 * half of it. */
uint32_t vpa_resolver_place_of(
	struct vpa_resolver *r, uint32_t thread, uint64_t from_ns, uint64_t to_ns);
/* Whether the range that is its place covers more than nine tenths of it. */
int vpa_resolver_is_in_place(
	struct vpa_resolver *r, uint32_t thread, uint64_t from_ns, uint64_t to_ns, uint32_t place);

/* As vpa_timeline_unfinished(), over all threads and processes. A range that no chunk so far has listed begins
 * after those that one has. */
uint64_t vpa_resolver_unfinished(
	const struct vpa_resolver *r, vpa_range_is_meant *is_meant, void *ctx);

/* The innermost range of the thread, and the innermost process-wide range. */
void vpa_resolver_ranges_at(struct vpa_resolver *r, uint32_t thread, uint64_t t,
	const struct vpa_range **own, const struct vpa_range **wide);

/* When the stream was last made to wait before `before_ns`; if no record names streams, when the
 * thread last made one wait. ~0: never. */
uint64_t vpa_resolver_last_wait(
	const struct vpa_resolver *r, uint32_t stream, uint32_t thread, uint64_t before_ns);

/* The clocks of device and host disagree: from now on no gap has a cause that rests on a launch. */
static inline void vpa_resolver_doubt_launches(struct vpa_resolver *r)
{
	r->model->clocks_disagree = 1;
	r->quiet_ns = UINT64_MAX;
}

/* How much of [start, end) was recorded, pauses excluded. */
static inline uint64_t vpa_resolver_recorded_ns(
	const struct vpa_resolver *r, uint64_t start_ns, uint64_t end_ns)
{
	return r->paused.count ? vpa_intervals_outside(&r->paused, start_ns, end_ns)
			       : end_ns - start_ns;
}

/* Samples of the main thread, and its number in *other, which stand for those of another thread before that one was
 * first sampled: it did not exist, or had done nothing that made it known. NULL: there are none, or the thread is never
 * sampled, so it runs no Python. */
const struct vpa_stack_samples *vpa_resolver_stand_in(
	const struct vpa_resolver *r, uint32_t thread, uint32_t *other);

#endif

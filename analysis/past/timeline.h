/* timeline.h - nested ranges on one timeline: a thread's push/pop ranges, or the start/end ranges
 * of a process.
 *
 * Ranges arrive in completion order, children first, with the open ones listed at each chunk's end.
 * The timeline notes when the innermost range changes and finds each range's parent. */
#ifndef VPA_ANALYSIS_PAST_TIMELINE_H
#define VPA_ANALYSIS_PAST_TIMELINE_H

#include "analysis/base/intervals.h"
#include "analysis/past/open_ranges.h"
#include "analysis/past/past_calls.h"

#include <stddef.h>
#include <stdint.h>

/* ---- past_waits.c: when a stream was made to wait, or a thread made some stream wait: times in order.
 *
 * The only query is for the last wait before a moment, so of the waits before every future query
 * one is enough. */

struct vpa_wait {
	uint64_t time_ns;
	uint64_t id;   /* of the call: correlation id (streams) or position (threads) */
	uint8_t looks; /* how many more times its call is looked for */
};

struct vpa_waits {
	struct vpa_wait *items; /* by time, after settling */
	size_t count, cap;
	size_t sorted;  /* how many at the front are in order */
	int is_looking; /* the calls of some waits are still looked for */
	struct vpa_wait *spare;
	size_t spare_cap;
};

static inline int vpa_waits_are_settled(const struct vpa_waits *w)
{
	return w->sorted == w->count && !w->is_looking;
}

/* Adds a wait. With `moves` its call is looked for when the waits are settled, and once more the
 * next time. Keeps at most 2^17, the newest. 0 or VPT_ENOMEM. */
int vpa_waits_add(struct vpa_waits *w, uint64_t time_ns, uint64_t id, int moves);

/* When the call of a wait began, which is then the wait's time; ~0: not known. */
typedef uint64_t vpa_waits_find(void *ctx, uint64_t id);

/* Sorts all waits, at the times of their calls if `find` knows them; it may be NULL if none moves.
 * 0 or VPT_ENOMEM. */
int vpa_waits_settle(struct vpa_waits *w, vpa_waits_find *find, void *ctx);

/* Index of the last wait before `t`; SIZE_MAX: none. */
size_t vpa_waits_before(const struct vpa_waits *w, uint64_t t);

/* No later query is about a time before `t`. */
void vpa_waits_trim(struct vpa_waits *w, uint64_t t);

void vpa_waits_free(struct vpa_waits *w);

/* ---- past_stacks.c: a thread's recent Python stacks, in order of time: samples of a moment, or, of a
 * trace of all calls and returns, each stack until the next.
 *
 * Grows at the end; trimmed at the front once nothing can ask for the oldest. */

enum {
	/* A longer interval between two samples is a pause, about which they say nothing. */
	VPA_SAMPLE_INTERVAL_MAX_NS = 250000000,
	VPA_SAMPLE_INTERVAL_NS = 5000000 /* assumed before a thread's first sample */
};

struct vpa_stack_sample {
	uint64_t time_ns;
	uint32_t stack;   /* of stack_lines.h; 0: no Python code */
	uint32_t wait_us; /* of waiting for a CPU since the sample before */
	/* The time for which a sample of a moment counts, at least 1: the interval since the sample
	 * before; after a pause, the interval before the pause. */
	uint32_t weight_ns;
	uint8_t state;    /* VPT_THREADSTATE_... */
	uint8_t is_exact; /* the stack holds until the next sample */
};

/* All zeros is empty. */
struct vpa_stack_samples {
	struct vpa_stack_sample *items;
	size_t count, cap;
	size_t dropped; /* dropped items in front, compacted now and then */
	uint64_t late;  /* left out, since they came before one that was there already */
	/* When the thread was first sampled; 0: never, or its stacks are exact. */
	uint64_t first_ns;
};

/* Appends a sample, and computes its weight. 0 or VPT_ENOMEM. */
int vpa_stack_samples_add(struct vpa_stack_samples *s, const struct vpa_stack_sample *sample);

/* The index of the first sample at `t` or later; s->count: none. */
size_t vpa_stack_samples_from(const struct vpa_stack_samples *s, uint64_t t);

/* The exact stack in force at `t`; NULL: none is known. */
const struct vpa_stack_sample *vpa_stack_samples_at(const struct vpa_stack_samples *s, uint64_t t);

/* The same, or the first exact stack after `t`; NULL: there is neither. */
const struct vpa_stack_sample *vpa_stack_samples_next(
	const struct vpa_stack_samples *s, uint64_t t);

/* Drops what is before `t`, except the last one before it, and the oldest of very many. */
void vpa_stack_samples_trim(struct vpa_stack_samples *s, uint64_t t);
void vpa_stack_samples_free(struct vpa_stack_samples *s);

struct vpa_timeline {
	struct vpa_range_changes changes;
	struct vpa_range *top;       /* innermost at the last change */
	uint64_t last_ns;            /* time of the last change */
	struct vpa_open_ranges open; /* as of the last chunk's end */
	struct vpa_range *
		*open_of; /* by number in it, each a reference; NULL: the number is free */
	size_t open_of_cap;
	/* Taken from `open` since then: their references are dropped when the chunk is settled. */
	struct vpa_range **ended;
	size_t ended_count, ended_cap;
	/* The chain of `top` as of last_ns, outermost first. Some may have ended: they are unlinked
	 * once there are `live_limit`. */
	struct vpa_range **live;
	size_t live_count, live_cap, live_limit;
	/* Ranges that began while another of their name was open as far as was known: the next chunk may bring
	 * its end. Both are references. */
	struct vpa_nesting {
		struct vpa_range *inner, *outer;
	} * nestings;
	size_t nesting_count, nesting_cap;
	int is_wide; /* ranges of a process, which may overlap as they please: none is nested */
	/* First seen in this chunk: the ranges open at its end, then the others in completion
	 * order. */
	struct vpa_range **fresh;
	size_t fresh_count, fresh_cap;
	size_t fresh_open; /* how many of them are open */
	uint64_t late;     /* ranges that arrived after their time was settled: in no change */
	uint64_t deep;     /* ranges in VPA_NESTING_MAX others: in no change */
};

/* When the profiling library or the driver's loader was at work. */
struct vpa_overhead {
	struct vpa_intervals profiler, loading;
};

/* What a thread's ops tell of its launches. */
struct vpa_answers {
	int any;             /* 0: no launch of it has an op, and the rest is undefined */
	uint64_t first_ns;   /* when the launch of the first op began */
	uint64_t latest_ns;  /* and the latest launch with an op */
	uint64_t longest_ns; /* the longest time from a launch to the end of its op */
	uint32_t stream, device;
	uint8_t has_streams, has_devices; /* 1: there are ops on others too */
};

/* A thread's recent past. */
struct vpa_thread_past {
	struct vpa_calls calls;
	struct vpa_waits waits;       /* waits it imposed on streams */
	struct vpa_captures captures; /* of streams, as CUDA graphs */
	/* After the call that began the capture which is open; 0: none is, as far as calls were added. */
	uint64_t capture_begin;
	struct vpa_answers answers; /* to its launches */
	/* Its latest wait for a whole device and for a stream: when they began; and when its latest wait
	 * of any kind ended. 0: none. See resolver_lost.c. */
	uint64_t device_wait_ns, stream_wait_ns, wait_end_ns;
	int is_unsettled;             /* it may have got rows since it was settled */
	struct vpa_overhead overhead; /* recorded on this thread */
	/* The last outermost call that put work on a device and began before anything that may
	 * still be queried; VPA_NOWHERE: none. Calls from here on are kept. */
	uint64_t submitted;
	struct vpa_timeline ranges;
	struct vpa_stack_samples samples;
	uint64_t sampled_chunk; /* the last one with samples, see vpa_resolver.chunks; 0: none */
	/* result of the last launch lookup; valid until the next chunk */
	struct vpa_range_span range;
	uint64_t forgotten_ns; /* calls that ended by then have been dropped */
	/* The ranges that an op or a gap may still ask for: those around calls from `position`
	 * on. */
	struct {
		uint64_t position, end; /* of all calls, when this was computed */
		uint64_t ended_ns;      /* the call at `position`; ~0: there is none */
		uint64_t earliest_ns;   /* start of such a call; ~0: there is none */
	} asked;
};

/* Allocates ranges and takes them back. */
struct vpa_range_pool {
	struct vpa_range *unused;
	struct vpa_range **slabs;
	size_t slab_count, slab_cap;
	/* Scratch memory for dropping references, with room for all forks. */
	struct vpa_range **pending;
	size_t pending_count, pending_cap, fork_count;
	/* Called when the last reference to a range is dropped, before it is reused. */
	void (*finished)(void *ctx, struct vpa_range *range);
	void *ctx;
};

/* ---- range_pool.c ---- */

/* A new range with one reference, the caller's. NULL: no memory. */
struct vpa_range *vpa_range_new(struct vpa_range_pool *pool);
/* Does not call finished() for ranges still referenced. */
void vpa_range_pool_free(struct vpa_range_pool *pool);
/* Frees a range whose last reference was dropped, and drops its reference to its parent. */
void vpa_range_finish(struct vpa_range_pool *pool, struct vpa_range *range);

static inline void vpa_range_drop(struct vpa_range_pool *pool, struct vpa_range *range)
{
	if (range && --range->references == 0)
		vpa_range_finish(pool, range);
}

/* ---- timeline.c ---- */

/* An OPEN row of a range that an earlier chunk listed, with this start, name and domain: its annotation,
 * if it has one, replaces the earlier one. Returns whether there is such a range. */
int vpa_timeline_still_open(struct vpa_timeline *t, const struct vpa_range *as);

/* Ends the range of an earlier OPEN row with this start, name and domain; its annotation counts as that of an
 * OPEN row does. *ended is 0 if there is none. 0 or VPT_ENOMEM. */
int vpa_timeline_end_open(struct vpa_timeline *t, const struct vpa_range *as, int *ended);

/* Adds a range first seen in this chunk; open ones (end ~0) must come before ended ones. Takes over
 * the caller's reference. */
int vpa_timeline_add(struct vpa_timeline *t, struct vpa_range *range);

/* Settles the chunk: parents, changes, the list of open ranges. Call after adding all its rows. */
int vpa_timeline_settle(struct vpa_timeline *t, struct vpa_range_pool *pool);

/* Drops all changes that are over before `before_ns`, and all ranges that contain nothing after it. */
void vpa_timeline_trim(struct vpa_timeline *t, struct vpa_range_pool *pool, uint64_t before_ns);

/* Whether a range is one of those looked for. */
typedef int vpa_range_is_meant(void *ctx, const struct vpa_range *range);

/* The earliest start of the ranges that are meant and for which finished() is still to be called; ~0: there is
 * none; 0: not known. */
uint64_t vpa_timeline_unfinished(
	const struct vpa_timeline *t, vpa_range_is_meant *is_meant, void *ctx);

/* At the end of the trace: drops every reference, so finished() is called for each range. */
void vpa_timeline_end(struct vpa_timeline *t, struct vpa_range_pool *pool);
void vpa_timeline_free(struct vpa_timeline *t);

#endif

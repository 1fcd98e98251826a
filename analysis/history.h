/* history.h - what a thread did lately: its CUDA calls, and its innermost range at any moment.
 *
 * Both only grow at the end and are cut off at the front once nothing can ask for them any more. */
#ifndef VPA_ANALYSIS_HISTORY_H
#define VPA_ANALYSIS_HISTORY_H

#include "analysis/model.h"
#include "formats/memory.h"

enum {
	VPA_CALL_BLOCK = 512,
	VPA_CALLS_AHEAD = 4,
	/* Below this the host launches slowly; from here on it does something else. */
	VPA_STALL_NS = 100000
};

/* How much of each call of a block gaps of a device have counted, see cause.h. */
struct vpa_counted {
	struct vpa_counted *next; /* of another device */
	uint32_t device;
	uint32_t exhausted; /* no later gap counts any more of the calls in the first slots */
	uint64_t ns[VPA_CALL_BLOCK];
};

struct vpa_call_block {
	uint64_t first; /* position of calls[0] */
	struct vpa_counted *counted;
	uint32_t thread;  /* index of the thread of all its calls */
	uint32_t waiting; /* launches whose op has not been met */
	uint64_t
		start_ns; /* earliest start in it: an outer call may begin long before its neighbours */
	/* How many of its calls put work on a device. Plain: all of them do and wait for nothing, one after the other, none
	 * inside another, and less than VPA_STALL_NS apart. */
	uint32_t launches, plain;
	uint32_t
		submits; /* 0: none of its calls puts work on a device, or encloses one that does */
	uint64_t calls_ns; /* their time, where plain */
	struct vpa_call calls[VPA_CALL_BLOCK];
	/* The same calls' columns. */
	uint64_t starts_ns[VPA_CALL_BLOCK], ends_ns[VPA_CALL_BLOCK];
	/* 0: none, or no call there yet; so it is behind the last call too, for those who look ahead. */
	uint64_t correlations[VPA_CALL_BLOCK + VPA_CALLS_AHEAD];
	/* So many calls before it on the thread are inside it; of a nested one: so many calls after it stands the one around
	 * it. */
	uint32_t encloses[VPA_CALL_BLOCK];
	/* Of each nested call: so many calls after it stands one that is known to be around it; 0: see `encloses`. NULL
	 * until calls nest deeply, since most threads have a block and few calls. */
	uint32_t *outer;
};

/* The block that a call stands in: `slot` says where. */
static inline struct vpa_call_block *vpa_call_block_of(const struct vpa_call *call)
{
	uintptr_t first = (uintptr_t)(call - call->slot);

	return (struct vpa_call_block *)(first - offsetof(struct vpa_call_block, calls));
}

static inline uint64_t vpa_call_start(const struct vpa_call *call)
{
	return vpa_call_block_of(call)->starts_ns[call->slot];
}

static inline uint64_t vpa_call_end(const struct vpa_call *call)
{
	return vpa_call_block_of(call)->ends_ns[call->slot];
}

static inline uint64_t vpa_call_correlation(const struct vpa_call *call)
{
	return vpa_call_block_of(call)->correlations[call->slot];
}

static inline uint32_t *vpa_call_encloses(const struct vpa_call *call)
{
	return &vpa_call_block_of(call)->encloses[call->slot];
}

static inline uint64_t vpa_call_position(const struct vpa_call *call)
{
	return vpa_call_block_of(call)->first + call->slot;
}

static inline uint32_t vpa_call_thread(const struct vpa_call *call)
{
	return vpa_call_block_of(call)->thread;
}

/* Calls in completion order. Position p stands at blocks[p / 512 - first]; calls never move. */
struct vpa_calls {
	struct vpa_call_block **blocks;
	size_t block_count, block_cap;
	uint64_t first_block; /* blocks before it are gone */
	uint64_t begin, end;  /* positions held */
};

static inline struct vpa_call *vpa_calls_at(const struct vpa_calls *c, uint64_t position)
{
	return &c->blocks[position / VPA_CALL_BLOCK - c->first_block]
			->calls[position % VPA_CALL_BLOCK];
}

/* When the call at `position` ended. */
static inline uint64_t vpa_calls_end_at(const struct vpa_calls *c, uint64_t position)
{
	return c->blocks[position / VPA_CALL_BLOCK - c->first_block]
		->ends_ns[position % VPA_CALL_BLOCK];
}

/* A block of the call at `position`. */
static inline struct vpa_call_block *vpa_calls_block(const struct vpa_calls *c, uint64_t position)
{
	return c->blocks[position / VPA_CALL_BLOCK - c->first_block];
}

/* Begins the block that the next call of this thread stands in. 0 or VPT_ENOMEM. */
int vpa_calls_begin_block(struct vpa_calls *c, uint32_t thread);

/* Position of the first call that ends after `t` (calls.end if none). */
uint64_t vpa_calls_after(const struct vpa_calls *c, uint64_t t);

/* The earliest start of the calls held from `position` on; ~0 if there is none. */
uint64_t vpa_calls_earliest(const struct vpa_calls *c, uint64_t position);

/* No position. */
#define VPA_NOWHERE UINT64_MAX

static inline int vpa_call_is_outermost(const struct vpa_call *call)
{
	return !(call->state & (VPA_CALL_NESTED | VPA_CALL_NONE));
}

/* Whether call `b` lies inside call `a` of its thread. */
int vpa_call_is_inside(const struct vpa_call *b, const struct vpa_call *a);

/* The outermost calls around the one at `position`, in order: the one after `around`, VPA_NOWHERE for the first. Returns
 * VPA_NOWHERE where there is no other. */
uint64_t vpa_calls_around(const struct vpa_calls *c, uint64_t position, uint64_t around);

/* The outermost call around the one at `position`, the last of several; that itself if there is none around it. */
uint64_t vpa_calls_outermost(const struct vpa_calls *c, uint64_t position);

/* The first outermost call at `position` or after it, in the order of start; c->end: none. */
uint64_t vpa_calls_next(const struct vpa_calls *c, uint64_t position);

/* The first outermost call that ends after `t` and began at `t` or later; c->end: none. */
uint64_t vpa_calls_begun(const struct vpa_calls *c, uint64_t t);

/* The outermost call before the one at `position`, which is an outermost call or c->end; VPA_NOWHERE: none is held. */
uint64_t vpa_calls_previous(const struct vpa_calls *c, uint64_t position);

/* The last outermost call before `position`, which is an outermost call or c->end, that put work on a device or encloses
 * one that did; VPA_NOWHERE: none is held. Blocks without such a call cost one step. */
uint64_t vpa_calls_last_submit(const struct vpa_calls *c, uint64_t position);

/* What gaps of `device` have counted of a call. NULL: no memory. */
uint64_t *vpa_call_counted(struct vpa_call *call, uint32_t device);

/* Notes that no later gap of `device` counts any more of the call and of those before it in its block. Without memory
 * nothing is noted. */
void vpa_call_exhaust(struct vpa_call *call, uint32_t device);

/* The first position from `position` on that is not exhausted so; c->end: all are. */
uint64_t vpa_calls_skip_exhausted(const struct vpa_calls *c, uint64_t position, uint32_t device);

/* Gives up whole blocks in front of `position`. */
void vpa_calls_drop(struct vpa_calls *c, uint64_t position);
void vpa_calls_free(struct vpa_calls *c);

/* When a thread captured streams: from the start of a call that begins a capture to the end of the next that ends one, in
 * the order of their starts. At most 4,096 such calls are kept, the newest. */
struct vpa_captures {
	struct vpa_capture_call {
		uint64_t start_ns, end_ns;
		int begins;
	} * calls; /* by start */
	size_t count, cap;
	struct vpa_capture {
		uint64_t start_ns, end_ns; /* end ~0: still going on */
	} * spans;                         /* in order */
	size_t span_count, span_cap;
	int stale; /* calls have come since the spans were found */
};

int vpa_captures_add(struct vpa_captures *c, uint64_t start_ns, uint64_t end_ns,
	int begins);                             /* 0 or VPT_ENOMEM */
int vpa_captures_settle(struct vpa_captures *c); /* after adding, before asking; 0 or VPT_ENOMEM */
int vpa_captures_at(const struct vpa_captures *c, uint64_t t); /* whether one goes on at `t` */
void vpa_captures_free(struct vpa_captures *c);

/* The innermost range as a step function of time: from step i's time on, until the next one. */
struct vpa_step {
	uint64_t time_ns;
	struct vpa_range *range; /* NULL: none open */
};

struct vpa_steps {
	struct vpa_step *items;
	size_t count, cap;
	size_t dropped; /* items in front that are given up, compacted now and then */
	size_t cursor;  /* where the last question was answered; only a hint */
};

/* When the newest `count` steps begin; 0 where no more than that are held. */
static inline uint64_t vpa_steps_newest_ns(const struct vpa_steps *s, size_t count)
{
	return s->count - s->dropped > count ? s->items[s->count - count].time_ns : 0;
}

/* The step that holds at `t`: its index, or SIZE_MAX before the first. */
size_t vpa_steps_index(struct vpa_steps *s, uint64_t t);
static inline int vpa_steps_add(struct vpa_steps *s, uint64_t t, struct vpa_range *range)
{
	if (vpt_grow(&s->items, &s->cap, s->count + 1, sizeof(*s->items)))
		return VPT_ENOMEM;
	s->items[s->count++] = (struct vpa_step){t, range};
	return VPT_OK;
}

/* A step at hand: for questions that mostly have the answer of the one before. All zeros to begin with; good
 * as long as no steps are added or given up. */
struct vpa_step_span {
	uint64_t from_ns, until_ns;
	struct vpa_range *range;
};

/* Makes the span hold `t`. */
void vpa_step_span_seek(struct vpa_step_span *span, struct vpa_steps *s, uint64_t t);

static inline struct vpa_range *vpa_step_span_at(
	struct vpa_step_span *span, struct vpa_steps *s, uint64_t t)
{
	if (t < span->from_ns || t >= span->until_ns)
		vpa_step_span_seek(span, s, t);
	return span->range;
}

/* The range that is innermost at `t`. Most questions have the same answer as the one before. */
static inline struct vpa_range *vpa_steps_at(struct vpa_steps *s, uint64_t t)
{
	size_t i = s->cursor;

	if (i < s->dropped || i + 1 >= s->count || s->items[i].time_ns > t ||
		s->items[i + 1].time_ns <= t)
		i = vpa_steps_index(s, t);
	return i == SIZE_MAX ? NULL : s->items[i].range;
}

#endif

/* past_calls.h - a thread's recent past: its CUDA calls, and its innermost range at any moment.
 *
 * Both grow only at the end and are trimmed at the front once nothing can ask for the oldest
 * entries. */
#ifndef VPA_ANALYSIS_PAST_PAST_CALLS_H
#define VPA_ANALYSIS_PAST_PAST_CALLS_H

#include "analysis/model/model.h"
#include "formats/base/memory.h"

enum {
	VPA_CALL_SLAB = 512,
	VPA_CALLS_AHEAD = 4,
	/* Below this the host counts as launching slowly; from here on it is doing something
	 * else. */
	VPA_STALL_NS = 100000
};

/* How much of each call in a slab the gaps of one device have counted, see gap_causes.h. */
struct vpa_counted {
	struct vpa_counted *next; /* the next device's */
	uint32_t device;
	uint32_t exhausted; /* no later gap counts any more of the calls in this many first slots */
	uint64_t ns[VPA_CALL_SLAB];
};

struct vpa_call_slab {
	uint64_t first; /* position of calls[0] */
	struct vpa_counted *counted;
	uint32_t thread;  /* index of the thread that made all its calls */
	uint32_t waiting; /* launches whose op has not been seen, and all of CUDA graphs */
	/* Earliest start in it: an outer call may begin long before its neighbours. */
	uint64_t start_ns;
	uint32_t launches; /* how many of its calls put work on a device */
	/* 0: none of its calls puts work on a device or encloses one that does */
	uint32_t submits;
	/* A bit of each call: one of its copies reads a few bytes back from a device, whether it waited for that or
	 * not; it waited for any other. */
	uint64_t small_reads[VPA_CALL_SLAB / 64], large_copies[VPA_CALL_SLAB / 64];
	struct vpa_call calls[VPA_CALL_SLAB];
	/* Columns of the same calls. */
	uint64_t starts_ns[VPA_CALL_SLAB], ends_ns[VPA_CALL_SLAB];
	/* 0: none, or no call there yet; zeros follow the last call too, so a reader may look
	 * ahead. */
	uint64_t correlations[VPA_CALL_SLAB + VPA_CALLS_AHEAD];
	/* How many calls before it on the thread are inside it; of a nested call: how many calls
	 * after it the enclosing one follows. */
	uint32_t encloses[VPA_CALL_SLAB];
	/* Of each nested call: how many calls after it a call known to enclose it follows; 0: see
	 * `encloses`. NULL until calls nest deeply, since most threads have one slab and few
	 * calls. */
	uint32_t *outer;
};

/* The slab that holds a call, computed from its `slot`. */
static inline struct vpa_call_slab *vpa_call_slab_of(const struct vpa_call *call)
{
	uintptr_t first = (uintptr_t)(call - call->slot);

	return (struct vpa_call_slab *)(first - offsetof(struct vpa_call_slab, calls));
}

/* Whether all that the call copied, and may have waited for, is a few bytes read back, as PyTorch's .item() does. */
static inline int vpa_call_is_small_read(const struct vpa_call *call)
{
	const struct vpa_call_slab *slab = vpa_call_slab_of(call);
	size_t at = call->slot / 64;

	return (slab->small_reads[at] & ~slab->large_copies[at]) >> call->slot % 64 & 1;
}

/* The call made such a copy. Returns whether it had made none like this. */
static inline int vpa_call_set_copy(const struct vpa_call *call, int is_large)
{
	struct vpa_call_slab *slab = vpa_call_slab_of(call);
	uint64_t *bits = is_large ? slab->large_copies : slab->small_reads;
	uint64_t before = bits[call->slot / 64];

	bits[call->slot / 64] |= (uint64_t)1 << call->slot % 64;
	return bits[call->slot / 64] != before;
}

/* It made the copies of a call inside it. */
static inline void vpa_call_take_copies(const struct vpa_call *call, const struct vpa_call *inside)
{
	const struct vpa_call_slab *slab = vpa_call_slab_of(inside);

	if (slab->small_reads[inside->slot / 64] >> inside->slot % 64 & 1)
		vpa_call_set_copy(call, 0);
	if (slab->large_copies[inside->slot / 64] >> inside->slot % 64 & 1)
		vpa_call_set_copy(call, 1);
}

static inline uint64_t vpa_call_start(const struct vpa_call *call)
{
	return vpa_call_slab_of(call)->starts_ns[call->slot];
}

static inline uint64_t vpa_call_end(const struct vpa_call *call)
{
	return vpa_call_slab_of(call)->ends_ns[call->slot];
}

static inline uint64_t vpa_call_correlation(const struct vpa_call *call)
{
	return vpa_call_slab_of(call)->correlations[call->slot];
}

static inline uint32_t *vpa_call_encloses(const struct vpa_call *call)
{
	return &vpa_call_slab_of(call)->encloses[call->slot];
}

static inline uint64_t vpa_call_position(const struct vpa_call *call)
{
	return vpa_call_slab_of(call)->first + call->slot;
}

static inline uint32_t vpa_call_thread(const struct vpa_call *call)
{
	return vpa_call_slab_of(call)->thread;
}

/* What a call does on a device, or a call inside it. */
enum vpa_call_effect_bit {
	VPA_EFFECT_SUBMITS,
	VPA_EFFECT_PAGEABLE,
	VPA_EFFECT_SMALL_READ,
	VPA_EFFECT_LARGE_COPY,
	VPA_CALL_EFFECTS
};

/* Calls in completion order. Position p is in slabs[p / 512 - first_slab]; calls never move. */
struct vpa_calls {
	struct vpa_call_slab **slabs;
	size_t slab_count, slab_cap;
	uint64_t first_slab; /* slabs before it have been freed */
	uint64_t begin, end; /* positions held */
	/* 1 + the position of the call with each effect that began last, of those before `noted`; 0:
	 * none. */
	uint64_t noted, latest[VPA_CALL_EFFECTS];
};

static inline struct vpa_call *vpa_calls_at(const struct vpa_calls *c, uint64_t position)
{
	return &c->slabs[position / VPA_CALL_SLAB - c->first_slab]->calls[position % VPA_CALL_SLAB];
}

/* When the call at `position` ended. */
static inline uint64_t vpa_calls_end_at(const struct vpa_calls *c, uint64_t position)
{
	return c->slabs[position / VPA_CALL_SLAB - c->first_slab]
		->ends_ns[position % VPA_CALL_SLAB];
}

/* The slab of the call at `position`. */
static inline struct vpa_call_slab *vpa_calls_slab(const struct vpa_calls *c, uint64_t position)
{
	return c->slabs[position / VPA_CALL_SLAB - c->first_slab];
}

/* Begins the slab for this thread's next call. 0 or VPT_ENOMEM. */
int vpa_calls_begin_slab(struct vpa_calls *c, uint32_t thread);

/* Private: the unusual cases of vpa_calls_after(), vpa_calls_next() and vpa_calls_previous(). */
uint64_t vpa_calls_search(const struct vpa_calls *c, uint64_t t, uint64_t near);
uint64_t vpa_calls_next_of_nested(const struct vpa_calls *c, uint64_t position);
uint64_t vpa_calls_previous_of_nested(const struct vpa_calls *c, uint64_t position);

/* Position of the first call that ends after `t` (calls.end if none). The search begins at `near`, any
 * position: it takes the less time the nearer that is. */
static inline uint64_t vpa_calls_after(const struct vpa_calls *c, uint64_t t, uint64_t near)
{
	int is_near = near > c->begin && near < c->end && vpa_calls_end_at(c, near - 1) <= t &&
		      vpa_calls_end_at(c, near) > t;

	return is_near ? near : vpa_calls_search(c, t, near);
}

/* The earliest start of the calls from `position` on; ~0 if there is none. */
uint64_t vpa_calls_earliest(const struct vpa_calls *c, uint64_t position);

/* No position. */
#define VPA_NOWHERE UINT64_MAX

static inline int vpa_call_is_outermost(const struct vpa_call *call)
{
	return !(call->state & (VPA_CALL_NESTED | VPA_CALL_NONE));
}

/* Whether call `b` lies inside call `a` of its thread. */
int vpa_call_is_inside(const struct vpa_call *b, const struct vpa_call *a);

/* Notes the effects of calls before `until`, each once. */
void vpa_calls_note_effects(struct vpa_calls *c, uint64_t until);
/* Those of the call at `position`, which has got another one since it was noted. */
void vpa_calls_note_again(struct vpa_calls *c, uint64_t position);
/* The call with this effect that began last, of those noted; NULL: none, or it is no longer held. */
const struct vpa_call *vpa_calls_latest(const struct vpa_calls *c, enum vpa_call_effect_bit effect);

/* Enumerates the outermost calls around the one at `position`, in order: returns the one after
 * `around`; pass VPA_NOWHERE for the first. VPA_NOWHERE: no more. */
uint64_t vpa_calls_around(const struct vpa_calls *c, uint64_t position, uint64_t around);

/* The outermost call around the one at `position`, the last if there are several; `position` itself
 * if there is none. */
uint64_t vpa_calls_outermost(const struct vpa_calls *c, uint64_t position);

/* The first outermost call at `position` or after it, by start; c->end: none. Most calls are outermost. */
static inline uint64_t vpa_calls_next(const struct vpa_calls *c, uint64_t position)
{
	return position < c->end && !vpa_call_is_outermost(vpa_calls_at(c, position))
		       ? vpa_calls_next_of_nested(c, position)
		       : position;
}

/* The first outermost call that ends after `t` and began at `t` or later; c->end: none. */
uint64_t vpa_calls_begun(const struct vpa_calls *c, uint64_t t);
/* The same, from the first one that ends after `t`, which is known. */
uint64_t vpa_calls_begun_from(const struct vpa_calls *c, uint64_t low, uint64_t t);

/* The outermost call before `position`, which is an outermost call or c->end; VPA_NOWHERE: none is
 * kept. Usually it is the one before it. */
static inline uint64_t vpa_calls_previous(const struct vpa_calls *c, uint64_t position)
{
	int is_plain = position > c->begin &&
		       vpa_call_is_outermost(vpa_calls_at(c, position - 1)) &&
		       (position == c->end || !*vpa_call_encloses(vpa_calls_at(c, position)));

	return is_plain ? position - 1 : vpa_calls_previous_of_nested(c, position);
}

/* The last outermost call before `position` that put work on a device or encloses one that did;
 * `position` is an outermost call or c->end. VPA_NOWHERE: none is kept. A slab without such a call
 * costs one step. */
uint64_t vpa_calls_last_submit(const struct vpa_calls *c, uint64_t position);

/* How much of a call the gaps of `device` have counted. NULL: no memory. */
uint64_t *vpa_call_counted(struct vpa_call *call, uint32_t device);

/* Notes that no later gap of `device` counts any more of this call or of those before it in its
 * slab. Notes nothing if there is no memory. */
void vpa_call_exhaust(struct vpa_call *call, uint32_t device);

/* The first position from `position` on that is not exhausted; c->end: all are. */
uint64_t vpa_calls_skip_exhausted(const struct vpa_calls *c, uint64_t position, uint32_t device);

/* Frees whole slabs before `position`. */
void vpa_calls_drop(struct vpa_calls *c, uint64_t position);
void vpa_calls_free(struct vpa_calls *c);

/* When a thread captured streams: from the start of a call that begins a capture to the end of the
 * next call that ends one, by start. Keeps at most 4,096 such calls, the newest. */
struct vpa_captures {
	struct vpa_capture_call {
		uint64_t start_ns, end_ns;
		int begins;
	} * calls; /* by start */
	size_t count, cap;
	struct vpa_capture {
		uint64_t start_ns, end_ns; /* end ~0: still open */
	} * spans;                         /* in order */
	size_t span_count, span_cap;
	int stale; /* calls were added since the spans were computed */
};

int vpa_captures_add(struct vpa_captures *c, uint64_t start_ns, uint64_t end_ns,
	int begins); /* 0 or VPT_ENOMEM */
/* after adding, before vpa_captures_at(); 0 or VPT_ENOMEM */
int vpa_captures_settle(struct vpa_captures *c);
void vpa_captures_free(struct vpa_captures *c);

/* A stretch of time in which a capture is open, or none is: the answer of the last lookup. Valid until calls are
 * added. */
struct vpa_capture_span {
	uint64_t from_ns, until_ns;
	int is_open;
};

static inline struct vpa_capture_span vpa_capture_span_first(const struct vpa_captures *c)
{
	return (struct vpa_capture_span){0, c->span_count ? c->spans[0].start_ns : UINT64_MAX, 0};
}

/* Moves the span to the stretch that contains `t`. */
void vpa_capture_span_seek(struct vpa_capture_span *span, const struct vpa_captures *c, uint64_t t);

/* Whether a capture is open at `t`. */
static inline int vpa_capture_span_at(
	struct vpa_capture_span *span, const struct vpa_captures *c, uint64_t t)
{
	if (t < span->from_ns || t >= span->until_ns)
		vpa_capture_span_seek(span, c, t);
	return span->is_open;
}

/* From when on a range is the innermost one: until the next change. */
struct vpa_range_change {
	uint64_t time_ns;
	struct vpa_range *range; /* NULL: none open */
};

struct vpa_range_changes {
	struct vpa_range_change *items;
	size_t count, cap;
	size_t dropped; /* dropped items in front, compacted now and then */
	size_t cursor;  /* where the last lookup ended; only a hint */
};

/* When the newest `count` changes are; 0 if no more than that are kept. */
static inline uint64_t vpa_range_changes_newest_ns(const struct vpa_range_changes *s, size_t count)
{
	return s->count - s->dropped > count ? s->items[s->count - count].time_ns : 0;
}

/* Index of the last change up to `t`; SIZE_MAX before the first. */
size_t vpa_range_changes_index(struct vpa_range_changes *s, uint64_t t);
static inline int vpa_range_changes_add(
	struct vpa_range_changes *s, uint64_t t, struct vpa_range *range)
{
	if (vpt_grow(&s->items, &s->cap, s->count + 1, sizeof(*s->items)))
		return VPT_ENOMEM;
	s->items[s->count++] = (struct vpa_range_change){t, range};
	return VPT_OK;
}

/* The time between two changes that was found last, for lookups that mostly repeat the previous answer. Initialise to zero;
 * valid until changes are added or dropped. */
struct vpa_range_span {
	/* Not side by side: compilers would read both at once, which processors must wait for just
	 * after each was written on its own. */
	uint64_t from_ns;
	struct vpa_range *range;
	uint64_t until_ns;
};

/* Moves the span to the changes around `t`. */
void vpa_range_span_seek(struct vpa_range_span *span, struct vpa_range_changes *s, uint64_t t);

static inline struct vpa_range *vpa_range_span_at(
	struct vpa_range_span *span, struct vpa_range_changes *s, uint64_t t)
{
	if (t < span->from_ns || t >= span->until_ns)
		vpa_range_span_seek(span, s, t);
	return span->range;
}

/* The innermost range at `t`. Most lookups have the same answer as the one before. */
static inline struct vpa_range *vpa_range_changes_at(struct vpa_range_changes *s, uint64_t t)
{
	size_t i = s->cursor;

	if (i < s->dropped || i + 1 >= s->count || s->items[i].time_ns > t ||
		s->items[i + 1].time_ns <= t)
		i = vpa_range_changes_index(s, t);
	return i == SIZE_MAX ? NULL : s->items[i].range;
}

#endif

/* stack.h - the ranges that a thread has opened and not closed.
 *
 * The thread alone changes it; the writer's thread may copy it while it moves: a version is odd
 * during every change, and a copy counts only if the version stood still meanwhile. Domains share
 * the stack: a pop takes the innermost range of its domain, and what lies above moves down. Ranges
 * beyond the stack's room, VTR_DEPTH_MAX at most, are only counted, by domain. All zeros is an empty
 * stack, without room. */
#ifndef VPTRACE_TRACER_STACK_H
#define VPTRACE_TRACER_STACK_H

#include "tracer/clock.h"
#include "tracer/open_range.h"

enum {
	VTR_STACK_DEEP_DOMAINS = 8,
	VTR_STACK_PAGE = 4096,
	/* The first room: within the page that the thread's memory begins with, and one page of blobs. */
	VTR_STACK_ROOM = VTR_STACK_PAGE / VTR_BLOB_MAX
};

struct vtr_stack {
	_Atomic uint32_t version, count;
	uint32_t room; /* places of the arrays below that may be used */
	uint32_t deep; /* ranges that found no room, all domains together */
	struct {
		uint32_t domain, count;
	} deep_by[VTR_STACK_DEEP_DOMAINS]; /* the last one stands for all further domains */
	struct vtr_open_range open[VTR_DEPTH_MAX];
	vtr_open_blob blob[VTR_DEPTH_MAX];
};

enum { VTR_STACK_NONE = -1, VTR_STACK_DEEP = -2 };

/* ---- pieces of the functions below ---- */

/* How many ranges of a domain are open. */
int vtr_stack_depth(const struct vtr_stack *s, uint32_t domain);
int vtr_stack_push_deep(struct vtr_stack *s, uint32_t domain);
/* Takes the memory of more places from the limit. 0: it is reached, or there are VTR_DEPTH_MAX. */
int vtr_stack_grow(struct vtr_stack *s);
int vtr_stack_find_below(const struct vtr_stack *s, uint32_t domain);
int vtr_stack_remove_below(struct vtr_stack *s, uint32_t domain, int place);

/* The thread is the only one that writes, so it reads its own words without ordering. */
static inline uint32_t vtr_stack_own(const _Atomic uint32_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

/* Between the two the stack is in pieces. The stores in between release, so none of them can be
 * seen before the odd version. */
static inline uint32_t vtr_stack_begin(struct vtr_stack *s)
{
	uint32_t version = vtr_stack_own(&s->version);

	atomic_store_explicit(&s->version, version + 1, memory_order_relaxed);
	return version;
}

static inline void vtr_stack_end(struct vtr_stack *s, uint32_t version, uint32_t count)
{
	atomic_store_explicit(&s->count, count, memory_order_release);
	atomic_store_explicit(&s->version, version + 2, memory_order_release);
}

/* Whether the innermost range of all is of this domain, and all is counted in the stack. */
static inline int vtr_stack_on_top(struct vtr_stack *s, uint32_t count, uint32_t domain)
{
	return !s->deep && count && vtr_open_domain(&s->open[count - 1]) == domain;
}

/* ---- the thread ---- */

/* Opens a range; if `stamped`, the clock is read last of all, else its start is 0. Returns how many
 * ranges of the domain were open before. */
static inline int vtr_stack_push(
	struct vtr_stack *s, const struct vtr_attributes *a, uint32_t epoch, int stamped)
{
	uint32_t count = vtr_stack_own(&s->count), version;
	int depth;

	if (count == s->room && (s->deep || !vtr_stack_grow(s)))
		return vtr_stack_push_deep(s, a->domain);
	if (vtr_stack_on_top(s, count, a->domain))
		depth = (int)vtr_open_depth(&s->open[count - 1]) + 1;
	else
		depth = count ? vtr_stack_depth(s, a->domain) : 0;
	version = vtr_stack_begin(s);
	vtr_open_put(&s->open[count], s->blob[count], a, epoch, (unsigned)depth);
	vtr_open_set(&s->open[count].start, stamped ? vtr_now() : 0);
	vtr_stack_end(s, version, count + 1);
	return depth;
}

/* What a pop of a domain would close: its place from the bottom, VTR_STACK_DEEP for one that was
 * only counted, VTR_STACK_NONE. */
static inline int vtr_stack_find(struct vtr_stack *s, uint32_t domain)
{
	uint32_t count = vtr_stack_own(&s->count);

	return vtr_stack_on_top(s, count, domain) ? (int)count - 1
						  : vtr_stack_find_below(s, domain);
}

/* Closes what vtr_stack_find() answered. Returns how many ranges of the domain are open now. */
static inline int vtr_stack_remove(struct vtr_stack *s, uint32_t domain, int place)
{
	uint32_t count = vtr_stack_own(&s->count);

	if (place + 1 != (int)count)
		return vtr_stack_remove_below(s, domain, place);
	vtr_stack_end(s, vtr_stack_begin(s), count - 1);
	return (int)vtr_open_depth(&s->open[place]);
}

/* Forgets everything but its room, also what a thread that was cancelled has left half-done. */
void vtr_stack_clear(struct vtr_stack *s);

/* Bytes of the limit that its room beyond the first takes. */
uint64_t vtr_stack_bytes(const struct vtr_stack *s);

/* ---- the writer's thread ---- */

struct vtr_stack_copy {
	uint32_t count;
	struct vtr_open_range open[VTR_DEPTH_MAX];
	vtr_open_blob blob[VTR_DEPTH_MAX];
};

/* 1 and the stack as it was at one moment, 0 when it moved. */
int vtr_stack_copy(struct vtr_stack *s, struct vtr_stack_copy *out);

#endif

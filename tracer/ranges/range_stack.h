/* range_stack.h - the ranges that a thread has opened and not closed.
 *
 * Only the thread changes it; the writer's thread may copy it during a change: the version is odd
 * while a change is in progress, and a copy is valid only if the version did not change. Domains
 * share the stack: a pop takes the innermost range of its domain, and the ranges above move down.
 * A stack without room for another range, at most for VTR_DEPTH_MAX, forgets the oldest, and only
 * counts it, by domain: a program that does not close what it opens loses nothing new. All zeros is an
 * empty stack without room. */
#ifndef VPTRACE_TRACER_RANGES_RANGE_STACK_H
#define VPTRACE_TRACER_RANGES_RANGE_STACK_H

#include "tracer/clock/capture_clock.h"
#include "tracer/ranges/open_range.h"
#include "tracer/vptrace.h"

enum {
	VTR_STACK_FORGOTTEN_DOMAINS = 8,
	VTR_STACK_PAGE = 4096,
	/* The initial room: within the first page of the thread's memory, and one page of blobs. */
	VTR_STACK_ROOM = VTR_STACK_PAGE / VTR_BLOB_MAX
};

struct vtr_stack {
	_Atomic uint32_t version, count;
	uint32_t room;      /* usable elements of the arrays below */
	uint32_t forgotten; /* ranges that are open still, all domains together */
	struct {
		uint32_t domain, count;
	} forgotten_by[VTR_STACK_FORGOTTEN_DOMAINS]; /* the last one counts all further domains */
	struct vtr_open_range open[VTR_DEPTH_MAX];
	vtr_open_blob blob[VTR_DEPTH_MAX];
};

enum { VTR_STACK_NONE = -1, VTR_STACK_FORGOTTEN = -2 };

/* ---- parts of the functions below ---- */

/* The number of open ranges of a domain, forgotten ones too; beyond 255 it is 255. */
int vtr_stack_depth(const struct vtr_stack *s, uint32_t domain);
/* Takes memory for more ranges from the limit. 0: the limit is reached, or there is room for
 * VTR_DEPTH_MAX. */
int vtr_stack_grow(struct vtr_stack *s);
int vtr_stack_find_below(const struct vtr_stack *s, uint32_t domain);
int vtr_stack_remove_below(struct vtr_stack *s, uint32_t domain, int place);

/* Only the thread itself writes, so it reads its own words without ordering. */
static inline uint32_t vtr_stack_own(const _Atomic uint32_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

/* Between begin and end the stack is inconsistent. The stores in between release, so none of them
 * can be seen before the odd version. */
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

/* Whether the innermost range belongs to this domain. */
static inline int vtr_stack_on_top(struct vtr_stack *s, uint32_t count, uint32_t domain)
{
	return count && vtr_open_domain(&s->open[count - 1]) == domain;
}

/* ---- the thread ---- */

/* That of a range of the same domain within this one; a depth has eight bits. */
static inline int vtr_stack_next_depth(struct vtr_open_range *outer)
{
	unsigned depth = vtr_open_depth(outer);

	return (int)(depth < 255 ? depth + 1 : depth);
}

/* Whether it has no room for another range: then vtr_stack_forget() must come before the push. */
static inline int vtr_stack_is_full(struct vtr_stack *s)
{
	return vtr_stack_own(&s->count) == s->room && !vtr_stack_grow(s);
}

/* Forgets the oldest range, if there is one. */
void vtr_stack_forget(struct vtr_stack *s);

/* Opens a range; if `stamped`, reads the clock last, else its start is 0. Returns the number of the
 * domain's ranges that were open before. */
static inline int vtr_stack_push(
	struct vtr_stack *s, const struct vtr_attributes *a, uint32_t epoch, int stamped)
{
	uint32_t count = vtr_stack_own(&s->count), version;
	int depth;

	if (vtr_stack_on_top(s, count, a->domain))
		depth = vtr_stack_next_depth(&s->open[count - 1]);
	else
		depth = count || s->forgotten ? vtr_stack_depth(s, a->domain) : 0;
	version = vtr_stack_begin(s);
	vtr_open_put(&s->open[count], s->blob[count], a, epoch, (unsigned)depth);
	vtr_open_set(&s->open[count].start, stamped ? vtr_now() : 0);
	vtr_stack_end(s, version, count + 1);
	return depth;
}

/* Finds the range that a pop of a domain closes: its index from the bottom, VTR_STACK_FORGOTTEN if it
 * is only counted, VTR_STACK_NONE if there is none. */
static inline int vtr_stack_find(struct vtr_stack *s, uint32_t domain)
{
	uint32_t count = vtr_stack_own(&s->count);

	return vtr_stack_on_top(s, count, domain) ? (int)count - 1
						  : vtr_stack_find_below(s, domain);
}

/* Closes the range at `place`, from vtr_stack_find(). Returns the number of the domain's ranges
 * still open. */
static inline int vtr_stack_remove(struct vtr_stack *s, uint32_t domain, int place)
{
	uint32_t count = vtr_stack_own(&s->count);

	if (place + 1 != (int)count)
		return vtr_stack_remove_below(s, domain, place);
	vtr_stack_end(s, vtr_stack_begin(s), count - 1);
	return (int)vtr_open_depth(&s->open[place]);
}

/* Sets what is still negative in the note of the innermost range of that kind. */
void vtr_stack_fill(struct vtr_stack *s, const struct vptrace_note *note);

/* Clears everything but the room, including a change that a cancelled thread left half done. */
void vtr_stack_clear(struct vtr_stack *s);

/* Bytes that its room beyond the initial one takes from the limit. */
uint64_t vtr_stack_bytes(const struct vtr_stack *s);

/* ---- the writer's thread ---- */

struct vtr_stack_copy {
	uint32_t count;
	struct vtr_open_range open[VTR_DEPTH_MAX];
	vtr_open_blob blob[VTR_DEPTH_MAX];
};

/* 1 and a consistent copy; 0: the stack changed meanwhile. */
int vtr_stack_copy(struct vtr_stack *s, struct vtr_stack_copy *out);

#endif

/* moments.h - times of a replay as lists of terms, for condense.c: max and plus on them.
 *
 * A list keeps few terms. Beyond them the one that matters least in the recording is dropped. */
#ifndef VPA_ANALYSIS_RANKS_RANK_MOMENTS_H
#define VPA_ANALYSIS_RANKS_RANK_MOMENTS_H

#include "analysis/ranks/rank/rank_summary.h"
#include "formats/base/saturate.h"

#include <string.h>

/* Of a pace, which only limits, fewer are enough. */
enum { TERMS_MOST = 6, PACE_TERMS_MOST = 2 };

/* Functions of one world become part of those of all, which know which one it is. */
#define PART static inline __attribute__((always_inline))

/* The recorded one, and the paces. */
enum world {
	OF_HOST = VPA_PACE_HOST,
	OF_HALF = VPA_PACE_HALF,
	OF_GPU = VPA_PACE_GPU,
	RECORDED,
	WORLDS
};

enum { WORK_UNIT_NS = 64 };

/* As struct vpa_rank_term. Of the ways that are equally long the first one counts. */
struct term {
	uint32_t after;
	int64_t ns, code_ns;
	int64_t at_ns;                 /* ns after the recorded end of `after` */
	uint32_t work[VPA_BUSY_KINDS]; /* in units, at most UINT32_MAX; not set in paces */
};

/* A time, in all worlds: of each a list, latest collective first. Most times are another one and a delay. So that a delay is one
 * number for a whole list, all terms of a world are later by its `ns`, of which its `code_ns` are host code. */
struct moment {
	uint32_t count[WORLDS];
	int64_t ns[WORLDS], code_ns[WORLDS];
	struct term items[TERMS_MOST + VPA_PACES * PACE_TERMS_MOST]; /* see terms_in() */
};

static inline uint32_t most_terms(enum world w)
{
	return w == RECORDED ? TERMS_MOST : PACE_TERMS_MOST;
}

static inline struct term *terms_in(struct moment *x, enum world w)
{
	return x->items + (w == RECORDED ? 0 : TERMS_MOST + PACE_TERMS_MOST * (unsigned)w);
}

static inline const struct term *terms_of(const struct moment *x, enum world w)
{
	return x->items + (w == RECORDED ? 0 : TERMS_MOST + PACE_TERMS_MOST * (unsigned)w);
}

static inline int64_t end_of(const struct vpa_rank *r, uint32_t after)
{
	return (int64_t)(after == VPA_RANK_START ? r->first_ns : vpa_rank_end_ns(r, after));
}

/* Where a collective stands in time; the start is before all. */
static inline uint32_t rank_of(uint32_t after)
{
	return after + 1;
}

static inline void empty(struct moment *x)
{
	memset(x->count, 0, sizeof(x->count));
	memset(x->ns, 0, sizeof(x->ns));
	memset(x->code_ns, 0, sizeof(x->code_ns));
}

static inline int is_empty(const struct moment *x)
{
	return !x->count[RECORDED];
}

/* Sums of what a damaged capture says may wrap. */
static inline int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* ---- a world ---- */

PART void be_later(struct term *to, const struct term *from, int64_t ns, int64_t code_ns)
{
	to->ns = vpt_sat_add_i64(from->ns, ns);
	to->code_ns = plus(from->code_ns, code_ns);
	to->at_ns = plus(from->at_ns, ns);
}

PART void put_later(
	struct term *to, const struct term *from, enum world w, int64_t ns, int64_t code_ns)
{
	to->after = from->after;
	be_later(to, from, ns, code_ns);
	if (w == RECORDED)
		memcpy(to->work, from->work, sizeof(to->work));
}

/* The term that matters least in the recording. */
PART uint32_t least_of(const struct term *items, uint32_t count)
{
	uint32_t i, least = 0;

	for (i = 1; i < count; i++)
		if (items[i].at_ns < items[least].at_ns)
			least = i;
	return least;
}

/* x = max(x, the term + ns), counted from what all terms of x are later. */
PART void join_term(
	struct moment *x, const struct term *term, enum world w, int64_t ns, int64_t code_ns)
{
	int64_t at_ns = plus(term->at_ns, ns);
	struct term *items = terms_in(x, w);
	uint32_t i, k, count = x->count[w], least = 0;

	/* Where there is no room for a term that matters less than all, none after the same end is that early, either. */
	if (count == most_terms(w)) {
		least = least_of(items, count);
		if (at_ns < items[least].at_ns)
			return;
	}
	for (i = 0; i < count && rank_of(items[i].after) > rank_of(term->after); i++)
		;
	if (i < count && items[i].after == term->after) {
		if (at_ns > items[i].at_ns)
			put_later(&items[i], term, w, ns, code_ns);
		return;
	}
	if (count == most_terms(w)) {
		i -= i > least;
		for (k = least + 1, count--; k <= count; k++)
			items[k - 1] = items[k];
	}
	for (k = count; k > i; k--)
		items[k] = items[k - 1];
	put_later(&items[i], term, w, ns, code_ns);
	x->count[w] = count + 1;
}

/* x = max(x, y + ns), of which code_ns are host code */
PART void join_world(
	struct moment *x, const struct moment *y, enum world w, int64_t ns, int64_t code_ns)
{
	const struct term *from = terms_of(y, w);
	uint32_t i;

	ns = plus(ns, minus(y->ns[w], x->ns[w]));
	code_ns = plus(code_ns, minus(y->code_ns[w], x->code_ns[w]));
	if (x->count[w]) {
		for (i = 0; i < y->count[w]; i++)
			join_term(x, &from[i], w, ns, code_ns);
		return;
	}
	for (i = 0; i < y->count[w]; i++)
		put_later(&terms_in(x, w)[i], &from[i], w, ns, code_ns);
	x->count[w] = y->count[w];
}

PART void delay_world(struct moment *x, enum world w, int64_t ns, int64_t code_ns)
{
	x->ns[w] = vpt_sat_add_i64(x->ns[w], ns);
	x->code_ns[w] = plus(x->code_ns[w], code_ns);
}

/* Of all terms, ns more are an op of this kind. */
static inline void add_work(struct moment *x, enum vpa_busy_kind kind, int64_t ns)
{
	uint64_t units = (uint64_t)ns / WORK_UNIT_NS;
	struct term *items = terms_in(x, RECORDED);
	uint32_t i;

	for (i = 0; i < x->count[RECORDED]; i++) {
		uint32_t *work = &items[i].work[kind];

		*work = units < UINT32_MAX - *work ? *work + (uint32_t)units : UINT32_MAX;
	}
}

/* Adds what its terms are later to each of them. */
PART void settle_world(struct moment *x, enum world w)
{
	struct term *items = terms_in(x, w);
	uint32_t i;

	for (i = 0; i < x->count[w]; i++)
		be_later(&items[i], &items[i], x->ns[w], x->code_ns[w]);
	x->ns[w] = x->code_ns[w] = 0;
}

/* ---- all worlds ---- */

static inline void settle(struct moment *x)
{
	settle_world(x, RECORDED);
	settle_world(x, OF_HOST);
	settle_world(x, OF_HALF);
	settle_world(x, OF_GPU);
}

/* After y, too, by ns of which code_ns are host code. */
static inline void join(struct moment *x, const struct moment *y, int64_t ns, int64_t code_ns)
{
	int64_t half_ns = code_ns / 2;

	join_world(x, y, RECORDED, ns, code_ns);
	join_world(x, y, OF_HOST, ns, code_ns);
	join_world(x, y, OF_HALF, ns - half_ns, half_ns);
	join_world(x, y, OF_GPU, ns - code_ns, 0);
}

/* Later by ns of which code_ns are host code. */
static inline void delay(struct moment *x, int64_t ns, int64_t code_ns)
{
	int64_t half_ns = code_ns / 2;

	delay_world(x, RECORDED, ns, code_ns);
	delay_world(x, OF_HOST, ns, code_ns);
	delay_world(x, OF_HALF, ns - half_ns, half_ns);
	delay_world(x, OF_GPU, ns - code_ns, 0);
}

/* Later by an op. */
static inline void delay_by_op(struct moment *x, enum vpa_busy_kind kind, int64_t ns)
{
	delay_world(x, RECORDED, ns, 0);
	delay_world(x, OF_HALF, ns, 0);
	delay_world(x, OF_GPU, ns, 0);
	add_work(x, kind, ns);
}

/* The end of a collective, at this recorded time; or a recorded time, whatever comes before. x is empty. */
static inline void begin_at(struct moment *x, uint32_t after, int64_t ns, int64_t at_ns)
{
	const struct term term = {.after = after, .ns = ns, .at_ns = at_ns};
	enum world w;

	for (w = 0; w < WORLDS; w++) {
		*terms_in(x, w) = term;
		x->count[w] = 1;
	}
}

static inline int is_recorded(const struct moment *x, uint64_t ns)
{
	const struct term *items = terms_of(x, RECORDED);
	int64_t at_ns = INT64_MIN;
	uint32_t i;

	for (i = 0; i < x->count[RECORDED]; i++)
		at_ns = items[i].at_ns > at_ns ? items[i].at_ns : at_ns;
	return (uint64_t)at_ns + (uint64_t)x->ns[RECORDED] == ns;
}

#undef PART

/* ---- moment_terms.c: when collectives of a rank start becomes terms of the rank and of its paces ---- */

/* A rank whose term_ends, and those of its paces, have room for all of its collectives and one more. */
struct vpa_moment_terms {
	struct vpa_rank *rank;
	size_t count[WORLDS]; /* terms so far */
	/* Of each pace, of the rank's start, then by collective. */
	struct vpa_pace_step *steps[VPA_PACES];
};

/* Makes room for all starts of the rank. 0 or VPT_ENOMEM; the caller frees it, whatever this returns. */
int vpa_moment_terms_init(struct vpa_moment_terms *to, struct vpa_rank *rank);
void vpa_moment_terms_free(struct vpa_moment_terms *to);
/* Puts the start of the next collective, or after the last one the rank's end: a settled time. 0 or VPT_ENOMEM. */
int vpa_put_moment(struct vpa_moment_terms *to, size_t collective, const struct moment *at);

/* ---- end_bounds.c: which terms of a time never decide it, since a later collective's end is at least as late ---- */

enum { VPA_END_BOUNDS_MOST = 12 };

/* How much later than earlier ones a collective ends, at least: than some one by one; than all from `chain` on, 0 the
 * rank's start, by the sums of what each is later than the one before. */
struct vpa_end_bounds {
	uint32_t chain;
	int64_t sum_ns;
	uint32_t count;
	struct vpa_end_bound {
		uint32_t after;
		int64_t ns;
	} items[VPA_END_BOUNDS_MOST];
};

/* Sets the bounds of the next collective, which starts at this settled time. Those of the rank's start, all zeros, are bounds[0]. */
void vpa_end_bounds_set(
	struct vpa_end_bounds *bounds, size_t collective, const struct moment *start);
/* Takes out of the recorded list what an earlier term outweighs. The lists of paces are few, and pruned where they are put. */
void vpa_prune_moment(const struct vpa_end_bounds *bounds, struct moment *x);

#endif

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
	uint32_t work[VPA_BUSY_KINDS]; /* in units, at most UINT32_MAX */
};

/* Latest collective first. */
struct terms {
	uint32_t count;
	struct term items[TERMS_MOST];
};

/* A time, in both worlds. */
struct moment {
	struct terms worlds[WORLDS];
};

static inline int64_t end_of(const struct vpa_rank *r, uint32_t after)
{
	return (int64_t)(after == VPA_RANK_START ? r->first_ns : vpa_rank_end_ns(r, after));
}

/* Where a collective stands in time; the start is before all. */
static inline uint32_t rank_of(uint32_t after)
{
	return after + 1;
}

static inline void insert_term(struct terms *x, uint32_t i, const struct term *term)
{
	uint32_t k;

	for (k = x->count++; k > i; k--)
		x->items[k] = x->items[k - 1];
	x->items[i] = *term;
}

/* Drops the term that matters least in the recording, if the one that comes instead matters more. Returns whether there is room. */
static inline int drop_for(struct terms *x, int64_t at_ns)
{
	uint32_t i, least = 0;

	for (i = 1; i < x->count; i++)
		if (x->items[i].at_ns < x->items[least].at_ns)
			least = i;
	if (at_ns < x->items[least].at_ns)
		return 0;
	for (i = least + 1, x->count--; i <= x->count; i++)
		x->items[i - 1] = x->items[i];
	return 1;
}

/* x = max(x, the term) */
static inline void join_term(struct terms *x, const struct term *term, uint32_t most)
{
	uint32_t i;

	for (i = 0; i < x->count && rank_of(x->items[i].after) > rank_of(term->after); i++)
		;
	if (i < x->count && x->items[i].after == term->after) {
		if (term->ns > x->items[i].ns)
			x->items[i] = *term;
		return;
	}
	if (x->count >= most) {
		if (!drop_for(x, term->at_ns))
			return;
		for (i = 0; i < x->count && rank_of(x->items[i].after) > rank_of(term->after); i++)
			;
	}
	insert_term(x, i, term);
}

/* x = max(x, y + ns), of which code_ns are host code */
static inline void join_terms(
	struct terms *x, const struct terms *y, int64_t ns, int64_t code_ns, uint32_t most)
{
	int was_empty = !x->count;
	uint32_t i;

	for (i = 0; i < y->count; i++) {
		struct term term = y->items[i];

		term.ns = vpt_sat_add_i64(term.ns, ns);
		term.at_ns = (int64_t)((uint64_t)term.at_ns + (uint64_t)ns);
		term.code_ns = (int64_t)((uint64_t)term.code_ns + (uint64_t)code_ns);
		if (was_empty)
			x->items[x->count++] = term;
		else
			join_term(x, &term, most);
	}
}

/* Of all terms, ns more are an op of this kind. */
static inline void add_work(struct terms *x, enum vpa_busy_kind kind, int64_t ns)
{
	uint64_t units = (uint64_t)ns / WORK_UNIT_NS;
	uint32_t i;

	for (i = 0; i < x->count; i++) {
		uint32_t *work = &x->items[i].work[kind];

		*work = units < UINT32_MAX - *work ? *work + (uint32_t)units : UINT32_MAX;
	}
}

static inline void empty(struct moment *x)
{
	x->worlds[RECORDED].count = x->worlds[OF_HOST].count = x->worlds[OF_HALF].count =
		x->worlds[OF_GPU].count = 0;
}

static inline int is_empty(const struct moment *x)
{
	return !x->worlds[RECORDED].count;
}

/* After y, by ns of which code_ns are host code. */
static inline void join(struct moment *x, const struct moment *y, int64_t ns, int64_t code_ns)
{
	int64_t half_ns = code_ns / 2;

	join_terms(&x->worlds[RECORDED], &y->worlds[RECORDED], ns, code_ns, TERMS_MOST);
	join_terms(&x->worlds[OF_HOST], &y->worlds[OF_HOST], ns, code_ns, PACE_TERMS_MOST);
	join_terms(
		&x->worlds[OF_HALF], &y->worlds[OF_HALF], ns - half_ns, half_ns, PACE_TERMS_MOST);
	join_terms(&x->worlds[OF_GPU], &y->worlds[OF_GPU], ns - code_ns, 0, PACE_TERMS_MOST);
}

/* After y, by an op. */
static inline void join_op(
	struct moment *x, const struct moment *y, enum vpa_busy_kind kind, int64_t ns)
{
	join_terms(&x->worlds[RECORDED], &y->worlds[RECORDED], ns, 0, TERMS_MOST);
	join_terms(&x->worlds[OF_HOST], &y->worlds[OF_HOST], 0, 0, PACE_TERMS_MOST);
	join_terms(&x->worlds[OF_HALF], &y->worlds[OF_HALF], ns, 0, PACE_TERMS_MOST);
	join_terms(&x->worlds[OF_GPU], &y->worlds[OF_GPU], ns, 0, PACE_TERMS_MOST);
	add_work(&x->worlds[RECORDED], kind, ns);
}

/* At a recorded time, whatever comes before. */
static inline void join_recorded(const struct vpa_rank *r, struct moment *x, uint64_t ns)
{
	const struct term term = {
		.after = VPA_RANK_START, .ns = vpt_sat_diff(ns, r->first_ns), .at_ns = (int64_t)ns};
	enum world w;

	for (w = 0; w < WORLDS; w++)
		join_term(&x->worlds[w], &term, w == RECORDED ? TERMS_MOST : PACE_TERMS_MOST);
}

static inline int is_recorded(const struct moment *x, uint64_t ns)
{
	const struct terms *t = &x->worlds[RECORDED];
	int64_t at_ns = INT64_MIN;
	uint32_t i;

	for (i = 0; i < t->count; i++)
		at_ns = t->items[i].at_ns > at_ns ? t->items[i].at_ns : at_ns;
	return at_ns == (int64_t)ns;
}

#endif

/* moments.h - times of a replay as lists of terms, for condense.c: max and plus on them.
 *
 * A list keeps few terms. Beyond them the one that matters least in the recording is dropped. */
#ifndef VPA_ANALYSIS_RANKS_RANK_MOMENTS_H
#define VPA_ANALYSIS_RANKS_RANK_MOMENTS_H

#include "analysis/ranks/rank/rank_summary.h"
#include "formats/base/saturate.h"

#include <string.h>

enum { TERMS_MOST = 6 };

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

static inline int64_t recorded(const struct vpa_rank *r, const struct terms *x)
{
	int64_t ns = INT64_MIN;
	uint32_t i;

	for (i = 0; i < x->count; i++) {
		int64_t at = end_of(r, x->items[i].after) + x->items[i].ns;

		ns = at > ns ? at : ns;
	}
	return ns;
}

/* Where a collective stands in time; the start is before all. */
static inline uint32_t rank_of(uint32_t after)
{
	return after + 1;
}

/* Drops the term that matters least in the recording. */
static inline void drop_one(const struct vpa_rank *r, struct terms *x)
{
	uint32_t i, least = 0;

	for (i = 1; i < x->count; i++)
		if (end_of(r, x->items[i].after) + x->items[i].ns <
			end_of(r, x->items[least].after) + x->items[least].ns)
			least = i;
	memmove(&x->items[least], &x->items[least + 1], (--x->count - least) * sizeof(*x->items));
}

/* x = max(x, the term) */
static inline void join_term(const struct vpa_rank *r, struct terms *x, struct term term)
{
	uint32_t i;

	for (i = 0; i < x->count && rank_of(x->items[i].after) > rank_of(term.after); i++)
		;
	if (i < x->count && x->items[i].after == term.after) {
		if (term.ns > x->items[i].ns)
			x->items[i] = term;
		return;
	}
	if (x->count == TERMS_MOST) {
		struct terms kept = *x;

		drop_one(r, &kept);
		/* The new one may itself be the least. */
		if (end_of(r, term.after) + term.ns < recorded(r, &kept) && kept.count &&
			end_of(r, term.after) + term.ns <
				end_of(r, x->items[x->count - 1].after) + x->items[x->count - 1].ns)
			return;
		*x = kept;
		join_term(r, x, term);
		return;
	}
	memmove(&x->items[i + 1], &x->items[i], (x->count++ - i) * sizeof(*x->items));
	x->items[i] = term;
}

/* x = max(x, y + ns), of which code_ns are host code */
static inline void join_terms(const struct vpa_rank *r, struct terms *x, const struct terms *y,
	int64_t ns, int64_t code_ns)
{
	int was_empty = !x->count;
	uint32_t i;

	for (i = 0; i < y->count; i++) {
		struct term term = y->items[i];

		term.ns = vpt_sat_add_i64(term.ns, ns);
		term.code_ns = vpt_sat_add_i64(term.code_ns, code_ns);
		if (was_empty)
			x->items[x->count++] = term;
		else
			join_term(r, x, term);
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
static inline void join(const struct vpa_rank *r, struct moment *x, const struct moment *y,
	int64_t ns, int64_t code_ns)
{
	join_terms(r, &x->worlds[RECORDED], &y->worlds[RECORDED], ns, code_ns);
	join_terms(r, &x->worlds[OF_HOST], &y->worlds[OF_HOST], ns, code_ns);
	join_terms(r, &x->worlds[OF_HALF], &y->worlds[OF_HALF], ns - code_ns / 2, code_ns / 2);
	join_terms(r, &x->worlds[OF_GPU], &y->worlds[OF_GPU], ns - code_ns, 0);
}

/* At a recorded time, whatever comes before. */
static inline void join_recorded(const struct vpa_rank *r, struct moment *x, uint64_t ns)
{
	const struct term term = {.after = VPA_RANK_START, .ns = vpt_sat_diff(ns, r->first_ns)};

	join_term(r, &x->worlds[RECORDED], term);
	join_term(r, &x->worlds[OF_HOST], term);
	join_term(r, &x->worlds[OF_HALF], term);
	join_term(r, &x->worlds[OF_GPU], term);
}

static inline int is_recorded(const struct vpa_rank *r, const struct moment *x, uint64_t ns)
{
	return recorded(r, &x->worlds[RECORDED]) == (int64_t)ns;
}

#endif

/* job_change.h - a change of a job that a user asks about, of all its ranks or of some:
 *
 *	all: host X [in PLACE]                  host code between calls takes X times as long
 *	3: scale FAMILY|KIND X [in PLACE]       kernels of a family, or copies of a kind, take X times as long
 *	all: scale comm|all-reduce|... X        all collectives, or those of a kind, transfer X times as long
 *	0, 3 like median                        between collectives these take no longer than the median of the others
 *
 * "ranks all:" and "rank 3:" are the same. X is at most 1, but of transfers.
 * A condensed rank has sums between its collectives, so nothing is known of
 * single calls: other changes of ../retime/replay/change.h are refused. PLACE is one as LATER BY has it, or a pattern as of a shell. Of
 * host code, that beside which the GPU worked takes the same share less as that for which it waited.
 *
 * What is taken away of a term is what stands on its way, see struct vpa_rank_term; and no collective begins before the paces of
 * the rank allow it, changed likewise. A time with less of something is a convex function of how much: each of these is
 * exact at one factor, and their maximum no later than the truth. */
#ifndef VPA_ANALYSIS_RANKS_JOB_CHANGE_H
#define VPA_ANALYSIS_RANKS_JOB_CHANGE_H

#include "analysis/ranks/rank/rank_summary.h"
#include "analysis/retime/replay/change.h"

enum { VPA_JOB_CHANGES_MOST = 8, VPA_JOB_CHANGE_RANKS = 8 };

struct vpa_job_change {
	const char *text;                    /* as given, borrowed */
	int64_t ranks[VPA_JOB_CHANGE_RANKS]; /* their numbers */
	size_t rank_count;                   /* 0: all ranks */
	int is_like_median;                  /* then `change` is none */
	int is_of_transfers; /* of collectives of this kind; VPA_COLLECTIVE_KINDS: of any */
	enum vpa_collective_kind collective;
	struct vpa_change change;
};

/* Reads one. VPT_EINVAL with what was expected. */
int vpa_job_change_read(const char *text, struct vpa_job_change *out, struct vpt_err *err);

/* Whether it is about what ranks do between collectives, part by part. */
static inline int vpa_job_change_is_of_parts(const struct vpa_job_change *c)
{
	return !c->is_like_median && !c->is_of_transfers;
}

/* Whether it is of the rank with this number. */
static inline int vpa_job_change_is_of(const struct vpa_job_change *c, int64_t rank)
{
	size_t i;

	for (i = 0; i < c->rank_count && c->ranks[i] != rank; i++)
		;
	return !c->rank_count || i < c->rank_count;
}

/* What changes take away of kinds of ops, and, the last one, of idle time in which the host ran code of its own. */
enum { VPA_ASKED_HOST = VPA_BUSY_KINDS, VPA_ASKED_KINDS };

/* Sums of item i + 1 are those up to collective i. */
struct vpa_asked_sums {
	struct vpa_asked_item {
		int64_t ns[VPA_ASKED_KINDS], less_ns[VPA_ASKED_KINDS];
	} * items;
	double less[VPA_ASKED_KINDS]; /* shares of the whole rank */
	int64_t *busy_ns, *idle_ns;   /* what is taken away of ops; of idle time */
	struct vpa_asked_name {
		double less;   /* the share that is taken away of parts of a name */
		unsigned kind; /* VPA_ASKED_KINDS: no change is about them */
	} * names;
	size_t name_cap;
};

/* Makes room for `count` collectives. 0 or VPT_ENOMEM; the caller frees it, whatever this returns. */
int vpa_asked_sums_init(struct vpa_asked_sums *s, size_t count);
void vpa_asked_sums_free(struct vpa_asked_sums *s);
/* Sets what the changes take away of the rank with this number before each of its collectives. 0 or VPT_ENOMEM. */
int vpa_asked_sums_set(struct vpa_asked_sums *s, const struct vpa_job_change *asked, size_t count,
	int64_t rank, const struct vpa_rank *r, const struct vpa_rank_detail *d);

/* The share that they take away of a kind between two items; of what is not there that of the whole rank. */
static inline double vpa_asked_less(
	const struct vpa_asked_sums *s, unsigned kind, size_t from, size_t item)
{
	int64_t ns = s->items[item].ns[kind] - s->items[from].ns[kind];

	return ns > 0 ? (double)(s->items[item].less_ns[kind] - s->items[from].less_ns[kind]) /
				(double)ns
		      : s->less[kind];
}

/* What a change takes away of a rank's time before each of its collectives: sums, of item i + 1 those up to collective i, of the one
 * after the last up to the rank's end. */
struct vpa_cut_sums {
	const int64_t *busy_ns;                     /* computing and copying, unchanged */
	const int64_t *less_busy_ns, *less_idle_ns; /* NULL: no change */
	/* What is asked about, as shares of kinds of ops and of host code, which hold beside other work too. NULL: only what
	 * the sums say. */
	const struct vpa_asked_sums *asked;
};

/* What is taken away on the way that a term is of, where that is asked: kernels beside host code are not on it. */
double vpa_asked_of_term(
	const struct vpa_cut_sums *c, size_t from, size_t item, const struct vpa_rank_term *x);

/* What a change takes away of a term from item `from` to `item`, but not of the work that stays. */
static inline uint64_t vpa_cut_of(const struct vpa_cut_sums *c, const struct vpa_rank *r,
	size_t from, size_t item, const struct vpa_rank_term *x)
{
	int64_t less_busy = c->less_busy_ns[item] - c->less_busy_ns[from];
	int64_t less = c->asked && r->has_paces
			       ? (int64_t)vpa_asked_of_term(c, from, item, x)
			       : less_busy + c->less_idle_ns[item] - c->less_idle_ns[from];
	int64_t least = c->busy_ns[item] - c->busy_ns[from] - less_busy;

	least = least < x->ns ? least : x->ns;
	if (less <= 0)
		return 0;
	return (uint64_t)(x->ns - (x->ns - less > least ? x->ns - less : least));
}
/* The same of a term of a pace. It may be below 0: where less than half the host code goes, more than half is left. A pace only
 * limits what is asked: that a rank can be like others, they show. */
int64_t vpa_cut_of_pace(const struct vpa_cut_sums *c, enum vpa_pace pace, size_t from, size_t item,
	const struct vpa_rank_term *x);

#endif

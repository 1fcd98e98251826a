/* rank_clocks.h - lays the clocks of all ranks onto one.
 *
 * Ranks on one machine have one clock. Those of other machines are laid onto the first one's by the ends of small
 * collectives that all leave together: offset and drift are the medians of Theil and Sen, which a quarter of wrong ends
 * do not move, a pair of machines at a time, from machine to machine. No collective may end anywhere before it has
 * started everywhere: that bounds the offset whatever the ends say. */
#ifndef VPA_ANALYSIS_RANKS_ALIGNMENT_RANK_CLOCKS_H
#define VPA_ANALYSIS_RANKS_ALIGNMENT_RANK_CLOCKS_H

#include "analysis/ranks/alignment/matching.h"

/* The job's time of a moment t of a clock is offset_ns + (t - origin_ns) * (1 + ppb / 1e9). */
struct vpa_clock {
	uint64_t origin_ns;
	int64_t offset_ns, ppb;
	/* Of the job's time, beside that of the first clock. By ends 10 us or more; by causality it may be less. */
	uint64_t uncertainty_ns;
	int is_placed;    /* 0: no collective joins it to the first clock */
	size_t ends;      /* collectives that place it; 0: it is the first */
	const char *name; /* of the machine; NULL: not known */
};

struct vpa_clocks {
	struct vpa_clock *items;
	size_t count;
	uint32_t *of_rank;
	/* Ranks of one clock leave collectives together: the median difference of the one that differs most. */
	uint64_t bias_ns;
};

/* Finds the clocks of ranks whose collectives are matched. The caller calls vpa_clocks_free(), whatever this returns: 0
 * or VPT_ENOMEM. */
int vpa_clocks_find(
	const struct vpa_rank_list *list, const struct vpa_matching *m, struct vpa_clocks *out);
void vpa_clocks_free(struct vpa_clocks *c);

static inline int64_t vpa_clock_time(const struct vpa_clock *c, uint64_t t_ns)
{
	int64_t since_ns = (int64_t)(t_ns - c->origin_ns);

	return since_ns + c->offset_ns + vpa_drift_ns(since_ns, c->ppb);
}

/* Ends of one collective on two clocks: its time on the first, and how much later it is there than on the second. */
struct vpa_clock_end {
	int64_t at_ns, later_ns;
};

struct vpa_clock_fit {
	int64_t later_ns, ppb; /* at at_ns = 0, and per thousand million of at_ns */
	uint64_t deviation_ns;
};

/* Fits a line through ends, of which there is at least one. Their order changes nothing; `slopes` has room for count *
 * count / 2 + count numbers. */
struct vpa_clock_fit vpa_clock_fit(const struct vpa_clock_end *ends, size_t count, int64_t *slopes);

#endif

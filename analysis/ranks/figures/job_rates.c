/* job_rates.c - sets of ranks that collectives tie, and what they make. */
#include "analysis/ranks/figures/job_rates.h"

#include "formats/base/memory.h"
#include "formats/base/text.h"

#include <string.h>

/* Sets of ranks, by rank: another one of the set, or itself. */
struct sets {
	size_t *of;
	int is_unsure; /* some ranks may be of one set or of two */
};

static size_t set_of(const struct sets *s, size_t rank)
{
	while (s->of[rank] != rank)
		rank = s->of[rank] = s->of[s->of[rank]];
	return rank;
}

static void join(struct sets *s, size_t a, size_t b)
{
	s->of[set_of(s, a)] = set_of(s, b);
}

/* ---- ties ---- */

/* The first row in which the k-th rank begins at this moment or later. Starts ascend; some rows lack the rank. */
static size_t first_row(const struct vpa_job *job, const struct vpa_group *g, size_t k, uint64_t ns)
{
	const struct vpa_rank *r = job->list.items[g->ranks[k]];
	size_t low = 0, high = g->row_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2, at = mid;

		while (at < high && vpa_group_cell(g, at, k) == VPA_NO_COLLECTIVE)
			at++;
		if (at < high && vpa_rank_start_ns(r, vpa_group_cell(g, at, k)) < ns)
			low = at + 1;
		else
			high = mid;
	}
	return low;
}

static int is_in_units(const struct vpa_rank *r, uint32_t collective)
{
	uint64_t ns = vpa_rank_start_ns(r, collective);

	return ns >= r->units_from_ns && ns < r->units_to_ns;
}

static int is_of_work(const struct vpa_collective_key *key)
{
	return key->kind != VPA_COLLECTIVE_BARRIER && (!key->bytes || key->bytes > VPA_TIE_BYTES);
}

/* Ties the k-th rank of a group to the one that has been there longest, if they meet once a unit or more. */
static void tie(const struct vpa_job *job, const struct vpa_group *g, size_t k, struct sets *s)
{
	size_t a = g->ranks[g->reference], b = g->ranks[k], row, met = 0, of_work = 0;
	const struct vpa_rank *x = job->list.items[a], *y = job->list.items[b];
	/* They meet while both are there. */
	int is_cut = job->ranks[a].cut_ns || job->ranks[b].cut_ns;
	uint64_t needed = (x->units > y->units) != is_cut ? x->units : y->units;

	if (set_of(s, a) == set_of(s, b))
		return;
	if (x->units_to_ns <= x->units_from_ns || y->units_to_ns <= y->units_from_ns) {
		s->is_unsure = 1;
		return;
	}
	for (row = first_row(job, g, g->reference, x->units_from_ns);
		row < g->row_count && of_work < needed; row++) {
		uint32_t mine = vpa_group_cell(g, row, g->reference);
		uint32_t other = vpa_group_cell(g, row, k);

		if (mine == VPA_NO_COLLECTIVE)
			continue;
		if (!is_in_units(x, mine))
			break;
		if (other == VPA_NO_COLLECTIVE || !is_in_units(y, other))
			continue;
		met++;
		of_work += (size_t)is_of_work(vpa_rank_key(x, mine));
	}
	if (of_work && of_work >= needed)
		join(s, a, b);
	else
		s->is_unsure |= met != 0;
}

/* Devices of one process work on the units of that process; ranks without a number stand beside each other then. */
static int is_of_one_process(const struct vpa_rank *a, const struct vpa_rank *b)
{
	return a->pid == b->pid && a->capture && vpt_same_text(a->capture, b->capture);
}

static void find_sets(const struct vpa_job *job, struct sets *s)
{
	size_t i, k;

	for (i = 0; i < job->rank_count; i++) {
		s->of[i] = i;
		if (i && is_of_one_process(job->list.items[i - 1], job->list.items[i]))
			join(s, i, i - 1);
	}
	for (i = 0; i < job->matching.group_count; i++)
		for (k = 0; k < job->matching.groups[i].rank_count; k++)
			if (k != job->matching.groups[i].reference)
				tie(job, &job->matching.groups[i], k, s);
	for (i = 0; i < job->pattern_count; i++)
		s->is_unsure |= job->patterns[i].kind == VPA_PATTERN_LOCKSTEP;
}

/* ---- rates ---- */

static double fps_of(const struct vpa_rank *r)
{
	return r->fps;
}

static double bps_of(const struct vpa_rank *r)
{
	return (double)r->blocks_per_1e9s / 1e9;
}

typedef double rate_fn(const struct vpa_rank *r);

/* The mean rate of the set's ranks; rank_count: of all ranks. Ranks whose capture is cut count only if no other has a rate.
 * 0: no rank has one, or those of a set differ. */
static double rate_of(const struct vpa_job *job, const struct sets *s, size_t set, rate_fn *rate)
{
	double sum = 0, least = 0, most = 0;
	size_t i, count;
	int with_cut;

	for (with_cut = 0, count = 0; with_cut < 2 && !count; with_cut++)
		for (i = 0; i < job->rank_count; i++) {
			double x = rate(job->ranks[i].rank);

			if (!(x > 0) || (job->ranks[i].cut_ns && !with_cut) ||
				(set < job->rank_count && set_of(s, i) != set))
				continue;
			least = !count || x < least ? x : least;
			most = x > most ? x : most;
			sum += x;
			count++;
		}
	if (!count || (set < job->rank_count && most > least * (100 + VPA_TIED_RATES_APART) / 100))
		return 0;
	return sum / (double)count;
}

/* The sum over all sets; 0: one of them has none. */
static double sum_of(const struct vpa_job *job, const struct sets *s, rate_fn *rate)
{
	double sum = 0, x;
	size_t i;

	for (i = 0; i < job->rank_count; i++) {
		if (set_of(s, i) != i)
			continue;
		x = rate_of(job, s, i, rate);
		if (!(x > 0))
			return 0;
		sum += x;
	}
	return sum;
}

static size_t count_sets(const struct vpa_job *job, const struct sets *s)
{
	size_t i, count = 0;

	for (i = 0; i < job->rank_count; i++)
		count += set_of(s, i) == i;
	return count;
}

/* Whether there is a moment at which all ranks were in their units, by the clocks of their machines. */
static int are_at_once(const struct vpa_job *job)
{
	uint64_t from_ns = 0, to_ns = UINT64_MAX;
	size_t i;

	for (i = 0; i < job->rank_count; i++) {
		const struct vpa_rank *r = job->ranks[i].rank;
		uint64_t from = r->units_from_ns + r->unix_offset_ns;
		uint64_t to = r->units_to_ns + r->unix_offset_ns;

		if (!r->has_realtime || to <= from)
			return 0;
		from_ns = from > from_ns ? from : from_ns;
		to_ns = to < to_ns ? to : to_ns;
	}
	return from_ns < to_ns;
}

/* Whether of some set only ranks are there whose captures end early: too little to say that it works by itself. */
static int has_cut_sets(const struct vpa_job *job, const struct sets *s)
{
	size_t i, k;

	for (i = 0; i < job->rank_count; i++) {
		if (!job->ranks[i].cut_ns)
			continue;
		for (k = 0; k < job->rank_count; k++)
			if (!job->ranks[k].cut_ns && set_of(s, k) == set_of(s, i))
				break;
		if (k == job->rank_count)
			return 1;
	}
	return 0;
}

static enum vpa_rates_of what_of(const struct vpa_job *job, const struct sets *s)
{
	if (s->is_unsure || job->missing || (count_sets(job, s) > 1 && has_cut_sets(job, s)))
		return VPA_RATES_OF_RANK;
	if (count_sets(job, s) == 1)
		return VPA_RATES_OF_JOB;
	/* A collective without a partner may be one of two sets. */
	return job->unmatched || !are_at_once(job) ? VPA_RATES_OF_RANK : VPA_RATES_OF_REPLICAS;
}

int vpa_job_rates_find(struct vpa_job *job)
{
	struct vpa_job_rates *rates = &job->rates;
	struct sets s = {.of = vpt_alloc(job->rank_count + 1, sizeof(*s.of))};
	double fps = rate_of(job, &s, job->rank_count, fps_of);
	double bps = rate_of(job, &s, job->rank_count, bps_of);
	size_t i;

	*rates = (struct vpa_job_rates){.of = VPA_RATES_UNKNOWN};
	if (!s.of)
		return VPT_ENOMEM;
	if (fps > 0 || bps > 0) {
		find_sets(job, &s);
		rates->of = what_of(job, &s);
		rates->fps = sum_of(job, &s, fps_of);
		rates->bps = sum_of(job, &s, bps_of);
		rates->replicas = count_sets(job, &s);
	}
	if (rates->of == VPA_RATES_OF_RANK || (fps > 0 && !(rates->fps > 0)) ||
		(bps > 0 && !(rates->bps > 0)))
		*rates = (struct vpa_job_rates){.of = VPA_RATES_OF_RANK, .fps = fps, .bps = bps};
	for (i = 0; i < job->rank_count; i++)
		rates->is_end_to_end |= job->ranks[i].rank->is_end_to_end;
	vpt_free(s.of);
	return VPT_OK;
}

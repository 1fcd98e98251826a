/* runs.c - pairs of ranks, where not all worked at one moment. */
#include "analysis/ranks/alignment/machines.h"

#include "analysis/ranks/alignment/lags.h"
#include "formats/base/text.h"

#include <string.h>

#define MINUTE_NS UINT64_C(60000000000)

static uint64_t began(const struct vpa_rank *r)
{
	return r->first_ns + r->unix_offset_ns;
}

static uint64_t ended(const struct vpa_rank *r)
{
	return r->last_ns + r->unix_offset_ns;
}

/* By how much one ended before the other one began; 0: they worked at one moment, or that is not known. */
static uint64_t pause_ns(const struct vpa_rank *a, const struct vpa_rank *b)
{
	if (!a->has_realtime || !b->has_realtime)
		return 0;
	return began(a) > ended(b)   ? began(a) - ended(b)
	       : began(b) > ended(a) ? began(b) - ended(a)
				     : 0;
}

int vpa_are_minutes_apart(const struct vpa_rank *a, const struct vpa_rank *b)
{
	return pause_ns(a, b) >= MINUTE_NS;
}

static int are_of_one_job(const struct vpa_rank *a, const struct vpa_rank *b)
{
	if (a->job && b->job && strcmp(a->job, b->job) != 0)
		return 0;
	return a->world_size < 0 || b->world_size < 0 || a->world_size == b->world_size;
}

int vpa_is_of_run(const struct vpa_run *run, const struct vpa_rank *rank)
{
	uint64_t ns = pause_ns(run->of, rank);

	if (!are_of_one_job(run->of, rank))
		return 0;
	if (run->is_twice || !ns)
		return !ns;
	/* Without collectives nothing says that they ever worked at one moment, nor is anything matched. */
	if (!run->of->collective_count || !rank->collective_count)
		return 1;
	return !(run->of->boot_id && vpt_same_text(run->of->boot_id, rank->boot_id)) &&
	       !(ns >= MINUTE_NS && vpa_ranks_share_host(run->of, rank));
}

/* Whether a rank has two captures. */
static size_t find_twice(const struct vpa_rank_list *list)
{
	size_t i;

	for (i = 0; i + 1 < list->count; i++)
		if (list->items[i]->rank >= 0 && list->items[i]->rank == list->items[i + 1]->rank)
			break;
	return i;
}

/* How many ranks may be of a run; the list is in order. */
static size_t count_run(const struct vpa_rank_list *list, const struct vpa_run *run)
{
	size_t i, count = 0;
	int64_t before = -1;

	for (i = 0; i < list->count; i++) {
		int64_t rank = list->items[i]->rank;

		if ((rank < 0 || rank != before) && vpa_is_of_run(run, list->items[i])) {
			before = rank;
			count++;
		}
	}
	return count;
}

/* Whether each may be of the run of each other one, as a glance tells: all are of one job and worked at one moment. */
static int are_together(const struct vpa_rank_list *list)
{
	uint64_t latest = 0, earliest = UINT64_MAX;
	size_t i;

	for (i = 0; i < list->count; i++) {
		const struct vpa_rank *r = list->items[i];

		if (i && !are_of_one_job(list->items[0], r))
			return 0;
		if (!r->has_realtime)
			continue;
		latest = began(r) > latest ? began(r) : latest;
		earliest = ended(r) < earliest ? ended(r) : earliest;
	}
	return latest <= earliest;
}

struct vpa_run vpa_run_find(const struct vpa_rank_list *list)
{
	size_t first = find_twice(list), last = list->count, i, most = 0;
	struct vpa_run best = {.of = NULL};
	int is_twice = first + 1 < list->count;

	if (!is_twice) {
		if (are_together(list))
			return best;
		first = 0;
	}
	for (i = first; i < last; i++) {
		struct vpa_run run = {list->items[i], is_twice};
		size_t count;

		/* The captures of one rank: another run has it, too. */
		if (is_twice && run.of->rank != list->items[first]->rank)
			break;
		count = count_run(list, &run);
		if (count > most) {
			most = count;
			best = run;
		}
	}
	return !is_twice && most == list->count ? (struct vpa_run){.of = NULL} : best;
}

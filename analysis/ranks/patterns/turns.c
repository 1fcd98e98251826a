/* turns.c - a few ranks that come last in turns: rank 2 to some collectives, then rank 5 to some, then rank 2 again.
 *
 *	last:   2 2 2 2 | 5 5 5 5 | 2 2 2 2 | 5 5 5 5        three changes among two ranks
 *
 * Looked at is each group, and of its collectives those with a wait that counts: small ones are anybody's. */
#include "analysis/ranks/patterns/patterns.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <string.h>

enum {
	MEMBERS_MOST = 8,
	MOST_PERCENT = 75,  /* of the waits: what the ranks that take turns have together */
	STRETCHES_LEAST = 2 /* of each of them */
};

struct member_turns {
	uint64_t wait_ns, collectives, stretches;
};

struct turns {
	struct member_turns *members; /* of the group */
	size_t found[MEMBERS_MOST];   /* those that take turns, the most waited for first */
	size_t count;
	uint64_t wait_ns, changes, collectives;
};

/* The longest wait in a row, below which a clock's uncertainty it is none. */
static uint64_t wait_of(const struct vpa_job_row *row)
{
	uint64_t ns = row->count > 1 ? (uint64_t)row->last_ns - (uint64_t)row->first_ns : 0;

	return ns < row->uncertainty_ns ? 0 : ns;
}

/* Half of the mean wait. */
static uint64_t least_wait(const struct vpa_job_row *rows, size_t count)
{
	uint64_t sum = 0, waits = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		vpt_sat_add_to(&sum, wait_of(&rows[i]));
		waits += wait_of(&rows[i]) != 0;
	}
	return waits ? sum / waits / 2 + 1 : UINT64_MAX;
}

static void add_rows(struct turns *t, const struct vpa_job_row *rows, size_t count)
{
	uint64_t least = least_wait(rows, count);
	uint32_t before = UINT32_MAX;
	size_t i;

	for (i = 0; i < count; i++) {
		struct member_turns *m = &t->members[rows[i].last];

		if (wait_of(&rows[i]) < least)
			continue;
		vpt_sat_add_to(&m->wait_ns, wait_of(&rows[i]));
		vpt_sat_add_to(&t->wait_ns, wait_of(&rows[i]));
		m->collectives++;
		m->stretches += rows[i].last != before;
		before = rows[i].last;
	}
}

/* The member with the longest waits of those that are not found yet. */
static size_t next_of(const struct turns *t, size_t members)
{
	size_t best = members, k, i;

	for (k = 0; k < members; k++) {
		for (i = 0; i < t->count && t->found[i] != k; i++)
			;
		if (i == t->count &&
			(best == members || t->members[k].wait_ns > t->members[best].wait_ns))
			best = k;
	}
	return best;
}

/* The fewest members with three quarters of the waits, and whoever has about as much as they. 0: they do not take turns. */
static int find_members(struct turns *t, size_t members)
{
	size_t most = members < 4 ? 2 : members / 2;
	uint64_t found_ns = 0;

	most = most > MEMBERS_MOST ? MEMBERS_MOST : most;
	while (t->count < most) {
		size_t next = next_of(t, members);

		if (found_ns / MOST_PERCENT >= t->wait_ns / 100 &&
			t->members[next].wait_ns < found_ns / t->count / 2)
			break;
		if (t->members[next].stretches < STRETCHES_LEAST)
			return 0;
		t->found[t->count++] = next;
		vpt_sat_add_to(&found_ns, t->members[next].wait_ns);
	}
	return t->count > 1 && found_ns / MOST_PERCENT >= t->wait_ns / 100;
}

/* Changes among those that take turns: who comes between them is left out. */
static void count_changes(struct turns *t, const struct vpa_job_row *rows, size_t count)
{
	uint64_t least = least_wait(rows, count);
	uint32_t before = UINT32_MAX;
	size_t i, k;

	for (i = 0; i < count; i++) {
		for (k = 0; k < t->count && t->found[k] != rows[i].last; k++)
			;
		if (k == t->count || wait_of(&rows[i]) < least)
			continue;
		t->collectives++;
		t->changes += before != UINT32_MAX && before != rows[i].last;
		before = rows[i].last;
	}
}

static uint64_t time_of(const struct vpa_job *job, const struct vpa_group *g)
{
	uint64_t ns = 0;
	size_t k;

	for (k = 0; k < g->rank_count; k++)
		vpt_sat_add_to(&ns, vpa_pattern_span(job, g->ranks[k]));
	return ns;
}

/* Messages that some ranks leave before the last one comes: what makes one late runs through the ranks, and the last one is none
 * that they all wait for. */
static int is_passed_on(const struct vpa_job_row *rows, size_t count)
{
	size_t i, apart = 0;

	for (i = 0; i < count; i++)
		apart += rows[i].last_ns - rows[i].first_end_ns > (int64_t)rows[i].uncertainty_ns;
	return apart > count / VPA_PATTERN_LEAST;
}

static int put_turns(struct vpa_job *job, size_t group, const struct turns *t)
{
	const struct vpa_group *g = &job->matching.groups[group];
	size_t ranks[MEMBERS_MOST], i;
	uint64_t ns = 0;
	const char *text;

	for (i = 0; i < t->count; i++) {
		ranks[i] = g->ranks[t->found[i]];
		vpt_sat_add_to(&ns, t->members[t->found[i]].wait_ns);
	}
	text = vpa_pattern_ranks(job, ranks, t->count);
	/* Of groups with the same ranks the first one says it. */
	for (i = 0; text && i < job->pattern_count; i++)
		if (job->patterns[i].kind == VPA_PATTERN_TURNS &&
			!strcmp(job->patterns[i].ranks, text))
			return VPT_OK;
	return text ? vpa_pattern_put(job, (struct vpa_job_pattern){.kind = VPA_PATTERN_TURNS,
						   .ranks = text,
						   .group = g->name,
						   .collectives = t->collectives,
						   .changes = t->changes,
						   .ns = ns})
		    : VPT_ENOMEM;
}

int vpa_find_turns(struct vpa_job *job, const struct vpa_job_rows *rows)
{
	size_t g;
	int rc = VPT_OK;

	for (g = 0; g < job->matching.group_count && !rc; g++) {
		const struct vpa_group *group = &job->matching.groups[g];
		/* Who comes last at the start does so once. */
		size_t skipped = job->start_ns && group->row_count;
		const struct vpa_job_row *first = &rows->items[rows->firsts[g] + skipped];
		size_t count = group->row_count - skipped;
		struct turns t = {.count = 0};

		if (vpt_sat_sub(job->groups[g].wait_ns, vpa_job_start_wait(job)) <
				time_of(job, group) / VPA_PATTERN_LEAST ||
			is_passed_on(first, count))
			continue;
		t.members = vpt_calloc(group->rank_count, sizeof(*t.members));
		if (!t.members)
			return VPT_ENOMEM;
		add_rows(&t, first, count);
		if (t.wait_ns && find_members(&t, group->rank_count)) {
			count_changes(&t, first, count);
			rc = put_turns(job, g, &t);
		}
		vpt_free(t.members);
	}
	return rc;
}

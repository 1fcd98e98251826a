/* lockstep.c - groups without a name that are several communicators, whose ranks work in step: collectives that end together were
 * taken for one. Where a rank left before another one came, or each has some that the other lacks, they were not. */
#include "analysis/ranks/patterns/patterns.h"

#include "formats/base/memory.h"

static const char *sets_text(
	struct vpa_job *job, const struct vpa_group *g, const uint32_t *sets, size_t count)
{
	size_t *members = vpt_alloc(g->rank_count, sizeof(*members));
	const char *text = members ? "" : NULL;
	size_t set, n, k;

	for (set = 0; set < count && text; set++) {
		const char *list;

		for (n = k = 0; k < g->rank_count; k++)
			if (sets[k] == set)
				members[n++] = g->ranks[k];
		list = vpa_pattern_ranks(job, members, n);
		text = list ? vpa_arena_printf(&job->arena, "%s%s%s", text, set ? "; " : "", list)
			    : NULL;
	}
	vpt_free(members);
	return text;
}

/* Sets of one rank are no communicators: it is only late. */
static int are_groups(const uint32_t *sets, size_t ranks, size_t count)
{
	size_t set, n, k;

	for (set = 0; set < count; set++) {
		for (n = k = 0; k < ranks; k++)
			n += sets[k] == set;
		if (n < 2)
			return 0;
	}
	return count > 1;
}

int vpa_find_lockstep(struct vpa_job *job, const struct vpa_job_rows *rows)
{
	size_t g;
	int rc = VPT_OK;

	for (g = 0; g < job->matching.group_count && !rc; g++) {
		const struct vpa_group *group = &job->matching.groups[g];
		uint32_t *sets;
		uint64_t apart;
		size_t count;

		if (group->name || group->rank_count > VPA_PAIRED_MOST)
			continue;
		sets = vpt_alloc(group->rank_count, sizeof(*sets));
		count = sets ? vpa_apart_sets(job, rows, g, sets, &apart) : 0;
		if (!count)
			rc = VPT_ENOMEM;
		else if (are_groups(sets, group->rank_count, count)) {
			struct vpa_job_pattern p = {.kind = VPA_PATTERN_LOCKSTEP,
				.ranks = sets_text(job, group, sets, count),
				.collectives = apart,
				.ns = job->groups[g].wait_ns};

			rc = p.ranks ? vpa_pattern_put(job, p) : VPT_ENOMEM;
		}
		vpt_free(sets);
	}
	return rc;
}

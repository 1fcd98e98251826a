/* guidance_pairs.c - two passes of guidance, each by half of the ranks: the only words between the halves are those of pairs, which gather
 * both results once a step.
 *
 *	ranks 0 to 3   [all-to-all ... of a pass with the prompt   ] gather
 *	ranks 4 to 7   [all-to-all ... of a pass without           ] gather of 0, 4; 1, 5; 2, 6; 3, 7
 */
#include "analysis/ranks/patterns/patterns.h"

#include "formats/base/memory.h"

enum {
	RANKS_LEAST = 4, /* of two ranks nobody knows what they gather */
	ROWS_LEAST = 3,
	OTHERS_LEAST =
		4 /* collectives of a rank for each gather: it is of a step, not of a layer */
};

/* Whether the group is a pair that only gathers, and seldom. */
static int is_pair(const struct vpa_job *job, const struct vpa_group *g)
{
	size_t row, k;

	if (g->rank_count != 2 || g->row_count < ROWS_LEAST)
		return 0;
	for (row = 0; row < g->row_count; row++)
		for (k = 0; k < 2; k++) {
			uint32_t cell = vpa_group_cell(g, row, k);

			if (cell != VPA_NO_COLLECTIVE &&
				vpa_rank_key(job->list.items[g->ranks[k]], cell)->kind !=
					VPA_COLLECTIVE_ALL_GATHER)
				return 0;
		}
	for (k = 0; k < 2; k++)
		if (job->ranks[g->ranks[k]].matched < (OTHERS_LEAST + 1) * g->row_count)
			return 0;
	return 1;
}

/* Whether pairs hold each rank once; joins them. */
static int list_pairs(struct vpa_job *job, unsigned char *has, struct vpa_job_pattern *p)
{
	size_t g, i;

	for (g = 0; g < job->matching.group_count; g++) {
		const struct vpa_group *group = &job->matching.groups[g];

		if (!is_pair(job, group))
			continue;
		if (has[group->ranks[0]]++ || has[group->ranks[1]]++)
			return 0;
		p->ranks = vpa_arena_printf(&job->arena, "%s%s%s", p->ranks ? p->ranks : "",
			p->ranks ? "; " : "",
			vpa_pattern_ranks(job, (size_t[]){group->ranks[0], group->ranks[1]}, 2));
		p->collectives += group->row_count;
		p->ns += job->groups[g].transfer_ns;
	}
	for (i = 0; i < job->rank_count && has[i]; i++)
		;
	return i == job->rank_count;
}

int vpa_find_guidance_pairs(struct vpa_job *job, const struct vpa_job_rows *rows)
{
	struct vpa_job_pattern p = {
		.kind = VPA_PATTERN_CFG, .collective = VPA_COLLECTIVE_ALL_GATHER};
	unsigned char *has;
	int rc = VPT_OK;

	(void)rows;
	if (job->rank_count < RANKS_LEAST)
		return VPT_OK;
	has = vpt_calloc(job->rank_count + 1, 1);
	if (!has)
		return VPT_ENOMEM;
	if (list_pairs(job, has, &p)) {
		p.collectives /= job->rank_count / 2;
		p.ns /= job->rank_count;
		rc = p.ranks ? vpa_pattern_put(job, p) : VPT_ENOMEM;
	}
	vpt_free(has);
	return rc;
}

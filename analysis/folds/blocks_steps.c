/* blocks_steps.c - the denoising steps of one request, and its passes over the context.
 *
 * If measured blocks contain steps, only those count, and steps per second is over the blocks' time;
 * else all steps count, from the start of the first to the end of the last. Seconds per iteration is
 * that time divided by the steps: the period from one step to the next, longer than a step if
 * something comes between. */
#include "analysis/folds/blocks_steps.h"

#include "analysis/folds/blocks_loop.h"
#include "analysis/spread.h"

#include <string.h>

struct step_sums {
	struct vpa_spread_builder all, measured;
	uint64_t first_ns, last_ns;
};

static int gather_steps(const struct vpa_blocks_writer *w, const struct vpa_blocks_group *g,
	enum vpa_scope_kind kind, struct step_sums *sums)
{
	const struct vpa_blocks_table *s = w->s;
	size_t i;

	memset(sums, 0, sizeof(*sums));
	sums->first_ns = UINT64_MAX;
	for (i = 0; i < g->sample_count; i++) {
		const struct vpa_stage_sample *sample = &s->samples[g->samples[i]];
		uint64_t last = sample->first_ns + sample->ns;

		if (vpa_row_kind(w, &s->rows[sample->row]) != kind)
			continue;
		if (vpa_spread_add(&sums->all, sample->ns))
			return VPT_ENOMEM;
		if (sample->block != VPA_NONE && w->measured[sample->block] &&
			vpa_spread_add(&sums->measured, sample->ns))
			return VPT_ENOMEM;
		sums->first_ns =
			sample->first_ns < sums->first_ns ? sample->first_ns : sums->first_ns;
		sums->last_ns = last > sums->last_ns ? last : sums->last_ns;
	}
	vpa_spread_settle(&sums->all);
	vpa_spread_settle(&sums->measured);
	return VPT_OK;
}

static void free_steps(struct step_sums *sums)
{
	vpa_spread_free(&sums->all);
	vpa_spread_free(&sums->measured);
}

static struct vpa_spread best_spread(struct step_sums *sums)
{
	return vpa_spread_of(sums->measured.count ? &sums->measured : &sums->all);
}

int vpa_group_steps(struct vpa_blocks_writer *w, struct vpa_blocks_group *g)
{
	struct vpa_step_times *t = &g->request->steps;
	struct step_sums sums;
	int rc = gather_steps(w, g, VPA_SCOPE_STEP, &sums);

	t->per_block = t->steps_per_s = t->s_per_it = -1;
	if (!rc && sums.all.count) {
		t->count = sums.all.count;
		t->time = best_spread(&sums);
		if (sums.measured.count) {
			t->per_block =
				(double)sums.measured.count / (double)g->request->blocks.measured;
			t->steps_per_s = vpa_per_second(
				(double)sums.measured.count, g->request->blocks.span_ns);
		} else {
			t->steps_per_s =
				vpa_per_second((double)t->count, sums.last_ns - sums.first_ns);
			rc = vpa_blocks_loop_write(w, g, sums.first_ns, sums.last_ns);
		}
		t->s_per_it = t->steps_per_s > 0 ? 1 / t->steps_per_s : -1;
	}
	free_steps(&sums);
	if (rc)
		return rc;
	rc = gather_steps(w, g, VPA_SCOPE_CONTEXT, &sums);
	if (!rc) {
		t->context_count = sums.all.count;
		t->context = best_spread(&sums);
	}
	free_steps(&sums);
	return rc;
}

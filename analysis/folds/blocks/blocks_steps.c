/* blocks_steps.c - the denoising steps of one request, and its passes over the context.
 *
 * If measured blocks contain steps, only those count, else all. Seconds per iteration is the mean period, from
 * one step to the next in its loop (blocks_periods.h): longer than a step if something comes between. Where no
 * step follows another, it is the mean length of a step. */
#include "analysis/folds/blocks/blocks_write.h"

#include "analysis/base/durations.h"
#include "analysis/folds/blocks/blocks_periods.h"
#include "formats/base/memory.h"

struct step_sums {
	struct vpa_marked_step *steps;
	size_t count, measured;
};

/* Leaves the caller sums->steps to free, also on failure. */
static int gather_steps(const struct vpa_blocks_writer *w, const struct vpa_blocks_group *g,
	enum vpa_scope_kind kind, struct step_sums *sums)
{
	size_t i;

	*sums = (struct step_sums){.count = 0};
	sums->steps = vpt_alloc(g->sample_count, sizeof(*sums->steps));
	if (!sums->steps)
		return VPT_ENOMEM;
	sums->count = vpa_marked_steps(w, g, kind, sums->steps);
	for (i = 0; i < sums->count; i++)
		sums->measured += sums->steps[i].measured;
	return VPT_OK;
}

/* Whether a step counts, since it is in a measured block or none is. */
static int counts(const struct step_sums *sums, size_t i)
{
	return !sums->measured || sums->steps[i].measured;
}

static int spread_of(const struct step_sums *sums, struct vpa_durations *out)
{
	struct vpa_durations_builder all = {0};
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < sums->count && !rc; i++)
		if (counts(sums, i))
			rc = vpa_durations_add(
				&all, sums->steps[i].last_ns - sums->steps[i].first_ns);
	if (!rc)
		*out = vpa_durations_of(&all);
	vpa_durations_free(&all);
	return rc ? VPT_ENOMEM : VPT_OK;
}

static int write_rate(
	const struct vpa_blocks_writer *w, const struct step_sums *sums, struct vpa_step_times *t)
{
	struct vpa_durations_builder all = {0};
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i + 1 < sums->count && !rc; i++) {
		uint64_t period_ns = counts(sums, i) ? vpa_marked_period(w, &sums->steps[i]) : 0;

		if (period_ns)
			rc = vpa_durations_add(&all, period_ns);
	}
	if (!rc)
		t->period = vpa_durations_of(&all);
	vpa_durations_free(&all);
	t->periods = t->period.count;
	t->steps_per_s = t->periods ? vpa_per_second((double)t->periods, t->period.total_ns)
				    : vpa_per_second((double)t->time.count, t->time.total_ns);
	t->s_per_it = t->steps_per_s > 0 ? 1 / t->steps_per_s : -1;
	return rc ? VPT_ENOMEM : VPT_OK;
}

static int write_steps(struct vpa_blocks_writer *w, struct vpa_blocks_group *g,
	const struct step_sums *sums, struct vpa_step_times *t)
{
	t->per_block = t->steps_per_s = t->s_per_it = -1;
	t->count = sums->count;
	if (!sums->count)
		return VPT_OK;
	if (spread_of(sums, &t->time) || write_rate(w, sums, t))
		return VPT_ENOMEM;
	if (sums->measured)
		t->per_block = (double)sums->measured / (double)g->request->blocks.measured;
	return VPT_OK;
}

int vpa_group_steps(struct vpa_blocks_writer *w, struct vpa_blocks_group *g)
{
	struct vpa_step_times *t = &g->request->steps;
	struct step_sums sums;
	int rc = gather_steps(w, g, VPA_SCOPE_STEP, &sums);

	if (!rc)
		rc = write_steps(w, g, &sums, t);
	vpt_free(sums.steps);
	if (rc)
		return rc;
	rc = gather_steps(w, g, VPA_SCOPE_CONTEXT, &sums);
	t->context_count = sums.count;
	if (!rc)
		rc = spread_of(&sums, &t->context);
	vpt_free(sums.steps);
	return rc;
}

/* findings_trials.c - conclusions about kernels that a library tries before it keeps one, see ../../folds/gaps/trials.c.
 *
 * The program can do without all of them, and the waits between them, but for the one that is kept. So that time belongs to no other
 * finding about waits and host code. */
#include "analysis/advice/findings/findings_idle.h"

#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "analysis/pipeline/unit.h"
#include "formats/base/saturate.h"

#include <inttypes.h>

uint64_t vpa_trials_idle(const struct vpa_report *r, uint32_t causes)
{
	return vpa_finding_find(r, VPA_FOUND_TRIALS) ? vpa_sum_of_causes(r->trials.cause_ns, causes)
						     : 0;
}

/* The units of a report are a part of the run, which may begin after the first trials. */
static uint64_t in_units(const struct vpa_report *r)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	const struct vpa_trials *t = &r->trials;
	uint64_t ns = 0;
	size_t i;

	for (i = 0; unit.units > 0 && i < t->span_count; i++)
		vpt_sat_add_to(&ns, vpt_sat_sub(vpa_earlier(t->spans[i].end_ns, unit.end_ns),
					    vpa_later(t->spans[i].start_ns, unit.start_ns)));
	return ns;
}

/* The families of what is tried differ in who tries. */
static void set_words(struct vpa_finding *f, const struct vpa_trials *t)
{
	f->title = "kernels are tried for each new shape of a convolution, and all but one are "
		   "thrown away: torch.backends.cudnn.benchmark = False, or fewer shapes";
	f->words = "cudnn.benchmark = False, or fewer shapes";
	f->caveat = "a convolution that is not tuned may be slower";
	if (t->convs >= t->count - t->convs)
		return;
	f->title = "kernels are tried for each new shape of a matrix product, and all but one are "
		   "thrown away: keep what was tuned, or use fewer shapes";
	f->words = "keep tuned matrix products, or fewer shapes";
	f->caveat = "a matrix product that is not tuned may be slower";
}

void vpa_find_trials(struct vpa_report *r)
{
	const struct vpa_trials *t = &r->trials;
	struct vpa_saving s = {.ns = vpa_earlier(t->span_ns, vpa_active_ns(r))};
	struct vpa_finding *f;

	if (!t->count || !vpa_saving_is_worth(r, &s))
		return;
	f = vpa_finding_add(r, VPA_FOUND_TRIALS, vpa_saving_status(r, &s));
	if (!f)
		return;
	set_words(f, t);
	s.base_ns = vpa_earlier(in_units(r), s.ns);
	vpa_finding_saves(r, f, &s);
	vpa_finding_work_is_at(r, f, &t->place, t->place_ns, t->span_ns);
	f->measured = vpa_arena_printf(&r->arena,
		"%" PRIu64 " kernels tried for %" PRIu64 " %s%s: they take %s, %s with the waits "
		"between them",
		t->kernels, t->count,
		t->convs == t->count ? "convolution"
		: t->convs           ? "convolution or matrix product"
				     : "matrix product",
		vpa_plural(t->count), vpa_duration(t->kernel_ns).text,
		vpa_duration(t->span_ns).text);
	f->threshold = "4 different kernels in a row, 2 % of active, 1 % of the window";
	f->note = f->measured;
}

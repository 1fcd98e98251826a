/* text_steps.c - steps that nothing marks, inferred from the kernel sequence. Every sentence says so. */
#include "analysis/pipeline/unit.h"
#include "analysis/render/text/sections/text_sections.h"

enum { DEVICES = 4 };

/* Rounds whose steps are not known one by one. */
static void put_rounds(struct vpa_page *p, const struct vpa_report *r,
	const struct vpa_inferred *row, int is_first)
{
	struct vpa_words w = {.used = 0};

	if (r->device_count > 1)
		vpa_words_add(&w, "", "GPU %lld ", (long long)row->device);
	vpa_words_add(&w, "",
		"inferred from the kernel sequence: %s round%s of %u steps, which have %s of "
		"GPU work each (median), confidence %s",
		vpa_count(row->round_count).text, vpa_plural(row->round_count), row->round_steps,
		vpa_duration(row->round_step_ns).text, vpa_fixed(row->confidence, 2).text);
	if (row->layers)
		vpa_words_add(&w, "; ", "%u layers or the like in a step", row->layers);
	vpa_page_words(p, is_first ? "STEPS" : "", VPA_PLAIN, "%s", w.text);
}

static void put_device(struct vpa_page *p, const struct vpa_report *r,
	const struct vpa_inferred *row, int is_first)
{
	struct vpa_words w = {.used = 0};
	uint64_t n = row->step_count;

	if (r->device_count > 1)
		vpa_words_add(&w, "", "GPU %lld ", (long long)row->device);
	vpa_words_add(&w, "",
		"inferred from the kernel sequence: %s step%s of %s (median, p95 %s), "
		"confidence %s",
		vpa_count(n).text, vpa_plural(n), vpa_duration(row->period.p50_ns).text,
		vpa_duration(row->period.p95_ns).text, vpa_fixed(row->confidence, 2).text);
	vpa_page_words(p, is_first ? "STEPS" : "", VPA_PLAIN, "%s", w.text);
	w.used = 0;
	vpa_words_add(&w, "", "%s steps/s, %s s/it", vpa_fixed(row->steps_per_s, 3).text,
		vpa_fixed(row->s_per_it, 4).text);
	vpa_words_add(&w, "; ", "GPU busy %s and idle %s in a step", vpa_mean(row->busy_ns, n).text,
		vpa_mean(row->idle_ns, n).text);
	vpa_words_add(&w, "", " (inferred)");
	if (row->round_count)
		vpa_words_add(&w, ", ", "%s round%s of %u", vpa_count(row->round_count).text,
			vpa_plural(row->round_count), row->round_steps);
	else if (row->rows)
		vpa_words_add(&w, ", ", "%s rows of %s", vpa_count(row->rows).text,
			vpa_count(row->row_steps).text);
	if (row->passes_per_step > 1)
		vpa_words_add(&w, ", ", "%u passes of the model", row->passes_per_step);
	if (row->layers)
		vpa_words_add(&w, ", ", "%u layers or the like%s", row->layers,
			row->passes_per_step > 1 ? " each" : "");
	if (row->context_passes)
		vpa_words_add(&w, "; ", "%s more pass%s that no scheduler follows",
			vpa_count(row->context_passes).text, vpa_plural_es(row->context_passes));
	if (row->cut)
		vpa_words_add(&w, "; ", "%s more at the edges, not whole, left out",
			vpa_count(row->cut).text);
	if (row->ops_left_out)
		vpa_words_add(
			&w, "; ", "%s later ops not examined", vpa_count(row->ops_left_out).text);
	vpa_page_words(p, "", VPA_PLAIN, "%s", w.text);
}

void vpa_text_steps(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	size_t i;

	(void)d;
	/* Marked iterations are what a user counts in: the same from the kernels would be a second figure for it. */
	if (vpa_unit_of(r) == VPA_UNIT_ITERATION)
		return;
	for (i = 0; i < r->inferred_count && i < DEVICES; i++)
		(r->inferred[i].step_count ? put_device : put_rounds)(p, r, &r->inferred[i], !i);
	if (r->step_rival_count)
		vpa_page_words(p, r->inferred_count ? "" : "STEPS", VPA_PLAIN,
			"not inferred: two repetitions of the kernel sequence may be the steps, %s "
			"of %s of GPU work or %s of %s; mark steps to get their rate",
			vpa_count(r->step_rivals[0].count).text,
			vpa_duration(r->step_rivals[0].median_ns).text,
			vpa_count(r->step_rivals[1].count).text,
			vpa_duration(r->step_rivals[1].median_ns).text);
	if (r->inferred_count > DEVICES)
		vpa_page_words(p, "", VPA_PLAIN, "and %zu more GPUs, in the JSON report",
			r->inferred_count - DEVICES);
}

/* page_before_after.c - the mean unit before and after the fixes: as recorded, and as a replay of the trace with their changes
 * predicts, by stage. */
#include "analysis/base/numbers.h"
#include "analysis/render/html/markup/bar_pairs.h"
#include "analysis/render/html/report_page.h"
#include "analysis/render/text/sections/text_blocks_parts.h"
#include "analysis/render/text/sections/text_sections.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What was replayed. */
struct fixes {
	const struct vpa_finding *first; /* with a prediction; NULL: none */
	size_t count;
	double predicted_ms;
	char change[2048]; /* all of them; "": too long */
};

static void add_change(struct fixes *f, const char *change)
{
	size_t used = strlen(f->change), len = strlen(change);

	if ((f->count > 1 && !used) || used + len + 3 > sizeof(f->change)) {
		f->change[0] = '\0';
		return;
	}
	snprintf(f->change + used, sizeof(f->change) - used, "%s%s", used ? "; " : "", change);
}

/* The time with them is that of the forecast's base. */
static void find_fixes(const struct vpa_report *r, struct fixes *out)
{
	const struct vpa_forecast *f = &r->forecast;
	size_t i;

	*out = (struct fixes){.first = NULL};
	for (i = 0; i < r->finding_count; i++) {
		if (!(r->findings[i].predicted_ms > 0) || !r->findings[i].change)
			continue;
		out->first = out->first ? out->first : &r->findings[i];
		out->count++;
		add_change(out, r->findings[i].change);
	}
	for (i = 0; i < f->stage_count; i++)
		out->predicted_ms += f->stages[i].predicted_ms;
	if (!f->stage_count && f->all_count)
		out->predicted_ms = f->all_ms;
	else if (!f->stage_count && out->count == 1 && out->first->base == f->base)
		out->predicted_ms = out->first->predicted_ms;
}

static uint64_t ns_of(double ms)
{
	return vpt_sat_u64(ms * 1e6 + 0.5);
}

static struct vpa_num change_of(int64_t ns, uint64_t whole_ns)
{
	struct vpa_num out, n = vpa_scaled(ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, 1000000,
				    whole_ns < 100000000 ? 3 : 2);

	snprintf(out.text, sizeof(out.text), "%s%.30s", ns < 0 ? "-" : ns > 0 ? "+" : "", n.text);
	return out;
}

static void put_row(struct vpa_bar_pairs *p, const char *name, double recorded_ms,
	double predicted_ms, int is_sum)
{
	struct vpa_bar_pair row = {.a_ns = ns_of(recorded_ms),
		.b_ns = ns_of(predicted_ms),
		.plain = is_sum ? "whole" : "l-stage",
		.kind = "",
		.is_sum = is_sum};
	unsigned decimals = p->scale_ns < 100000000 ? 2 : 1;

	row.delta_ns = vpt_sat_diff(row.b_ns, row.a_ns);
	row.a = vpa_scaled(row.a_ns, 1000000, decimals);
	row.b = vpa_scaled(row.b_ns, 1000000, decimals);
	row.delta = change_of(row.delta_ns, p->scale_ns);
	vpa_html_pair_begin(p->h, &row);
	vpa_html_text(p->h, name);
	vpa_html_pair_bars(p, &row);
}

/* Stages that no replayed part of the trace has. */
static void put_others(struct vpa_html *h, const struct vpa_forecast *f)
{
	const char *before = "<p class=\"muted\">Not in the replayed parts: ";
	size_t i;

	for (i = 0; i < f->stage_count; i++) {
		if (f->stages[i].is_replayed)
			continue;
		vpa_html_raw(h, before);
		vpa_html_text(h, f->stages[i].name);
		before = ", ";
	}
	if (before[0] == ',')
		vpa_html_raw(h, ".</p>\n");
}

static void put_table(struct vpa_html *h, const struct vpa_forecast *f, const struct fixes *fixes)
{
	struct vpa_bar_pairs p = {.h = h,
		.scale_ns = ns_of(fmax(f->base_ms, fixes->predicted_ms)),
		.delta_scale_ns = ns_of(fabs(f->base_ms - fixes->predicted_ms))};
	const char *whole =
		f->base == VPA_BASE_ACTIVE ? "first to last op" : vpa_base_name(f->base);
	size_t i;

	for (i = 0; i < f->stage_count; i++) {
		uint64_t ns = ns_of(fabs(f->stages[i].predicted_ms - f->stages[i].recorded_ms));

		p.delta_scale_ns = ns > p.delta_scale_ns ? ns : p.delta_scale_ns;
	}
	vpa_html_pairs_begin(h, "recorded", "predicted", NULL);
	put_row(&p, whole, f->base_ms, fixes->predicted_ms, 1);
	for (i = 0; i < f->stage_count; i++)
		if (f->stages[i].is_replayed)
			put_row(&p, f->stages[i].name ? f->stages[i].name : VPA_BETWEEN_STAGES,
				f->stages[i].recorded_ms, f->stages[i].predicted_ms, 0);
	vpa_html_pairs_end(h);
	put_others(h, f);
}

void vpa_html_before_after(struct vpa_html *h, const struct vpa_report *r)
{
	const struct vpa_forecast *f = &r->forecast;
	struct fixes fixes;

	find_fixes(r, &fixes);
	if (f->why_not || !fixes.first || !(fixes.predicted_ms > 0))
		return;
	vpa_html_raw(h, "<h3 id=\"before-after\">Before and after</h3>\n<p class=\"lead\">");
	if (f->replayed_share < 1)
		vpa_html_print(
			h, "%s %% of the trace, in parts,", vpa_share(f->replayed_share).text);
	else
		vpa_html_raw(h, "The trace");
	if (fixes.count > 1)
		vpa_html_print(h, " replayed with the changes of all %zu fixes", fixes.count);
	else
		vpa_html_raw(h, " replayed with the change of the fix");
	vpa_html_print(h, ": %s%s instead of %s. Confidence: %s.</p>\n",
		f->all_at_least ? "at most " : "", vpa_duration(ns_of(fixes.predicted_ms)).text,
		vpa_duration(ns_of(f->base_ms)).text, vpa_confidence_word(f->confidence));
	put_table(h, f, &fixes);
	if (fixes.change[0])
		vpa_html_what_if(h, r, fixes.change);
}

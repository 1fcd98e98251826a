/* screen_rest.c - what the units leave out of the window, where they are a small part of it: RESULT says what the rest is, and CAUSE
 * what the GPU does in it. */
#include "analysis/render/text/screen/screen.h"

#include "analysis/base/intervals.h"
#include "analysis/render/text/sections/text_blocks_parts.h"
#include "formats/base/saturate.h"

/* Less of the window in units says little about it; a part of the window from this share on is named. */
static const double little_share = 0.5, named_share = 0.25;

static uint64_t window_ns(const struct vpa_screen *s)
{
	return s->report->window_end_ns - s->report->window_start_ns;
}

int vpa_screen_units_are_little(const struct vpa_screen *s)
{
	return s->unit.units > 0 && s->unit.kind != VPA_UNIT_REQUEST &&
	       (double)s->unit.span_ns < little_share * (double)window_ns(s);
}

/* Inferred steps and rounds that no other follows have no period, and yet are steps and rounds. */
static uint64_t all_units_ns(const struct vpa_screen *s)
{
	struct vpa_unit_turns turns;
	uint64_t ns = 0;
	size_t i;

	if (!vpa_unit_is_inferred(s->unit.kind))
		return s->unit.span_ns;
	turns = vpa_unit_turns_of(&s->report->inferred[0], s->unit.kind);
	for (i = 0; i < turns.count; i++)
		vpt_sat_add_to(&ns, turns.at[i].period_ns);
	return ns;
}

int vpa_screen_steps_are_minor(const struct vpa_screen *s)
{
	return s->unit.units > 0 && s->unit.kind == VPA_UNIT_INFERRED &&
	       (double)all_units_ns(s) < little_share * (double)window_ns(s);
}

/* A stage beside the units that is a large part of the window. */
static int is_named(const struct vpa_screen *s, const struct vpa_stage_row *stage)
{
	return !s->blocks && stage->kind == VPA_SCOPE_STAGE && !stage->nested &&
	       !stage->holds_steps &&
	       (double)stage->covered_ns >= named_share * (double)window_ns(s);
}

/* ---- in RESULT ---- */

/* The least that any GPU waits for the cause. */
static uint64_t all_wait(const struct vpa_report *r, enum vpa_cause cause)
{
	uint64_t all_ns = UINT64_MAX, ns;
	size_t d, i;

	for (d = 0; d < r->device_count; d++) {
		for (ns = 0, i = 0; i < r->devices[d].cause_count; i++)
			if (r->devices[d].causes[i].cause == cause)
				vpt_sat_add_to(&ns, r->devices[d].causes[i].ns);
		all_ns = vpa_earlier(all_ns, ns);
	}
	return r->device_count ? all_ns : 0;
}

static void add_part(
	struct vpa_words *w, const struct vpa_screen *s, uint64_t ns, const char *where)
{
	if ((double)ns < named_share * (double)window_ns(s))
		return;
	if (w->used)
		vpa_words_add(w, ", ", "%s %s", vpa_duration(ns).text, where);
	else
		vpa_words_add(w, "", "%s are %s", vpa_duration(ns).text, where);
}

void vpa_screen_add_minor_steps(struct vpa_words *w, const struct vpa_screen *s)
{
	const struct vpa_inferred *row = s->report->inferred;

	vpa_words_add(w, " ",
		"Steps, which nothing marks, are %s of this: %zu of %s, %s steps/s. They are the "
		"repetition of the kernels, with confidence %s.",
		vpa_duration(all_units_ns(s)).text, row->step_count, vpa_duration(s->ns).text,
		vpa_rate(1e9 / (double)s->ns).text, vpa_fixed(row->confidence, 2).text);
}

void vpa_screen_add_rest(struct vpa_words *w, const struct vpa_screen *s)
{
	const struct vpa_report *r = s->report;
	struct vpa_words parts = {.used = 0};
	struct vpa_label where;
	size_t i;

	if (!vpa_screen_units_are_little(s))
		return;
	if (!s->unit.head_ns)
		add_part(
			&parts, s, all_wait(r, VPA_CAUSE_BEFORE_FIRST_WORK), "before the first op");
	for (i = 0; i < r->stage_count; i++) {
		if (!is_named(s, &r->stages[i]))
			continue;
		snprintf(where.text, sizeof(where.text), "in %.400s",
			vpa_fit(r->stages[i].name, 40).text);
		add_part(&parts, s, r->stages[i].covered_ns, where.text);
	}
	add_part(&parts, s, all_wait(r, VPA_CAUSE_AFTER_LAST_WORK), "after the last op");
	if (parts.used)
		vpa_words_add(w, " ", "Of the window's %s, %s.", vpa_duration(window_ns(s)).text,
			parts.text);
	else if (!s->unit.without_first && !vpa_screen_steps_are_minor(s))
		vpa_words_add(w, " ", "Together they are %s of the window's %s.",
			vpa_duration(all_units_ns(s)).text, vpa_duration(window_ns(s)).text);
}

/* ---- in CAUSE ---- */

/* The family with most of a stage's work, where that is a third or more of it; NULL: none. */
static const struct vpa_stage_family_row *main_family(
	const struct vpa_expert *e, const struct vpa_stage_row *stage)
{
	const struct vpa_stage_family_row *best = NULL;
	size_t i;

	for (i = 0; i < e->stage_family_count; i++) {
		const struct vpa_stage_family_row *f = &e->stage_families[i];

		if (f->kind == stage->kind && vpt_same_text(f->stage, stage->name) &&
			(!best || f->exclusive_ns > best->exclusive_ns))
			best = f;
	}
	return best && best->exclusive_ns >= best->stage_ns / 3 ? best : NULL;
}

/* The cause of at least half of a stage's waits, by the places that name it; VPA_CAUSE_NOT_IDLE: none. */
static enum vpa_cause main_cause(
	const struct vpa_screen *s, const struct vpa_stage_row *stage, uint64_t *ns)
{
	uint64_t in_ns[VPA_CAUSES] = {0};
	enum vpa_cause best = VPA_CAUSE_NOT_IDLE;
	size_t d, i;

	for (d = 0; d < s->report->device_count; d++)
		for (i = 0; i < s->report->devices[d].cause_count; i++) {
			const struct vpa_idle_part *part = &s->report->devices[d].causes[i];

			if (part->place.kind == VPA_PLACE_IN &&
				vpt_same_text(part->place.text, stage->name))
				vpt_sat_add_to(&in_ns[vpa_known_cause(part->cause)], part->ns);
		}
	for (i = 0; i < VPA_CAUSES; i++)
		if (in_ns[i] > in_ns[best])
			best = (enum vpa_cause)i;
	*ns = in_ns[best];
	return in_ns[best] >= stage->idle_ns / 2 ? best : VPA_CAUSE_NOT_IDLE;
}

static void add_stage(
	struct vpa_words *w, const struct vpa_screen *s, const struct vpa_stage_row *stage)
{
	const struct vpa_stage_family_row *family = main_family(&s->report->expert, stage);
	uint64_t waits_ns = vpa_divided(stage->idle_ns, s->devices), ns;
	enum vpa_cause cause = main_cause(s, stage, &ns);

	vpa_words_add(w, " ", "Beside them %s has %s of work", vpa_fit(stage->name, 40).text,
		vpa_duration(vpa_divided(stage->busy_ns, s->devices)).text);
	if (family)
		vpa_words_add(w, "", " (%s %s)", vpa_family_text(s->digest, family->family),
			vpa_duration(vpa_divided(family->exclusive_ns, s->devices)).text);
	vpa_words_add(w, "", " and %s%s", waits_ns ? vpa_duration(waits_ns).text : "no",
		waits_ns ? " of waits" : " waits");
	if (waits_ns && cause)
		vpa_words_add(w, "", " (%s %s)", vpa_cause_text(cause),
			vpa_duration(vpa_divided(ns, s->devices)).text);
	if (s->devices > 1)
		vpa_words_add(w, "", " on each GPU, on average");
	vpa_words_add(w, "", ".");
}

void vpa_screen_add_rest_causes(struct vpa_words *w, const struct vpa_screen *s)
{
	const struct vpa_report *r = s->report;
	size_t i;

	for (i = 0; vpa_screen_units_are_little(s) && i < r->stage_count; i++)
		if (is_named(s, &r->stages[i]))
			add_stage(w, s, &r->stages[i]);
}

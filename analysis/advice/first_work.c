/* first_work.c - the largest parts of the time before the first work, as words, and the gain without it. */
#include "analysis/advice/first_work.h"

#include "analysis/advice/gain_unit.h"
#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "analysis/pipeline/range_scopes.h"
#include "formats/base/saturate.h"

#include <string.h>

const char *vpa_first_work_words(struct vpa_report *r)
{
	uint64_t ns[VPA_CAUSES] = {0}, all = 0;
	char text[256] = "";
	size_t d, i, used = 0, shown;

	for (d = 0; d < r->device_count; d++)
		for (i = 0; i < r->devices[d].before_first_work_count; i++) {
			ns[r->devices[d].before_first_work[i].cause] +=
				r->devices[d].before_first_work[i].ns;
			vpt_sat_add_to(&all, r->devices[d].before_first_work[i].ns);
		}
	for (shown = 0; shown < 3; shown++) {
		size_t most = 0;
		const char *word;

		for (i = 1; i < VPA_CAUSES; i++)
			most = ns[i] > ns[most] ? i : most;
		if (!ns[most] || ns[most] < all / 50)
			break;
		word = vpa_arena_printf(&r->arena, "%s%s %s", used ? ", " : ": ",
			vpa_cause_text((enum vpa_cause)most), vpa_duration(ns[most]).text);
		if (!word || used + strlen(word) >= sizeof(text))
			break;
		memcpy(text + used, word, strlen(word) + 1);
		used += strlen(word);
		ns[most] = 0;
	}
	return vpa_arena_text(&r->arena, text, used);
}

const struct vpa_idle_part *vpa_first_work_largest(const struct vpa_report *r, uint64_t *all_ns)
{
	const struct vpa_idle_part *most = NULL;
	size_t d, i;

	*all_ns = 0;
	for (d = 0; d < r->device_count; d++)
		for (i = 0; i < r->devices[d].before_first_work_count; i++) {
			const struct vpa_idle_part *p = &r->devices[d].before_first_work[i];

			vpt_sat_add_to(all_ns, p->ns);
			most = most && most->ns >= p->ns ? most : p;
		}
	return most;
}

/* The same, if a range has it; else NULL. */
static const struct vpa_idle_part *part_in_range(const struct vpa_report *r, uint64_t *all_ns)
{
	const struct vpa_idle_part *most = vpa_first_work_largest(r, all_ns);

	return most && most->place.text && most->place.kind == VPA_PLACE_IN ? most : NULL;
}

/* If a range covers most of the head, the recording did not just begin too early: the range's work is late. */
const char *vpa_first_work_title(struct vpa_report *r)
{
	uint64_t all_ns;
	const struct vpa_idle_part *most = part_in_range(r, &all_ns);

	if (!most)
		return "at the start: launch earlier, or start recording later";
	return vpa_arena_printf(&r->arena,
		"at the start: shorten or overlap what the host does first in %.80s",
		most->place.text);
}

/* Whether a range is what a user counts in, so that its name says nothing about where in it something was. */
static int is_unit(const char *name)
{
	struct vpa_scope_label label;

	vpa_scope_builtin(name, strlen(name), &label);
	return label.kind == VPA_SCOPE_REQUEST || label.kind == VPA_SCOPE_BLOCK ||
	       label.kind == VPA_SCOPE_STEP || label.kind == VPA_SCOPE_ITERATION;
}

const char *vpa_first_work_few_words(struct vpa_report *r)
{
	uint64_t there_ns = 0, all_ns;
	const struct vpa_idle_part *most = part_in_range(r, &all_ns);
	size_t d, i;

	if (!most || is_unit(most->place.text))
		return NULL;
	for (d = 0; d < r->device_count; d++)
		for (i = 0; i < r->devices[d].before_first_work_count; i++) {
			const struct vpa_idle_part *p = &r->devices[d].before_first_work[i];

			if (!vpa_place_compare(&p->place, &most->place))
				vpt_sat_add_to(&there_ns, p->ns);
		}
	if (vpa_amount_of(there_ns, all_ns) > VPA_AMOUNT_MOST)
		return NULL;
	return vpa_arena_printf(
		&r->arena, "less host code in %.60s before the first op", most->place.text);
}

/* The part of the head that the finding about first use has as well. */
static uint64_t shared_head_ns(const struct vpa_report *r)
{
	uint64_t ns = 0;
	size_t d;

	for (d = 0; d < r->device_count && vpa_finding_find(r, VPA_FOUND_FIRST_USE); d++)
		vpt_sat_add_to(&ns, r->devices[d].first_use_head_ns);
	return ns;
}

int vpa_first_work_is_gain(const struct vpa_report *r, const struct vpa_saving *s)
{
	return vpa_mean_unit_of(r).head_ns || vpa_request_head_ns(r, s->device_ns);
}

void vpa_first_work_saves(struct vpa_report *r, struct vpa_finding *f, struct vpa_saving *s)
{
	struct vpa_mean_unit base = vpa_mean_unit_of(r);

	if (base.head_ns) {
		/* All of it is in the unit, which may be much longer than the time from the first op on. */
		s->device_ns = vpa_earlier(s->device_ns, base.head_ns);
		s->ns = s->base_ns = vpa_earlier(s->ns, base.head_ns * r->device_count);
		f->gain_at_most_ms = vpa_in_ms(s->ns);
		vpa_finding_is_of_unit(r, f, vpa_in_ms(s->device_ns) / base.units * base.stretch);
	} else {
		vpa_finding_saves_head(r, f, s);
	}
	if (f->gain_at_most_ms > 0)
		f->gain_shared_ms = vpa_in_ms(vpa_earlier(s->ns, shared_head_ns(r)));
}

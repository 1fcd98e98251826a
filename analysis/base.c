/* base.c - finds the unit that gains are a part of, and how much of a gain is in it. */
#include "analysis/base.h"

#include "analysis/limit.h"

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int use_blocks(const struct vpa_report *r, struct vpa_base *out)
{
	const struct vpa_request *q = vpa_main_request(r);
	const struct vpa_blocks *b = q ? &q->blocks : NULL;

	if (!b || !b->measured || !b->span_ns)
		return 0;
	*out = (struct vpa_base){.name = "block",
		.units = (double)b->measured,
		.stretch = 1,
		.span_ns = b->span_ns,
		.busy_ns = b->busy_ns,
		.idle_ns = b->idle_ns,
		.parts = b->parts,
		.part_count = b->part_count};
	return 1;
}

/* Marked steps or iterations, from each to the next. RESULT shows the mean period of its request; shares of
 * all requests' periods are taken as shares of that. */
static int use_periods(const struct vpa_report *r, struct vpa_base *out)
{
	const struct vpa_request *q = vpa_main_request(r);
	size_t i;

	if (!r->step_part_count)
		return 0;
	*out = (struct vpa_base){.name = r->steps_are_iterations ? "iteration" : "step",
		.has_rate = 1,
		.units = (double)r->step_part_count,
		.stretch = 1,
		.parts = r->step_totals,
		.part_count = r->step_total_count};
	for (i = 0; i < r->step_part_count; i++) {
		out->span_ns += r->step_parts[i].period_ns;
		out->busy_ns += r->step_parts[i].busy_ns;
		out->idle_ns += r->step_parts[i].idle_ns;
	}
	if (!out->span_ns)
		return 0;
	if (!r->steps_are_iterations && q && q->steps.periods)
		out->stretch = q->steps.s_per_it * 1e9 * out->units / (double)out->span_ns;
	return 1;
}

/* Its own length gives steps a rate elsewhere in the report, without what the host does first. */
static int use_only_step(const struct vpa_report *r, struct vpa_base *out)
{
	const struct vpa_only_step *s = &r->only_step;

	if (s->end_ns <= s->start_ns)
		return 0;
	*out = (struct vpa_base){.name = s->is_iteration ? "iteration" : "step",
		.has_rate = s->is_iteration,
		.units = 1,
		.stretch = 1,
		.span_ns = s->end_ns - s->start_ns,
		.busy_ns = s->busy_ns,
		.idle_ns = s->idle_ns,
		.head_ns = s->first_ns - s->start_ns};
	return 1;
}

/* Steps of all devices, which are assumed to go through them together, from one to the next. */
static int use_inferred(const struct vpa_report *r, struct vpa_base *out)
{
	size_t i, k;

	if (!r->inferred_count || r->inferred_count != r->device_count)
		return 0;
	*out = (struct vpa_base){.name = "inferred step", .has_rate = 1, .stretch = 1};
	for (i = 0; i < r->inferred_count; i++)
		for (k = 0; k < r->inferred[i].step_count; k++) {
			const struct vpa_inferred_step *step = &r->inferred[i].steps[k];

			if (!step->followed)
				continue;
			out->busy_ns += step->busy_ns;
			out->idle_ns += step->idle_ns;
			out->span_ns += i ? 0 : step->period_ns;
			out->units += !i;
		}
	return out->span_ns > 0;
}

struct vpa_base vpa_base_of(const struct vpa_report *r)
{
	struct vpa_base out = {.name = NULL};

	if (!use_blocks(r, &out) && !use_periods(r, &out) && !use_only_step(r, &out) &&
		!use_inferred(r, &out))
		out = (struct vpa_base){.name = NULL};
	return out;
}

static uint64_t active_idle_ns(const struct vpa_report *r)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		ns += r->devices[i].active_ns -
		      least(r->devices[i].active_ns, r->devices[i].busy_ns);
	return ns;
}

uint64_t vpa_base_idle(const struct vpa_report *r, const struct vpa_base *base,
	enum vpa_cause cause, uint64_t gain_ns, uint64_t ns)
{
	uint64_t of_cause = 0, all = ns;
	size_t i;

	for (i = 0; i < base->part_count; i++)
		if (base->parts[i].kind == VPA_PART_IDLE && base->parts[i].cause == cause)
			of_cause += base->parts[i].ns;
	if (!base->parts) {
		of_cause = base->idle_ns;
		all = active_idle_ns(r);
	}
	if (!base->name || !all)
		return 0;
	return least(vpa_portion(gain_ns, least(of_cause, all), all), base->idle_ns);
}

uint64_t vpa_base_busy(
	const struct vpa_report *r, const struct vpa_base *base, uint64_t ns, const char *family)
{
	uint64_t inside = 0, all = 0;

	if (!base->name)
		return 0;
	if (family && base->parts) {
		inside = vpa_family_parts_ns(base->parts, base->part_count, family);
		all = vpa_family_ns(r, family);
	}
	return all ? vpa_portion(ns, inside, all)
		   : vpa_portion(ns, least(base->busy_ns, vpa_busy_ns(r)), vpa_busy_ns(r));
}

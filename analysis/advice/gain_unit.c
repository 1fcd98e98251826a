/* gain_unit.c - finds the unit that gains are a part of, and how much of a gain is in it. */
#include "analysis/advice/gain_unit.h"

#include "analysis/base/intervals.h"
#include "analysis/report/limit.h"

static int use_blocks(const struct vpa_report *r, struct vpa_gain_unit *out)
{
	const struct vpa_request *q = vpa_main_request(r);
	const struct vpa_blocks *b = q ? &q->blocks : NULL;

	if (!b || !b->measured || !b->span_ns)
		return 0;
	*out = (struct vpa_gain_unit){.name = "block",
		.units = (double)b->measured,
		.stretch = 1,
		.span_ns = b->span_ns,
		.busy_ns = b->busy_ns,
		.idle_ns = b->idle_ns,
		.work_ns = b->work_ns,
		.parts = b->parts,
		.part_count = b->part_count};
	return 1;
}

/* Marked steps or iterations, from each to the next. RESULT shows the mean period of its request; shares of
 * all requests' periods are taken as shares of that. */
static int use_periods(const struct vpa_report *r, struct vpa_gain_unit *out)
{
	const struct vpa_request *q = vpa_main_request(r);
	size_t i;

	if (!r->step_part_count)
		return 0;
	*out = (struct vpa_gain_unit){.name = r->steps_are_iterations ? "iteration" : "step",
		.has_rate = 1,
		.units = (double)r->step_part_count,
		.stretch = 1,
		.work_ns = r->step_work_ns,
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

/* The devices' first op of all. */
static uint64_t first_op_ns(const struct vpa_report *r)
{
	uint64_t first_ns = UINT64_MAX;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		first_ns = vpa_earlier(first_ns, r->devices[i].first_ns);
	return first_ns;
}

/* Its own length gives steps a rate elsewhere in the report, without what the host does first. That is part of
 * a step only if no device had work until then; an iteration is all that the host did in it. */
static int use_only_step(const struct vpa_report *r, struct vpa_gain_unit *out)
{
	const struct vpa_only_step *s = &r->only_step;
	int is_first = s->first_ns <= first_op_ns(r), from_host = is_first || s->is_iteration;
	uint64_t start_ns = from_host ? s->start_ns : s->first_ns,
		 end_ns = from_host ? s->end_ns : s->last_ns;

	if (end_ns <= start_ns)
		return 0;
	*out = (struct vpa_gain_unit){.name = s->is_iteration ? "iteration" : "step",
		.has_rate = s->is_iteration,
		.units = 1,
		.stretch = 1,
		.span_ns = end_ns - start_ns,
		.busy_ns = s->busy_ns,
		.idle_ns = s->idle_ns,
		.work_ns = s->work_ns,
		.parts = s->parts,
		.part_count = s->part_count,
		.from_host = from_host,
		.head_ns = is_first ? s->first_ns - s->start_ns : 0};
	return 1;
}

/* Steps of all devices, which are assumed to go through them together, from one to the next. */
static int use_inferred(const struct vpa_report *r, struct vpa_gain_unit *out)
{
	size_t i, k;

	if (!r->inferred_count || r->inferred_count != r->device_count)
		return 0;
	*out = (struct vpa_gain_unit){.name = "inferred step", .has_rate = 1, .stretch = 1};
	for (i = 0; i < r->inferred_count; i++) {
		uint64_t busy_ns = 0, comm_ns = r->devices[i].exposed_comm_ns;

		for (k = 0; k < r->inferred[i].step_count; k++) {
			const struct vpa_inferred_step *step = &r->inferred[i].steps[k];

			if (!step->followed)
				continue;
			busy_ns += step->busy_ns;
			out->idle_ns += step->idle_ns;
			out->span_ns += i ? 0 : step->period_ns;
			out->units += !i;
		}
		out->busy_ns += busy_ns;
		if (busy_ns > comm_ns && busy_ns - comm_ns > out->work_ns)
			out->work_ns = busy_ns - comm_ns;
	}
	return out->span_ns > 0;
}

struct vpa_gain_unit vpa_gain_unit_of(const struct vpa_report *r)
{
	struct vpa_gain_unit out = {.name = NULL};

	if (!use_blocks(r, &out) && !use_periods(r, &out) && !use_only_step(r, &out) &&
		!use_inferred(r, &out))
		out = (struct vpa_gain_unit){.name = NULL};
	return out;
}

static uint64_t active_idle_ns(const struct vpa_report *r)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		ns += r->devices[i].active_ns -
		      vpa_earlier(r->devices[i].active_ns, r->devices[i].busy_ns);
	return ns;
}

/* How much of `gain_ns` is inside, if `ns` of all time of its kind count to it, and `inside_ns` of `all_ns` are inside
 * whatever they count to. */
static uint64_t inside_of(uint64_t gain_ns, uint64_t ns, uint64_t inside_ns, uint64_t all_ns)
{
	uint64_t outside_ns = all_ns - vpa_earlier(inside_ns, all_ns);

	return outside_ns > ns / 2 ? 0 : vpa_portion(gain_ns, vpa_earlier(ns, inside_ns), ns);
}

uint64_t vpa_gain_unit_idle(const struct vpa_report *r, const struct vpa_gain_unit *base,
	uint32_t causes, uint64_t gain_ns, uint64_t ns)
{
	uint64_t of_cause = 0;
	size_t i;

	if (!base->name || !ns)
		return 0;
	if (!base->parts)
		return inside_of(gain_ns, ns, base->idle_ns, active_idle_ns(r));
	for (i = 0; i < base->part_count; i++)
		if (base->parts[i].kind == VPA_PART_IDLE && (causes >> base->parts[i].cause & 1))
			of_cause += base->parts[i].ns;
	return vpa_earlier(vpa_portion(gain_ns, vpa_earlier(of_cause, ns), ns), base->idle_ns);
}

uint64_t vpa_gain_unit_busy(const struct vpa_report *r, uint64_t ns, const char *family)
{
	struct vpa_gain_unit base = vpa_gain_unit_of(r);
	uint64_t inside, all;

	if (!base.name || !ns)
		return 0;
	if (!family || !base.parts)
		return inside_of(ns, ns, base.busy_ns, vpa_busy_ns(r));
	inside = vpa_family_parts_ns(base.parts, base.part_count, family);
	all = vpa_family_ns(r, family);
	return vpa_portion(ns, vpa_earlier(inside, all), all);
}

/* findings_first_use.c - the finding about first use, and the title of one about code that is loaded again and again. */
#include "analysis/advice/findings/findings_first_use.h"

#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "analysis/pipeline/unit.h"
#include "formats/base/saturate.h"

#include <string.h>

enum { OTHERS_MIN = 3 }; /* units without first use that say how long one takes */

/* It is worth a line from this share of the idle time. */
static const double least_share = 0.1;

/* It is a fix of the mean unit from this share on. */
static const double unit_share = 0.02;

/* ---- the units in which something is set up ---- */

/* Of the steps or iterations of the mean unit those in which a listed gap is first use, in the middle of the others. A
 * set-up is more than its gaps: a compiler runs code and tries kernels between them. Warmed up, such a unit is as the
 * others are. */
struct set_up {
	size_t units, others;
	uint64_t others_ns; /* the mean period of the others */
	uint64_t longer_ns; /* by how much the units with first use are longer, in all */
};

static int is_set_up(const struct vpa_gap_row *gap)
{
	return gap->cause == VPA_CAUSE_FIRST_USE || gap->cause == VPA_CAUSE_MODULE_LOAD;
}

static int is_in(const struct vpa_gap_row *gap, const struct vpa_step_part *s)
{
	return gap->start_ns >= s->start_ns && gap->start_ns - s->start_ns < s->period_ns;
}

static int has_set_up(const struct vpa_report *r, const struct vpa_step_part *s)
{
	size_t i;

	for (i = 0; i < r->gap_count; i++)
		if (is_set_up(&r->gaps[i]) && is_in(&r->gaps[i], s))
			return 1;
	return 0;
}

/* No units: the figures are 0. */
static struct set_up set_up_of(const struct vpa_report *r)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	struct set_up out = {0};
	uint64_t with_ns = 0, without_ns = 0;
	size_t i;

	for (i = 0; i < r->gap_count && !is_set_up(&r->gaps[i]); i++)
		;
	if (i == r->gap_count || (unit.kind != VPA_UNIT_STEP && unit.kind != VPA_UNIT_ITERATION))
		return out;
	for (i = 0; i < r->step_part_count; i++) {
		const struct vpa_step_part *s = &r->step_parts[i];

		if (s->start_ns < unit.start_ns)
			continue;
		if (has_set_up(r, s)) {
			vpt_sat_add_to(&with_ns, s->period_ns);
			out.units++;
		} else {
			vpt_sat_add_to(&without_ns, s->period_ns);
			out.others++;
		}
	}
	if (out.others < OTHERS_MIN || out.others < out.units)
		return (struct set_up){0};
	out.others_ns = without_ns / out.others;
	out.longer_ns = vpt_sat_sub(with_ns, vpt_sat_mul(out.others_ns, out.units));
	return out;
}

/* The step or iteration that a gap begins in; NULL: none. */
static const struct vpa_step_part *step_of(
	const struct vpa_report *r, const struct vpa_gap_row *gap)
{
	size_t i;

	for (i = 0; i < r->step_part_count && !is_in(gap, &r->step_parts[i]); i++)
		;
	return i < r->step_part_count ? &r->step_parts[i] : NULL;
}

/* What the listed gaps of a cause in the units with first use have more than those of the others: the set-up's too. */
static uint64_t beside_set_up(const struct vpa_report *r, int64_t device, enum vpa_cause cause)
{
	const struct vpa_step_part *step;
	uint64_t with_ns = 0, without_ns = 0;
	struct set_up set_up;
	size_t i;

	for (i = 0; i < r->gap_count; i++) {
		const struct vpa_gap_row *gap = &r->gaps[i];

		if (gap->cause != cause || gap->device != device)
			continue;
		step = step_of(r, gap);
		if (step)
			vpt_sat_add_to(
				has_set_up(r, step) ? &with_ns : &without_ns, gap->duration_ns);
	}
	/* Most causes have no such gap: then the steps need not be looked at. */
	if (!with_ns)
		return 0;
	set_up = set_up_of(r);
	return set_up.units ? vpt_sat_sub(with_ns,
				      vpt_sat_scale(without_ns, set_up.units, set_up.others))
			    : 0;
}

/* The gaps are listed from the longest on, so the first one of another unit ends the search; of those as long as that one
 * none counts. */
uint64_t vpa_first_use_longer_ns(const struct vpa_report *r)
{
	uint64_t last_ns = 0, longer_ns = 0;
	const struct vpa_step_part *step;
	size_t i;

	if (!set_up_of(r).units)
		return 0;
	for (i = 0; i < r->gap_count; i++) {
		const struct vpa_gap_row *gap = &r->gaps[i];

		if (gap->cause != VPA_CAUSE_HOST_CODE)
			continue;
		if (gap->duration_ns < last_ns)
			longer_ns = last_ns;
		step = step_of(r, gap);
		if (!step || !has_set_up(r, step))
			return longer_ns;
		last_ns = gap->duration_ns;
	}
	return last_ns;
}

/* ---- the finding ---- */

/* A device's idle time of the cause that is first use, after the first work. */
static uint64_t first_use_of(
	const struct vpa_report *r, const struct vpa_device *d, enum vpa_cause cause)
{
	return cause == VPA_CAUSE_MODULE_LOAD ? d->first_use_load_ns
	       : cause == VPA_CAUSE_FIRST_USE ? d->first_use_code_ns
					      : beside_set_up(r, d->device, cause);
}

static uint64_t first_use_of_all(const struct vpa_report *r, enum vpa_cause cause)
{
	uint64_t ns = 0;
	size_t d;

	for (d = 0; d < r->device_count; d++)
		vpt_sat_add_to(&ns, first_use_of(r, &r->devices[d], cause));
	return ns;
}

/* What the mean unit has of it is a part of that too: a unit in which something is set up makes the mean longer. */
static void save_in_units(struct vpa_report *r, struct vpa_finding *f, uint64_t ns)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	struct set_up set_up = set_up_of(r);
	uint64_t longer_ns = vpt_sat_mul(set_up.longer_ns, r->device_count);
	struct vpa_saving s = {.ns = vpa_later(ns, longer_ns)};

	s.base_ns = unit.has_parts ? vpa_earlier(ns, unit.cause_ns[VPA_CAUSE_FIRST_USE]) : 0;
	s.base_ns = vpa_later(s.base_ns, longer_ns);
	if (set_up.units)
		vpa_finding_add_note(r, f,
			vpa_arena_printf(&r->arena,
				"%zu of %zu take%s %s longer, the others %s on average",
				set_up.units, set_up.units + set_up.others,
				set_up.units == 1 ? "s" : "", vpa_duration(set_up.longer_ns).text,
				vpa_duration(set_up.others_ns).text));
	if (unit.units > 0 && (double)s.base_ns >= unit_share * (double)unit.span_ns)
		vpa_finding_saves(r, f, &s);
}

struct vpa_finding *vpa_first_use_add(struct vpa_report *r)
{
	uint64_t ns = 0, head = 0, code = 0, idle = 0;
	struct vpa_finding *f;
	size_t d;

	for (d = 0; d < r->device_count; d++) {
		idle += r->devices[d].window_idle_ns;
		ns += r->devices[d].first_use_ns;
		head += r->devices[d].first_use_head_ns;
		code += r->devices[d].first_use_code_ns;
	}
	if (!ns || (double)ns < least_share * (double)idle || ns < vpa_windows_ns(r) / 100)
		return NULL;
	f = vpa_finding_add(r, VPA_FOUND_FIRST_USE, VPA_FINDING_WARN);
	if (!f)
		return NULL;
	f->title = vpa_arena_printf(&r->arena,
		"this trace includes first use (%s of %s idle): warm up before tracing",
		vpa_duration(ns).text, vpa_duration(idle).text);
	f->measured = vpa_arena_printf(&r->arena, "%s loading code or setting up libraries%s%s%s",
		vpa_duration(ns - code).text, head ? ", " : "", head ? vpa_duration(head).text : "",
		head ? " of it before the first work" : "");
	if (code)
		f->note = vpa_arena_printf(&r->arena,
			"for %s of it the host ran its own code between such loads",
			vpa_duration(code).text);
	f->threshold = "10 % of idle time, 1 % of the window";
	f->gain_at_most_ms = vpa_in_ms(ns);
	f->base = VPA_BASE_IDLE;
	f->base_ms = vpa_in_ms(idle);
	f->base_gain_ms = vpa_in_ms(ns);
	save_in_units(r, f, ns);
	return f;
}

uint64_t vpa_first_use_left(
	const struct vpa_report *r, const struct vpa_device *device, enum vpa_cause cause)
{
	if (!vpa_finding_find(r, VPA_FOUND_FIRST_USE))
		return 0;
	return device ? first_use_of(r, device, cause) : first_use_of_all(r, cause);
}

const char *vpa_first_use_note(struct vpa_report *r, enum vpa_cause cause)
{
	uint64_t ns = vpa_first_use_left(r, NULL, cause);

	return ns ? vpa_arena_printf(&r->arena, "%s more is first use", vpa_duration(ns).text)
		  : NULL;
}

/* How often the call that loads code was made; 0: it is no such call. */
static uint64_t loads_of(const struct vpa_report *r, const char *call)
{
	const struct vpa_graphs *g = &r->expert.graphs;
	size_t i;

	for (i = 0; call && i < g->setup_count; i++)
		if (g->setup[i].what == VPA_SETUP_MODULE && !strcmp(g->setup[i].call, call))
			return g->setup[i].count;
	return 0;
}

const char *vpa_load_title(struct vpa_report *r, const char *call, uint64_t ns, const char *warm_up)
{
	uint64_t calls = loads_of(r, call);

	/* After any warm-up, what is loaded again and again would be loaded too. */
	if (calls < 2 || first_use_of_all(r, VPA_CAUSE_MODULE_LOAD) > ns / 2)
		return warm_up;
	return vpa_arena_printf(&r->arena, "load code once and keep the module: %s calls of %.60s",
		vpa_count(calls).text, call);
}

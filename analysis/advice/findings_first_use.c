/* findings_first_use.c - the finding about first use, and the title of one about code that is loaded again and again. */
#include "analysis/advice/findings_first_use.h"

#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "analysis/pipeline/unit.h"

#include <string.h>

/* It is worth a line from this share of the idle time. */
static const double least_share = 0.1;

/* It is a fix of the mean unit from this share on. */
static const double unit_share = 0.02;

/* A device's idle time of the cause that is first use, after the first work. */
static uint64_t first_use_of(const struct vpa_device *d, enum vpa_cause cause)
{
	return cause == VPA_CAUSE_MODULE_LOAD ? d->first_use_load_ns
	       : cause == VPA_CAUSE_FIRST_USE ? d->first_use_code_ns
					      : 0;
}

static uint64_t first_use_of_all(const struct vpa_report *r, enum vpa_cause cause)
{
	uint64_t ns = 0;
	size_t d;

	for (d = 0; d < r->device_count; d++)
		ns += first_use_of(&r->devices[d], cause);
	return ns;
}

/* What the mean unit has of it is a part of that too: a unit in which something is set up makes the mean longer. */
static void save_in_units(struct vpa_report *r, struct vpa_finding *f, uint64_t ns)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	struct vpa_saving s = {.ns = ns};

	s.base_ns = unit.has_parts ? vpa_earlier(ns, unit.cause_ns[VPA_CAUSE_FIRST_USE]) : 0;
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
	return device ? first_use_of(device, cause) : first_use_of_all(r, cause);
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

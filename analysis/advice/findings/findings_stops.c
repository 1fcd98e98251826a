/* findings_stops.c - conclusions about a host that stands still, wherever it is: one for all stops, in place of those about the calls
 * and the code that it was in. */
#include "analysis/advice/findings/findings_idle.h"

#include "analysis/advice/gain_unit.h"
#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	RARE = 3, /* pauses: at most one of three visits to a place */
	PART = 4  /* they are worth a word from 1 / this of the host code on */
};

/* Stops among the causes of `causes`, a bit each. */
/* Of idle time of a cause, the part that is no stop. */
static uint64_t left_of(uint64_t ns, uint64_t stops_ns, uint64_t all_ns)
{
	return ns - vpa_earlier(ns, vpt_sat_scale(ns, vpa_earlier(stops_ns, all_ns), all_ns));
}

void vpa_idle_sum_leave_stops(const struct vpa_report *r, struct vpa_idle_sum *sum)
{
	struct vpa_saving *s = &sum->saving;
	uint64_t stops_ns = vpa_trials_idle(r, vpa_idle_sum_causes(sum)), all_ns = sum->ns;

	if (vpa_finding_find(r, VPA_FOUND_HOST_STOPS))
		vpt_sat_add_to(&stops_ns,
			vpa_sum_of_causes(r->host_stops.cause_ns, vpa_idle_sum_causes(sum)));
	if (!stops_ns || !all_ns)
		return;
	s->ns = left_of(s->ns, stops_ns, all_ns);
	s->device_ns = left_of(s->device_ns, stops_ns, all_ns);
	s->base_ns = left_of(s->base_ns, stops_ns, all_ns);
	sum->half_ns = left_of(sum->half_ns, stops_ns, all_ns);
	sum->claim_ns = left_of(sum->claim_ns, stops_ns, all_ns);
	sum->shared_ns = vpa_earlier(sum->shared_ns, s->ns);
	sum->ns = left_of(sum->ns, stops_ns, all_ns);
}

/* How much of the stops is in the report's units: as much as of the idle time of their causes. */
static uint64_t in_units(const struct vpa_report *r)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	const struct vpa_host_stops *stops = &r->host_stops;
	uint64_t ns = 0;
	unsigned k;

	for (k = 0; k < VPA_CAUSES; k++)
		if (stops->cause_ns[k])
			vpt_sat_add_to(&ns,
				vpa_gain_unit_idle(r, &unit, (uint32_t)1 << k, stops->cause_ns[k],
					vpa_idle_sum_of(r, (enum vpa_cause)k).ns));
	return ns;
}

static void set_words(struct vpa_report *r, struct vpa_finding *f)
{
	const struct vpa_stop_clock *clock = &r->host_stops.clock;

	f->title = "the process stands still, wherever it is: look for other processes on its "
		   "CPUs, a CPU quota, pages that are read from disk";
	f->change = "drop stops";
	if (!clock->every_ns)
		return;
	f->title = vpa_arena_printf(&r->arena,
		"the process stands still until the next period of %s begins: raise its CPU quota "
		"(cpu.max of the cgroup, limits.cpu of Kubernetes), or give it fewer threads",
		vpa_duration(clock->every_ns).text);
	f->words = "more CPU quota: cpu.max, limits.cpu";
	f->change = vpa_arena_printf(&r->arena, "drop stops every %" PRIu64 "us from %" PRIu64 "us",
		clock->every_ns / 1000, clock->from_ns / 1000);
}

void vpa_find_stops(struct vpa_report *r)
{
	const struct vpa_host_stops *stops = &r->host_stops;
	struct vpa_saving s = {.ns = stops->ns};
	struct vpa_finding *f;

	if (!stops->count || !vpa_saving_is_worth(r, &s))
		return;
	f = vpa_finding_add(r, VPA_FOUND_HOST_STOPS, vpa_saving_status(r, &s));
	if (!f)
		return;
	s.device = &r->devices[0];
	s.device_ns = s.ns;
	s.base_ns = in_units(r);
	vpa_finding_saves(r, f, &s);
	f->is_idle = 1;
	set_words(r, f);
	f->measured = vpa_arena_printf(&r->arena,
		"%" PRIu64 " stops of %s to %s, %s of idle time in all, in %" PRIu64 " places%s%s",
		stops->count, vpa_duration(stops->shortest_ns).text,
		vpa_duration(stops->longest_ns).text, vpa_duration(stops->ns).text, stops->places,
		stops->clock.every_ns ? "; they end every " : "",
		stops->clock.every_ns ? vpa_duration(stops->clock.every_ns).text : "");
	f->threshold = "5 stops of 5 ms in 3 places, 1 % of the window, 2 % of active";
	f->note = f->measured;
}

/* ---- pauses ---- */

/* How often a range of that name was entered; 0: not known. */
static uint64_t entries_of(const struct vpa_report *r, const char *name)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < r->range_count; i++)
		if (!strcmp(r->ranges[i].name, name))
			vpt_sat_add_to(&count, r->ranges[i].host.count);
	return count;
}

/* Whether most times that the host was there it took far less. */
static int are_rare(const struct vpa_report *r, const struct vpa_pauses *p)
{
	uint64_t entries = 0;
	size_t i;

	for (i = 0; i < p->place_count; i++)
		vpt_sat_add_to(&entries, entries_of(r, p->places[i]));
	return p->count <= entries / RARE;
}

/* Whether most of the host's code is in an operator of PyTorch's: that takes longer with larger tensors, and collects no garbage. */
static int is_in_operator(const struct vpa_idle_sum *code)
{
	return code->top && code->top->place.kind == VPA_PLACE_IN && code->top->place.text &&
	       !strncmp(code->top->place.text, "aten::", 6) && code->top->ns >= code->ns / 2;
}

const struct vpa_pauses *vpa_rare_pauses(const struct vpa_report *r)
{
	struct vpa_idle_sum code = vpa_idle_sum_of(r, VPA_CAUSE_HOST_CODE);
	size_t i;

	if (vpa_finding_find(r, VPA_FOUND_HOST_STOPS) || is_in_operator(&code))
		return NULL;
	for (i = 0; i < r->pause_count; i++)
		if (r->pauses[i].ns >= code.ns / PART && are_rare(r, &r->pauses[i]))
			return &r->pauses[i];
	return NULL;
}

struct vpa_label vpa_pause_lengths(const struct vpa_pauses *p)
{
	struct vpa_num from = vpa_duration(p->shortest_ns), to = vpa_duration(p->longest_ns);
	struct vpa_label out;

	if (strcmp(from.text, to.text) == 0)
		snprintf(out.text, sizeof(out.text), "%s", to.text);
	else
		snprintf(out.text, sizeof(out.text), "%s to %s", from.text, to.text);
	return out;
}

void vpa_note_pauses(struct vpa_report *r)
{
	struct vpa_finding *f = (struct vpa_finding *)vpa_finding_find(r, VPA_FOUND_HOST_STALL);
	const struct vpa_pauses *p = f ? vpa_rare_pauses(r) : NULL;

	if (p)
		vpa_finding_add_note(r, f,
			vpa_arena_printf(&r->arena,
				"%" PRIu64 " times it took %s, %s in all: a pause for garbage "
				"collection (gc.freeze(), gc.disable()), or code that runs only "
				"then",
				p->count, vpa_pause_lengths(p).text, vpa_duration(p->ns).text));
}

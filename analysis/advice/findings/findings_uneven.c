/* findings_uneven.c - conclusions about units that take far longer than the others, see ../../pipeline/uneven_units.h: which they
 * are, and what they have that the others have not.
 *
 * Time that is idle belongs to the finding of its cause, which learns which units it is in. Kernels that take longer for the same
 * work are a saving, since nothing asks for that. More kernels are none: decoders, caches and optimisers run in every n-th unit by
 * design. Requests differ in what they were asked for. */
#include "analysis/advice/findings/findings_idle.h"

#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "analysis/names/range_names.h"
#include "analysis/pipeline/uneven_units.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <inttypes.h>
#include <string.h>

enum { NAMED = 4 /* slow units by number */ };

/* The largest part of an excess is worth its name from this share of it. */
static const double main_share = 0.5;

/* ---- words ---- */

/* "every 4th of 24 blocks", "the 4th and 9th of 24 blocks", "7 of 24 blocks" */
static const char *which(struct vpa_report *r, const struct vpa_uneven_units *u)
{
	const char *noun = vpa_unit_kind_name(u->kind), *text = "the ";
	size_t i, seen = 0;

	if (u->every == 1 || (!u->every && u->slow > NAMED))
		return vpa_arena_printf(&r->arena, "%zu of %zu %ss", u->slow, u->last, noun);
	if (u->every)
		return vpa_arena_printf(&r->arena, "every %s of %zu %ss",
			vpa_ordinal(u->every).text, u->last, noun);
	for (i = 0; i < u->count; i++) {
		if (!u->rows[i].is_slow)
			continue;
		text = vpa_arena_printf(&r->arena, "%s%s%s", text,
			!seen                 ? ""
			: seen + 1 == u->slow ? " and "
					      : ", ",
			vpa_ordinal(u->rows[i].number).text);
		seen++;
	}
	return vpa_arena_printf(&r->arena, "%s of %zu %ss", text, u->last, noun);
}

static const char *measured_of(struct vpa_report *r, const struct vpa_uneven_units *u)
{
	return vpa_arena_printf(&r->arena, "%s take%s %s, the others %s", which(r, u),
		u->every > 1 || u->slow == 1 ? "s" : "", vpa_times_text(u->slow_ns).text,
		vpa_times_text(u->quick_ns).text);
}

/* ---- idle time ---- */

static int is_like(const struct vpa_long_gap *a, const struct vpa_long_gap *b)
{
	return a->cause == b->cause && vpt_same_text(a->place.text, b->place.text);
}

/* The cause and place that last longest beyond what they do in the others. */
static const struct vpa_long_gap *main_gap(
	const struct vpa_report *r, const struct vpa_uneven_units *u, uint64_t *excess_ns)
{
	const struct vpa_long_gap *best = NULL;
	size_t i, k;

	*excess_ns = 0;
	for (i = 0; i < r->long_gap_count; i++) {
		struct vpa_uneven_sum sum = {0, 0};
		uint64_t ns;

		for (k = 0; k < i && !is_like(&r->long_gaps[k], &r->long_gaps[i]); k++)
			;
		if (k < i)
			continue;
		for (k = i; k < r->long_gap_count; k++)
			if (is_like(&r->long_gaps[k], &r->long_gaps[i]))
				vpa_uneven_sum_add(
					&sum, u, r->long_gaps[k].start_ns, r->long_gaps[k].end_ns);
		ns = vpa_uneven_sum_excess(&sum, u);
		if (ns > *excess_ns) {
			*excess_ns = ns;
			best = &r->long_gaps[i];
		}
	}
	return best;
}

/* Whether a finding's remedy is for idle time of that cause. */
static int is_of_cause(const struct vpa_finding *f, enum vpa_cause cause)
{
	static const enum vpa_finding_id waits[] = {VPA_FOUND_HOST_WAITS, VPA_FOUND_SMALL_READS,
		VPA_FOUND_BLOCKING_COPY, VPA_FOUND_SYNC_DRAIN};
	size_t i;

	if (f->id == vpa_advice_of(cause)->id || f->id == VPA_FOUND_TRIALS ||
		f->id == VPA_FOUND_HOST_STOPS)
		return 1;
	for (i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (f->id == waits[i] &&
			(cause == VPA_CAUSE_SYNC || cause == VPA_CAUSE_BLOCKING_COPY))
			return 1;
	return 0;
}

/* Of those, the one with the largest gain; NULL: there is none. */
static struct vpa_finding *finding_of(struct vpa_report *r, enum vpa_cause cause)
{
	struct vpa_finding *best = NULL;
	size_t i;

	for (i = 0; i < r->finding_count; i++) {
		struct vpa_finding *f = &r->findings[i];

		if (is_of_cause(f, cause) && f->gain_at_most_ms > 0 &&
			(!best || f->gain_at_most_ms > best->gain_at_most_ms))
			best = f;
	}
	return best;
}

static void say_idle(struct vpa_report *r, const struct vpa_uneven_units *u)
{
	uint64_t ns;
	const struct vpa_long_gap *gap = main_gap(r, u, &ns);
	struct vpa_finding *f = gap ? finding_of(r, gap->cause) : NULL;

	if (!gap || (double)ns < main_share * (double)u->idle_ns || !f)
		return;
	vpa_finding_add_note(r, f,
		vpa_arena_printf(&r->arena,
			"%s of it is in %s alone, which take%s %s, the others %s",
			vpa_duration(ns).text, which(r, u), u->slow == 1 ? "s" : "",
			vpa_times_text(u->slow_ns).text, vpa_times_text(u->quick_ns).text));
}

/* ---- work ---- */

/* The range that is in the slow units alone, and has most of what they work more, but is no unit itself; NULL: none. */
static const struct vpa_range_row *range_of(
	const struct vpa_report *r, const struct vpa_uneven_units *u)
{
	const struct vpa_range_row *best = NULL;
	size_t i;

	for (i = 0; i < r->range_count; i++) {
		const struct vpa_range_row *range = &r->ranges[i];
		double ns = (double)range->busy_ns;

		if (range->gpu.count > u->slow + 1 || ns < main_share * (double)u->busy_ns ||
			ns * main_share > (double)u->busy_ns || range->is_imported ||
			vpa_range_is_process_wide(range->name, strlen(range->name)))
			continue;
		if (!best || range->busy_ns > best->busy_ns)
			best = range;
	}
	return best;
}

static const char *family_text(struct vpa_report *r, const struct vpa_uneven_units *u)
{
	if ((double)u->family_ns < main_share * (double)u->busy_ns)
		return "";
	return vpa_arena_printf(&r->arena, ", most of it %s", vpa_family_name(u->family));
}

/* The time is the devices' work in the units. */
static void say_slower(struct vpa_report *r, const struct vpa_uneven_units *u)
{
	struct vpa_saving s = {.ns = (uint64_t)u->busy_ns, .base_ns = (uint64_t)u->busy_ns};
	struct vpa_finding *f = (struct vpa_finding *)vpa_finding_find(r, VPA_FOUND_THROTTLING);

	if (f) {
		vpa_finding_add_note(r, f, measured_of(r, u));
		return;
	}
	if (u->kind == VPA_UNIT_REQUEST || !vpa_saving_is_worth(r, &s))
		return;
	f = vpa_finding_add(r, VPA_FOUND_UNEVEN_UNITS, vpa_saving_status(r, &s));
	if (!f)
		return;
	f->title = vpa_arena_printf(&r->arena,
		"the same kernels take longer in %s: look at the GPU's clock, other work on the "
		"GPU, and shapes",
		which(r, u));
	f->words = vpa_arena_printf(&r->arena, "find what slows kernels in %s", which(r, u));
	vpa_finding_saves(r, f, &s);
	f->measured = vpa_arena_printf(&r->arena, "%s; as many kernels work %s longer%s",
		measured_of(r, u), vpa_duration((uint64_t)u->busy_ns).text, family_text(r, u));
	f->threshold = "1.3 times what most take, as many kernels";
	f->caveat = "larger shapes take longer too";
	f->note = f->measured;
}

static void say_more(struct vpa_report *r, const struct vpa_uneven_units *u)
{
	const struct vpa_range_row *range = range_of(r, u);
	struct vpa_finding *f = vpa_finding_add(r, VPA_FOUND_UNEVEN_UNITS, VPA_FINDING_WARN);

	if (!f)
		return;
	f->title = vpa_arena_printf(&r->arena,
		"%s %s more kernels: %s of work that the others have not%s%s", which(r, u),
		u->every > 1 || u->slow == 1 ? "runs" : "run",
		vpa_duration((uint64_t)u->busy_ns / u->slow).text, range ? ", in " : "",
		range ? vpa_fit(range->name, 40).text : "");
	f->measured = vpa_arena_printf(&r->arena, "%s; %s more kernels work %s longer%s",
		measured_of(r, u), vpa_count(vpt_sat_u64(u->more_ops + 0.5)).text,
		vpa_duration((uint64_t)u->busy_ns).text, family_text(r, u));
	f->threshold = "1.3 times what most take";
	f->note = f->measured;
}

static void say(struct vpa_report *r, const struct vpa_uneven_units *u)
{
	struct vpa_saving s = {.ns = vpt_sat_mul(u->excess_ns, r->device_count)};

	if (!vpa_saving_is_worth(r, &s))
		return;
	if (u->idle_ns >= u->busy_ns)
		say_idle(r, u);
	else if (u->ops_are_known && u->more_ops > 0 && !vpa_finding_find(r, VPA_FOUND_TRIALS))
		say_more(r, u);
	else if (u->ops_are_known && !(u->more_ops < 0) && !(u->more_ops > 0))
		say_slower(r, u);
}

void vpa_find_uneven(struct vpa_report *r)
{
	struct vpa_uneven_units u;

	if (vpa_uneven_units_of(r, &u))
		r->arena.failed = 1;
	else if (u.slow)
		say(r, &u);
	vpa_uneven_units_free(&u);
}

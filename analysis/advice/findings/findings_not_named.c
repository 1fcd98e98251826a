/* findings_not_named.c - one line for time that no other finding names: before the first op, or after the last one.
 *
 * Causes between ops have findings of their own. The ends of a window may be chance, so they have one only where they are long; but
 * where it is known in which code the host was, they are a part of what the program does, and a stage of it may be hidden there. */
#include "analysis/advice/findings/findings_idle.h"

#include "analysis/base/numbers.h"

#include <string.h>

enum { NAME = 40 /* bytes of a place that tell it from others */ };

/* The largest such part is worth a line from this share of the window. */
static const double named_share = 0.04;

struct part {
	enum vpa_cause cause;
	struct vpa_place place;
	uint64_t ns;
};

static int has_place(const struct vpa_place *place)
{
	return place->kind == VPA_PLACE_IN && place->text;
}

/* What the host did at one end of the window in most of that time. */
static struct part part_of(const struct vpa_device *d, enum vpa_cause cause)
{
	int is_head = cause == VPA_CAUSE_BEFORE_FIRST_WORK;
	const struct vpa_idle_part *parts = is_head ? d->before_first_work : d->causes;
	size_t i, count = is_head ? d->before_first_work_count : d->cause_count;
	struct part out = {.cause = cause};

	for (i = 0; i < count; i++)
		if ((is_head || parts[i].cause == cause) && has_place(&parts[i].place) &&
			parts[i].ns > out.ns) {
			out.place = parts[i].place;
			out.ns = parts[i].ns;
		}
	return out;
}

/* Whether a finding is of that place. */
static int is_at(const struct vpa_finding *f, const char *place)
{
	return f->where && !strncmp(f->where, "in ", 3) && !strncmp(f->where + 3, place, NAME);
}

/* Whether a finding has half of it, or the same code elsewhere. */
static int is_named(const struct vpa_report *r, const struct part *part)
{
	static const enum vpa_finding_id ids[] = {VPA_FOUND_FIRST_USE, VPA_FOUND_BEFORE_FIRST_WORK,
		VPA_FOUND_AFTER_LAST_WORK, VPA_FOUND_WORK_AGAIN};
	size_t i, k;

	for (i = 0; i < r->finding_count; i++) {
		const struct vpa_finding *f = &r->findings[i];

		if (is_at(f, part->place.text))
			return 1;
		for (k = 0; k < sizeof(ids) / sizeof(ids[0]); k++)
			if (f->id == ids[k] && (f->gain_at_most_ms >= vpa_in_ms(part->ns) / 2 ||
						       !(f->gain_at_most_ms > 0)))
				return 1;
	}
	return 0;
}

void vpa_find_not_named(struct vpa_report *r)
{
	const struct vpa_device *d = vpa_busiest_device(r);
	struct part head = part_of(d, VPA_CAUSE_BEFORE_FIRST_WORK),
		    tail = part_of(d, VPA_CAUSE_AFTER_LAST_WORK);
	const struct part *part = head.ns > tail.ns ? &head : &tail;
	struct vpa_finding *f;

	if (r->device_count > 1 || !part->ns ||
		(double)part->ns < named_share * (double)vpa_window_ns(r) || is_named(r, part))
		return;
	f = vpa_finding_add(r, VPA_FOUND_NOT_NAMED, VPA_FINDING_WARN);
	if (!f)
		return;
	f->title = vpa_arena_printf(&r->arena, "look at %.60s %s, which no finding names",
		part->place.text, part == &head ? "before the first op" : "after the last op");
	f->is_idle = 1;
	f->gain_at_most_ms = vpa_in_ms(part->ns);
	f->measured = vpa_arena_printf(&r->arena, "%s is %s %% of the window",
		vpa_duration(part->ns).text, vpa_percent(part->ns, vpa_window_ns(r)).text);
	f->threshold = "4 % of the window";
	f->note = f->measured;
}

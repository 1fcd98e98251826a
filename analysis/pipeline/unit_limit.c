/* unit_limit.c - what limits a unit, a device, a part of the window. */
#include "analysis/pipeline/unit_limit.h"

static void add_causes(const struct vpa_device *d, uint64_t *cause_ns)
{
	size_t i;

	for (i = 0; i < d->cause_count; i++)
		if (d->causes[i].cause < VPA_CAUSES)
			vpt_sat_add_to(&cause_ns[d->causes[i].cause], d->causes[i].ns);
}

static struct vpa_unit_limit limit_of(struct vpa_load load, const uint64_t *cause_ns)
{
	return (struct vpa_unit_limit){load, vpa_limit_of(&load), vpa_idle_limit_of(cause_ns)};
}

struct vpa_unit_limit vpa_unit_limit_of_part(const struct vpa_report *r, const uint64_t *family_ns,
	const uint64_t *cause_ns, uint64_t busy_ns, uint64_t idle_ns)
{
	return limit_of(vpa_load_of_part(r, family_ns, busy_ns, idle_ns), cause_ns);
}

struct vpa_unit_limit vpa_unit_limit_of_device(
	const struct vpa_report *r, const struct vpa_device *d)
{
	uint64_t cause_ns[VPA_CAUSES] = {0};

	add_causes(d, cause_ns);
	return limit_of(vpa_load_of_device(r, d), cause_ns);
}

struct vpa_unit_limit vpa_unit_limit_of(const struct vpa_report *r)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	uint64_t cause_ns[VPA_CAUSES] = {0};
	size_t i;

	if (unit.has_parts)
		return vpa_unit_limit_of_part(
			r, unit.family_ns, unit.cause_ns, unit.busy_ns, unit.idle_ns);
	for (i = 0; i < r->device_count; i++)
		if (vpa_device_matters(r, &r->devices[i]))
			add_causes(&r->devices[i], cause_ns);
	return limit_of(vpa_load_of_all(r), cause_ns);
}

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
	return (struct vpa_unit_limit){
		load, vpa_device_limit_of(&load), vpa_idle_limit_of(cause_ns)};
}

struct vpa_unit_limit vpa_unit_limit_of_part(const struct vpa_report *r, const uint64_t *family_ns,
	const uint64_t *cause_ns, uint64_t busy_ns, uint64_t idle_ns)
{
	return limit_of(vpa_load_of_part(r, family_ns, busy_ns, idle_ns), cause_ns);
}

/* A load with these times, of which each part has the same share. */
static struct vpa_load scaled(struct vpa_load l, uint64_t busy_ns, uint64_t idle_ns)
{
	uint64_t *const parts[] = {
		&l.copy_ns, &l.comm_ns, &l.wait_ns, &l.kernel_ns, &l.fault_ns, &l.family_ns};
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		*parts[i] = vpt_sat_scale(*parts[i], busy_ns, l.busy_ns);
	l.busy_ns = busy_ns;
	l.window_ns = l.active_ns = vpt_sat_add(busy_ns, idle_ns);
	return l;
}

/* `unit` NULL: the window's. */
static struct vpa_unit_limit limit_by_window(
	const struct vpa_report *r, const struct vpa_mean_unit *unit)
{
	struct vpa_load load = vpa_load_of_all(r);
	uint64_t cause_ns[VPA_CAUSES] = {0};
	size_t i;

	for (i = 0; i < r->device_count; i++)
		if (vpa_device_matters(r, &r->devices[i]))
			add_causes(&r->devices[i], cause_ns);
	/* A unit may be busier than the window that it lies in: what it does is as there, how long it waits is its own. */
	if (unit && unit->units > 0 && unit->busy_ns)
		load = scaled(load, unit->busy_ns, unit->idle_ns);
	return limit_of(load, cause_ns);
}

struct vpa_unit_limit vpa_window_limit_of(const struct vpa_report *r)
{
	return limit_by_window(r, NULL);
}

struct vpa_unit_limit vpa_unit_limit_of(const struct vpa_report *r)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);

	if (unit.has_parts) {
		/* What the host does before a unit's first op is as much of it as what it does between two. */
		vpa_mean_unit_head(r, &unit, unit.cause_ns);
		return vpa_unit_limit_of_part(r, unit.family_ns, unit.cause_ns, unit.busy_ns,
			vpt_sat_add(unit.idle_ns, vpt_sat_mul(unit.head_ns, unit.devices)));
	}
	return limit_by_window(r, &unit);
}

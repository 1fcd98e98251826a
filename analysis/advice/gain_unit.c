/* gain_unit.c - how much of a gain is in the report's units. */
#include "analysis/advice/gain_unit.h"

#include "analysis/base/intervals.h"
#include "analysis/report/device_limit.h"
#include "formats/base/saturate.h"

static uint64_t active_idle_ns(const struct vpa_report *r)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		ns += r->devices[i].active_ns -
		      vpa_earlier(r->devices[i].active_ns, r->devices[i].busy_ns);
	return ns;
}

/* The part of a gain that lies in the summed units. Of the time of its kind, `ns` make up the gain. That kind has `all_ns` in
 * the window: `inside_ns` in the summed units, and `rest_ns` in units that are not summed. */
static uint64_t inside_of(
	uint64_t gain_ns, uint64_t ns, uint64_t inside_ns, uint64_t rest_ns, uint64_t all_ns)
{
	uint64_t units_ns = vpt_sat_add(inside_ns, rest_ns),
		 outside_ns = vpt_sat_sub(all_ns, units_ns);

	return outside_ns > ns / 2
		       ? 0
		       : vpt_sat_scale(vpa_portion(gain_ns, vpa_earlier(ns, units_ns), ns),
				 inside_ns, units_ns);
}

uint64_t vpa_gain_unit_idle(const struct vpa_report *r, const struct vpa_mean_unit *unit,
	uint32_t causes, uint64_t gain_ns, uint64_t ns)
{
	if (!(unit->units > 0) || !ns)
		return 0;
	if (!unit->has_parts)
		return inside_of(gain_ns, ns, unit->idle_ns, unit->rest_idle_ns, active_idle_ns(r));
	return vpa_earlier(
		vpa_portion(gain_ns, vpa_earlier(vpa_mean_unit_idle(unit, causes), ns), ns),
		unit->idle_ns);
}

uint64_t vpa_gain_unit_busy_of(const struct vpa_report *r, uint64_t ns, uint32_t families)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	uint64_t all_ns = 0, inside_ns = 0;
	unsigned i;

	if (!(unit.units > 0) || !ns)
		return 0;
	if (!families || !unit.has_parts)
		return inside_of(ns, ns, unit.busy_ns, unit.rest_busy_ns, vpa_busy_ns(r));
	for (i = 0; i < VPA_FAMILY_COUNT; i++)
		if (families >> i & 1) {
			vpt_sat_add_to(&all_ns, vpa_family_ns(r, (enum vpa_family)i));
			vpt_sat_add_to(&inside_ns, vpa_mean_unit_busy(&unit, (enum vpa_family)i));
		}
	return vpa_portion(ns, vpa_earlier(inside_ns, all_ns), all_ns);
}

uint64_t vpa_gain_unit_busy(const struct vpa_report *r, uint64_t ns, enum vpa_family family)
{
	return vpa_gain_unit_busy_of(
		r, ns, family == VPA_FAMILY_UNKNOWN ? 0 : (uint32_t)1 << family);
}

uint64_t vpa_gain_unit_blocks(const struct vpa_report *r, uint64_t ns)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);

	return vpt_sat_scale(ns, vpt_sat_u64(unit.units),
		vpa_later(vpa_unit_count(r, unit.kind), vpt_sat_u64(unit.units)));
}

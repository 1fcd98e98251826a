/* idle_sum.c - sums of the devices' rows of causes and gains, which are few. */
#include "analysis/advice/findings/findings_idle.h"

#include "analysis/advice/findings/findings_first_use.h"
#include "analysis/advice/gain_unit.h"
#include "analysis/base/intervals.h"
#include "analysis/model/small_copies.h"
#include "analysis/report/device_limit.h"
#include "formats/base/saturate.h"

#define CAUSE(x) ((uint32_t)1 << VPA_CAUSE_##x)
#define WAITS    (CAUSE(SYNC) | CAUSE(BLOCKING_COPY))

/* The causes that a part is of, and the range's reads if that matters: -1. */
static const struct {
	uint32_t causes;
	int reads; /* only where these are of a few bytes: 1; where they are not: 0; anywhere: -1 */
} parts[VPA_WAITS_COUNT] = {
	[VPA_WAITS_NONE] = {UINT32_MAX, -1},
	[VPA_WAITS_READS] = {WAITS, 1},
	[VPA_WAITS_COPIES] = {CAUSE(BLOCKING_COPY), 0},
	[VPA_WAITS_SYNCS] = {CAUSE(SYNC), 0},
	[VPA_WAITS_ALL] = {WAITS, -1},
};

int vpa_waits_take_place(const struct vpa_report *r, unsigned part, const struct vpa_place *place)
{
	return parts[part].reads < 0 ||
	       vpa_small_copies(r, vpa_place_range(place)) == parts[part].reads;
}

/* Adds a device's wait, and returns it. `by_cause`: the same for each of the causes. */
static uint64_t add_pieces(const struct vpa_report *r, struct vpa_idle_sum *sum,
	const struct vpa_device *d, uint32_t causes, uint64_t *by_cause)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < d->cause_count; i++) {
		const struct vpa_idle_part *p = &d->causes[i];

		if (!(causes >> p->cause & 1) || !vpa_waits_take_place(r, sum->part, &p->place))
			continue;
		vpt_sat_add_to(&ns, p->ns);
		vpt_sat_add_to(&by_cause[p->cause], p->ns);
		vpt_sat_add_to(&sum->pieces, p->gaps);
		if (p->place.kind != VPA_PLACE_SEVERAL && (!sum->top || p->ns > sum->top->ns))
			sum->top = p;
	}
	vpt_sat_add_to(&sum->ns, ns);
	return ns;
}

static const struct vpa_wait_gain *wait_gain_of(const struct vpa_device *d, enum vpa_waits part)
{
	switch (part) {
	case VPA_WAITS_READS:
		return &d->small_reads;
	case VPA_WAITS_COPIES:
		return &d->large_copies;
	case VPA_WAITS_SYNCS:
		return &d->other_syncs;
	default:
		return part == VPA_WAITS_ALL ? &d->waits : NULL;
	}
}

/* What a device that waited `ns` for the cause would save without it. */
static struct vpa_gain_row gain_of(const struct vpa_device *d, enum vpa_cause cause, uint64_t ns)
{
	size_t i;

	for (i = 0; i < d->gain_count; i++)
		if (d->gains[i].cause == cause)
			return d->gains[i];
	return (struct vpa_gain_row){.cause = cause, .ns = vpa_cause_has_gain(cause) ? 0 : ns};
}

uint32_t vpa_idle_sum_causes(const struct vpa_idle_sum *sum)
{
	return sum->part == VPA_WAITS_NONE ? (uint32_t)1 << sum->cause : parts[sum->part].causes;
}

/* How much of the saving is in the units of gain_unit.h. */
static uint64_t base_idle(const struct vpa_report *r, const struct vpa_mean_unit *base,
	const struct vpa_idle_sum *sum)
{
	return vpa_gain_unit_idle(r, base, vpa_idle_sum_causes(sum), sum->saving.ns, sum->ns);
}

/* Allocations, loads and graphs can be made earlier, or once. */
static struct vpa_host_code call_of(
	const struct vpa_report *r, uint32_t causes, enum vpa_waits part, uint64_t ns)
{
	struct vpa_host_code call = vpa_host_call_of(r, causes, vpa_waits_take_place, part, ns);

	return vpa_host_call_has_remedy(call.host) ? call : (struct vpa_host_code){.ns = 0};
}

static struct vpa_idle_sum sum_of(
	const struct vpa_report *r, enum vpa_cause cause, enum vpa_waits part)
{
	struct vpa_mean_unit base;
	struct vpa_idle_sum sum = {.cause = cause, .part = part};
	uint32_t causes = vpa_idle_sum_causes(&sum);
	uint64_t by_cause[VPA_CAUSES] = {0};
	size_t d, k;

	for (d = 0; d < r->device_count; d++) {
		uint64_t ns = add_pieces(r, &sum, &r->devices[d], causes, by_cause);
		const struct vpa_wait_gain *wait = wait_gain_of(&r->devices[d], part);
		struct vpa_gain_row gain = wait ? wait->row : gain_of(&r->devices[d], cause, ns);

		vpa_limit_gain(r, &gain);
		vpt_sat_add_to(&sum.saving.ns, gain.ns);
		vpt_sat_add_to(&sum.shared_ns, gain.shared_ns);
		vpt_sat_add_to(&sum.claim_ns, wait ? vpa_earlier(wait->claim_ns, gain.ns) : 0);
		if (!sum.saving.device || gain.ns > sum.saving.device_ns) {
			sum.saving.device = &r->devices[d];
			sum.saving.device_ns = gain.ns;
			sum.half_ns = vpa_earlier(gain.ns, r->devices[d].half_code_ns);
		}
	}
	for (k = 0; k < VPA_CAUSES; k++)
		sum.cause = by_cause[k] > by_cause[sum.cause] ? (enum vpa_cause)k : sum.cause;
	sum.code = vpa_host_code_of(r, causes, vpa_waits_take_place, part);
	if (part != VPA_WAITS_NONE)
		sum.call = call_of(r, causes, part, sum.ns);
	if (!sum.ns)
		return sum;
	base = vpa_mean_unit_of(r);
	sum.saving.base_ns = vpa_earlier(base_idle(r, &base, &sum),
		vpa_portion(base.span_ns - vpa_earlier(base.work_ns, base.span_ns), sum.saving.ns,
			sum.saving.device_ns));
	return sum;
}

struct vpa_idle_sum vpa_idle_sum_of(const struct vpa_report *r, enum vpa_cause cause)
{
	return sum_of(r, cause, VPA_WAITS_NONE);
}

struct vpa_idle_sum vpa_idle_sum_of_waits(const struct vpa_report *r, enum vpa_waits part)
{
	return sum_of(r,
		parts[part].causes & CAUSE(BLOCKING_COPY) ? VPA_CAUSE_BLOCKING_COPY
							  : VPA_CAUSE_SYNC,
		part);
}

struct vpa_idle_sum vpa_idle_sum_of_call(
	const struct vpa_report *r, const struct vpa_idle_sum *wait)
{
	struct vpa_idle_sum sum = *wait, call = vpa_idle_sum_of(r, wait->call.host);

	sum.shared_ns = call.shared_ns;
	sum.saving = call.saving;
	sum.saving.base_ns = vpa_portion(wait->saving.base_ns, call.saving.ns, wait->saving.ns);
	return sum;
}

static uint64_t part_of_gain(uint64_t ns, uint64_t gain_ns, uint64_t pieces_ns)
{
	return gain_ns < pieces_ns ? vpt_sat_u64((double)gain_ns / (double)pieces_ns * (double)ns)
				   : ns;
}

void vpa_idle_sum_leave_first_use(const struct vpa_report *r, struct vpa_idle_sum *sum)
{
	struct vpa_saving *s = &sum->saving;
	uint64_t ns = vpa_first_use_left(r, NULL, sum->cause), gain_ns = s->ns;
	struct vpa_mean_unit base;

	if (!ns)
		return;
	base = vpa_mean_unit_of(r);
	s->ns -= vpa_earlier(s->ns, part_of_gain(ns, gain_ns, sum->ns));
	s->device_ns -= vpa_earlier(s->device_ns,
		part_of_gain(vpa_first_use_left(r, s->device, sum->cause), gain_ns, sum->ns));
	s->base_ns = base_idle(r, &base, sum);
	sum->shared_ns = vpa_earlier(sum->shared_ns, s->ns);
}

/* findings_waits.c - waits of the host: small reads, other copies, synchronisations, and all of them together. */
#include "analysis/advice/findings/findings_idle.h"

#include "analysis/advice/gain_unit.h"
#include "analysis/base/intervals.h"
#include "analysis/model/small_copies.h"
#include "formats/base/saturate.h"

/* Of the blocking copies those that read a few bytes back: not bandwidth is the matter, but that the host
 * waits for everything before them. */
static const struct vpa_advice small_reads = {VPA_CAUSE_BLOCKING_COPY, 0, 0, VPA_FOUND_SMALL_READS,
	"keep small values on the GPU: no .item(), .cpu() or bool() in the loop"};

/* What to do about each part of the waits, in a list. */
static const char *const remedies[VPA_WAITS_COUNT] = {
	[VPA_WAITS_READS] = "no .item() or .cpu()",
	[VPA_WAITS_COPIES] = "pinned memory and non_blocking=True",
	[VPA_WAITS_SYNCS] = "no synchronise",
};

const char *vpa_wait_copies(struct vpa_report *r, enum vpa_waits part)
{
	return part == VPA_WAITS_READS    ? vpa_small_reads_text(r)
	       : part == VPA_WAITS_COPIES ? vpa_large_copies_text(r)
					  : NULL;
}

/* Without a read its copy goes away too. If copies have a finding of their own, it has that time as well. */
static void add_read_copies(const struct vpa_report *r, struct vpa_idle_sum *sum)
{
	const struct vpa_finding *exposed = vpa_finding_find(r, VPA_FOUND_EXPOSED_COPY);
	uint64_t ns = 0;
	size_t d;

	for (d = 0; d < r->device_count; d++)
		vpt_sat_add_to(&ns, r->devices[d].small_read_ns);
	vpt_sat_add_to(&sum->saving.ns, ns);
	vpt_sat_add_to(
		&sum->saving.device_ns, sum->saving.device ? sum->saving.device->small_read_ns : 0);
	vpt_sat_add_to(&sum->saving.base_ns, vpa_gain_unit_busy(r, ns, VPA_FAMILY_MEMCPY));
	vpt_sat_add_to(&sum->shared_ns, exposed ? ns : 0);
}

static const struct vpa_advice *advice_of(enum vpa_waits part)
{
	return part == VPA_WAITS_READS
		       ? &small_reads
		       : vpa_advice_of(part == VPA_WAITS_COPIES ? VPA_CAUSE_BLOCKING_COPY
								: VPA_CAUSE_SYNC);
}

/* Whether a part of the waits is worth a word beside all of them. Copies that another wait hides save nothing alone,
 * and yet have to go too. */
static int matters(
	struct vpa_report *r, const struct vpa_idle_sum *part, const struct vpa_idle_sum *all)
{
	return part->ns > all->ns / 20 || part->saving.ns > all->saving.ns / 20 ||
	       vpa_wait_copies(r, part->part);
}

static void find_hidden_waits(
	struct vpa_report *r, struct vpa_idle_sum *parts, const struct vpa_idle_sum *all)
{
	unsigned k;

	if (!vpa_saving_may_be_worth(r, &all->saving))
		return;
	for (k = VPA_WAITS_READS; k < VPA_WAITS_ALL; k++) {
		if (vpa_finding_find(r, advice_of((enum vpa_waits)k)->id) || parts[k].call.ns ||
			!matters(r, &parts[k], all))
			continue;
		if (k == VPA_WAITS_READS)
			add_read_copies(r, &parts[k]);
		if (parts[k].saving.ns)
			vpa_find_candidate(r, advice_of((enum vpa_waits)k), &parts[k]);
	}
}

/* Waits hide each other: if one goes away, the host waits in the next. So all of them together may save more than
 * one by one. Returns whether there is room for the finding. */
static int find_all_waits(
	struct vpa_report *r, const struct vpa_idle_sum *parts, const struct vpa_idle_sum *all)
{
	struct vpa_advice a = {
		all->cause, 0, 0, VPA_FOUND_HOST_WAITS, "keep the host from waiting"};
	struct vpa_finding *f;
	unsigned k, shown = 0;

	for (k = VPA_WAITS_READS; k < VPA_WAITS_ALL; k++)
		if (matters(r, &parts[k], all))
			a.title = vpa_arena_printf(&r->arena, "%s%s %s", a.title ? a.title : "",
				shown++ ? "," : ":", remedies[k]);
	f = vpa_find_cause(r, &a, all);
	if (f && shown > 1)
		vpa_finding_add_note(
			r, f, "one of them alone saves less: the host then waits in the next");
	return f != NULL;
}

/* A wait that drained the GPU has the time after it. Where that is mostly another call's, not to wait would only hide the call, and
 * to make it earlier or once is the repair. Returns whether that has a finding, for which `most_ns` may rise; if not, the wait keeps
 * its own. */
static int find_call(struct vpa_report *r, struct vpa_idle_sum *wait, uint64_t *most_ns)
{
	const struct vpa_advice *a = wait->call.ns ? vpa_advice_of(wait->call.host) : NULL;
	struct vpa_idle_sum sum;

	if (!a || vpa_finding_find(r, a->id))
		return a != NULL;
	sum = vpa_idle_sum_of_call(r, wait);
	/* What makes the GPU idle without a wait before it has its own finding. */
	if (vpa_idle_sum_of(r, wait->call.host).ns > wait->call.ns ||
		!vpa_saving_is_worth(r, &sum.saving)) {
		wait->call.ns = 0;
		return 0;
	}
	vpa_find_cause(r, a, &sum);
	*most_ns = vpa_later(*most_ns, sum.saving.ns);
	return 1;
}

/* A finding for each part of the waits that is worth one, and one for all of them if they save more together, so that
 * no split hides what the whole brings. Bounds overlap, so one that is as large as that of a part says little: then the
 * replay decides. */
uint64_t vpa_find_waits(struct vpa_report *r)
{
	struct vpa_idle_sum parts[VPA_WAITS_COUNT], all = vpa_idle_sum_of_waits(r, VPA_WAITS_ALL);
	uint64_t own_ns = 0, most_ns = 0, all_ns;
	unsigned k;

	vpa_idle_sum_leave_stops(r, &all);
	all_ns = all.saving.ns;
	for (k = VPA_WAITS_READS; k < VPA_WAITS_ALL; k++) {
		parts[k] = vpa_idle_sum_of_waits(r, (enum vpa_waits)k);
		/* A stop in a read or a copy would not be known from its own time. */
		if (k == VPA_WAITS_SYNCS)
			vpa_idle_sum_leave_stops(r, &parts[k]);
		if (!vpa_idle_sum_is_worth(r, &parts[k]))
			continue;
		own_ns += vpa_idle_sum_own(&parts[k]);
		if (find_call(r, &parts[k], &most_ns))
			continue;
		most_ns = vpa_later(most_ns, parts[k].saving.ns);
		if (k == VPA_WAITS_READS)
			add_read_copies(r, &parts[k]);
		vpa_find_cause(r, advice_of((enum vpa_waits)k), &parts[k]);
	}
	if (find_call(r, &all, &most_ns))
		return most_ns;
	all.shared_ns = vpa_earlier(vpt_sat_add(all.shared_ns, own_ns), all.saving.ns);
	find_hidden_waits(r, parts, &all);
	add_read_copies(r, &all);
	if (!vpa_gain_is_hidden(r, all.claim_ns, most_ns)) {
		if (vpa_saving_may_be_worth(r, &all.saving) && find_all_waits(r, parts, &all))
			vpa_finding_is_candidate(r);
		return most_ns;
	}
	find_all_waits(r, parts, &all);
	return vpa_later(most_ns, all_ns);
}

/* ---- launches ---- */

/* What the host does while no launch is ahead: its own code, which stays as long, and the rest. */
#define OWN_CODE ((uint32_t)1 << VPA_CAUSE_LAUNCH_RATE | (uint32_t)1 << VPA_CAUSE_HOST_CODE)
#define LAUNCHES ((uint32_t)1 << VPA_CAUSE_LAUNCH_CALL | (uint32_t)1 << VPA_CAUSE_LAUNCH_LATENCY)

/* Code of the host runs beside kernels then, so it cannot save more than these take. */
static uint64_t not_ahead_ns(uint64_t code_ns, uint64_t busy_ns, uint64_t launches_ns)
{
	return vpt_sat_add(vpa_earlier(code_ns, busy_ns), launches_ns);
}

static struct vpa_saving not_ahead(const struct vpa_report *r)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	struct vpa_saving s = {.device = r->device_count ? &r->devices[0] : NULL};
	uint64_t all_ns = 0;
	size_t d;

	for (d = 0; d < r->device_count; d++) {
		const struct vpa_device *device = &r->devices[d];
		uint64_t ns = not_ahead_ns(vpa_device_idle_ns(device, OWN_CODE), device->busy_ns,
			vpa_device_idle_ns(device, LAUNCHES));

		vpt_sat_add_to(&s.ns, ns);
		vpt_sat_add_to(&s.device_ns, d ? 0 : ns);
		vpt_sat_add_to(&all_ns, vpa_device_idle_ns(device, OWN_CODE | LAUNCHES));
	}
	s.base_ns = vpa_gain_unit_idle(r, &unit, OWN_CODE | LAUNCHES, s.ns, all_ns);
	if (unit.units > 0 && unit.has_parts)
		s.base_ns = vpa_earlier(
			unit.idle_ns, not_ahead_ns(vpa_mean_unit_idle(&unit, OWN_CODE),
					      unit.busy_ns, vpa_mean_unit_idle(&unit, LAUNCHES)));
	return s;
}

void vpa_find_launch_blocking(struct vpa_report *r)
{
	struct vpa_saving s;
	struct vpa_finding *f;

	if (!r->launches_block)
		return;
	s = not_ahead(r);
	if (!vpa_saving_is_worth(r, &s))
		return;
	f = vpa_finding_add(r, VPA_FOUND_LAUNCH_BLOCKING, vpa_saving_status(r, &s));
	if (!f)
		return;
	vpa_finding_saves(r, f, &s);
	f->is_idle = 1;
	f->title = "each launch returns only when its kernel has ended: unset "
		   "CUDA_LAUNCH_BLOCKING, which is for debugging";
	f->measured = "all launches return after their kernels, but for 1 % at most";
	f->threshold = "99 % of the kernels of 20 us and longer, 1 % of the window, 2 % of active";
}

int vpa_is_launch_blocked(const struct vpa_report *r, enum vpa_cause cause)
{
	return (cause == VPA_CAUSE_LAUNCH_CALL || cause == VPA_CAUSE_LAUNCH_LATENCY) &&
	       vpa_finding_find(r, VPA_FOUND_LAUNCH_BLOCKING);
}

/* findings_gpus.c - whether one GPU can reach the target, and how many could; and whether several share the work unevenly.
 *
 * Where the work of a unit takes one GPU longer than its frames may, no remedy of idle time reaches the target: the work has to get
 * cheaper, or several GPUs divide it. How fast these would be is not in a trace of one. What they would have to be follows from
 * the target: with n GPUs this many times as fast, divided by n, as `vptrace-analyze ranks --base` measures it. That is a
 * bound, not a prediction. */
#include "analysis/advice/findings/findings_idle.h"

#include "analysis/base/numbers.h"
#include "analysis/pipeline/unit.h"
#include "analysis/pipeline/unit_limit.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <math.h>

/* The target must be this many times what the GPU makes without idle time: cheaper work rarely brings more. A job of more GPUs
 * than these says only that the work is too much. */
static const double least_missed = 1.5, most_gpus = 64;

/* When a GPU is full: its work as a share of the run, and of the mean work of a GPU. */
static const double full_share = 0.9, least_uneven = 1.1;

/* Frames per second as RESULT has them; 0: unknown, or something else than the work of one GPU limits them. */
static double fps_of_one(const struct vpa_report *r, const struct vpa_mean_unit *unit)
{
	if (r->device_count != 1 || vpa_has_collectives(r) || !unit->busy_ns ||
		vpa_unit_limit_of(r).bound != VPA_LIMIT_WORK)
		return 0;
	return vpa_unit_fps(r, unit->kind);
}

/* Not rounded to what would not do. */
static const char *efficiency_of(struct vpa_report *r, double speedup, uint64_t gpus)
{
	double share = ceil(speedup / (double)gpus * 1000 - 1e-6) / 1000;

	return vpa_arena_printf(&r->arena, "%" PRIu64 " GPUs at an efficiency of %s %%", gpus,
		vpa_share(share).text);
}

void vpa_find_gpus(struct vpa_report *r)
{
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	double target = (double)r->target_millifps / 1e3, fps = fps_of_one(r, &unit), most;
	struct vpa_finding *f;
	uint64_t gpus;

	if (!(target > 0) || !(fps > 0))
		return;
	most = fps * (double)unit.span_ns / (double)unit.busy_ns;
	if (target < least_missed * most || target > most_gpus * fps)
		return;
	f = vpa_finding_add(r, VPA_FOUND_SEVERAL_GPUS, VPA_FINDING_WARN);
	if (!f)
		return;
	gpus = (uint64_t)ceil(target / fps - 1e-6);
	f->title = vpa_arena_printf(&r->arena,
		"one GPU that never waits makes %s frames per second: the target needs cheaper "
		"work, or at least %s",
		vpa_fixed(most, 2).text, efficiency_of(r, target / fps, gpus));
	f->measured = vpa_arena_printf(&r->arena,
		"%s frames per second, the target is %s times that: %s, or %s",
		vpa_fixed(fps, 2).text, vpa_fixed(target / fps, 2).text,
		efficiency_of(r, target / fps, gpus), efficiency_of(r, target / fps, gpus + 1));
	f->threshold = "1.5 times what the GPU makes without idle time";
	f->caveat = "a bound, not a prediction: what several GPUs reach is not in this trace";
	f->note = vpa_arena_printf(&r->arena,
		"at least %s: a bound, not a prediction; vptrace-analyze ranks DIR --base FILE "
		"says what they reach",
		efficiency_of(r, target / fps, gpus));
}

/* ---- balance ---- */

static uint64_t busy_mean_ns(const struct vpa_report *r)
{
	return vpa_busy_ns(r) / r->device_count;
}

/* Waits for others, and all between a device's ops, a bit a cause. */
#define WAITS_FOR_OTHERS ((uint32_t)1 << VPA_CAUSE_DEPENDENCY)
#define WAITS_BETWEEN                                                                              \
	(~((uint32_t)1 << VPA_CAUSE_BEFORE_FIRST_WORK | (uint32_t)1 << VPA_CAUSE_AFTER_LAST_WORK))

/* Whether all others wait for other GPUs in most of their waits. Of two GPUs that is the full one; of more, which one is not known:
 * some may wait only for each other. NULL: no GPU is full, or not much more than others. */
static const struct vpa_device *full_device(const struct vpa_report *r)
{
	const struct vpa_device *full = vpa_busiest_device(r);
	size_t i;

	if ((double)full->busy_ns < full_share * (double)vpa_run_ns(r) ||
		(double)full->busy_ns < least_uneven * (double)busy_mean_ns(r))
		return NULL;
	for (i = 0; i < r->device_count; i++)
		if (&r->devices[i] != full &&
			vpa_device_idle_ns(&r->devices[i], WAITS_FOR_OTHERS) <=
				vpa_device_idle_ns(&r->devices[i], WAITS_BETWEEN) / 2)
			return NULL;
	return full;
}

/* "GPU 0 and 1 wait 34 % and 43 % of the time" */
static const char *waits_text(struct vpa_report *r, const struct vpa_device *full)
{
	const char *numbers = "", *shares = "";
	size_t i, count = 0;

	for (i = 0; i < r->device_count; i++) {
		const struct vpa_device *d = &r->devices[i];
		const char *comma = !count ? "" : count + 2 == r->device_count ? " and " : ", ";

		if (d == full)
			continue;
		numbers = vpa_arena_printf(
			&r->arena, "%s%s%lld", numbers, comma, (long long)d->device);
		shares = vpa_arena_printf(&r->arena, "%s%s%s %%", shares, comma,
			vpa_percent(vpa_device_idle_ns(d, WAITS_FOR_OTHERS), d->active_ns).text);
		count++;
	}
	return vpa_arena_printf(&r->arena, "GPU %s wait%s for others for %s of the time", numbers,
		count == 1 ? "s" : "", shares);
}

/* All kernels, each GPU's as much shorter or longer as makes its work the mean. NULL: a number is not that of one GPU, or there are
 * too many for a change. */
static const char *even_change(struct vpa_report *r)
{
	enum { GPUS_MOST = 16 };
	const char *change = "";
	size_t i, k;

	if (r->device_count > GPUS_MOST)
		return NULL;
	for (i = 0; i < r->device_count; i++) {
		const struct vpa_device *d = &r->devices[i];

		for (k = 0; k < i; k++)
			if (r->devices[k].device == d->device)
				return NULL;
		if (d->busy_ns)
			change = vpa_arena_printf(&r->arena, "%s%sscale * %s on GPU %lld", change,
				*change ? "; " : "",
				vpa_fixed((double)busy_mean_ns(r) / (double)d->busy_ns, 4).text,
				(long long)d->device);
	}
	return change;
}

/* If all GPUs had the same work, each would have the mean. All of them gain the time that the full one needs less. */
void vpa_find_balance(struct vpa_report *r)
{
	const struct vpa_device *full = r->device_count > 1 ? full_device(r) : NULL;
	struct vpa_mean_unit unit = vpa_mean_unit_of(r);
	struct vpa_saving s = {.device = full};
	struct vpa_finding *f;

	if (!full)
		return;
	s.device_ns = full->busy_ns - busy_mean_ns(r);
	s.ns = s.device_ns * r->device_count;
	if (!vpa_saving_is_worth(r, &s))
		return;
	f = vpa_finding_add(r, VPA_FOUND_GPU_BALANCE, vpa_saving_status(r, &s));
	if (!f)
		return;
	f->title = vpa_arena_printf(&r->arena,
		"GPU %lld works all the time, and %s: move work to %s", (long long)full->device,
		r->device_count == 2 ? "the other waits for it"
				     : "the others wait for it, or for each other",
		r->device_count == 2 ? "the other" : "them");
	f->words = vpa_arena_printf(&r->arena, "move work from GPU %lld to the other%s",
		(long long)full->device, r->device_count == 2 ? "" : "s");
	s.base_ns = unit.units > 0 ? vpt_sat_scale(s.ns, unit.span_ns, vpa_run_ns(r)) : 0;
	vpa_finding_saves(r, f, &s);
	f->measured = vpa_arena_printf(&r->arena, "GPU %lld works %s %% of the time; %s",
		(long long)full->device, vpa_percent(full->busy_ns, full->active_ns).text,
		waits_text(r, full));
	f->threshold = "90 % of the run, 1.1 times the mean, half of the others' waits";
	f->caveat = "if all GPUs get the same work";
	f->change = even_change(r);
	f->note = f->measured;
}

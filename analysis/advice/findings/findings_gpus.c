/* findings_gpus.c - whether one GPU can reach the target, and how many could.
 *
 * Where the work of a unit takes one GPU longer than its frames may, no remedy of idle time reaches the target: the work has to get
 * cheaper, or several GPUs divide it. How fast these would be is not in a trace of one. What they would have to be follows from
 * the target: with n GPUs this many times as fast, divided by n, as `vptrace-analyze ranks --base` measures it. That is a
 * bound, not a prediction. */
#include "analysis/advice/finding.h"

#include "analysis/base/numbers.h"
#include "analysis/pipeline/unit.h"
#include "analysis/pipeline/unit_limit.h"

#include <inttypes.h>
#include <math.h>

/* The target must be this many times what the GPU makes without idle time: cheaper work rarely brings more. A job of more GPUs
 * than these says only that the work is too much. */
static const double least_missed = 1.5, most_gpus = 64;

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

/* findings_counters.c - conclusions from samples: clocks that something limits, memory that is almost
 * full or over-committed, reads from disk in the loop, a CPU quota that runs out.
 *
 * Each has a floor in time and samples, so that a short run raises none. Only lower clocks claim a gain: no kernel is slower by
 * more than its clock is. At its power limit a busy GPU's clocks are always lower, so that is a fact without a number. */
#include "analysis/advice/finding.h"
#include "analysis/advice/full_memory.h"

#include "analysis/base/intervals.h"
#include "analysis/base/numbers.h"
#include "analysis/names/families.h"
#include "analysis/pipeline/unit.h"
#include "analysis/report/device_limit.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"

#include <inttypes.h>

enum { LEAST_SAMPLES = 5 };

static const uint64_t least_ns = 2000000000;

/* Limited clocks matter from this share of the time in which the GPU was not idle, if they are also
 * lower than the highest by this. Where less than free_share of that time was without a limit, the
 * highest clock seen is one of a limited GPU, or of an idle one: then the reasons alone decide. */
static const double limited_share = 0.1, clock_share = 0.97, free_share = 0.1;

static const double memory_share = 0.9, quota_share = 0.1;

/* Reads in the loop: bytes in all, and per second. */
static const double loop_bytes = 100e6, loop_rate = 10e6;

static int is_lower(const struct vpa_counter *c)
{
	return c->limited_mhz <= clock_share * c->highest_mhz;
}

static int was_free(const struct vpa_counter *c)
{
	return (double)c->limited_ns <= (1 - free_share) * (double)c->awake_ns;
}

/* The SM clock under the limit, and what there is to compare it with. */
static void add_clocks(struct vpa_report *r, const struct vpa_counter *c, struct vpa_finding *f)
{
	const char *mhz = vpa_arena_printf(&r->arena, "%.300s; SM clock %s MHz then", f->measured,
		vpa_fixed(c->limited_mhz, 0).text);

	f->measured = is_lower(c)
			      ? vpa_arena_printf(&r->arena, "%.400s, at most %s MHz otherwise", mhz,
					vpa_fixed(c->highest_mhz, 0).text)
			      : vpa_arena_printf(&r->arena,
					"%.400s; no clock without a limit to compare it with", mhz);
}

/* The kernels of a device whose time follows the SM clock: those of collectives follow the link's. */
static uint64_t clocked_ns(const struct vpa_report *r, const struct vpa_device *d)
{
	static const enum vpa_family others[] = {
		VPA_FAMILY_MEMCPY, VPA_FAMILY_MEMSET, VPA_FAMILY_COMM};
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < COUNT(others); i++)
		vpt_sat_add_to(&ns, vpa_family_ns(r, others[i]));
	return d->busy_ns -
	       vpa_portion(d->busy_ns, vpa_earlier(ns, vpa_busy_ns(r)), vpa_busy_ns(r));
}

/* What its kernels would save at most at the highest clock: as much as each took longer if it followed the clock alone. */
static void save_clocks(struct vpa_report *r, const struct vpa_counter *c, struct vpa_finding *f)
{
	double slower = 1 - c->limited_mhz / c->highest_mhz;
	struct vpa_saving s = {.device = vpa_report_device(r, c->device)};

	if (!s.device)
		return;
	s.ns = s.device_ns = vpt_sat_u64(
		slower * (double)vpa_portion(clocked_ns(r, s.device), c->limited_ns, c->awake_ns));
	if (!vpa_saving_is_worth(r, &s))
		return;
	/* When it was limited may have been in the units alone. */
	s.base_ns = vpa_earlier(s.ns, vpt_sat_u64(slower * (double)vpa_mean_unit_of(r).busy_ns));
	vpa_finding_saves(r, f, &s);
}

static void find_limited(struct vpa_report *r, const struct vpa_counter *c)
{
	const struct vpa_clock_reason *slowdown = vpa_clock_slowdown(c);
	struct vpa_finding *f;

	if (c->samples < LEAST_SAMPLES || c->limited_ns < least_ns ||
		(double)c->limited_ns < limited_share * (double)c->awake_ns ||
		(c->limited_mhz > 0 && !is_lower(c) && was_free(c)))
		return;
	f = vpa_finding_add(r, VPA_FOUND_THROTTLING, VPA_FINDING_WARN);
	if (!f)
		return;
	f->title = slowdown ? "the GPU lowers its clocks: check cooling and power supply"
			    : "the GPU lowers its clocks at its power limit: raise the limit, or "
			      "compare runs at fixed clocks";
	if (slowdown)
		f->words = vpa_arena_printf(&r->arena, "%s: %s lowers its clock",
			slowdown->bit == VPA_CLOCK_POWER_BRAKE ? "give the GPU its power"
							       : "cool the GPU",
			vpa_clock_culprit(slowdown->bit));
	f->measured = vpa_arena_printf(&r->arena,
		"GPU %" PRId64 ": %s, %s %% of the time in which it is not idle", c->device,
		slowdown ? slowdown->reason : c->reasons[0].reason,
		vpa_percent(c->limited_ns, c->awake_ns).text);
	if (c->limited_mhz > 0)
		add_clocks(r, c, f);
	f->threshold = "10 % of that time, and 2 s";
	f->caveat = "changes between two samples are not seen";
	f->note = f->measured;
	if (slowdown && c->limited_mhz > 0 && is_lower(c) && was_free(c))
		save_clocks(r, c, f);
}

/* The stage with the highest value; NULL: none. */
static const char *peak_stage(const struct vpa_counter *c)
{
	const struct vpa_counter_part *most = NULL;
	size_t i;

	for (i = 0; i < c->part_count; i++)
		if (c->parts[i].kind == VPA_SCOPE_STAGE && (!most || c->parts[i].max > most->max))
			most = &c->parts[i];
	return most ? most->name : NULL;
}

/* What is over costs the kernels that read it: by moved pages, which are recorded, or by reads over PCIe, which are not. So even the
 * time of the moved pages is no bound of what all of it costs. */
static const char *over_note(
	struct vpa_report *r, const struct vpa_counter *c, const char *measured)
{
	const struct vpa_device *d = vpa_report_device(r, c->device);
	const char *pages =
		d && d->fault_ns
			? vpa_arena_printf(&r->arena, "; pages moved during %s of %s of kernels",
				  vpa_duration(d->fault_ns).text, vpa_duration(d->kernel_ns).text)
			: "";

	return vpa_arena_printf(&r->arena,
		"%s; kernels that read what spilled are slower than others of the same name%s; no "
		"\"at most\", since no trace has the reads over PCIe",
		measured, pages);
}

static void find_over(struct vpa_report *r)
{
	uint64_t size;
	const struct vpa_counter *c = vpa_memory_over(r, &size);
	struct vpa_finding *f =
		c ? vpa_finding_add(r, VPA_FOUND_MEMORY_OVER, VPA_FINDING_FAIL) : NULL;

	if (!f)
		return;
	f->title = vpa_arena_printf(&r->arena,
		"%s GB are held of %s GB that GPU %" PRId64
		" has: what spills to the host is read over PCIe; use weights of fewer bits, or "
		"offload what a step does not use",
		vpa_fixed(c->max / 1e9, 1).text, vpa_fixed((double)size / 1e9, 1).text, c->device);
	f->measured = vpa_arena_printf(&r->arena, "GPU %" PRId64 ": %s %s of %s GB, %s %%",
		c->device, c->series == VPT_SERIES_MEMORY_USED ? "in use were" : "PyTorch held",
		vpa_fixed(c->max / 1e9, 1).text, vpa_fixed((double)size / 1e9, 1).text,
		vpa_share(c->max / (double)size).text);
	f->threshold = "all of the GPU's memory";
	f->note = over_note(r, c, f->measured);
	vpa_finding_evidence(f, peak_stage(c));
}

static void find_memory(struct vpa_report *r, const struct vpa_counter *used)
{
	const struct vpa_counter *total =
		vpa_find_counter(r, used->device, VPT_SERIES_MEMORY_TOTAL);
	struct vpa_finding *f;

	if (!total || total->max <= 0 || used->samples < LEAST_SAMPLES ||
		used->max < memory_share * total->max || vpa_finding_find(r, VPA_FOUND_MEMORY_OVER))
		return;
	f = vpa_finding_add(r, VPA_FOUND_MEMORY_FULL, VPA_FINDING_WARN);
	if (!f)
		return;
	f->title = "the GPU's memory is almost full: offload, quantize or tile before it runs out";
	f->measured = vpa_arena_printf(&r->arena,
		"GPU %" PRId64 ": %s of %s GB, %s %%, with other processes", used->device,
		vpa_fixed(used->max / 1e9, 1).text, vpa_fixed(total->max / 1e9, 1).text,
		vpa_share(used->max / total->max).text);
	f->threshold = "90 %";
	f->caveat = "caching allocators keep memory that they could free";
	f->note = f->measured;
	vpa_finding_evidence(f, peak_stage(used));
}

static void find_reads(struct vpa_report *r, const struct vpa_counter *disk)
{
	const struct vpa_counter *faults = vpa_find_counter(r, -1, VPT_SERIES_MAJOR_FAULTS);
	struct vpa_finding *f;

	if (disk->loop_ns < least_ns || disk->loop_bytes < loop_bytes ||
		disk->loop_bytes * 1e9 / (double)disk->loop_ns < loop_rate)
		return;
	f = vpa_finding_add(r, VPA_FOUND_DISK_IN_LOOP, VPA_FINDING_WARN);
	if (!f)
		return;
	f->title = "the loop reads from disk: load the weights before it, and keep them in memory";
	f->measured = vpa_arena_printf(&r->arena, "%s in %s of the loop, %s MB/s",
		vpa_bytes(vpt_sat_u64(disk->loop_bytes)).text, vpa_duration(disk->loop_ns).text,
		vpa_fixed(disk->loop_bytes * 1e3 / (double)disk->loop_ns, 0).text);
	f->note = f->measured;
	if (faults && faults->max > 0)
		f->note = vpa_arena_printf(&r->arena,
			"%.200s, up to %s major page faults a second: pages of mapped files",
			f->measured, vpa_fixed(faults->max, 0).text);
	f->threshold = "100 MB, 10 MB/s and 2 s";
}

static void find_quota(struct vpa_report *r, const struct vpa_counter *quota)
{
	struct vpa_finding *f;

	if (quota->samples < LEAST_SAMPLES || quota->covered_ns < least_ns ||
		quota->mean < 100 * quota_share)
		return;
	f = vpa_finding_add(r, VPA_FOUND_CPU_QUOTA, VPA_FINDING_WARN);
	if (!f)
		return;
	f->title = "the process runs out of its CPU quota: raise the cgroup's cpu.max";
	f->measured = vpa_arena_printf(&r->arena,
		"throttled in %s %% of the quota's periods on average, at most %s %%",
		vpa_fixed(quota->mean, 0).text, vpa_fixed(quota->max, 0).text);
	f->note = f->measured;
	f->threshold = "10 % of the periods, and 2 s";
}

void vpa_find_counters(struct vpa_report *r)
{
	static const struct {
		enum vpt_series series;
		int of_gpu;
		void (*find)(struct vpa_report *r, const struct vpa_counter *c);
	} rules[] = {
		{VPT_SERIES_CLOCK_REASONS, 1, find_limited},
		{VPT_SERIES_MEMORY_USED, 1, find_memory},
		{VPT_SERIES_DISK_READ, 0, find_reads},
		{VPT_SERIES_QUOTA_THROTTLED, 0, find_quota},
	};
	size_t i, k;

	find_over(r);
	for (i = 0; i < r->counter_count; i++)
		for (k = 0; k < sizeof(rules) / sizeof(rules[0]); k++)
			if (r->counters[i].series == rules[k].series &&
				(r->counters[i].device >= 0) == rules[k].of_gpu)
				rules[k].find(r, &r->counters[i]);
}

/* scaling.c - means over ranks, and an Nth of the base. */
#include "analysis/ranks/scaling.h"

#include "analysis/report/rows/causes.h"
#include "formats/base/saturate.h"

#include <string.h>

/* Time of all units of a rank, or summed over ranks. */
struct spent {
	int64_t ns[VPA_SCALING_PARTS];
	int64_t all_ns;
};

static int is_host(unsigned cause)
{
	return cause == VPA_CAUSE_HOST_CODE || cause == VPA_CAUSE_LAUNCH_RATE ||
	       cause == VPA_CAUSE_LAUNCH_CALL || cause == VPA_CAUSE_LAUNCH_LATENCY;
}

static enum vpa_scaling_part part_of(const struct vpa_part_name *name)
{
	switch (name->klass) {
	case VPA_TIME_COMPUTE:
		return VPA_SCALING_COMPUTE;
	case VPA_TIME_COMM:
		return VPA_SCALING_TRANSFERS;
	case VPA_TIME_COPY:
		return VPA_SCALING_COPIES;
	default:
		return is_host(name->kind) ? VPA_SCALING_HOST : VPA_SCALING_IDLE;
	}
}

/* A rank as its units have it: without what it waits at the start. */
struct share {
	uint64_t unit_ns, start_ns;
	uint64_t wait_ns, kernel_ns; /* in its collectives, and these */
};

/* Of one unit, as if each had the same share of the rank's time. Of the time in which only a collective runs, as much is
 * waiting as of all its kernels. */
static void add(struct spent *s, const struct vpa_rank *r, const struct share *of)
{
	uint64_t ns[VPA_SCALING_PARTS] = {0}, comm, wait_ns = of->wait_ns,
		 kernel_ns = of->kernel_ns;
	uint64_t all = vpt_sat_sub(r->last_ns - r->first_ns, of->start_ns);
	int64_t rest = vpt_sat_diff(of->unit_ns, 0), of_unit;
	size_t i;

	for (i = 0; i < r->part_name_count; i++)
		ns[part_of(&r->part_names[i])] += r->part_ns[i];
	comm = vpt_sat_sub(ns[VPA_SCALING_TRANSFERS], of->start_ns);
	ns[VPA_SCALING_WAITS] =
		vpt_sat_scale(comm, wait_ns < kernel_ns ? wait_ns : kernel_ns, kernel_ns);
	ns[VPA_SCALING_TRANSFERS] = comm - ns[VPA_SCALING_WAITS];
	s->all_ns = vpt_sat_add_i64(s->all_ns, rest);
	for (i = 0; i < VPA_SCALING_PARTS; i++) {
		of_unit = vpt_sat_diff(vpt_sat_scale(ns[i], of->unit_ns, all), 0);
		rest = vpt_sat_diff_i64(rest, of_unit);
		s->ns[i] = vpt_sat_add_i64(s->ns[i], of_unit);
	}
	/* What rounding leaves over. */
	s->ns[VPA_SCALING_COMPUTE] = vpt_sat_add_i64(s->ns[VPA_SCALING_COMPUTE], rest);
}

static uint64_t kernels_of(const struct vpa_rank *r)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < r->collective_count; i++)
		vpt_sat_add_to(&sum, vpa_rank_end_ns(r, i) - vpa_rank_start_ns(r, i));
	return sum;
}

static void add_all(struct spent *s, const struct vpa_job *job)
{
	size_t i;

	for (i = 0; i < job->rank_count; i++) {
		const struct vpa_job_rank *r = &job->ranks[i];
		uint64_t start_ns = job->start_ns ? r->start_wait_ns : 0;
		struct share of = {vpa_job_unit_of(job, r), start_ns, vpa_job_wait_of(job, r),
			vpt_sat_sub(kernels_of(r->rank), start_ns)};

		add(s, r->rank, &of);
	}
}

void vpa_scaling_unit(const struct vpa_job *job, int64_t part_ns[VPA_SCALING_PARTS])
{
	struct spent s = {.all_ns = 0};
	int64_t n = (int64_t)job->rank_count, rest;
	size_t i;

	add_all(&s, job);
	rest = vpt_sat_diff(job->unit_ns, 0);
	for (i = 0; i < VPA_SCALING_PARTS; i++) {
		part_ns[i] = s.ns[i] / n;
		rest = vpt_sat_diff_i64(rest, part_ns[i]);
	}
	part_ns[VPA_SCALING_COMPUTE] = vpt_sat_add_i64(part_ns[VPA_SCALING_COMPUTE], rest);
}

int vpa_scaling_find(
	struct vpa_job *job, const struct vpa_rank *base, int is_weak, struct vpt_err *err)
{
	struct spent many = {.all_ns = 0}, one = {.all_ns = 0};
	struct vpa_scaling *out = vpa_arena_alloc(&job->arena, 1, sizeof(*out));
	int64_t n = (int64_t)job->rank_count, share = is_weak ? 1 : n, known = 0;
	size_t i;

	if (!out)
		return vpt_fail(err, VPT_ENOMEM, "no memory for the scaling of a job");
	if (base->unit != job->unit)
		return vpt_fail(err, VPT_EINVAL,
			"--base: expected a capture that counts in the job's unit, %s, found %s: "
			"limit all to the same range with --range",
			vpa_unit_kind_name(job->unit), vpa_unit_kind_name(base->unit));
	add_all(&many, job);
	add(&one, base, &(struct share){base->unit_ns, 0, 0, 1});
	out->capture = base->capture
			       ? vpa_arena_text(&job->arena, base->capture, strlen(base->capture))
			       : NULL;
	out->is_weak = is_weak;
	out->one_ns = (uint64_t)one.all_ns;
	out->many_ns = (uint64_t)(many.all_ns / n);
	out->ideal_ns = (uint64_t)(one.all_ns / share);
	for (i = 0; i < VPA_SCALING_PARTS; i++) {
		out->part_ns[i] = vpt_sat_diff_i64(many.ns[i] / n, one.ns[i] / share);
		known = vpt_sat_add_i64(known, out->part_ns[i]);
	}
	out->part_ns[VPA_SCALING_COMPUTE] += (int64_t)out->many_ns - (int64_t)out->ideal_ns - known;
	out->speedup = many.all_ns ? (double)one.all_ns / (double)out->many_ns : 0;
	out->efficiency = out->many_ns ? (double)out->ideal_ns / (double)out->many_ns : 0;
	if (is_weak)
		out->speedup *= (double)n;
	job->scaling = out;
	return job->arena.failed ? vpt_fail(err, VPT_ENOMEM, "no memory for the scaling of a job")
				 : VPT_OK;
}

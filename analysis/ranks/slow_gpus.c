/* slow_gpus.c - by family of kernels, from what each rank's device did in all. */
#include "analysis/ranks/slow_gpus.h"

#include "analysis/base/sort.h"
#include "analysis/names/families.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

enum {
	OTHERS_LEAST = 2, /* of one other rank nobody knows which of both is right */
	IN_SHARE = 20,    /* a family of less than 1 / this of the time says nothing */
	MOST = 5          /* all but 1 / this of the time must be longer */
};

/* Longer by less is chance; a family that is shorter is of other work. */
static const double LONGER = 1.05, SHORTER = 0.97;

/* Compute of a rank by family, of a unit. */
static void families_of(
	const struct vpa_job *job, const struct vpa_job_rank *r, double ns[VPA_FAMILY_COUNT])
{
	const struct vpa_rank *rank = r->rank;
	size_t i;

	for (i = 0; i < VPA_FAMILY_COUNT; i++)
		ns[i] = 0;
	for (i = 0; i < rank->part_name_count; i++) {
		const struct vpa_part_name *name = &rank->part_names[i];

		if (name->klass == VPA_TIME_COMPUTE && name->kind < VPA_FAMILY_COUNT)
			ns[name->kind] += vpa_job_rank_per_unit(job, r, (double)rank->part_ns[i]);
	}
}

/* The median of a family over other ranks, in numbers[family * others ...]. */
static double median_of(int64_t *numbers, size_t others)
{
	return (double)vpa_nth(numbers, others, others / 2);
}

/* Of the others' families: by family, then by rank. */
static int64_t *others_of(const struct vpa_job *job, size_t rank, size_t others)
{
	int64_t *numbers = vpt_calloc(others * VPA_FAMILY_COUNT, sizeof(*numbers));
	double ns[VPA_FAMILY_COUNT];
	size_t i, f, put = 0;

	for (i = 0; numbers && i < job->rank_count; i++) {
		if (i == rank)
			continue;
		families_of(job, &job->ranks[i], ns);
		for (f = 0; f < VPA_FAMILY_COUNT; f++)
			numbers[f * others + put] = (int64_t)ns[f];
		put++;
	}
	return numbers;
}

int vpa_slow_gpu_of(const struct vpa_job *job, size_t rank, struct vpa_slow_gpu *out)
{
	size_t others = job->rank_count - 1, f;
	double own[VPA_FAMILY_COUNT], all_ns = 0, longer_ns = 0;
	int64_t *numbers;
	int is_shorter = 0;

	*out = (struct vpa_slow_gpu){.family_count = 0};
	if (others < OTHERS_LEAST)
		return VPT_OK;
	numbers = others_of(job, rank, others);
	if (!numbers)
		return VPT_ENOMEM;
	families_of(job, &job->ranks[rank], own);
	for (f = 0; f < VPA_FAMILY_COUNT; f++)
		all_ns += own[f];
	for (f = 0; f < VPA_FAMILY_COUNT; f++) {
		double usual = median_of(numbers + f * others, others), times;

		if (own[f] * IN_SHARE < all_ns || usual <= 0)
			continue;
		times = own[f] / usual;
		is_shorter |= times < SHORTER;
		if (times < LONGER)
			continue;
		longer_ns += own[f];
		out->least = !out->family_count || times < out->least ? times : out->least;
		out->most = times > out->most ? times : out->most;
		out->family_count++;
	}
	vpt_free(numbers);
	if (is_shorter || out->family_count < 2 || longer_ns * MOST < all_ns * (MOST - 1))
		*out = (struct vpa_slow_gpu){.family_count = 0};
	return VPT_OK;
}

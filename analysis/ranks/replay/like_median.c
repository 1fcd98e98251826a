/* like_median.c - work and idle time each for itself, since a rank with slow kernels may wait less for its host. */
#include "analysis/ranks/replay/like_median.h"

#include "analysis/base/sort.h"
#include "analysis/ranks/rank/rank_threads.h"
#include "formats/base/memory.h"

#include <string.h>

int vpa_spent_init(struct vpa_spent *s, size_t count)
{
	s->busy_ns = vpt_alloc(count + 2, sizeof(*s->busy_ns));
	s->idle_ns = vpt_alloc(count + 2, sizeof(*s->idle_ns));
	return s->busy_ns && s->idle_ns ? VPT_OK : VPT_ENOMEM;
}

void vpa_spent_free(struct vpa_spent *s)
{
	vpt_free(s->busy_ns);
	vpt_free(s->idle_ns);
	*s = (struct vpa_spent){NULL, NULL};
}

/* Place i in a group of those of whom the median is; `member`, always one of them, is the first. */
static size_t sampled(const struct vpa_group *g, size_t member, size_t i)
{
	size_t others = g->rank_count - 1;
	size_t count = others < VPA_MEDIAN_SAMPLE ? others : VPA_MEDIAN_SAMPLE;
	size_t k = i ? (i - 1) * others / count : member;

	return i && k >= member ? k + 1 : k;
}

static size_t sample_count(const struct vpa_group *g)
{
	return g->rank_count <= VPA_MEDIAN_SAMPLE ? g->rank_count : VPA_MEDIAN_SAMPLE + 1;
}

void vpa_median_ranks(
	const struct vpa_job *job, size_t rank, void (*mark)(void *ctx, size_t rank), void *ctx)
{
	size_t g, n;

	for (g = 0; g < job->matching.group_count; g++) {
		const struct vpa_group *group = &job->matching.groups[g];
		size_t member = vpa_group_member(group, rank);

		for (n = 0; member < group->rank_count && n < sample_count(group); n++)
			mark(ctx, group->ranks[sampled(group, member, n)]);
	}
}

/* A rank beside the others of a group; tasks are some rows. */
struct comparing {
	const struct vpa_median_source *source;
	const struct vpa_group *group;
	size_t number, member; /* of the group; of the rank in it */
	struct vpa_spent *out;
};

static const int64_t *sums_of(const struct comparing *c, size_t member, int of_busy)
{
	const struct vpa_spent *s = c->source->spent_of(c->source->ctx, c->group->ranks[member]);

	return of_busy ? s->busy_ns : s->idle_ns;
}

static int64_t median(const struct comparing *c, size_t row, int of_busy)
{
	int64_t numbers[VPA_MEDIAN_SAMPLE + 1];
	size_t i, count = 0;

	for (i = 0; i < sample_count(c->group); i++) {
		size_t k = sampled(c->group, c->member, i);
		uint32_t cell = vpa_group_cell(c->group, row, k);
		const int64_t *sums = sums_of(c, k, of_busy);

		if (cell != VPA_NO_COLLECTIVE)
			numbers[count++] = sums[cell + 1] - sums[cell];
	}
	return count ? vpa_nth(numbers, count, (count - 1) / 2) : 0;
}

enum { COMPARED_ROWS = 128 };

/* Calls `compare` for the rows of a task. */
static void each_row(const struct comparing *c, size_t task,
	void (*compare)(const struct comparing *c, size_t row))
{
	size_t row = task * COMPARED_ROWS, left = c->group->row_count - row;
	size_t end = row + (left < COMPARED_ROWS ? left : COMPARED_ROWS);

	for (; row < end; row++)
		compare(c, row);
}

static void keep_median(const struct comparing *c, size_t row)
{
	c->out->busy_ns[row] = median(c, row, 1);
	c->out->idle_ns[row] = median(c, row, 0);
}

static int keep_medians(void *ctx, unsigned thread, size_t task)
{
	(void)thread;
	each_row(ctx, task, keep_median);
	return VPT_OK;
}

static int64_t above(const struct comparing *c, uint32_t cell, int64_t median_ns, int of_busy)
{
	const int64_t *sums = sums_of(c, c->member, of_busy);
	int64_t ns = sums[cell + 1] - sums[cell] - median_ns;

	return ns > 0 ? ns : 0;
}

static void compare_row(const struct comparing *c, size_t row)
{
	const struct vpa_spent *kept = &c->source->of_rows[c->number];
	uint32_t cell = vpa_group_cell(c->group, row, c->member);

	if (cell == VPA_NO_COLLECTIVE)
		return;
	c->out->busy_ns[cell + 1] =
		above(c, cell, kept->busy_ns ? kept->busy_ns[row] : median(c, row, 1), 1);
	c->out->idle_ns[cell + 1] =
		above(c, cell, kept->idle_ns ? kept->idle_ns[row] : median(c, row, 0), 0);
}

static int compare_rows(void *ctx, unsigned thread, size_t task)
{
	(void)thread;
	each_row(ctx, task, compare_row);
	return VPT_OK;
}

static int compare_in_group(struct comparing *c, unsigned threads)
{
	struct vpa_spent *kept = &c->source->of_rows[c->number];
	size_t tasks = (c->group->row_count + COMPARED_ROWS - 1) / COMPARED_ROWS;

	/* Of a larger group each rank is beside others. */
	if (!kept->busy_ns && c->group->rank_count <= VPA_MEDIAN_SAMPLE) {
		struct comparing all = *c;

		if (vpa_spent_init(kept, c->group->row_count))
			return VPT_ENOMEM;
		all.out = kept;
		vpa_in_threads(threads, tasks, keep_medians, &all);
	}
	return vpa_in_threads(threads, tasks, compare_rows, c);
}

int vpa_above_median(const struct vpa_job *job, const struct vpa_median_source *source,
	unsigned threads, size_t rank, struct vpa_spent *less)
{
	size_t count = job->list.items[rank]->collective_count, g, i;
	int rc = VPT_OK;

	memset(less->busy_ns, 0, (count + 2) * sizeof(*less->busy_ns));
	memset(less->idle_ns, 0, (count + 2) * sizeof(*less->idle_ns));
	for (g = 0; g < job->matching.group_count && !rc; g++) {
		const struct vpa_group *group = &job->matching.groups[g];
		struct comparing c = {source, group, g, vpa_group_member(group, rank), less};

		if (c.member < group->rank_count)
			rc = compare_in_group(&c, threads);
	}
	for (i = 1; i < count + 2; i++) {
		less->busy_ns[i] += less->busy_ns[i - 1];
		less->idle_ns[i] += less->idle_ns[i - 1];
	}
	return rc;
}

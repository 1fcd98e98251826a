/* apart.c - by who left before somebody came. */
#include "analysis/ranks/patterns/patterns.h"

#include "formats/base/memory.h"

/* What was seen of member x beside member y, of a square of bytes. */
enum {
	X_ALONE = 1,
	/* x had a collective that y lacks */ LEFT_BEFORE = 2 /* x left before y came */
};

/* Looks at one row. It says something only if a member left before another one came. */
static int find_left_before(const struct vpa_job *job, const struct vpa_group *g, size_t row,
	const struct vpa_job_row *r, uint8_t *seen)
{
	size_t x, y, n = g->rank_count;
	int64_t start_ns, end_ns, other_ns, unused_ns;

	if (r->count < 2 || r->last_ns - r->first_end_ns <= (int64_t)r->uncertainty_ns)
		return 0;
	for (x = 0; x < n; x++) {
		if (!vpa_member_times(job, g, row, x, &start_ns, &end_ns))
			continue;
		for (y = 0; y < n; y++)
			if (vpa_member_times(job, g, row, y, &other_ns, &unused_ns) &&
				other_ns - end_ns > (int64_t)r->uncertainty_ns)
				seen[x * n + y] |= LEFT_BEFORE;
	}
	return 1;
}

static int find_alone(const struct vpa_group *g, size_t row, uint8_t *seen)
{
	size_t x, y, n = g->rank_count, lack = 0;

	for (y = 0; y < n; y++) {
		if (vpa_group_cell(g, row, y) != VPA_NO_COLLECTIVE)
			continue;
		lack++;
		for (x = 0; x < n; x++)
			if (vpa_group_cell(g, row, x) != VPA_NO_COLLECTIVE)
				seen[x * n + y] |= X_ALONE;
	}
	return lack != 0;
}

static int are_apart(const uint8_t *seen, size_t n, size_t x, size_t y)
{
	unsigned both = seen[x * n + y] & seen[y * n + x];

	return (both & X_ALONE) || ((seen[x * n + y] | seen[y * n + x]) & LEFT_BEFORE);
}

/* Numbers the sets that pairs which may have met join. */
static size_t number_sets(const uint8_t *seen, size_t n, uint32_t *sets)
{
	uint32_t count = 0;
	size_t first, i, x, y;

	for (x = 0; x < n; x++)
		sets[x] = UINT32_MAX;
	for (first = 0; first < n; first++) {
		if (sets[first] != UINT32_MAX)
			continue;
		sets[first] = count;
		for (i = 0; i < n; i++) /* a path to a member has fewer than n steps */
			for (x = 0; x < n; x++)
				for (y = 0; sets[x] == count && y < n; y++)
					if (sets[y] == UINT32_MAX && !are_apart(seen, n, x, y))
						sets[y] = count;
		count++;
	}
	return count;
}

size_t vpa_apart_sets(const struct vpa_job *job, const struct vpa_job_rows *rows, size_t group,
	uint32_t *sets, uint64_t *apart_rows)
{
	const struct vpa_group *g = &job->matching.groups[group];
	uint8_t *seen = vpt_calloc(g->rank_count, g->rank_count);
	size_t count, row;

	*apart_rows = 0;
	if (!seen)
		return 0;
	for (row = 0; row < g->row_count; row++)
		*apart_rows += (uint64_t)(find_alone(g, row, seen) |
					  find_left_before(job, g, row,
						  &rows->items[rows->firsts[group] + row], seen));
	count = number_sets(seen, g->rank_count, sets);
	vpt_free(seen);
	return count;
}

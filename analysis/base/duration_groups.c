/* duration_groups.c - clusters of durations, see duration_groups.h. */
#include "analysis/base/duration_groups.h"

#include "analysis/base/intervals.h"

#include <string.h>

static struct vpa_length join(struct vpa_length a, struct vpa_length b)
{
	if (!a.count || !b.count)
		return a.count ? a : b;
	return (struct vpa_length){a.count + b.count, a.total_ns + b.total_ns,
		vpa_earlier(a.min_ns, b.min_ns), vpa_later(a.max_ns, b.max_ns)};
}

/* How many times as long the next cluster begins as this one ends. */
static double step_after(const struct vpa_lengths *l, size_t i)
{
	const struct vpa_length *at = &l->clusters[i];

	return (double)at[1].min_ns / (double)(at->max_ns ? at->max_ns : 1);
}

static void join_next(struct vpa_lengths *l, size_t i)
{
	l->clusters[i] = join(l->clusters[i], l->clusters[i + 1]);
	l->used--;
	memmove(&l->clusters[i + 1], &l->clusters[i + 2],
		(l->used - i - 1) * sizeof(l->clusters[0]));
}

static void join_closest(struct vpa_lengths *l)
{
	size_t i, closest = 0;

	for (i = 1; i + 1 < l->used; i++)
		if (step_after(l, i) < step_after(l, closest))
			closest = i;
	join_next(l, closest);
}

static int is_near(const struct vpa_length *c, uint64_t ns)
{
	return ns >= c->min_ns - c->min_ns / 4 && ns <= c->max_ns + c->max_ns / 4;
}

void vpa_lengths_add(struct vpa_lengths *l, uint64_t ns)
{
	const struct vpa_length one = {1, ns, ns, ns};
	size_t i = 0;

	while (i < l->used && !is_near(&l->clusters[i], ns) && l->clusters[i].max_ns < ns)
		i++;
	if (i < l->used && is_near(&l->clusters[i], ns)) {
		l->clusters[i] = join(l->clusters[i], one);
		if (i + 1 < l->used && l->clusters[i].max_ns >= l->clusters[i + 1].min_ns)
			join_next(l, i);
		return;
	}
	if (l->used == VPA_LENGTHS) {
		join_closest(l);
		vpa_lengths_add(l, ns);
		return;
	}
	memmove(&l->clusters[i + 1], &l->clusters[i], (l->used - i) * sizeof(l->clusters[0]));
	l->clusters[i] = one;
	l->used++;
}

static struct vpa_length sum_of(const struct vpa_lengths *l, size_t from, size_t to)
{
	struct vpa_length sum = {0};

	for (; from < to; from++)
		sum = join(sum, l->clusters[from]);
	return sum;
}

struct vpa_length vpa_lengths_all(const struct vpa_lengths *l)
{
	return sum_of(l, 0, l->used);
}

int vpa_lengths_split(
	const struct vpa_lengths *l, struct vpa_length *short_ones, struct vpa_length *long_ones)
{
	size_t i, widest = 0;
	uint64_t least;

	if (l->used < 2)
		return 0;
	for (i = 1; i + 1 < l->used; i++)
		if (step_after(l, i) > step_after(l, widest))
			widest = i;
	if (step_after(l, widest) < VPA_LENGTHS_APART)
		return 0;
	*short_ones = sum_of(l, 0, widest + 1);
	*long_ones = sum_of(l, widest + 1, l->used);
	least = vpa_earlier(short_ones->count, long_ones->count);
	return least >= VPA_LENGTHS_LEAST &&
	       least >= (short_ones->count + long_ones->count + 3) / 4;
}

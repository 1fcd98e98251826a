/* blocks_math.c - statistics over a series of blocks. Series are short (some hundred blocks), so the
 * code is simple wherever that is fast enough for a few thousand. */
#include "analysis/folds/blocks/blocks_math.h"

#include "analysis/base/sort.h"
#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/vectorise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARMUP_MAX = 64, SLOPE_VALUES = 2000, NEIGHBOURS = 9, OUTLIER_NS = 4000000 };

/* The lower median of up to 2 * WARMUP_MAX values. */
static uint64_t median_of(const uint64_t *values, size_t count)
{
	uint64_t sorted[2 * WARMUP_MAX];

	memcpy(sorted, values, count * sizeof(*values));
	qsort(sorted, count, sizeof(*sorted), vpa_by_u64);
	return sorted[(count - 1) / 2];
}

size_t vpa_warmup_of(const uint64_t *periods, size_t count)
{
	size_t most = count / 2 < WARMUP_MAX ? count / 2 : WARMUP_MAX, at;

	if (count > 2 * WARMUP_MAX)
		count = 2 * WARMUP_MAX;
	for (at = 1; at < most; at++) {
		uint64_t usual = median_of(periods + at, count - at);

		if (periods[at] <= usual || periods[at] - usual <= usual / 5)
			break;
	}
	return count ? at : 0;
}

/* ---- drift ---- */

/* Puts the element of rank `rank` in its place. */
static double select_rank(double *values, size_t count, size_t rank)
{
	size_t low = 0, high = count - 1;

	while (low < high) {
		double pivot = values[low + (high - low) / 2];
		size_t i = low, k = high;

		for (;;) {
			while (values[i] < pivot)
				i++;
			while (values[k] > pivot)
				k--;
			if (i >= k)
				break;
			double swap = values[i];

			values[i++] = values[k];
			values[k--] = swap;
		}
		if (rank <= k)
			high = k;
		else
			low = k + 1;
	}
	return values[rank];
}

/* The slopes of all pairs of a series, one row at a time: there are too many to retain. */
struct slopes {
	const double *ys, *distances; /* distances[d]: of values d places apart */
	size_t count;                 /* of values */
	double *row;
	double *kept; /* room for KEPT_MAX slopes, or all */
};

/* Slopes in [from, to]: how many there are, and how many are less than these. */
struct part {
	double from, to;
	size_t below, count;
};

/* The slope of a rank is looked for near that of a sample, among 2 / NEAR of all. */
enum { SAMPLE = 2048, NEAR = 32, KEPT_MAX = 1 << 17 };

/* Computes the slopes from value `from` to all after it. Returns their number. */
VPT_VECTORISE
static size_t make_row(const struct slopes *s, size_t from)
{
	const double *restrict ys = s->ys + from, *restrict distances = s->distances;
	double *restrict row = s->row;
	size_t count = s->count - from, d;

	for (d = 1; d < count; d++)
		row[d - 1] = (ys[d] - ys[0]) / distances[d];
	return count - 1;
}

/* Keeps up to SAMPLE slopes of a part that has more. Returns how many. */
static size_t take_sample(const struct slopes *s, const struct part *of)
{
	size_t step = of->count / SAMPLE + 1, taken = 0, i, k = 0, n;

	for (i = 0; i < s->count; i++, k -= n)
		for (n = make_row(s, i); k < n; k += step)
			if (s->row[k] >= of->from && s->row[k] <= of->to && taken < SAMPLE)
				s->kept[taken++] = s->row[k];
	return taken;
}

/* A part in which the slope of a rank is likely to be. `is_point`: of a single value, so that less than all of `of` is left. */
static struct part guess(const struct slopes *s, const struct part *of, size_t rank, int is_point)
{
	size_t n = of->count > SAMPLE ? take_sample(s, of) : 0, near = is_point ? 0 : n / NEAR;
	double middle = of->from / 2 + of->to / 2;
	size_t at;

	if (of->count <= SAMPLE)
		return *of;
	if (!n)
		return (struct part){.from = middle, .to = middle};
	at = (size_t)((double)n * (double)(rank - of->below) / (double)of->count);
	return (struct part){.from = select_rank(s->kept, n, at > near ? at - near : 0),
		.to = select_rank(s->kept, n, at + near < n ? at + near : n - 1)};
}

/* Counts the slopes of a part and those below it, and keeps the part's, if there is room. */
static void count_part(const struct slopes *s, struct part *p)
{
	size_t i, k, n;

	p->below = p->count = 0;
	for (i = 0; i < s->count; i++)
		for (n = make_row(s, i), k = 0; k < n; k++)
			if (s->row[k] < p->from) {
				p->below++;
			} else if (s->row[k] <= p->to) {
				if (p->count < KEPT_MAX)
					s->kept[p->count] = s->row[k];
				p->count++;
			}
}

/* A part with the slope of a rank, which is kept or has one value. `pairs`: all slopes. */
static struct part find_part(const struct slopes *s, size_t pairs, size_t rank)
{
	struct part all = {-HUGE_VAL, HUGE_VAL, 0, pairs}, part;
	int is_point = 0;

	for (;;) {
		part = guess(s, &all, rank, is_point);
		count_part(s, &part);
		if (rank < part.below) {
			all.count = part.below - all.below;
			all.to = nextafter(part.from, -HUGE_VAL);
		} else if (rank >= part.below + part.count) {
			all.count -= part.below + part.count - all.below;
			all.below = part.below + part.count;
			all.from = nextafter(part.to, HUGE_VAL);
		} else if (part.count <= KEPT_MAX || part.from == part.to) {
			return part;
		} else {
			is_point = part.count == all.count;
			all = part;
		}
	}
}

/* The median slope; of an even number, the mean of the middle two. */
static double find_median(const struct slopes *s, size_t pairs)
{
	size_t ranks[2] = {(pairs - 1) / 2, pairs / 2}, i;
	struct part part = {.count = 0};
	double found[2];

	for (i = 0; i < 2; i++) {
		if (!i || ranks[i] >= part.below + part.count)
			part = find_part(s, pairs, ranks[i]);
		found[i] = part.from == part.to
				   ? part.from
				   : select_rank(s->kept, part.count, ranks[i] - part.below);
	}
	return ranks[0] == ranks[1] ? found[0] : (found[0] + found[1]) / 2;
}

int vpa_slope_of(const uint64_t *values, size_t count, double *slope)
{
	size_t step = (count + SLOPE_VALUES - 1) / SLOPE_VALUES, i;
	size_t taken = (count + step - 1) / step, pairs = taken * (taken - 1) / 2;
	double *room = vpt_alloc(3 * taken + (pairs < KEPT_MAX ? pairs : KEPT_MAX), sizeof(*room));
	struct slopes s;

	*slope = 0;
	if (!room)
		return VPT_ENOMEM;
	s = (struct slopes){.ys = room,
		.distances = room + taken,
		.count = taken,
		.row = room + 2 * taken,
		.kept = room + 3 * taken};
	for (i = 0; i < taken; i++) {
		room[i] = (double)values[i * step];
		room[taken + i] = (double)(i * step);
	}
	*slope = find_median(&s, pairs);
	vpt_free(room);
	return VPT_OK;
}

/* Least squares of y = a + b * min(x, at) over values counted from the first one. */
struct hinge {
	double a, b;
	double about; /* the residual sum of squares, but for rounding */
};

/* Sums over values[0, count), from which hinges are computed. */
struct hinge_sums {
	size_t count;
	double y, xy, yy;
};

static void sum_until(struct hinge_sums *s, const uint64_t *values, size_t end)
{
	for (; s->count < end; s->count++) {
		double y = (double)values[s->count] - (double)values[0];

		s->y += y;
		s->xy += (double)s->count * y;
		s->yy += y * y;
	}
}

/* The best hinge with its corner where `left` ends. */
static struct hinge hinge_at(const struct hinge_sums *left, const struct hinge_sums *all)
{
	double n = (double)all->count, k = (double)left->count;
	double sx = k * (k - 1) / 2 + (n - k) * k;
	double sxx = (k - 1) * k * (2 * k - 1) / 6 + (n - k) * k * k;
	double sxy = left->xy + k * (all->y - left->y), spread = n * sxx - sx * sx;
	struct hinge h;

	h.b = spread > 0 ? (n * sxy - sx * all->y) / spread : 0;
	h.a = (all->y - h.b * sx) / n;
	h.about = all->yy - h.a * all->y - h.b * sxy;
	return h;
}

/* The residual sum of squares. */
static double rest_of(const uint64_t *values, size_t count, size_t at, const struct hinge *h)
{
	double rest = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		double x = (double)(i < at ? i : at),
		       y = (double)values[i] - (double)values[0] - h->a - h->b * x;

		rest += y * y;
	}
	return rest;
}

int64_t vpa_saturation_of(const uint64_t *values, size_t count)
{
	size_t step = (count + SLOPE_VALUES - 1) / SLOPE_VALUES, best = 0, at;
	struct hinge_sums all = {0}, left = {0};
	double b = 0, straight, least, near;
	struct hinge h;

	if (count < 6)
		return -1;
	sum_until(&all, values, count);
	h = hinge_at(&all, &all);
	straight = least = near = rest_of(values, count, count, &h);
	/* At least two values on either side: one alone has no slope. */
	for (at = 2; at + 2 <= count; at += step) {
		sum_until(&left, values, at);
		h = hinge_at(&left, &all);
		near = h.b > 0 && h.about < near ? h.about : near;
	}
	/* Among those that are best but for rounding, the exact best. */
	near += 1e-9 * all.yy;
	left = (struct hinge_sums){0};
	for (at = 2; at + 2 <= count; at += step) {
		double rest;

		sum_until(&left, values, at);
		h = hinge_at(&left, &all);
		if (h.b <= 0 || h.about > near)
			continue;
		rest = rest_of(values, count, at, &h);
		if (rest < least) {
			least = rest;
			best = at;
			b = h.b;
		}
	}
	/* No corner if a straight line fits nearly as well; no growth if it is too small to see. */
	if (!best || least > straight / 4)
		return -1;
	return b * (double)best > 0.02 * (double)values[0] ? (int64_t)best : -1;
}

/* ---- outliers ---- */

int vpa_is_outlier(const uint64_t *values, size_t count, size_t at, size_t *reference)
{
	size_t from = at > NEIGHBOURS ? at - NEIGHBOURS : 0, i;
	size_t to = count - at > NEIGHBOURS + 1 ? at + NEIGHBOURS + 1 : count;
	uint64_t far[2 * NEIGHBOURS + 1], median = median_of(values + from, to - from), limit;

	for (*reference = from; values[*reference] != median; ++*reference)
		;
	for (i = from; i < to; i++)
		far[i - from] = vpt_distance(values[i], median);
	limit = 5 * median_of(far, to - from);
	limit = limit > median / 5 ? limit : median / 5;
	limit = limit > OUTLIER_NS ? limit : OUTLIER_NS;
	return vpt_distance(values[at], median) > limit;
}

/* ---- playback ---- */

uint64_t vpa_prebuffer_of(
	const uint64_t *ready_ns, const uint64_t *frames, size_t count, uint64_t millifps)
{
	__int128 latest = 0, late;
	uint64_t shown = 0, buffered = 0;
	size_t i;

	/* Each block's first frame must be ready when those before it have been shown. */
	for (i = 0; i < count; i++) {
		late = (__int128)(ready_ns[i] - ready_ns[0]) * millifps -
		       (__int128)shown * 1000000000000;
		latest = late > latest ? late : latest;
		shown += frames[i];
	}
	for (i = 0; i < count; i++) {
		buffered += frames[i];
		if ((__int128)(ready_ns[i] - ready_ns[0]) * millifps >= latest)
			break;
	}
	return buffered;
}

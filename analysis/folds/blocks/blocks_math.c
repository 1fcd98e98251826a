/* blocks_math.c - statistics over a series of blocks. Series are short (some hundred blocks), so the
 * code is simple wherever that is fast enough for a few thousand. */
#include "analysis/folds/blocks/blocks_math.h"

#include "formats/base/error.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/vectorise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARMUP_MAX = 64, SLOPE_VALUES = 2000, NEIGHBOURS = 9, OUTLIER_NS = 4000000 };

static int compare(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/* The lower median of up to 2 * WARMUP_MAX values. */
static uint64_t median_of(const uint64_t *values, size_t count)
{
	uint64_t sorted[2 * WARMUP_MAX];

	memcpy(sorted, values, count * sizeof(*values));
	qsort(sorted, count, sizeof(*sorted), compare);
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
	int32_t *classes; /* of the row's slopes */
	/* Slopes are divided into classes of equal width, so that only one class needs sorting. */
	double least, most, scale;
	double from, to; /* slopes outside are in no class */
};

enum { CLASSES = 4096, NO_CLASS = CLASSES, KEPT_MAX = 1 << 17 };

/* Computes the slopes from value `from` to all after it, and their classes. Monotonic: a larger slope
 * never has a smaller class. Returns their number. */
VPT_VECTORISE
static size_t make_row(const struct slopes *s, size_t from)
{
	const double *restrict ys = s->ys + from, *restrict distances = s->distances;
	double *restrict row = s->row, least = s->least, scale = s->scale;
	double first = s->from, last = s->to;
	int32_t *restrict classes = s->classes;
	size_t count = s->count - from, d;

	for (d = 1; d < count; d++)
		row[d - 1] = (ys[d] - ys[0]) / distances[d];
	for (d = 0; d < count - 1; d++) {
		double own = (row[d] - least) * scale;

		own = own > 0 ? own : 0;
		own = own < CLASSES - 1 ? own : CLASSES - 1;
		classes[d] = (int32_t)own;
		classes[d] = row[d] < first || row[d] > last ? NO_CLASS : classes[d];
	}
	return count - 1;
}

/* A slope is a mean of the slopes between neighbours it spans, so these bound it, but for rounding. */
static void find_bounds(struct slopes *s)
{
	size_t i;

	s->from = -HUGE_VAL;
	s->to = HUGE_VAL;
	s->least = s->most = (s->ys[1] - s->ys[0]) / s->distances[1];
	for (i = 2; i < s->count; i++) {
		double slope = (s->ys[i] - s->ys[i - 1]) / s->distances[1];

		s->least = slope < s->least ? slope : s->least;
		s->most = slope > s->most ? slope : s->most;
	}
}

static void count_classes(struct slopes *s, uint32_t sizes[CLASSES + 1])
{
	size_t i, k, n;

	s->scale = (CLASSES - 1) / (s->most - s->least);
	memset(sizes, 0, (CLASSES + 1) * sizeof(*sizes));
	for (i = 0; i < s->count; i++)
		for (n = make_row(s, i), k = 0; k < n; k++)
			sizes[s->classes[k]]++;
}

static void find_class_bounds(const struct slopes *s, size_t class, double *least, double *most)
{
	size_t i, k, n;

	*least = HUGE_VAL;
	*most = -HUGE_VAL;
	for (i = 0; i < s->count; i++)
		for (n = make_row(s, i), k = 0; k < n; k++)
			if ((size_t)s->classes[k] == class) {
				*least = s->row[k] < *least ? s->row[k] : *least;
				*most = s->row[k] > *most ? s->row[k] : *most;
			}
}

/* Collects the slopes of a class. */
static void collect(const struct slopes *s, size_t class, double *out)
{
	size_t i, k, n;

	for (i = 0; i < s->count; i++)
		for (n = make_row(s, i), k = 0; k < n; k++)
			if ((size_t)s->classes[k] == class)
				*out++ = s->row[k];
}

/* The mean of the slopes of two ranks, equal or neighbours, in a class of `count` slopes. */
static int find_in_class(
	const struct slopes *s, size_t class, size_t size, size_t low, size_t high, double *mean)
{
	double *kept = vpt_alloc(size, sizeof(*kept));

	if (!kept)
		return VPT_ENOMEM;
	collect(s, class, kept);
	*mean = select_rank(kept, size, low);
	if (low != high)
		*mean = (*mean + select_rank(kept, size, high)) / 2;
	vpt_free(kept);
	return VPT_OK;
}

/* The median of `pairs` slopes within known bounds; of an even number, the mean of the middle two. A
 * class with too many slopes to retain is divided into classes itself. */
static int find_median(struct slopes *s, size_t pairs, double *median)
{
	size_t low = (pairs - 1) / 2, high = pairs / 2, below, class, next;
	uint32_t sizes[CLASSES + 1];
	double least, most;

	for (;;) {
		count_classes(s, sizes);
		for (below = 0, class = 0; below + sizes[class] <= low; class ++)
			below += sizes[class];
		low -= below;
		high -= below;
		if (high >= sizes[class]) {
			for (next = class + 1; !sizes[next]; next++)
				;
			find_class_bounds(s, class, &least, &most);
			*median = most;
			find_class_bounds(s, next, &least, &most);
			*median = (*median + least) / 2;
			return VPT_OK;
		}
		if (sizes[class] <= KEPT_MAX)
			return find_in_class(s, class, sizes[class], low, high, median);
		find_class_bounds(s, class, &least, &most);
		s->least = s->from = least;
		s->most = s->to = most;
		if (least == most) {
			*median = least;
			return VPT_OK;
		}
	}
}

int vpa_slope_of(const uint64_t *values, size_t count, double *slope)
{
	size_t step = (count + SLOPE_VALUES - 1) / SLOPE_VALUES, i;
	size_t taken = (count + step - 1) / step;
	double *room = vpt_alloc(4 * taken, sizeof(*room));
	struct slopes s;
	int rc = VPT_OK;

	*slope = 0;
	if (!room)
		return VPT_ENOMEM;
	s = (struct slopes){.ys = room,
		.distances = room + taken,
		.count = taken,
		.row = room + 2 * taken,
		.classes = (int32_t *)(room + 3 * taken)};
	for (i = 0; i < taken; i++) {
		room[i] = (double)values[i * step];
		room[taken + i] = (double)(i * step);
	}
	find_bounds(&s);
	if (s.most > s.least)
		rc = find_median(&s, taken * (taken - 1) / 2, slope);
	else
		*slope = s.least;
	vpt_free(room);
	return rc;
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

/* series_stats.c - Student's t, the difference of two series, Mann and Whitney's test, Hodges and Lehmann's shift, Holm's correction. */
#include "analysis/compare/series_stats.h"

#include "formats/base/count.h"
#include "formats/base/memory.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	SETTLED_LEAST = 6, /* fewer values do not show which are outliers */
	NEIGHBOURS = 7,
	OUTLYING = 4, /* deviations */
	DRIFT_LEAST = 4,
	SHORT_LEAST = 8,
	WALK = 6 /* steps: a walk of chance has about 3 sqrt(n) of them */
};

/* The least correlation of series that take the same course. Noise that changes slowly often makes more than half of
 * few values. */
static const double course = 0.5, course_of_few = 0.9;
static const double resemblance =
	0.25; /* most correlation of neighbours without memory, see resembles() */
static const double memory = 24;   /* values that noise may resemble itself for */
static const double lasting = 2.4; /* the least widening where neighbours show it */
static const double level = 0.95, power = 0.8;
/* The least efficiency of the rank sum beside Student's t, whatever the distribution: Hodges and Lehmann. */
static const double rank_efficiency = 0.864;

/* ---- Student's t ---- */

/* The continued fraction of the incomplete beta function, by Lentz. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), sum;
	int m;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	sum = d;
	for (m = 1; m < 500; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		sum *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		sum *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return sum;
}

static double beta_regular(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x > 0;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x));
	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
					 : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double vpa_t_cdf(double t, double nu)
{
	double tail = beta_regular(nu / 2, 0.5, nu / (nu + t * t)) / 2;

	return t > 0 ? 1 - tail : tail;
}

double vpa_t_quantile(double p, double nu)
{
	double low = 0, high = 1, target = p < 0.5 ? 1 - p : p;
	int i;

	while (vpa_t_cdf(high, nu) < target && high < 1e12)
		high *= 2;
	for (i = 0; i < 200 && high - low > 1e-12 * high; i++) {
		double middle = (low + high) / 2;

		if (vpa_t_cdf(middle, nu) < target)
			low = middle;
		else
			high = middle;
	}
	return p < 0.5 ? -high : high;
}

/* ---- means ---- */

struct vpa_mean vpa_mean_of(const double *values, size_t count)
{
	struct vpa_mean m = {.count = count};
	double squares = 0;
	size_t i;

	for (i = 0; i < count; i++)
		m.mean += values[i];
	m.mean = count ? m.mean / (double)count : 0;
	for (i = 0; i < count; i++)
		squares += (values[i] - m.mean) * (values[i] - m.mean);
	if (count < 2)
		return m;
	m.deviation = sqrt(squares / (double)(count - 1));
	m.error = m.deviation / sqrt((double)count);
	return m;
}

/* How many standard errors an interval of this level reaches. */
static double reach_of(double of_level, double nu)
{
	return vpa_t_quantile(1 - (1 - of_level) / 2, nu);
}

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return a < b ? -1 : a > b;
}

double vpa_median(double *values, size_t count)
{
	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), by_value);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* ---- outliers ---- */

/* The deviation of normal noise, by the median of the steps between neighbours, which few outliers do not move. `scratch`:
 * count values. */
static double deviation_of_steps(const double *values, size_t count, double *scratch)
{
	const double normal = 0.6745 * 1.41421356; /* the median step of noise with deviation 1 */
	size_t i;

	for (i = 1; i < count; i++)
		scratch[i - 1] = fabs(values[i] - values[i - 1]);
	return vpa_median(scratch, count - 1) / normal;
}

/* The median of the NEIGHBOURS values around one. */
static double median_around(const double *values, size_t count, size_t at)
{
	size_t first = at < NEIGHBOURS / 2 ? 0 : at - NEIGHBOURS / 2;
	size_t around = count < NEIGHBOURS ? count : NEIGHBOURS;
	double near[NEIGHBOURS];

	first = first + around > count ? count - around : first;
	memcpy(near, values + first, around * sizeof(*near));
	return vpa_median(near, around);
}

/* Copies the values with the median of its neighbours for each outlier. Returns how many there are; SIZE_MAX: too many,
 * or side by side, so that they are no outliers but a part of the series. */
static size_t settle(const double *values, size_t count, double *settled)
{
	double most = OUTLYING * deviation_of_steps(values, count, settled);
	size_t found = 0, side_by_side = 0, i;

	for (i = 0; i < count; i++) {
		double usual = median_around(values, count, i);
		int is_outlier = fabs(values[i] - usual) > most;

		settled[i] = is_outlier ? usual : values[i];
		found += (size_t)is_outlier;
		side_by_side = is_outlier ? side_by_side + 1 : 0;
		if (side_by_side > 2 || found > 1 + count / 10)
			return SIZE_MAX;
	}
	return found;
}

/* In both series or in neither, since they are compared. Returns how many there were. */
static size_t settle_both(double *a, double *b, size_t count, double *scratch)
{
	size_t in_a, in_b;

	if (count < SETTLED_LEAST)
		return 0;
	in_a = settle(a, count, scratch);
	in_b = settle(b, count, scratch + count);
	if (in_a == SIZE_MAX || in_b == SIZE_MAX)
		return 0;
	memcpy(a, scratch, count * sizeof(*a));
	memcpy(b, scratch + count, count * sizeof(*b));
	return in_a + in_b;
}

/* ---- series ---- */

static double product(const double *a, const double *b, size_t count)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

/* The squares of the slowest half waves of the cosine transform; each is one degree of freedom. */
static double slow_squares(const double *values, size_t count, size_t waves)
{
	const double pi = 3.14159265358979323846;
	double squares = 0;
	size_t wave, i;

	for (wave = 1; wave <= waves; wave++) {
		double part = 0;

		for (i = 0; i < count; i++)
			part += values[i] *
				cos(pi * (double)wave * ((double)i + 0.5) / (double)count);
		squares += part * part * 2 / (double)count;
	}
	return squares;
}

/* Sums over the series whose noise moves the difference: of one, the paired differences, or of two. */
struct noise {
	double squares, slow, neighbours;
	size_t series, count, waves;
};

static void add_series(struct noise *n, const double *values)
{
	n->squares += product(values, values, n->count);
	n->slow += slow_squares(values, n->count, n->waves);
	n->neighbours += product(values, values + 1, n->count - 1);
	n->series++;
}

/* Takes the mean out of the values, and returns it. */
static double take_mean(double *values, size_t count)
{
	double mean = vpa_mean_of(values, count).mean;
	size_t i;

	for (i = 0; i < count; i++)
		values[i] -= mean;
	return mean;
}

/* The sum of the products of the deviations of both from their means. */
static double covariance(const double *a, const double *b, size_t count)
{
	double mean_a = vpa_mean_of(a, count).mean, mean_b = vpa_mean_of(b, count).mean, sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += (a[i] - mean_a) * (b[i] - mean_b);
	return sum;
}

/* Where both series take the same course, only their differences are noise: b becomes these, and a zero. Returns whether
 * they do: if they correlate, fewer than six values as chance seldom makes them. */
static int follow_course(double *a, double *b, size_t count)
{
	static const double of_few[] = {1, 1, 1, 0.997, 0.950, 0.878};
	double least = count < COUNT(of_few)       ? of_few[count]
		       : count < VPA_SERIES_ENOUGH ? course_of_few
						   : course;
	size_t i;

	if (count < 3 || covariance(a, b, count) <=
				 least * sqrt(covariance(a, a, count) * covariance(b, b, count)))
		return 0;
	for (i = 0; i < count; i++) {
		b[i] -= a[i];
		a[i] = 0;
	}
	return 1;
}

/* Of series without their means; a is not used if b has their differences. */
static struct noise noise_of(const double *a, const double *b, size_t count, int is_paired)
{
	/* A hundred degrees of freedom are as good as more, and time grows with waves times values. */
	enum { WAVES_LEAST = 2, WAVES_MOST = 100 };
	struct noise n = {.count = count, .waves = count / 25};

	n.waves = n.waves < WAVES_LEAST ? WAVES_LEAST : n.waves > WAVES_MOST ? WAVES_MOST : n.waves;
	n.waves = n.waves < count ? n.waves : count - 1;
	add_series(&n, b);
	if (!is_paired)
		add_series(&n, a);
	return n;
}

/* Whether neighbours resemble each other more than without memory. Of few values these correlate negatively, and one in
 * seven series of noise without memory seems to have some. */
static int resembles(const struct noise *n)
{
	double most = resemblance;

	if (n->count >= SHORT_LEAST && n->count < VPA_SERIES_ENOUGH)
		most -= (VPA_SERIES_ENOUGH - (double)n->count) / 120;
	return n->count > 3 && n->neighbours > most * n->squares;
}

/* How much further than its slow waves noise with memory moves a mean. */
static double widening(const struct noise *n)
{
	double count = (double)n->count, most = 1 + memory / count;

	if (resembles(n))
		return fmax(most, lasting);
	return n->count < SHORT_LEAST ? 1 : fmin(most, (count + 6) / 15.6);
}

/* ---- drift ---- */

/* The deviation of the differences from the trend of their neighbours, as second differences show it. */
static double deviation_from_trend(const double *differences, size_t count)
{
	double squares = 0;
	size_t i;

	for (i = 2; i < count; i++) {
		double bend = differences[i] - 2 * differences[i - 1] + differences[i - 2];

		squares += bend * bend;
	}
	return sqrt(squares / 6 / (double)(count - 2));
}

/* The mean of differences that drift lies between the smallest and the largest one, give or take chance: twice the reach
 * of their deviation. A walk of chance has the range of a few of its steps times the root of their number; a drift has
 * more. `differences`: from their mean. */
static void narrow(const double *differences, size_t count, struct vpa_shift *s)
{
	double deviation = count < DRIFT_LEAST ? 0 : deviation_from_trend(differences, count);
	double least = 0, most = 0, chance;
	size_t i;

	for (i = 0; i < count; i++) {
		least = fmin(least, differences[i]);
		most = fmax(most, differences[i]);
	}
	if (count < DRIFT_LEAST || most - least <= WALK * sqrt((double)count) * deviation)
		return;
	chance = 2 * reach_of(level, (double)count - 2) * deviation;
	s->low = fmax(s->low, s->shift + least - chance);
	s->high = fmin(s->high, s->shift + most + chance);
	s->detectable = fmin(s->detectable, 1.5 * fmax(s->shift - s->low, s->high - s->shift));
}

int vpa_shift_of_series(double *a, double *b, size_t count, struct vpa_shift *out)
{
	double *scratch = vpt_alloc(2 * count + 1, sizeof(*scratch)), all, slow, nu;
	struct noise n;
	size_t i;
	int is_paired;

	*out = (struct vpa_shift){0};
	if (!scratch)
		return -1;
	is_paired = follow_course(a, b, count);
	out->outliers = settle_both(a, b, count, scratch);
	is_paired = is_paired || follow_course(a, b, count); /* outliers may hide it */
	vpt_free(scratch);
	out->shift = count ? take_mean(b, count) - take_mean(a, count) : 0;
	if (count < 2)
		return 0;
	n = noise_of(a, b, count, is_paired);
	out->resembles = resembles(&n);
	/* The mean of a series has the error sqrt(squares / degrees / count), the difference of two sqrt(2) of that. */
	nu = (double)(n.series * (count - 1));
	all = sqrt((double)n.series * n.squares / nu / (double)count) * reach_of(level, nu);
	nu = (double)(n.series * n.waves);
	slow = sqrt((double)n.series * n.slow / nu / (double)count) * reach_of(level, nu) *
	       widening(&n);
	all = all > slow ? all : slow;
	out->level = level;
	out->low = out->shift - all;
	out->high = out->shift + all;
	/* Student's t of 2 to 30 degrees is beyond its mean reach in four of five cases at 1.42 to 1.47 times that. */
	out->detectable = 1.5 * all;
	for (i = 0; i < count; i++)
		b[i] -= a[i];
	narrow(b, count, out);
	return 0;
}

/* The smallest shift that a rank test of this level shows with the power: Welch's, and what ranks lose. */
static double detectable_of(
	const double *a, size_t a_count, const double *b, size_t b_count, double of_level)
{
	struct vpa_mean ma = vpa_mean_of(a, a_count);
	struct vpa_mean mb = vpa_mean_of(b, b_count);
	double va = ma.error * ma.error, vb = mb.error * mb.error, nu;

	if (a_count < 2 || b_count < 2 || va + vb <= 0)
		return 0;
	nu = (va + vb) * (va + vb) /
	     (va * va / (double)(a_count - 1) + vb * vb / (double)(b_count - 1));
	return (reach_of(of_level, nu) + vpa_t_quantile(power, nu)) *
	       sqrt((va + vb) / rank_efficiency);
}

/* ---- between runs ---- */

/* Twice the rank of a value among all; equal values share the mean of their ranks. */
static size_t twice_rank(double value, const double *sorted, size_t count)
{
	size_t below = 0, equal = 0, i;

	for (i = 0; i < count; i++) {
		below += sorted[i] < value;
		equal += sorted[i] == value;
	}
	return 2 * below + equal + 1;
}

/* How often each doubled sum of `chosen` of the ranks occurs among all choices, as shares. */
struct sums {
	double *share;
	size_t count;
};

/* ways[k][s]: choices of k ranks with the doubled sum s. -1: no memory. */
static int sums_of(const size_t *ranks, size_t count, size_t chosen, struct sums *out)
{
	size_t sums = 1, i, k, s;
	double *ways, all = 0;

	for (i = 0; i < count; i++)
		sums += ranks[i];
	ways = vpt_calloc((chosen + 1) * sums, sizeof(*ways));
	if (!ways)
		return -1;
	ways[0] = 1;
	for (i = 0; i < count; i++)
		for (k = i + 1 < chosen ? i + 1 : chosen; k > 0; k--)
			for (s = ranks[i]; s < sums; s++)
				ways[k * sums + s] += ways[(k - 1) * sums + s - ranks[i]];
	memmove(ways, ways + chosen * sums, sums * sizeof(*ways));
	for (s = 0; s < sums; s++)
		all += ways[s];
	for (s = 0; s < sums; s++)
		ways[s] /= all;
	*out = (struct sums){ways, sums};
	return 0;
}

/* The share of the sums that are at least as far from the middle as `sum`. */
static double share_as_far(const struct sums *sums, size_t middle, size_t sum)
{
	size_t reach = sum > middle ? sum - middle : middle - sum, s;
	double far = 0;

	for (s = 0; s < sums->count; s++)
		far += (s > middle ? s - middle : middle - s) >= reach ? sums->share[s] : 0;
	return far < 1 ? far : 1;
}

/* The interval: all differences without the first and the last few, as many as the level allows. `least`
 * is the smallest doubled sum of distinct ranks; an exchange of neighbours adds 2 to it. */
static void put_interval(const double *all, size_t count, const struct sums *sums, size_t least,
	struct vpa_shift *out)
{
	double tail = sums->share[least], next;
	size_t skipped = 0;

	while (2 * (skipped + 1) < count) {
		next = tail + sums->share[least + 2 * (skipped + 1)];
		if (2 * next > 1 - level)
			break;
		tail = next;
		skipped++;
	}
	out->level = 1 - 2 * tail;
	out->low = all[skipped];
	out->high = all[count - 1 - skipped];
}

static int shift_of_runs(const double *a, size_t a_count, const double *b, size_t b_count,
	const struct sums *sums, struct vpa_shift *out)
{
	size_t count = a_count * b_count, i, k;
	double *all = vpt_alloc(count, sizeof(*all));

	if (!all)
		return -1;
	for (i = 0; i < a_count; i++)
		for (k = 0; k < b_count; k++)
			all[i * b_count + k] = b[k] - a[i];
	out->shift = vpa_median(all, count);
	put_interval(all, count, sums, a_count * (a_count + 1), out);
	out->detectable = detectable_of(a, a_count, b, b_count, out->level);
	vpt_free(all);
	return 0;
}

int vpa_runs_test(
	const double *a, size_t a_count, const double *b, size_t b_count, struct vpa_runs_test *out)
{
	size_t ranks[2 * VPA_RUNS_MOST], count = a_count + b_count, sum = 0, middle, i;
	double all[2 * VPA_RUNS_MOST];
	struct sums tied = {0}, distinct = {0};
	int rc = -1;

	*out = (struct vpa_runs_test){.p = 1, .least_p = 1};
	if (!a_count || !b_count || a_count > VPA_RUNS_MOST || b_count > VPA_RUNS_MOST)
		return -1;
	memcpy(all, a, a_count * sizeof(*a));
	memcpy(all + a_count, b, b_count * sizeof(*b));
	for (i = 0; i < count; i++)
		ranks[i] = twice_rank(all[i], all, count);
	for (i = 0; i < a_count; i++)
		sum += ranks[i];
	middle = a_count * (count + 1);
	if (sums_of(ranks, count, a_count, &tied))
		goto out;
	out->p = share_as_far(&tied, middle, sum);
	for (i = 0; i < count; i++)
		ranks[i] = 2 * (i + 1);
	if (sums_of(ranks, count, a_count, &distinct))
		goto out;
	out->least_p = share_as_far(&distinct, middle, a_count * (a_count + 1));
	rc = shift_of_runs(a, a_count, b, b_count, &distinct, &out->shift);
out:
	vpt_free(tied.share);
	vpt_free(distinct.share);
	return rc;
}

int vpa_holm(double *p, size_t count)
{
	size_t *order = vpt_alloc(count ? count : 1, sizeof(*order)), tests = 0, i, k;
	double most = 0;

	if (!order)
		return -1;
	for (i = 0; i < count; i++) {
		if (p[i] < 0)
			continue;
		for (k = tests++; k > 0 && p[order[k - 1]] > p[i]; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	for (i = 0; i < tests; i++) {
		double adjusted = p[order[i]] * (double)(tests - i);

		most = adjusted > most ? adjusted : most;
		p[order[i]] = most < 1 ? most : 1;
	}
	vpt_free(order);
	return 0;
}

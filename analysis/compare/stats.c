/* stats.c - Student's t, Mann and Whitney's test, Hodges and Lehmann's shift, Holm's correction. */
#include "analysis/compare/stats.h"

#include "formats/memory.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	NARROW_LEAST = 4,
	MEMORY_LEAST = 6, /* fewer values show no memory */
	WALK = 6,         /* steps: a walk of chance has about 3 sqrt(n) of them */
	MANY = 16         /* values have two half waves that are slow, fewer one */
};

static const double memory_most = 0.5, memory_most_of_few = 0.2;
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

/* The correlation of neighbours, rather too high than too low: a short series hides some of it. 0: too
 * short, or no deviation at all. */
static double correlation(const double *values, const struct vpa_mean *m)
{
	double n = (double)m->count, r = 0, squares = m->deviation * m->deviation * (n - 1);
	size_t i;

	if (m->count < 3 || squares <= 0)
		return 0;
	for (i = 1; i < m->count; i++)
		r += (values[i] - m->mean) * (values[i - 1] - m->mean);
	r /= squares;
	r += (1 + 3 * r) / n; /* the bias, after Kendall */
	r += 1 / sqrt(n);     /* one standard error */
	return r < 0 ? 0 : r > 0.95 ? 0.95 : r;
}

struct vpa_mean vpa_mean_of(const double *values, size_t count, enum vpa_order order)
{
	struct vpa_mean m = {.count = count, .effective = (double)count};
	double squares = 0, r;
	size_t i;

	for (i = 0; i < count; i++)
		m.mean += values[i];
	m.mean = count ? m.mean / (double)count : 0;
	for (i = 0; i < count; i++)
		squares += (values[i] - m.mean) * (values[i] - m.mean);
	if (count < 2)
		return m;
	m.deviation = sqrt(squares / (double)(count - 1));
	r = order == VPA_SERIES ? correlation(values, &m) : 0;
	m.effective *= (1 - r) / (1 + r);
	m.effective = m.effective < 2 ? 2 : m.effective;
	m.error = m.deviation / sqrt(m.effective);
	return m;
}

/* How many standard errors an interval of this level reaches. */
static double reach_of(double of_level, double nu)
{
	return vpa_t_quantile(1 - (1 - of_level) / 2, nu);
}

/* ---- slow changes ---- */

/* How much the correlations of a series at several distances exceed those of independent values, in standard errors of
 * their sum. Of neighbours alone, noise that has no memory hides the memory of the rest. */
static double memory_of(const double *values, const struct vpa_mean *m)
{
	size_t reach = m->count / 5 < 2 ? 2 : m->count / 5 > 8 ? 8 : m->count / 5, lag, i;
	double n = (double)m->count, squares = m->deviation * m->deviation * (n - 1), sum = 0;

	if (m->count < MEMORY_LEAST || squares <= 0)
		return 0;
	for (lag = 1; lag <= reach; lag++) {
		double r = 0;

		for (i = lag; i < m->count; i++)
			r += (values[i] - m->mean) * (values[i - lag] - m->mean);
		sum += r / squares + 1 / n;
		if (sum <= 0) /* neighbours differ more than others do */
			return 0;
	}
	return sum / sqrt((double)reach / n);
}

/* The error of the mean by the slowest `waves` half waves of the cosine transform alone, each one degree of freedom: what
 * changes slowly moves these as much as it moves the mean. */
static double slow_error(const double *values, const struct vpa_mean *m, unsigned waves)
{
	const double pi = 3.14159265358979323846;
	double n = (double)m->count, squares = 0;
	unsigned wave;
	size_t i;

	for (wave = 1; wave <= waves; wave++) {
		double part = 0;

		for (i = 0; i < m->count; i++)
			part += (values[i] - m->mean) * cos(pi * wave * ((double)i + 0.5) / n);
		squares += part * part * 2 / n;
	}
	return sqrt(squares / waves / n);
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

struct range {
	double least, most;
};

static struct range range_of(const double *values, size_t count)
{
	struct range r = {values[0], values[0]};
	size_t i;

	for (i = 1; i < count; i++) {
		r.least = values[i] < r.least ? values[i] : r.least;
		r.most = values[i] > r.most ? values[i] : r.most;
	}
	return r;
}

/* However slowly values change, their mean is seldom further off than their own range, and some more of it where they
 * are few. */
static double most_error(const double *differences, size_t count)
{
	struct range r = range_of(differences, count);

	return (1 + 10 / (double)count) * (r.most - r.least);
}

/* The mean of differences that drift lies between the smallest and the largest one, give or take chance: twice the reach
 * of their deviation. A walk of chance has the range of a few of its steps times the root of their number; a drift has
 * more. */
static void narrow(const double *differences, size_t count, struct vpa_shift *s)
{
	struct range r = range_of(differences, count);
	double deviation = deviation_from_trend(differences, count), chance;

	if (r.most - r.least <= WALK * sqrt((double)count) * deviation)
		return;
	chance = 2 * reach_of(level, (double)count - 2) * deviation;
	if (r.least - chance <= s->low && r.most + chance >= s->high)
		return;
	s->low = r.least - chance > s->low ? r.least - chance : s->low;
	s->high = r.most + chance < s->high ? r.most + chance : s->high;
	s->detectable =
		s->shift - s->low > s->high - s->shift ? s->shift - s->low : s->high - s->shift;
}

/* The error of a series' mean, and its degrees of freedom: by neighbours, or by slow changes if that reaches further. */
static double series_error(const double *values, const struct vpa_mean *m, double *nu)
{
	unsigned waves = m->count < MANY ? 1 : 2;
	double slow;

	*nu = m->effective - 1;
	if (memory_of(values, m) <= (m->count < MANY ? memory_most_of_few : memory_most))
		return m->error;
	slow = slow_error(values, m, waves);
	if (slow * reach_of(level, waves) <= m->error * reach_of(level, *nu))
		return m->error;
	*nu = waves;
	return slow;
}

struct vpa_shift vpa_shift_paired(const double *differences, size_t count)
{
	struct vpa_mean m = vpa_mean_of(differences, count, VPA_SERIES);
	struct vpa_shift s = {.shift = m.mean};
	double nu, error, half;

	if (count < 2)
		return s;
	error = series_error(differences, &m, &nu);
	half = reach_of(level, nu) * error;
	if (count >= NARROW_LEAST)
		half = fmin(half, most_error(differences, count));
	s.level = level;
	s.low = m.mean - half;
	s.high = m.mean + half;
	s.detectable = half + vpa_t_quantile(power, nu) * error;
	if (count >= NARROW_LEAST)
		narrow(differences, count, &s);
	return s;
}

/* The smallest shift that a rank test of this level shows with the power: Welch's, and what ranks lose. */
static double detectable_of(
	const double *a, size_t a_count, const double *b, size_t b_count, double of_level)
{
	struct vpa_mean ma = vpa_mean_of(a, a_count, VPA_RUNS);
	struct vpa_mean mb = vpa_mean_of(b, b_count, VPA_RUNS);
	double va = ma.error * ma.error, vb = mb.error * mb.error, nu;

	if (a_count < 2 || b_count < 2 || va + vb <= 0)
		return 0;
	nu = (va + vb) * (va + vb) /
	     (va * va / (double)(a_count - 1) + vb * vb / (double)(b_count - 1));
	return (reach_of(of_level, nu) + vpa_t_quantile(power, nu)) *
	       sqrt((va + vb) / rank_efficiency);
}

/* ---- between runs ---- */

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

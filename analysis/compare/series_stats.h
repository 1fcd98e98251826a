/* series_stats.h - the statistics of a comparison: how sure a difference is.
 *
 * Pure functions of numbers. Times are nanoseconds as doubles: sums that must be exact are those of
 * account.c. Any thread. */
#ifndef VPA_ANALYSIS_COMPARE_SERIES_STATS_H
#define VPA_ANALYSIS_COMPARE_SERIES_STATS_H

#include <stddef.h>

/* Student's t: P(T <= t) with nu > 0 degrees of freedom, and its inverse for p in (0, 1). */
double vpa_t_cdf(double t, double nu);
double vpa_t_quantile(double p, double nu);

struct vpa_mean {
	size_t count;
	double mean,
		deviation; /* deviation: of the samples, divided by count - 1; 0 for fewer than 2 */
	double error;      /* of the mean of independent samples */
};

struct vpa_mean vpa_mean_of(const double *values, size_t count);

/* A difference, with the interval that holds it with 95 % probability, and the smallest difference that
 * the same number of samples would show in four of five cases. */
struct vpa_shift {
	double shift, low, high, detectable;
	double level;    /* of the interval; 0: there is none */
	size_t outliers; /* values that the shift leaves out */
	int resembles; /* neighbours do: the noise changes slowly, or few values look as if it did */
};

/* The mean of b less that of a: series of `count` values each, in order of time. Level 0 for fewer than 2. Changes both
 * arrays. -1: no memory.
 *
 * An outlier is a value that noise does not give; that of vpa_is_outlier() is one that a person would ask about. It is
 * replaced by the median of the seven values around it: one that differs from that by more than four
 * deviations of the noise, by the median step between neighbours (Hampel's filter). But if a series has more than 1 +
 * count / 10 of them, or three side by side, they are a part of it, and stay, in both.
 *
 * The interval is the wider one of two. Student's, of all values; and Student's of the slowest half waves of the series'
 * cosine transforms, the two slowest of each series, or one in 25 (Mueller 2004; Lazarus, Lewis, Stock and Watson 2018),
 * since noise that changes slowly moves these as much as it moves the mean. The second one is widened by 1 + 24 / count, as
 * noise that resembles itself over 24 values moves the mean of few values more than their waves; at least by 2.4 where
 * neighbours show it (correlation above 0.25; of 8 to 19 values, above 0.25 - (20 - count) / 120, as 8 values show less);
 * else at most by (count + 6) / 15.6, so that 8 values can show a change of twice their deviation. If both series
 * take the same course (correlation above 0.5, of fewer values 0.9), the noise is that of the differences. Where the
 * differences drift, so that their range is more than 6 sqrt(n) s, as chance seldom makes it, the interval ends where all of them end, give
 * or take 2 t s: s is their deviation by second differences, sqrt(sum of (d[i] - 2 d[i-1] + d[i-2])^2 / 6 / (count - 2)), and t
 * is Student's of count - 2 degrees.
 *
 * DEFINITIONS.md says what that costs and brings, tests/compare/test_compare_noise.c how often a difference is found. */
enum { VPA_SERIES_ENOUGH = 20 };
int vpa_shift_of_series(double *a, double *b, size_t count, struct vpa_shift *out);

/* A difference with a larger p may be chance. */
#define VPA_CHANCE_PERCENT 5

static inline int vpa_may_be_chance(double p)
{
	return p > VPA_CHANCE_PERCENT / 100.0;
}

enum {
	VPA_RUNS_LEAST = 3, /* of a side, for a test between runs */
	VPA_RUNS_MOST = 32
};

/* A test between runs: one value a run. */
struct vpa_runs_test {
	/* Two-sided, Mann and Whitney's, exact; equal values share their ranks. */
	double p;
	double least_p;         /* the smallest p that this number of runs can give */
	struct vpa_shift shift; /* Hodges and Lehmann's: median of all b - a */
};

/* Needs 1 to VPA_RUNS_MOST values a side. The interval's level is what the number of runs allows, 95 % or
 * more if it can be. -1: no memory. */
int vpa_runs_test(const double *a, size_t a_count, const double *b, size_t b_count,
	struct vpa_runs_test *out);

double vpa_median(double *values, size_t count); /* sorts them; 0 for none */

/* Holm's correction: replaces each p by its adjusted value. Negative ones are no tests. -1: no memory. */
int vpa_holm(double *p, size_t count);

#endif

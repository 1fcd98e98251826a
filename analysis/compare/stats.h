/* stats.h - the statistics of a comparison: how sure a difference is.
 *
 * Pure functions of numbers. Times are nanoseconds as doubles: sums that must be exact are those of
 * account.h. Any thread. */
#ifndef VPA_ANALYSIS_COMPARE_STATS_H
#define VPA_ANALYSIS_COMPARE_STATS_H

#include <stddef.h>

/* Student's t: P(T <= t) with nu > 0 degrees of freedom, and its inverse for p in (0, 1). */
double vpa_t_cdf(double t, double nu);
double vpa_t_quantile(double p, double nu);

/* What values are: of one run in order of time, or of independent runs. */
enum vpa_order { VPA_SERIES, VPA_RUNS };

/* A mean, and how far it may be off. */
struct vpa_mean {
	size_t count;
	double mean, deviation; /* deviation: of the samples, divided by count - 1 */
	/* Number of independent samples that tell as much: count * (1 - r) / (1 + r). r is the
	 * correlation of neighbours, plus its bias in short series, (1 + 3 r) / count, plus one
	 * standard error, 1 / sqrt(count); from 0 to 0.95. At least 2, at most count. Of runs:
	 * count. */
	double effective;
	double error; /* deviation / sqrt(effective); 0 for fewer than 2 samples */
};

struct vpa_mean vpa_mean_of(const double *values, size_t count, enum vpa_order order);

/* A difference, with the interval that holds it with 95 % probability, and the smallest difference that
 * the same number of samples would show in four of five cases. */
struct vpa_shift {
	double shift, low, high, detectable;
	double level; /* of the interval; 0: there is none */
};

/* The mean of a series of paired differences. Level 0 for fewer than 2.
 *
 * The interval is Student's, of the effective number of samples. That takes the correlation of neighbours for that of a
 * series of first order, r, r^2, r^3 ...; but where noise without memory lies on slow changes, neighbours show little
 * of these. So, from 6 on, if the correlations over 1 to n / 5 (2 to 8) samples add up to more than half a standard error of
 * their sum for independent samples (a fifth with fewer than 16), each partial sum being above 0, the interval is at least
 * that of the two slowest half waves of the cosine transform (of the slowest one with fewer than 16): Student's with 2 (1)
 * degrees. 5 % are then out of it for series of first order with r up to 0.9 from 12 samples on; with fewer, up to 0.5.
 *
 * From 4 on, the interval reaches at most (1 + 10 / n) times the range of the differences. Where these drift, all this takes
 * the drift for noise. So, where their range is more than 6 sqrt(n) s, as chance seldom makes it, the interval ends where
 * all differences end, give or take chance: 2 t s. s is the deviation by second differences, sum of (d[i] - 2 d[i-1] +
 * d[i-2])^2 / 6 / (count - 2), and t is Student's of count - 2 degrees. */
struct vpa_shift vpa_shift_paired(const double *differences, size_t count);

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

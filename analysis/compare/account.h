/* account.h - divides the difference of two means into parts that add up exactly.
 *
 * Each side has a total time over n units, and the same parts. The difference of the means,
 *
 *	B / n_B - A / n_A = (B * n_A - A * n_B) / (n_A * n_B)
 *
 * is a fraction; so is that of each part, with the same denominator, and these numerators add up without
 * any error. In whole nanoseconds: the difference is rounded half away from zero, each part towards zero,
 * and the nanoseconds then left go, one each, to the parts with the largest rest, the first of equal
 * ones. So the parts' integers add up to the difference's, and exchanging the sides negates them all. */
#ifndef VPA_ANALYSIS_COMPARE_ACCOUNT_H
#define VPA_ANALYSIS_COMPARE_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

/* More units count as this many: the fractions then fit 128 bits for any times and up to 2^20 parts. */
#define VPA_ACCOUNT_UNITS_MAX (((uint64_t)1 << 40) - 1)

struct vpa_account_part {
	uint64_t a_ns, b_ns; /* totals */
	int64_t delta_ns;    /* of the mean */
};

/* Fills the parts' delta_ns, and *delta_ns with their sum, the difference of the means. 0 units count as 1. A difference
 * beyond int64_t, as a file may give, is INT64_MAX or -INT64_MAX, and the parts then need not add up. 0, or VPT_ENOMEM with
 * all deltas 0. */
int vpa_account(struct vpa_account_part *parts, size_t count, uint64_t a_units, uint64_t b_units,
	int64_t *delta_ns);

#endif

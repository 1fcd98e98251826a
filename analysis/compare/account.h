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

struct vpa_account_part {
	uint64_t a_ns, b_ns; /* totals */
	int64_t delta_ns;    /* of the mean */
};

/* Fills the parts' delta_ns. Returns their sum, the difference of the means. The counts are below 2^40; 0
 * counts as 1. 0, or VPT_ENOMEM with all deltas 0. */
int vpa_account(struct vpa_account_part *parts, size_t count, uint64_t a_units, uint64_t b_units,
	int64_t *delta_ns);

#endif

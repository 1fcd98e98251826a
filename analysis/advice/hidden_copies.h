/* hidden_copies.h - what of exposed copies goes away if they run beside kernels.
 *
 * A GPU hides no more of them than it computes without a copy beside it. Weights that go out and back need not come back, since the
 * host still has them; and those that stay on the GPU are not copied at all. */
#ifndef VPA_ANALYSIS_ADVICE_HIDDEN_COPIES_H
#define VPA_ANALYSIS_ADVICE_HIDDEN_COPIES_H

#include "analysis/report/report.h"

/* Of all devices together. */
struct vpa_hidden_copies {
	uint64_t saved_ns; /* of the exposed copies */
	uint64_t left_ns;  /* of these, what is longer than the compute beside it; 0: none */
	uint64_t all_ns;   /* what it is a part of: the exposed copies without those back */
};

/* With so much of the weights on the GPU all the time: 0 to 1. */
struct vpa_hidden_copies vpa_hidden_copies_of(const struct vpa_report *r, double stay_share);

#endif

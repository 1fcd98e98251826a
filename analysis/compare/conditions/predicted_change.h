/* predicted_change.h - where B lacks findings of A: what a replay of A's trace with their changes predicts, beside what came. */
#ifndef VPA_ANALYSIS_COMPARE_CONDITIONS_PREDICTED_CHANGE_H
#define VPA_ANALYSIS_COMPARE_CONDITIONS_PREDICTED_CHANGE_H

#include "analysis/compare/comparison.h"

struct vpt_trace;

/* Fills in c->prediction, if each side is one capture and B has hardly anything left of findings of A that have a change. A
 * finding whose change is a guess, half of the host's code, is none of them. `a`: A's report, `trace`: what it is of. That
 * there is no prediction is no error. 0, VPT_ENOMEM or VPT_EIO. */
int vpa_compare_predict(struct vpa_comparison *c, struct vpa_report *a,
	const struct vpt_trace *trace, unsigned jobs, struct vpt_err *err);

#endif

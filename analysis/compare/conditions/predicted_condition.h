/* predicted_condition.h - the condition predicted:CHANGE>5%: a replay of the capture with the change makes the mean block
 * (step, request; without units the time from the first op to the last) shorter by more than 5 % of its time.
 *
 * A change is about calls and ops. About none, it brings nothing: ">" does not hold. */
#ifndef VPA_ANALYSIS_COMPARE_CONDITIONS_PREDICTED_CONDITION_H
#define VPA_ANALYSIS_COMPARE_CONDITIONS_PREDICTED_CONDITION_H

#include "analysis/compare/comparison.h"
#include "analysis/compare/conditions/fail_conditions.h"

int vpa_is_predicted_condition(const char *text);

/* As vpa_condition_read(), for such a text. */
int vpa_predicted_condition_read(
	const char *text, int is_single, struct vpa_condition *out, struct vpt_err *err);

/* As vpa_condition_holds_of(); the report's forecast.asked must have the change. */
int vpa_predicted_condition_holds(const struct vpa_condition *l, const struct vpa_report *r,
	int *holds, char what[160], struct vpt_err *err);

/* ---- predicted_change.c: where B lacks findings of A: what a replay of A's trace with their changes predicts, beside what came ---- */

struct vpt_trace;

/* Fills in c->prediction, if each side is one capture and B has hardly anything left of findings of A that have a change. A
 * finding whose change is a guess, half of the host's code, is none of them. `a`: A's report, `trace`: what it is of. That
 * there is no prediction is no error. 0, VPT_ENOMEM or VPT_EIO. */
int vpa_compare_predict(struct vpa_comparison *c, struct vpa_report *a,
	const struct vpt_trace *trace, unsigned jobs, struct vpt_err *err);

#endif

/* fail_conditions.h - conditions under which a program that checks figures should fail: "fps<16".
 *
 *	fps<16  bps<2  steps/s<8  period>750ms         a figure of the capture, or of B; also latents/s, s/it,
 *	                                               fps-end-to-end, denoise-rate
 *	idle>10%  busy<90%  idle:sync>5%  busy:gemm>50%  part of the mean block (step, window)
 *	fps-2%  period+2%                              a change from A to B by more than that
 *	predicted:delete small-reads>5%                what a change would bring, see predicted_condition.h
 *	idle+5%  idle:sync+5%  busy:gemm+10%           of a part, in percent of A's mean block
 *
 * Names of causes and families are those of the report; "-" and "_" stand for a space. */
#ifndef VPA_ANALYSIS_COMPARE_CONDITIONS_FAIL_CONDITIONS_H
#define VPA_ANALYSIS_COMPARE_CONDITIONS_FAIL_CONDITIONS_H

#include "analysis/compare/comparison.h"

enum vpa_condition_figure {
	VPA_CONDITION_FPS,
	VPA_CONDITION_BPS,
	VPA_CONDITION_STEPS,
	VPA_CONDITION_STEP_TIME,
	VPA_CONDITION_LATENTS,
	VPA_CONDITION_END_TO_END,
	VPA_CONDITION_DENOISE,
	VPA_CONDITION_PERIOD,
	VPA_CONDITION_BUSY,
	VPA_CONDITION_IDLE,
	VPA_CONDITION_PREDICTED, /* of a report, not of a comparison: predicted_condition.h */
	VPA_CONDITION_FIGURES
};

enum { VPA_CONDITION_CHANGE = 1024 };

struct vpa_condition {
	const char *text; /* as given; borrowed */
	enum vpa_condition_figure figure;
	unsigned part;                     /* as of vpa_compared_part; VPA_UNIT_PARTS: all */
	char relation;                     /* '<' or '>' a value; '-' or '+' a change */
	double value;                      /* of shares and changes: of one; of a period: ns */
	char change[VPA_CONDITION_CHANGE]; /* of a prediction; else "" */
};

/* Reads a condition. With `is_single`, of one capture, changes are refused. VPT_EINVAL with a sentence. */
int vpa_condition_read(
	const char *text, int is_single, struct vpa_condition *out, struct vpt_err *err);

/* What a condition says of a comparison. */
enum vpa_condition_answer {
	VPA_CONDITION_KEPT,
	VPA_CONDITION_HOLDS,
	VPA_CONDITION_CHANCE, /* the change is beyond the condition, but within noise: it does not hold */
	VPA_CONDITION_NOTHING /* what is to be predicted changes nothing here: it does not hold */
};

/* A rate as a report prints it; not above 0: it has none. FPS is that of RESULT's headline. */
double vpa_condition_rate(const struct vpa_report *r, enum vpa_condition_figure figure);

/* Whether the condition holds; *holds is one of these, `what` receives the figure in words. Each change has the verdict's
 * test: the interval of the same figure must exclude no change. One that cannot be tested, of one value a side, holds. A rate
 * that is not the comparison's own is compared by its own units, or else is what the reports of both sides print. VPT_EINVAL
 * with a sentence if the figure is unavailable; VPT_ENOMEM. */
int vpa_condition_holds(const struct vpa_condition *condition, const struct vpa_comparison *c,
	int *holds, char what[160], struct vpt_err *err);

/* The same of a single report: rates are those that it prints. */
int vpa_condition_holds_of(const struct vpa_condition *condition, const struct vpa_report *r,
	int *holds, char what[160], struct vpt_err *err);

#endif

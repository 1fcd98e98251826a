/* predictions.h - what each finding's change would bring, and the two paces. */
#ifndef VPA_ANALYSIS_RETIME_PREDICTIONS_H
#define VPA_ANALYSIS_RETIME_PREDICTIONS_H

#include "analysis/report/report.h"
#include "analysis/retime/retime.h"

struct vpt_trace;

/* The most changes in one text, "C1; C2". */
enum { VPA_CHANGES_MOST = 24 };

/* Reads changes that semicolons separate. *count: how many. VPT_EINVAL with what was expected. */
int vpa_changes_read(
	const char *text, struct vpa_change *changes, size_t *count, struct vpt_err *err);

/* The stretches of time whose lengths say how long a report's base is: of the mean unit, of the only request, or from
 * the first op to the last. Lengths of all of them are added. */
enum { VPA_SPANS_MOST = 1024 };
struct vpa_spans {
	struct vpa_span at[VPA_SPANS_MOST];
	size_t unit_count,
		count; /* unit_count: the first ones, of the unit; then the request; then active time */
	size_t request, active; /* numbers; count: there is none */
};
void vpa_spans_of(const struct vpa_report *r, struct vpa_spans *out);

/* A base's length in a world, relative to that in the recording; 1 where there is none. `base`: of a finding. */
double vpa_spans_ratio(const struct vpa_report *r, const struct vpa_spans *s,
	const struct vpa_retiming *t, size_t world, enum vpa_base base);

/* Fills in the forecast without predictions: how far the replay explains the recording, and the paces. */
void vpa_forecast_write(
	struct vpa_report *r, const struct vpa_spans *s, const struct vpa_retiming *t);

/* Replays the trace that the report is of with the change of each finding, fills in their predictions and the
 * forecast, and orders the findings by them. A trace that cannot be replayed is no error, and neither is too little
 * memory for that: the forecast says why. 0, VPT_ENOMEM, for the report itself, or VPT_EIO. */
int vpa_predict(const struct vpt_trace *trace, unsigned jobs, uint64_t most, struct vpa_report *r,
	struct vpt_err *err);

/* The same for changes that somebody asks about, at most VPA_CHANGE_LISTS_MOST, each by itself: fills in forecast.asked, in
 * order. With the same `most` they are the report's own predictions. One that cannot be made or replayed is no error: its
 * `why_not` says why. 0, VPT_ENOMEM or VPT_EIO. */
int vpa_predict_asked(const struct vpt_trace *trace, unsigned jobs, uint64_t most,
	const char *const *changes, size_t count, struct vpa_report *r, struct vpt_err *err);

#endif

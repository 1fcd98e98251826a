/* counters_by_stage.h - rows of the report from series of samples. For the folds that collect them. */
#ifndef VPA_ANALYSIS_FOLDS_OVER_TIME_COUNTERS_BY_STAGE_H
#define VPA_ANALYSIS_FOLDS_OVER_TIME_COUNTERS_BY_STAGE_H

#include "analysis/base/sampled_series.h"
#include "analysis/folds/stage_times.h"

enum { VPA_COUNTER_SERIES_MAX = 256, VPA_COUNTER_ROWS_MAX = VPA_COUNTER_SERIES_MAX + 64 };

struct vpa_counter_series {
	struct vpt_text name, unit;
	enum vpt_series known; /* as what the name is known; found when the rows are written */
	int64_t device;        /* CUDA ordinal; -1: none */
	struct vpa_samples samples;
};

/* What series are measured over, beside stages. */
struct vpa_counter_times {
	struct vpa_intervals paused;
	struct vpa_intervals open; /* the window without pauses; filled by the writer */
};

/* Notes the pauses of a LOSS section. 0 or VPT_ENOMEM. */
int vpa_counter_pauses(struct vpa_counter_times *t, const struct vpt_section *s);

/* Appends a row for each series with samples in the window. Extends levels to the window's end. 0
 * or VPT_ENOMEM. */
int vpa_counters_write(const struct vpa_fold_context *c, struct vpa_counter_times *t,
	struct vpa_counter_series *series, size_t count, struct vpa_report *out);

void vpa_counter_times_free(struct vpa_counter_times *t);

#endif

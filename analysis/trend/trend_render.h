/* trend_render.h - a trend as text, as rows, and as JSON. */
#ifndef VPA_ANALYSIS_TREND_TREND_RENDER_H
#define VPA_ANALYSIS_TREND_TREND_RENDER_H

#include "analysis/trend/trend.h"

struct vpa_page;
struct vpt_sink;

void vpa_trend_put(struct vpa_page *p, const struct vpa_trend *t);
/* A line for each report. 0, the sink's error or VPT_ENOMEM. */
int vpa_trend_csv(const struct vpa_trend *t, struct vpt_sink *sink, struct vpt_err *err);
int vpa_trend_json(const struct vpa_trend *t, struct vpt_sink *sink, struct vpt_err *err);

#endif

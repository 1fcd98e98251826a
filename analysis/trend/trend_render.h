/* trend_render.h - a trend as text, as a page, as rows, and as JSON. */
#ifndef VPA_ANALYSIS_TREND_TREND_RENDER_H
#define VPA_ANALYSIS_TREND_TREND_RENDER_H

#include "analysis/trend/trend.h"

struct vpa_num;
struct vpa_page;
struct vpt_sink;

void vpa_trend_put(struct vpa_page *p, const struct vpa_trend *t);
/* The same without the table of reports. */
void vpa_trend_put_changes(struct vpa_page *p, const struct vpa_trend *t);
/* A figure as it is written; "-": there is none. Its name in a sentence. The cause that is idle most. */
struct vpa_num vpa_trend_value(enum vpa_trend_figure figure, double value);
const char *vpa_trend_words(enum vpa_trend_figure figure);
enum vpa_cause vpa_trend_main_cause(const struct vpa_trend_point *p);

/* One page for a browser. `command` makes it; NULL: not known. 0, the sink's error or VPT_ENOMEM. */
int vpa_trend_html(
	const struct vpa_trend *t, const char *command, struct vpt_sink *sink, struct vpt_err *err);
/* A line for each report. 0, the sink's error or VPT_ENOMEM. */
int vpa_trend_csv(const struct vpa_trend *t, struct vpt_sink *sink, struct vpt_err *err);
int vpa_trend_json(const struct vpa_trend *t, struct vpt_sink *sink, struct vpt_err *err);

#endif

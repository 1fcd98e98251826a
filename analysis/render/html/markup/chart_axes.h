/* chart_axes.h - axes of charts, drawn as SVG.
 *
 * A plot has a fixed height and the width of the page. What is drawn in it is stretched; lines and labels
 * are not, since they stand at a percentage of the width. */
#ifndef VPA_ANALYSIS_RENDER_HTML_MARKUP_CHART_AXES_H
#define VPA_ANALYSIS_RENDER_HTML_MARKUP_CHART_AXES_H

#include "analysis/render/html/markup/html.h"

/* A scale from 0 to `end` with a line every `step`. */
struct vpa_scale {
	uint64_t end, step;
};

/* A scale of about `lines` lines for numbers up to `most`, in steps of 1, 2 or 5 times a power of ten. */
struct vpa_scale vpa_scale_of(uint64_t most, unsigned lines);

/* The column of labels on the left, for a plot of `height` pixels below `top` pixels. */
void vpa_html_left_axis(
	struct vpa_html *h, const struct vpa_scale *s, unsigned top, unsigned height);
/* The lines of the same scale across the plot. */
void vpa_html_lines(struct vpa_html *h, const struct vpa_scale *s, unsigned top, unsigned height);
/* Labels of a time axis below the plot, from 0 to `length_ns`, and lines up to `y0`. */
void vpa_html_time_axis(struct vpa_html *h, uint64_t length_ns, unsigned y0, unsigned y1);

#endif

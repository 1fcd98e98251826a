/* chart_strips.h - a strip over time: of each column, how much of it each part took, one above the other.
 *
 * A strip is one path for each part, in columns of equal time. A path covers its part and all below it, and paths lie on
 * top of each other, the highest first. So no seams show, and the script reads the shares of each column back from them. */
#ifndef VPA_ANALYSIS_RENDER_HTML_MARKUP_CHART_STRIPS_H
#define VPA_ANALYSIS_RENDER_HTML_MARKUP_CHART_STRIPS_H

#include "analysis/render/html/markup/html.h"

enum { VPA_STRIP_FULL = 200 /* height of a strip in units of its paths */ };

struct vpa_strip {
	const char *label; /* for people and the script */
	unsigned y, height;
	uint64_t length_ns, column_ns; /* the last column may be cut */
	size_t columns, part_count;
	/* By column and part: of VPA_STRIP_FULL, this part and all below it. */
	const uint8_t *heights;
	/* Writes the class and the name of part k, which are ours, as the values of attributes. */
	void (*put_class)(struct vpa_html *h, const void *ctx, size_t k);
	void (*put_name)(struct vpa_html *h, const void *ctx, size_t k);
	const void *ctx;
};

void vpa_html_strip(struct vpa_html *h, const struct vpa_strip *s);

/* Part of a column, for `heights`. */
static inline uint8_t vpa_strip_height(uint64_t ns, uint64_t column_ns)
{
	unsigned __int128 units =
		column_ns ? ((unsigned __int128)ns * VPA_STRIP_FULL + column_ns / 2) / column_ns
			  : 0;

	return units > VPA_STRIP_FULL ? VPA_STRIP_FULL : (uint8_t)units;
}

/* The label on the left of a plot that is "wide", at most 15 columns of it. */
void vpa_html_strip_label(struct vpa_html *h, const char *text, unsigned y);

#endif

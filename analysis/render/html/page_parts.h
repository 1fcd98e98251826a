/* page_parts.h - parts of device time for charts: kernel families, then causes of idle time, in the order and
 * colours that every chart of the page shares. */
#ifndef VPA_ANALYSIS_RENDER_HTML_PAGE_PARTS_H
#define VPA_ANALYSIS_RENDER_HTML_PAGE_PARTS_H

#include "analysis/render/html/report_page.h"
#include "analysis/report/overview.h"

/* The parts that a chart shows, the largest families first, then the largest causes. Small ones are
 * summed as "other" of their kind, at VPA_OVERVIEW_PARTS and the number after it. */
enum { VPA_OTHER_BUSY = VPA_OVERVIEW_PARTS, VPA_OTHER_IDLE, VPA_PARTS_ALL };

struct vpa_parts {
	size_t order[VPA_PARTS_ALL];
	size_t count;
	size_t shown_as[VPA_OVERVIEW_PARTS]; /* the part itself, or an "other" */
};

/* Chooses parts from sums, so that at most `most` of each kind remain. */
void vpa_parts_choose(const uint64_t ns[VPA_OVERVIEW_PARTS], size_t most, struct vpa_parts *out);
/* Adds up what is shown as one part. */
void vpa_parts_sum(const struct vpa_parts *p, const uint64_t ns[VPA_OVERVIEW_PARTS],
	uint64_t out[VPA_PARTS_ALL]);

const char *vpa_part_name(size_t part); /* "gemm", "sync", "other busy" */
int vpa_part_is_idle(size_t part);
/* Its class: "p-gemm", "p-sync idle". */
void vpa_html_part_class(struct vpa_html *h, size_t part);
void vpa_html_legend(struct vpa_html *h, const struct vpa_parts *p);

#endif

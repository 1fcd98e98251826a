/* report_page.h - the sections of a report's page, and what they share. A section without data prints nothing. */
#ifndef VPA_ANALYSIS_RENDER_HTML_REPORT_PAGE_H
#define VPA_ANALYSIS_RENDER_HTML_REPORT_PAGE_H

#include "analysis/render/digest.h"
#include "analysis/render/html/page_tables.h"

/* Every section, in the order of the page. */
#define VPA_HTML_SECTION(put)                                                                      \
	void put(struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d);
#include "analysis/render/html/page_sections.def"

/* The first findings in short, with links to their cards: page_findings.c. Nothing without findings. */
void vpa_html_top_findings(
	struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d);

/* A command that replays the trace with changes, to try others with: the same. */
void vpa_html_what_if(struct vpa_html *h, const struct vpa_report *r, const char *change);
/* The mean unit before and after the fixes, below its waterfall: page_before_after.c. Nothing without predictions. */
void vpa_html_before_after(struct vpa_html *h, const struct vpa_report *r);

#endif

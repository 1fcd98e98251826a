/* text.h - the sections of the text report. text.c calls them in the order of sections.def.
 *
 * p->touched is set for figures of the window when a section begins; those of other figures set it themselves. */
#ifndef VPA_ANALYSIS_RENDER_TEXT_H
#define VPA_ANALYSIS_RENDER_TEXT_H

#include "analysis/render/digest.h"
#include "analysis/render/kernel_names.h"
#include "analysis/render/page.h"
#include "analysis/report.h"

/* Every section: text_summary.c, text_findings.c, text_blocks.c, text_fps.c, text_tables.c, text_work.c. */
#define VPA_SECTION(name, put)                                                                     \
	void put(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);
#include "analysis/render/sections.def"

/* The end of the page: what to do next. */
void vpa_text_next(struct vpa_page *p, const struct vpa_report *r);

/* Parts of the summary of a capture with video blocks: text_fps.c. */
int vpa_has_blocks(const struct vpa_report *r); /* whether a request has any; then they lead */
void vpa_text_pipeline(struct vpa_page *p, const struct vpa_report *r);
/* Returns whether it named what limits the blocks: a single block shows nothing. */
int vpa_text_block_result(
	struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);

/* Information without a gain, which NOTES has: text_findings.c. */
int vpa_is_note(const struct vpa_finding *f);

#endif

/* text.h - the sections of the text report, each silent without data. text.c calls them in the order of the page. */
#ifndef VPA_ANALYSIS_RENDER_TEXT_H
#define VPA_ANALYSIS_RENDER_TEXT_H

#include "analysis/render/digest.h"
#include "analysis/render/kernel_names.h"
#include "analysis/render/page.h"
#include "analysis/report.h"

/* DATA to CAUSE: text_summary.c. */
void vpa_text_summary(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);

/* The same lines of a capture with video blocks: text_fps.c. */
int vpa_has_blocks(const struct vpa_report *r); /* whether a request has any; then they lead */
void vpa_text_pipeline(struct vpa_page *p, const struct vpa_report *r);
/* Returns whether it named what limits the blocks: a single block shows nothing. */
int vpa_text_block_result(
	struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);

/* FIX FIRST: text_findings.c. */
int vpa_is_note(const struct vpa_finding *f); /* information without a gain: NOTES has it */
void vpa_text_findings(struct vpa_page *p, const struct vpa_report *r);

/* Blocks, stages, rates and requests: text_blocks.c. */
void vpa_text_blocks(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);

/* Where the time of the window went: text_tables.c. */
void vpa_text_devices(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);
void vpa_text_window(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);
void vpa_text_gaps(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);

/* What ran, and what is left to say: text_work.c. */
void vpa_text_work(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d);
void vpa_text_notes(struct vpa_page *p, const struct vpa_report *r);
void vpa_text_next(struct vpa_page *p, const struct vpa_report *r);

#endif

/* job_compare_pages.h - two jobs of several ranks beside each other, as text, Markdown, JSON and a page for browsers. */
#ifndef VPA_ANALYSIS_COMPARE_RENDER_JOB_COMPARE_PAGES_H
#define VPA_ANALYSIS_COMPARE_RENDER_JOB_COMPARE_PAGES_H

#include "analysis/compare/job_comparison.h"
#include "analysis/render/text_page.h"

#define VPA_COMPARE_RANKS_SCHEMA "vptrace.compare-ranks/1"

/* The keys of a comparison of jobs as JSON, see fields.h. */
extern const struct vpa_fields vpa_fields_job_comparison;

/* Puts the whole comparison; the same without its tables. */
void vpa_compare_jobs_put(struct vpa_page *p, const struct vpa_job_comparison *c);
void vpa_compare_jobs_put_result(struct vpa_page *p, const struct vpa_job_comparison *c);
/* A part of the mean unit, "host code and launches". */
const char *vpa_job_part_of_unit_words(enum vpa_scaling_part part);

/* 0, the sink's error or VPT_ENOMEM. */
int vpa_compare_jobs_json(
	const struct vpa_job_comparison *c, struct vpt_sink *sink, struct vpt_err *err);
int vpa_compare_jobs_markdown(
	const struct vpa_job_comparison *c, struct vpt_sink *sink, struct vpt_err *err);
/* `command` makes the page. */
int vpa_compare_jobs_html(const struct vpa_job_comparison *c, const char *command,
	struct vpt_sink *sink, struct vpt_err *err);

#endif

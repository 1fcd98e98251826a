/* ranks_pages.h - a job of several ranks as text, Markdown and JSON. */
#ifndef VPA_ANALYSIS_RANKS_RENDER_RANKS_PAGES_H
#define VPA_ANALYSIS_RANKS_RENDER_RANKS_PAGES_H

#include "analysis/ranks/job.h"
#include "analysis/render/text_page.h"

#define VPA_RANKS_SCHEMA "vptrace.ranks/1"

/* Puts the answer on one screen: who waits, for whom, for what. */
void vpa_ranks_put(struct vpa_page *p, const struct vpa_job *job);

/* The keys of a job as JSON, see fields.h. */
extern const struct vpa_fields vpa_fields_ranks;

/* Writes a job as JSON, and as Markdown. 0, the sink's error or VPT_ENOMEM. */
int vpa_ranks_json(const struct vpa_job *job, struct vpt_sink *sink, struct vpt_err *err);
int vpa_ranks_markdown(const struct vpa_job *job, struct vpt_sink *sink, struct vpt_err *err);

#endif

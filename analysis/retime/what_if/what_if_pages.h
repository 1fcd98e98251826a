/* what_if_pages.h - the answer to "what if", as text and JSON. */
#ifndef VPA_ANALYSIS_RETIME_WHAT_IF_WHAT_IF_PAGES_H
#define VPA_ANALYSIS_RETIME_WHAT_IF_WHAT_IF_PAGES_H

#include "analysis/render/text_page.h"
#include "analysis/retime/what_if/what_if.h"

#define VPA_WHAT_IF_SCHEMA "vptrace.what-if/1"

/* The keys of an answer as JSON, see fields.h. */
extern const struct vpa_fields vpa_fields_what_if;

/* Writes an answer as JSON. 0, the sink's error or VPT_ENOMEM. */
int vpa_what_if_json(const struct vpa_what_if *w, struct vpt_sink *sink, struct vpt_err *err);

/* Puts an answer: the changes, the unit before and after, its blocks, the paces, and how sure that is. */
void vpa_what_if_put(struct vpa_page *p, const struct vpa_what_if *w);

/* Puts what each finding's change would bring, of a report with predictions, and the same of all together. */
void vpa_what_if_put_findings(struct vpa_page *p, const struct vpa_report *r);

#endif

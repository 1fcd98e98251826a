/* markdown.h - any page as GitHub-flavoured Markdown. */
#ifndef VPA_ANALYSIS_RENDER_TEXT_MARKDOWN_H
#define VPA_ANALYSIS_RENDER_TEXT_MARKDOWN_H

#include "analysis/render/text_page.h"

/* Lets `put` fill a page whose paragraphs become items of a list and whose tables become tables, with at most
 * `rows` rows in a group. 0, or the first failure. */
int vpa_markdown_page(void (*put)(struct vpa_page *p, const void *ctx), const void *ctx,
	size_t rows, struct vpt_sink *sink, struct vpt_err *err);

#endif

/* compare_pages.h - the contents of a comparison, for any form: its keys, and its sections. */
#ifndef VPA_ANALYSIS_COMPARE_RENDER_COMPARE_PAGES_H
#define VPA_ANALYSIS_COMPARE_RENDER_COMPARE_PAGES_H

#include "analysis/compare/comparison.h"
#include "analysis/render/text_page.h"

/* The keys of a comparison as JSON, see fields.h. */
extern const struct vpa_fields vpa_fields_comparison;

/* What is compared: "block", "frame" ... */
const char *vpa_compared_unit(const struct vpa_comparison *c);

/* The verdict, the sides, the mean unit and the method; then what limits the comparison; and the parts that
 * lead the change, unless nothing changed. */
void vpa_compare_put_result(struct vpa_page *p, const struct vpa_comparison *c);
void vpa_compare_put_notes(struct vpa_page *p, const struct vpa_comparison *c);
void vpa_compare_put_because(struct vpa_page *p, const struct vpa_comparison *c);

/* What a replay of A predicted for what B did about A's findings, and what came; nothing without a prediction. */
void vpa_compare_put_prediction(struct vpa_page *p, const struct vpa_comparison *c);

/* Which kernels only one side has, and which have another grid; nothing if there are none. */
void vpa_compare_put_kernels(struct vpa_page *p, const struct vpa_comparison *c);
/* The same as words: "1 kernel is gone, 1 is new"; nothing if there are none. */
void vpa_compare_add_kernels(struct vpa_words *w, const struct vpa_comparison *c);

struct vpa_html;

/* Where the time of the mean unit went on both sides, as a section of a page: unit_parts.c. */
void vpa_compare_put_unit_parts(struct vpa_html *h, const struct vpa_comparison *c);

#endif

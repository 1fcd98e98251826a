/* pages.h - the sections of a comparison, for any form of page. */
#ifndef VPA_ANALYSIS_COMPARE_PAGES_H
#define VPA_ANALYSIS_COMPARE_PAGES_H

#include "analysis/compare/compare.h"
#include "analysis/render/page.h"

/* Puts the whole comparison; at most `top` rows per table, 0: 12. */
void vpa_compare_put(struct vpa_page *p, const struct vpa_comparison *c, size_t top);

#endif

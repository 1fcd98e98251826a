/* flame_picture.h - a flame graph as markup of a page, or of a picture of its own. */
#ifndef VPA_ANALYSIS_FLAME_FLAME_PICTURE_H
#define VPA_ANALYSIS_FLAME_FLAME_PICTURE_H

#include "analysis/flame/flame.h"
#include "analysis/render/html/markup/html.h"

/* Draws at most `most` nodes, the widest, below `top` pixels. Needs vpa_page_css, and vpa_flame_js for zoom and
 * search. */
void vpa_html_flame(struct vpa_html *h, const struct vpa_flame *f, size_t most, unsigned top);
/* The height of that in pixels, without `top`. */
unsigned vpa_html_flame_height(const struct vpa_flame *f, size_t most);

#endif

/* bar_pairs.h - a table of two waterfalls beside each other, and the changes between them.
 *
 *	part       | A, from where the last part ended | A ms | change | B ms | B, the same
 *
 * Bars of A and B have one scale, that of the longer whole; bars of the changes have their own. */
#ifndef VPA_ANALYSIS_RENDER_HTML_MARKUP_BAR_PAIRS_H
#define VPA_ANALYSIS_RENDER_HTML_MARKUP_BAR_PAIRS_H

#include "analysis/render/html/markup/html.h"

struct vpa_bar_pairs {
	struct vpa_html *h;
	uint64_t scale_ns, delta_scale_ns;
	uint64_t a_done_ns, b_done_ns; /* where the last part ended; zeros at first */
};

/* A row. */
struct vpa_bar_pair {
	uint64_t a_ns, b_ns;
	int64_t delta_ns;
	struct vpa_num a, b, delta; /* the same as text */
	const char *slug;           /* the bars' class is "p-SLUG"; NULL: `plain` */
	const char *plain, *kind;   /* kind: " idle", or "" */
	int is_sum;                 /* the next row begins where this one does */
};

/* `path`: of the rows in the JSON; NULL: they are not there. */
void vpa_html_pairs_begin(struct vpa_html *h, const char *a, const char *b, const char *path);
/* Begins a row; then comes the cell of its name, then its bars, which end it. */
void vpa_html_pair_begin(struct vpa_html *h, const struct vpa_bar_pair *row);
void vpa_html_pair_bars(struct vpa_bar_pairs *p, const struct vpa_bar_pair *row);
/* The next bar begins where this row ends. */
void vpa_bar_pairs_add(struct vpa_bar_pairs *p, const struct vpa_bar_pair *row);
void vpa_html_pairs_end(struct vpa_html *h);

#endif

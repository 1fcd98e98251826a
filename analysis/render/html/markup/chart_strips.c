/* chart_strips.c - strips over time, as SVG. */
#include "analysis/render/html/markup/chart_strips.h"

#include "formats/base/saturate.h"

#include <inttypes.h>

enum { LABEL = 15 /* columns of a label on the left */ };

/* One path: the part and all below it. */
static void put_path(struct vpa_html *h, const struct vpa_strip *s, size_t part)
{
	size_t i, run = 0;
	int y = -1;

	vpa_html_raw(h, "<path class=\"");
	s->put_class(h, s->ctx, part);
	vpa_html_raw(h, "\" data-name=\"");
	s->put_name(h, s->ctx, part);
	vpa_html_print(h, "\" d=\"M0 %d", VPA_STRIP_FULL);
	for (i = 0; i < s->columns; i++, run++) {
		int next = VPA_STRIP_FULL - s->heights[i * s->part_count + part];

		if (next == y)
			continue;
		if (run)
			vpa_html_print(h, "h%zu", run);
		vpa_html_print(h, "V%d", next);
		y = next;
		run = 0;
	}
	vpa_html_print(h, "h%zuV%dz\"/>", run, VPA_STRIP_FULL);
}

void vpa_html_strip(struct vpa_html *h, const struct vpa_strip *s)
{
	uint64_t thousandths = vpt_sat_scale(s->length_ns, 1000, s->column_ns);
	size_t k;

	vpa_html_print(h, "<svg class=\"zoom strip\" data-width=\"%" PRIu64 ".%03u\" data-label=\"",
		thousandths / 1000, (unsigned)(thousandths % 1000));
	vpa_html_text(h, s->label);
	vpa_html_print(h,
		"\" y=\"%u\" width=\"100%%\" height=\"%u\" viewBox=\"0 0 %" PRIu64
		".%03u %d\" preserveAspectRatio=\"none\">\n",
		s->y, s->height, thousandths / 1000, (unsigned)(thousandths % 1000),
		VPA_STRIP_FULL);
	for (k = s->part_count; k-- > 0;)
		put_path(h, s, k);
	vpa_html_raw(h, "</svg>\n");
}

void vpa_html_strip_label(struct vpa_html *h, const char *text, unsigned y)
{
	vpa_html_print(h, "<text x=\"92\" y=\"%u\" class=\"end\">", y);
	vpa_html_fit(h, text, LABEL);
	vpa_html_raw(h, "<title>");
	vpa_html_text(h, text);
	vpa_html_raw(h, "</title></text>");
}

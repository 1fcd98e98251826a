/* bar_pairs.c - the cells of two waterfalls. */
#include "analysis/render/html/markup/bar_pairs.h"

#include "formats/base/saturate.h"

#include <inttypes.h>

void vpa_html_pairs_begin(struct vpa_html *h, const char *a, const char *b, const char *path)
{
	vpa_html_raw(h, "<div class=\"scroll\"><table class=\"fall pair\"");
	if (path)
		vpa_html_print(h, " data-fall=\"%s\"", path);
	vpa_html_print(h,
		"><thead><tr><th class=\"t\">part</th><th class=\"bar\">%s</th><th class=\"n\">%s "
		"ms</th><th class=\"delta\"></th><th class=\"n\">change ms</th><th class=\"n\">%s "
		"ms</th><th class=\"bar\">%s</th></tr></thead>\n<tbody>\n",
		a, a, b, b);
}

void vpa_html_pairs_end(struct vpa_html *h)
{
	vpa_html_raw(h, "</tbody></table></div>\n");
}

void vpa_html_pair_begin(struct vpa_html *h, const struct vpa_bar_pair *row)
{
	vpa_html_print(h, "<tr%s><td class=\"t\">", row->is_sum ? " class=\"sum\"" : "");
}

static void put_bar(
	struct vpa_bar_pairs *p, const struct vpa_bar_pair *row, uint64_t from_ns, uint64_t ns)
{
	vpa_html_raw(p->h, "<td class=\"bar\"><svg class=\"bar\" width=\"100%\" height=\"16\">"
			   "<rect class=\"track\" width=\"100%\" height=\"16\"/><rect "
			   "height=\"16\" class=\"");
	if (row->slug)
		vpa_html_raw(p->h, "p-");
	if (row->slug)
		vpa_html_slug(p->h, row->slug);
	vpa_html_print(p->h, "%s%s\" x=\"", row->slug ? "" : row->plain, row->kind);
	vpa_html_percent(p->h, from_ns, p->scale_ns);
	vpa_html_raw(p->h, "%\" width=\"");
	vpa_html_percent(p->h, ns, p->scale_ns);
	vpa_html_raw(p->h, "%\"/></svg></td>");
}

static void put_time(struct vpa_html *h, uint64_t ns, const struct vpa_num *text)
{
	vpa_html_print(h, "<td class=\"n\" data-v=\"%" PRIu64 "\">%s</td>", ns, text->text);
}

/* A bar from the middle: to the left what is saved, to the right what is added. */
static void put_change(struct vpa_bar_pairs *p, const struct vpa_bar_pair *row)
{
	int is_less = row->delta_ns < 0;
	uint64_t size = is_less ? 0 - (uint64_t)row->delta_ns : (uint64_t)row->delta_ns,
		 all = vpt_sat_mul(2, p->delta_scale_ns);

	vpa_html_raw(p->h,
		"<td class=\"delta\"><svg class=\"bar\" width=\"100%\" height=\"16\"><rect "
		"class=\"track\" width=\"100%\" height=\"16\"/><line class=\"grid\" x1=\"50%\" "
		"x2=\"50%\" y1=\"0\" y2=\"16\"/>");
	vpa_html_print(
		p->h, "<rect height=\"8\" y=\"4\" class=\"%s\" x=\"", is_less ? "less" : "more");
	vpa_html_percent(p->h, vpt_sat_sub(p->delta_scale_ns, is_less ? size : 0), all);
	vpa_html_raw(p->h, "%\" width=\"");
	vpa_html_percent(p->h, size, all);
	vpa_html_print(p->h, "%%\"/></svg></td><td class=\"n %s\" data-v=\"%" PRId64 "\">%s</td>",
		is_less             ? "green"
		: row->delta_ns > 0 ? "red"
				    : "",
		row->delta_ns, row->delta.text);
}

void vpa_html_pair_bars(struct vpa_bar_pairs *p, const struct vpa_bar_pair *row)
{
	vpa_html_raw(p->h, "</td>");
	put_bar(p, row, p->a_done_ns, row->a_ns);
	put_time(p->h, row->a_ns, &row->a);
	put_change(p, row);
	put_time(p->h, row->b_ns, &row->b);
	put_bar(p, row, p->b_done_ns, row->b_ns);
	vpa_html_raw(p->h, "</tr>\n");
	if (!row->is_sum)
		vpa_bar_pairs_add(p, row);
}

void vpa_bar_pairs_add(struct vpa_bar_pairs *p, const struct vpa_bar_pair *row)
{
	vpt_sat_add_to(&p->a_done_ns, row->a_ns);
	vpt_sat_add_to(&p->b_done_ns, row->b_ns);
}

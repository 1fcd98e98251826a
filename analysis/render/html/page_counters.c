/* page_counters.c - series of samples over time: memory, power, clocks, the program's own. */
#include "analysis/render/html/report_page.h"
#include "analysis/render/html/markup/chart_axes.h"
#include "analysis/render/measures.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <stdio.h>

enum { CHARTS = 36, UNITS = 1000000, FULL = 1000, HEIGHT = 56 };

struct series {
	const struct vpa_report *r;
	const struct vpa_counter *c;
	uint64_t length_ns;
};

static uint64_t x_of(const struct series *s, uint64_t time_ns)
{
	uint64_t at = time_ns > s->r->window_start_ns ? time_ns - s->r->window_start_ns : 0;

	if (at > s->length_ns)
		at = s->length_ns;
	return vpt_sat_scale(at, UNITS, s->length_ns);
}

/* From 0 below, or from the smallest value if that is negative, to the largest. */
static int y_of(const struct vpa_counter *c, double value)
{
	double least = c->min < 0 ? c->min : 0, range = c->max - least;
	double y = range > 0 ? FULL - (value - least) / range * FULL : FULL;

	return y > FULL ? FULL : (int)vpt_sat_u64(y);
}

static struct vpa_label value_of(const struct vpa_counter *c, double value)
{
	const char *unit = vpa_is_bytes(vpa_measure_of(c->unit)) ? "" : c->unit;
	struct vpa_label out;

	snprintf(out.text, sizeof(out.text), "%s%s%.60s", vpa_sample_value(value, c->unit).text,
		unit[0] ? " " : "", unit);
	return out;
}

static void put_line(struct vpa_html *h, const struct series *s)
{
	size_t i;

	vpa_html_raw(h, "<path class=\"line\" vector-effect=\"non-scaling-stroke\" d=\"");
	for (i = 0; i < s->c->point_count; i++) {
		const struct vpa_counter_point *p = &s->c->points[i];

		vpa_html_print(h, "%c%" PRIu64 " %d", i ? 'L' : 'M', x_of(s, p->time_ns),
			y_of(s->c, p->value));
		if (p->min < p->max)
			vpa_html_print(h, "V%dV%dV%d", y_of(s->c, p->min), y_of(s->c, p->max),
				y_of(s->c, p->value));
	}
	vpa_html_raw(h, "\"/>");
}

static void put_chart(struct vpa_html *h, const struct series *s)
{
	const struct vpa_counter *c = s->c;

	vpa_html_raw(h, "<figure class=\"counter\"><figcaption><b>");
	if (c->device >= 0)
		vpa_html_print(h, "GPU %lld: ", (long long)c->device);
	vpa_html_text(h, vpa_text_or(c->name, "?"));
	vpa_html_raw(h, "</b> <span>mean ");
	vpa_html_text(h, value_of(c, c->mean).text);
	if (c->mean_of == VPA_MEAN_OF_SAMPLES)
		vpa_html_print(h, " of %s samples", vpa_count(c->samples).text);
	vpa_html_raw(h, ", max ");
	vpa_html_text(h, value_of(c, c->max).text);
	vpa_html_print(h,
		"</span></figcaption><svg class=\"zoom\" data-width=\"%d\" width=\"100%%\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\">",
		UNITS, HEIGHT, UNITS, FULL);
	put_line(h, s);
	vpa_html_raw(h, "</svg></figure>\n");
}

void vpa_html_counters(struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d)
{
	struct series s = {.r = r};
	size_t i, charts = 0;

	(void)d;
	if (!r->counter_count)
		return;
	s.length_ns = vpa_window_span_ns(r);
	vpa_html_begin_folded(h, "counters", "Counters and memory");
	vpa_html_print(h, "%s series over time</summary>\n", vpa_count(r->counter_count).text);
	vpa_html_print(h,
		"<p class=\"lead\">Each from 0 to %s of the window; the lower edge is 0, the upper "
		"one the largest value. Series that never change are in the table only.</p>\n",
		vpa_duration(s.length_ns).text);
	vpa_html_raw(h, "<div class=\"counters\">\n");
	for (i = 0; i < r->counter_count && charts < CHARTS && s.length_ns; i++) {
		s.c = &r->counters[i];
		if (s.c->point_count < 2 || !(s.c->min < s.c->max))
			continue;
		put_chart(h, &s);
		charts++;
	}
	vpa_html_raw(h, "</div>\n");
	vpa_html_put_table(h, r, "counters");
	vpa_html_raw(h, "</details>\n");
	vpa_html_end(h);
}

/* chart_axes.c - axes of charts. */
#include "analysis/render/html/markup/chart_axes.h"

#include "formats/base/saturate.h"

#include <stdio.h>

struct vpa_scale vpa_scale_of(uint64_t most, unsigned lines)
{
	static const uint64_t steps[] = {1, 2, 5};
	uint64_t power = 1, step = 1, end;
	unsigned i = 0;

	while (most / step >= lines && step < UINT64_MAX / 10) {
		i = (i + 1) % 3;
		power *= i ? 1 : 10;
		step = steps[i] * power;
	}
	if (__builtin_mul_overflow(most / step + (most % step != 0), step, &end))
		end = most;
	return (struct vpa_scale){end, step};
}

/* Durations of a scale in one unit: "150 ms". */
static struct vpa_num scale_label(const struct vpa_scale *s, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
	struct vpa_num n;
	size_t i = 0, used;
	unsigned decimals = 0;

	while (units[i].ns > 1 && s->end < 2 * units[i].ns)
		i++;
	for (; decimals < 3 && s->step *
				       (decimals == 0          ? 1
					       : decimals == 1 ? 10
							       : 100) %
				       units[i].ns;)
		decimals++;
	n = vpa_scaled(ns, units[i].ns, decimals);
	for (used = 0; n.text[used]; used++)
		;
	snprintf(n.text + used, sizeof(n.text) - used, " %s", units[i].name);
	return n;
}

static unsigned y_of(const struct vpa_scale *s, uint64_t at, unsigned top, unsigned height)
{
	uint64_t up = vpt_sat_scale(at, height, s->end);

	up = up < height ? up : height;

	return top + height - (unsigned)up;
}

void vpa_html_left_axis(
	struct vpa_html *h, const struct vpa_scale *s, unsigned top, unsigned height)
{
	uint64_t at, i;

	vpa_html_print(h, "<svg class=\"axis\" width=\"60\" height=\"%u\" aria-hidden=\"true\">",
		top + height + 22);
	for (i = 0, at = 0; i <= s->end / s->step; i++, at += s->step)
		vpa_html_print(h, "<text x=\"54\" y=\"%u\" class=\"end\">%s</text>",
			y_of(s, at, top, height) + 4, scale_label(s, at).text);
	vpa_html_raw(h, "</svg>");
}

void vpa_html_lines(struct vpa_html *h, const struct vpa_scale *s, unsigned top, unsigned height)
{
	uint64_t at, i;

	for (i = 0, at = 0; i <= s->end / s->step; i++, at += s->step) {
		unsigned y = y_of(s, at, top, height);

		vpa_html_print(h,
			"<line class=\"grid\" x1=\"0\" x2=\"100%%\" y1=\"%u\" y2=\"%u\"/>", y, y);
	}
}

void vpa_html_time_axis(struct vpa_html *h, uint64_t length_ns, unsigned y0, unsigned y1)
{
	struct vpa_scale s = vpa_scale_of(length_ns, 7);
	uint64_t at, i;

	vpa_html_raw(h, "<g class=\"times\">");
	for (i = 0, at = 0; i <= length_ns / s.step; i++, at += s.step) {
		vpa_html_raw(h, "<line class=\"grid\" x1=\"");
		vpa_html_percent(h, at, length_ns);
		vpa_html_raw(h, "%\" x2=\"");
		vpa_html_percent(h, at, length_ns);
		vpa_html_print(h, "%%\" y1=\"%u\" y2=\"%u\"/><text y=\"%u\" x=\"", y0, y1, y1 + 15);
		vpa_html_percent(h, at, length_ns);
		/* Not beyond the edges. */
		vpa_html_print(h, "%%\" class=\"%s\">%s</text>",
			!at                               ? "start"
			: length_ns - at < length_ns / 20 ? "end"
							  : "middle",
			scale_label(&s, at).text);
	}
	vpa_html_raw(h, "</g>");
}

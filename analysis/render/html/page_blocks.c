/* page_blocks.c - a bar for each block: its period by kernel family and cause of idle time, against the target.
 *
 * Of many blocks, adjacent ones share a bar that shows their mean; the table below has each. A bar's title
 * says what it shows; the script lists its parts beside those of the mean block. */
#include "analysis/render/html/page_parts.h"
#include "analysis/render/html/markup/chart_axes.h"
#include "analysis/render/text/sections/text_blocks_parts.h"
#include "formats/base/saturate.h"

enum { BARS = 120, TOP = 24, HEIGHT = 240, UNIT = 10000, PARTS = 7, LABELS = 24 };

struct chart {
	const struct vpa_report *r;
	const struct vpa_blocks *b;
	struct vpa_parts parts;
	struct vpa_scale scale;
	size_t stride, bars;
};

/* Some adjacent blocks. Times are means of a block, and of a GPU. */
struct bar {
	size_t first, last; /* rows of the series */
	uint64_t period_ns, frames, parts_ns[VPA_PARTS_ALL], paused_ns;
	size_t missed;
	int warmup, touched;
};

static struct bar bar_of(const struct chart *c, size_t at)
{
	struct bar bar = {.first = at * c->stride, .warmup = 1};
	uint64_t sum[VPA_OVERVIEW_PARTS] = {0}, count;
	size_t i, k;

	bar.last = vpa_least(bar.first + c->stride, c->b->count) - 1;
	count = bar.last - bar.first + 1;
	for (i = bar.first; i <= bar.last; i++) {
		const struct vpa_block_row *row = &c->b->series[i];
		uint64_t devices = row->devices ? row->devices : 1;

		vpt_sat_add_to(&bar.period_ns, row->period_ns / count);
		vpt_sat_add_to(&bar.frames, row->frames);
		bar.missed += row->missed != 0;
		bar.touched |= row->touched;
		bar.warmup &= row->warmup;
		vpt_sat_add_to(&bar.paused_ns, row->paused_ns / devices / count);
		for (k = 0; row->parts_ns && k < VPA_OVERVIEW_PARTS; k++)
			vpt_sat_add_to(&sum[k], row->parts_ns[k] / devices / count);
	}
	vpa_parts_sum(&c->parts, sum, bar.parts_ns);
	return bar;
}

static void put_name(struct vpa_html *h, const struct chart *c, const struct bar *bar)
{
	vpa_html_text(h, vpa_block_name(c->b, bar->first).text);
}

/* What a bar is, for people, and its parts for the script. */
static void put_bar_head(
	struct vpa_html *h, const struct chart *c, const struct bar *bar, size_t at)
{
	size_t i;

	vpa_html_print(h,
		"<g class=\"bar%s%s\" tabindex=\"0\" data-bar=\"%zu\" data-ns=\"%" PRIu64
		"\" data-parts=\"",
		bar->missed ? " late" : "", bar->warmup ? " warm" : "", at, bar->period_ns);
	for (i = 0; i < c->parts.count; i++)
		vpa_html_print(h, "%s%" PRIu64, i ? " " : "", bar->parts_ns[c->parts.order[i]]);
	vpa_html_raw(h, "\"><title>Block ");
	put_name(h, c, bar);
	if (bar->last > bar->first)
		vpa_html_print(h, " to %s", vpa_block_name(c->b, bar->last).text);
	vpa_html_print(h, ": %s", vpa_duration(bar->period_ns).text);
	if (bar->frames && bar->period_ns)
		vpa_html_print(h, ", %s %s",
			vpa_rate((double)bar->frames * 1e9 / (double)bar->period_ns /
				 (double)(bar->last - bar->first + 1))
				.text,
			c->b->fps >= 0 ? "FPS" : "frames/s while denoising");
	if (bar->missed && bar->last > bar->first)
		vpa_html_print(h, ", %zu late", bar->missed);
	else if (bar->missed)
		vpa_html_raw(h, ", late");
	vpa_html_print(h, "%s%s", bar->warmup ? ", warm-up: not measured" : "",
		bar->touched ? ", may lack records " VPA_TOUCHED : "");
	for (i = 0; i < c->parts.count; i++)
		if (bar->parts_ns[c->parts.order[i]])
			vpa_html_print(h, "\n%s%s %s",
				vpa_part_is_idle(c->parts.order[i]) ? "idle, " : "",
				vpa_part_name(c->parts.order[i]),
				vpa_duration(bar->parts_ns[c->parts.order[i]]).text);
	vpa_html_raw(h, "</title>");
}

static unsigned units_of(const struct chart *c, uint64_t ns)
{
	uint64_t units = vpt_sat_scale(ns, UNIT, c->scale.end);

	return units > UNIT ? UNIT : (unsigned)units;
}

static void put_bar(struct vpa_html *h, const struct chart *c, size_t at)
{
	struct bar bar = bar_of(c, at);
	uint64_t done = 0;
	unsigned from = 0, to;
	size_t i;

	put_bar_head(h, c, &bar, at);
	vpa_html_print(h, "<rect class=\"hit\" x=\"%zu\" y=\"0\" width=\"10\" height=\"%d\"/>",
		at * 10, UNIT);
	for (i = 0; i < c->parts.count; i++) {
		vpt_sat_add_to(&done, bar.parts_ns[c->parts.order[i]]);
		to = units_of(c, done);
		if (to == from)
			continue;
		vpa_html_raw(h, "<rect class=\"");
		vpa_html_part_class(h, c->parts.order[i]);
		vpa_html_print(h, "\" x=\"%zu\" y=\"%u\" width=\"8\" height=\"%u\"/>", at * 10 + 1,
			UNIT - to, to - from);
		from = to;
	}
	to = units_of(c, bar.period_ns);
	if (bar.missed)
		vpa_html_print(h,
			"<rect class=\"late\" x=\"%zu\" y=\"%u\" width=\"8\" height=\"%d\"/>",
			at * 10 + 1, UNIT - to, UNIT / 100);
	vpa_html_print(h,
		"<rect class=\"edge\" x=\"%zu\" y=\"%u\" width=\"8\" height=\"%u\"/></g>\n",
		at * 10 + 1, UNIT - to, to);
}

/* The name of every bar, or of some, and a mark on those that are late. */
static void put_bar_labels(struct vpa_html *h, const struct chart *c)
{
	size_t every = c->bars / LABELS + 1, i;

	for (i = 0; i < c->bars; i++) {
		struct bar bar = bar_of(c, i);
		unsigned y = TOP + HEIGHT - units_of(c, bar.period_ns) * HEIGHT / UNIT;

		if (bar.missed && c->bars <= LABELS) {
			vpa_html_raw(h, "<text class=\"middle late\" x=\"");
			vpa_html_percent(h, 2 * i + 1, 2 * c->bars);
			vpa_html_print(h, "%%\" y=\"%u\">late</text>", y - 5);
		}
		if (i % every)
			continue;
		vpa_html_print(h, "<text class=\"middle%s\" x=\"", bar.missed ? " late" : "");
		vpa_html_percent(h, 2 * i + 1, 2 * c->bars);
		vpa_html_print(h, "%%\" y=\"%d\">", TOP + HEIGHT + 16);
		put_name(h, c, &bar);
		vpa_html_raw(h, "</text>");
	}
}

/* The time that the frames of the last block play at the target; 0: no target, or no frames. */
static uint64_t deadline_of(const struct vpa_report *r, const struct vpa_blocks *b)
{
	uint64_t frames = b->series[b->count - 1].frames;

	return vpt_sat_scale(frames, 1000000000000, r->target_millifps);
}

static void put_target(struct vpa_html *h, const struct chart *c)
{
	uint64_t deadline = deadline_of(c->r, c->b);
	unsigned y = TOP + HEIGHT - units_of(c, deadline) * HEIGHT / UNIT;

	if (!deadline || deadline > c->scale.end)
		return;
	vpa_html_print(h,
		"<line class=\"target\" x1=\"0\" x2=\"100%%\" y1=\"%u\" y2=\"%u\"/>"
		"<text class=\"target\" x=\"4\" y=\"%u\">target %s FPS: %s</text>",
		y, y, y - 5, vpa_rate(vpa_target(c->r)).text, vpa_duration(deadline).text);
}

static struct chart chart_of(const struct vpa_report *r, const struct vpa_blocks *b)
{
	struct chart c = {.r = r, .b = b, .stride = b->count / BARS + (b->count % BARS != 0)};
	uint64_t sum[VPA_OVERVIEW_PARTS] = {0}, most = deadline_of(r, b), measured = 0;
	size_t i, k;

	c.bars = (b->count + c.stride - 1) / c.stride;
	for (i = 0; i < b->count; i++) {
		const struct vpa_block_row *row = &b->series[i];

		for (k = 0; row->parts_ns && k < VPA_OVERVIEW_PARTS; k++)
			vpt_sat_add_to(&sum[k], row->parts_ns[k]);
		if (!row->warmup && row->period_ns > measured)
			measured = row->period_ns;
	}
	for (i = 0; i < b->count; i++) /* a long warm-up would press the others down */
		if (b->series[i].warmup && b->series[i].period_ns > most &&
			b->series[i].period_ns / 2 < measured)
			most = b->series[i].period_ns;
	vpa_parts_choose(sum, PARTS, &c.parts);
	most = most / 2 < measured || !measured ? most : measured;
	c.scale = vpa_scale_of(most > measured ? most : measured, 8);
	return c;
}

static void put_chart(struct vpa_html *h, const struct chart *c)
{
	size_t i;

	vpa_html_raw(h, "<div class=\"plot\" id=\"block-chart\" data-names=\"");
	for (i = 0; i < c->parts.count; i++)
		vpa_html_print(h, "%s%s%s", i ? "|" : "",
			vpa_part_is_idle(c->parts.order[i]) ? "idle, " : "",
			vpa_part_name(c->parts.order[i]));
	vpa_html_raw(h, "\">");
	vpa_html_left_axis(h, &c->scale, TOP, HEIGHT);
	vpa_html_print(h,
		"<svg class=\"main\" width=\"100%%\" height=\"%d\" role=\"img\" "
		"aria-label=\"period of each block\">",
		TOP + HEIGHT + 22);
	vpa_html_lines(h, &c->scale, TOP, HEIGHT);
	vpa_html_print(h,
		"<svg y=\"%d\" width=\"100%%\" height=\"%d\" viewBox=\"0 0 %zu %d\" "
		"preserveAspectRatio=\"none\">\n",
		TOP, HEIGHT, c->bars * 10, UNIT);
	for (i = 0; i < c->bars; i++)
		put_bar(h, c, i);
	vpa_html_raw(h, "</svg>");
	put_target(h, c);
	put_bar_labels(h, c);
	vpa_html_raw(h, "</svg></div>\n");
	vpa_html_legend(h, &c->parts);
	vpa_html_raw(h, "<div id=\"block-detail\" class=\"detail\"></div>\n");
	if (c->stride > 1)
		vpa_html_print(h, "<p class=\"note\">A bar shows the mean of %zu blocks.</p>\n",
			c->stride);
}

/* Blocks have columns of lines only where there are stacks. */
static void put_series(struct vpa_html *h, const struct vpa_report *r, const struct vpa_blocks *b)
{
	struct vpa_view view = *vpa_view_of("requests.blocks.series");
	char first[256];
	size_t i;

	snprintf(first, sizeof(first), "%s line.file line.line line.cause line.share line_samples",
		view.first);
	for (i = 0; i < b->count; i++)
		if (b->series[i].line_samples || b->series[i].line)
			view.first = first;
	vpa_html_put_view(h, r, &view);
}

void vpa_html_blocks(struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_request *q = vpa_main_request(r);
	struct chart c;

	(void)d;
	if (!q)
		return;
	vpa_html_begin(h, "blocks", q->blocks.count ? "Blocks" : "Requests",
		!q->blocks.count   ? NULL
		: q->blocks.warmup ? "The period of each block, by what the GPU did in it. Faint "
				     "ones are warm-up, which is not measured."
				   : "The period of each block, by what the GPU did in it.");
	if (q->blocks.count && q->blocks.series[0].parts_ns) {
		c = chart_of(r, &q->blocks);
		put_chart(h, &c);
	}
	vpa_html_raw(h, "<details><summary>Tables of requests and blocks</summary>\n");
	vpa_html_put_table(h, r, "requests");
	put_series(h, r, &q->blocks);
	vpa_html_raw(h, "</details>\n");
	vpa_html_end(h);
}

/* page_waterfall.c - where the time of the mean block went, or without blocks that of the window: a bar for
 * each part, each beginning where the one before it ends. */
#include "analysis/render/html/report_page.h"
#include "analysis/render/text/sections/text_blocks_parts.h"
#include "formats/base/saturate.h"

struct waterfall_row {
	struct vpa_html *h;
	uint64_t done_ns, all_ns;
	uint64_t by; /* times are divided by this */
};

static void put_head(struct waterfall_row *f, const char *what)
{
	vpa_html_print(f->h,
		"<div class=\"scroll\"><table class=\"fall\"><thead><tr><th "
		"class=\"t\">part</th><th "
		"class=\"bar\">of %s</th><th class=\"n\">time</th><th class=\"n\">share</th><th "
		"class=\"n\">count</th><th class=\"n\">mean</th></tr></thead>\n<tbody>\n",
		what);
}

/* A bar from where the last one ended; `kind` as in vpa_html_key(). */
static void put_bar(struct waterfall_row *f, const char *name, const char *kind, uint64_t ns)
{
	vpa_html_raw(f->h,
		"<td class=\"bar\"><svg class=\"bar\" width=\"100%\" height=\"16\">"
		"<rect class=\"track\" width=\"100%\" height=\"16\"/><rect height=\"16\" "
		"class=\"p-");
	vpa_html_slug(f->h, name);
	vpa_html_print(f->h, "%s\" x=\"", kind);
	vpa_html_percent(f->h, f->done_ns, f->all_ns);
	vpa_html_raw(f->h, "%\" width=\"");
	vpa_html_percent(f->h, ns, f->all_ns);
	vpa_html_raw(f->h, "%\"/></svg></td>");
	vpt_sat_add_to(&f->done_ns, ns);
}

/* A part: `text` is what people read, `where` where most of it is. */
static void put_part(struct waterfall_row *f, const char *name, const char *kind, const char *text,
	const char *where, uint64_t ns, struct vpa_num count, struct vpa_num mean)
{
	vpa_html_raw(f->h, "<tr><td class=\"t\">");
	vpa_html_key(f->h, name, kind, text);
	if (*where) {
		vpa_html_raw(f->h, " <small>");
		vpa_html_text(f->h, where);
		vpa_html_raw(f->h, "</small>");
	}
	vpa_html_raw(f->h, "</td>");
	put_bar(f, name, kind, ns);
	vpa_html_print(f->h,
		"<td class=\"n\" data-v=\"%" PRIu64 "\">%s</td><td class=\"n\">%s %%</td>"
		"<td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n",
		ns, vpa_duration(vpa_divided(ns, f->by)).text, vpa_percent(ns, f->all_ns).text,
		count.text, mean.text);
}

static void put_sum(struct waterfall_row *f, const char *title, uint64_t ns)
{
	vpa_html_print(f->h,
		"<tr class=\"sum\"><th class=\"t\" colspan=\"2\">%s</th><td "
		"class=\"n\">%s</td><td class=\"n\">%s %%</td><td></td><td></td></tr>\n",
		title, vpa_duration(vpa_divided(ns, f->by)).text, vpa_percent(ns, f->all_ns).text);
}

static void put_block(struct vpa_html *h, const struct vpa_blocks *b, const struct vpa_digest *d)
{
	static const char *const titles[] = {[VPA_PART_BUSY] = "GPU busy, by kernel family",
		[VPA_PART_IDLE] = "GPU idle, by cause",
		[VPA_PART_PAUSED] = "recording paused"};
	const uint64_t sums[] = {b->busy_ns, b->idle_ns, b->paused_ns};
	struct waterfall_row f = {h, 0, vpa_blocks_ns(b), b->measured};
	int kind = -1;
	size_t i;

	vpa_html_print(h,
		"<p class=\"lead\">The mean of %zu measured blocks takes %s: median %s, p95 "
		"%s, shortest %s, longest %s.%s</p>\n",
		b->measured, vpa_duration(vpa_divided(b->span_ns, b->measured)).text,
		vpa_duration(b->period.p50_ns).text, vpa_duration(b->period.p95_ns).text,
		vpa_duration(b->period.min_ns).text, vpa_duration(b->period.max_ns).text,
		b->devices > 1 ? " The times of all GPUs of a block are summed." : "");
	put_head(&f, "the mean block");
	for (i = 0; i < b->part_count; i++) {
		const struct vpa_block_part *part = &b->parts[i];
		struct vpa_label where = {{0}};
		int idle = part->kind == VPA_PART_IDLE;

		if ((int)part->kind != kind) {
			kind = (int)part->kind;
			put_sum(&f, titles[kind], sums[kind]);
		}
		if (idle)
			where = vpa_where(d, vpa_known_cause(vpa_part_cause(part->part)), 80);
		put_part(&f, vpa_block_part_name(part->part), idle ? " idle" : "",
			vpa_part_text(d, part), where.text, part->ns, vpa_a_block(part->count, b),
			vpa_mean(part->ns, part->count));
	}
	vpa_html_raw(h, "</tbody></table></div>\n");
}

static void put_window(struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d)
{
	struct waterfall_row f = {h, 0, d->windows_ns, 1};
	size_t i;

	if (r->device_count > 1)
		vpa_html_print(h, "<p class=\"lead\">%s, the sum of %zu GPUs.</p>\n",
			vpa_duration(d->windows_ns).text, r->device_count);
	else
		vpa_html_print(h, "<p class=\"lead\">%s, from its start to its end.</p>\n",
			vpa_duration(d->windows_ns).text);
	put_head(&f, "the window");
	put_sum(&f, "GPU busy, by kernel family", d->busy_ns);
	for (i = 0; i < r->family_count; i++)
		put_part(&f, vpa_family_name(r->families[i].family), "",
			vpa_family_text(d, r->families[i].family), "", r->families[i].exclusive_ns,
			vpa_count(r->families[i].calls),
			vpa_mean(r->families[i].total_ns, r->families[i].calls));
	put_sum(&f, "GPU idle, by cause", d->window_idle_ns);
	for (i = 0; i < d->cause_count; i++) {
		enum vpa_cause cause = d->causes[i];

		put_part(&f, vpa_cause_text(cause), " idle", vpa_cause_text(cause),
			vpa_where(d, cause, 80).text, d->cause_ns[cause],
			vpa_count(d->cause_gaps[cause]),
			vpa_mean(d->cause_ns[cause], d->cause_gaps[cause]));
	}
	vpa_html_raw(h, "</tbody></table></div>\n");
}

void vpa_html_waterfall(struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_request *q = vpa_main_request(r);
	int has_blocks = q && q->blocks.measured > 0;

	if (!r->device_count)
		return;
	vpa_html_begin(h, "waterfall", has_blocks ? "The mean block" : "The window", NULL);
	if (has_blocks)
		put_block(h, &q->blocks, d);
	else
		put_window(h, r, d);
	vpa_html_before_after(h, r);
	vpa_html_end(h);
}

/* page_lists.c - the tables of the page, section by section, as their views say (fields/view.h). What has no place there is listed under
 * "Everything else", so a new table of the JSON report appears by itself. */
#include "analysis/render/html/report_page.h"
#include "analysis/render/fields/fields.h"
#include "formats/base/count.h"
#include "formats/base/text.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 128 };

static const struct {
	const char *id, *title, *lead;
} sections[] = {
	{"checklist", "Checklist", "What to look up first; unknown: the capture does not show it."},
	{"kernels", "Kernels",
		"Exclusive time counts each of k concurrent kernels as 1/k of the time, so it adds "
		"up to busy time."},
	{"gaps", "Gaps",
		"A gap is a stretch in which a GPU runs nothing. Starts count from the start of "
		"the window."},
	{"copies", "Copies", NULL},
	{"syncs", "Syncs", "By the GPU idle time that they cause."},
	{"ranges", "Ranges",
		"NVTX ranges and operators: time on the host, and what the GPUs did for them."},
	{"said", "What the program said", NULL},
	{"graphs", "CUDA graphs, code loading", NULL},
	{"devices", "GPUs", NULL},
};

static int is_in(const struct vpa_view *v, const char *section)
{
	return v->section && !strcmp(v->section, section);
}

static int has_rows(const struct vpa_report *r, const char *section)
{
	const struct vpa_html_source source = {&vpa_fields_report, r, r, NULL};
	const struct vpa_view *v;
	size_t i;

	for (i = 0; (v = vpa_view_at(i)) != NULL; i++)
		if (is_in(v, section) && vpa_html_source_rows(&source, v))
			return 1;
	return 0;
}

/* The tables of a section that follow the one of a path; NULL: those that follow none. */
static void put_views(
	struct vpa_html *h, const struct vpa_report *r, const char *section, const char *after)
{
	const struct vpa_view *v;
	size_t i;

	for (i = 0; (v = vpa_view_at(i)) != NULL; i++) {
		if (!is_in(v, section) || !vpt_same_text(v->after, after))
			continue;
		vpa_html_put_view(h, r, v);
		put_views(h, r, section, v->path);
	}
}

/* "Kernels: 41 rows; chains: 3 rows" */
static void put_row_counts(struct vpa_html *h, const struct vpa_report *r, const char *section)
{
	const struct vpa_html_source source = {&vpa_fields_report, r, r, NULL};
	const struct vpa_view *v;
	size_t i, rows, shown = 0;

	for (i = 0; (v = vpa_view_at(i)) != NULL; i++) {
		rows = is_in(v, section) ? vpa_html_source_rows(&source, v) : 0;
		if (!rows)
			continue;
		vpa_html_raw(h, shown++ ? "; " : "");
		vpa_html_text(h, v->title);
		vpa_html_print(h, ": %s row%s", vpa_count(rows).text, vpa_plural(rows));
	}
}

/* Tables are long: one that looks for the cause reads the charts first. A link to a row opens what hides it. */
void vpa_html_tables(struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d)
{
	size_t i;

	(void)d;
	for (i = 0; i < COUNT(sections); i++) {
		if (!has_rows(r, sections[i].id))
			continue;
		vpa_html_begin_folded(h, sections[i].id, sections[i].title);
		put_row_counts(h, r, sections[i].id);
		vpa_html_raw(h, "</summary>\n");
		if (sections[i].lead)
			vpa_html_print(h, "<p class=\"lead\">%s</p>\n", sections[i].lead);
		put_views(h, r, sections[i].id, NULL);
		vpa_html_raw(h, "</details>\n");
		vpa_html_end(h);
	}
}

/* ---- attention ---- */

/* What of a stage's GPU time is attention: a bar a stage. */
static void put_attention_by_stage(struct vpa_html *h, const struct vpa_report *r)
{
	size_t i, shown = 0;

	for (i = 0; i < r->stage_count; i++) {
		const struct vpa_stage_row *s = &r->stages[i];

		if (!s->attention_ns || !s->busy_ns || !s->time.count)
			continue;
		if (!shown++)
			vpa_html_raw(h,
				"<div class=\"table\"><h3>Attention by stage and step</h3>"
				"<div class=\"scroll\"><table class=\"fall\"><thead><tr>"
				"<th class=\"t\">stage</th><th class=\"bar\">of its GPU busy "
				"time</th><th class=\"n\">attention, mean</th><th "
				"class=\"n\">share</th></tr></thead>\n<tbody>\n");
		vpa_html_raw(h, "<tr><td class=\"t\">");
		vpa_html_text(h, vpa_text_or(s->name, "?"));
		vpa_html_raw(h,
			"</td><td class=\"bar\"><svg class=\"bar\" width=\"100%\" "
			"height=\"14\"><rect class=\"track\" width=\"100%\" "
			"height=\"14\"/><rect class=\"p-attention\" height=\"14\" width=\"");
		vpa_html_percent(h, s->attention_ns, s->busy_ns);
		vpa_html_print(h,
			"%%\"/></svg></td><td class=\"n\">%s</td><td class=\"n\">%s %%</td></tr>\n",
			vpa_duration(s->attention_ns / s->time.count).text,
			vpa_percent(s->attention_ns, s->busy_ns).text);
	}
	if (shown)
		vpa_html_raw(h, "</tbody></table></div></div>\n");
}

void vpa_html_attention(struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_attention *a = &r->attention;
	size_t i;

	(void)d;
	if (!a->calls && !a->backend_count && !a->eager_count && !r->precision_count)
		return;
	vpa_html_begin(h, "attention", "Attention", NULL);
	if (a->calls)
		vpa_html_print(h, "<p class=\"lead\">%s %% of busy time, %s calls.</p>\n",
			vpa_share(a->share_of_busy).text, vpa_count(a->calls).text);
	else
		vpa_html_raw(h, "<p class=\"lead\">No attention kernel was recognised.</p>\n");
	for (i = 0; i < a->fallback_count; i++) {
		vpa_html_raw(h, "<p class=\"warn\"><b>FALLBACK</b> ");
		vpa_html_text(h, vpa_text_or(a->fallbacks[i], "?"));
		vpa_html_raw(h, "</p>\n");
	}
	put_attention_by_stage(h, r);
	if (has_rows(r, "attention")) {
		vpa_html_raw(h, "<details class=\"rows\"><summary>");
		put_row_counts(h, r, "attention");
		vpa_html_raw(h, "</summary>\n");
		put_views(h, r, "attention", NULL);
		vpa_html_raw(h, "</details>\n");
	}
	vpa_html_end(h);
}

/* ---- everything else ---- */

/* Prints the tables below `fields` that have no other place. */
static void put_rest(struct vpa_html *h, const struct vpa_report *r,
	const struct vpa_fields *fields, const char *above)
{
	char path[PATH_BYTES];
	size_t i;

	for (i = 0; i < fields->count; i++) {
		const struct vpa_field *f = &fields->at[i];
		const struct vpa_view view = {path, path, .first = NULL}, *placed;

		if (vpa_field_is_same_row(fields, f))
			put_rest(h, r, f->fields, above);
		if (!f->key || (f->type != VPA_FIELD_ROWS && !vpa_field_is_object(f)))
			continue;
		snprintf(path, sizeof(path), "%.90s%s%.32s", above, *above ? "." : "", f->key);
		placed = vpa_view_of(path);
		if (f->type == VPA_FIELD_ROWS && !(placed && placed->title))
			vpa_html_put_view(h, r, &view);
		put_rest(h, r, f->fields, path);
	}
}

void vpa_html_more(struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d)
{
	(void)d;
	vpa_html_begin(h, "more", "Everything else", NULL);
	vpa_html_raw(h, "<details><summary>The other tables of the JSON report</summary>\n");
	put_rest(h, r, &vpa_fields_report, "");
	vpa_html_raw(h, "</details>\n");
	vpa_html_end(h);
}

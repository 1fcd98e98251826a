/* page_lists.c - which tables the page has, and in which section. What no section names is listed under
 * "Everything else", so a new table of the JSON report appears by itself. */
#include "analysis/render/html/html.h"
#include "analysis/render/json/fields.h"
#include "formats/base/count.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 128 };

static const struct vpa_html_table attention_tables[] = {
	{"attention.backends", "Fused attention by back-end",
		"backend calls total_ns aux_calls aux_ns share_of_busy", NULL},
	{"attention.eager", "Attention that is not fused",
		"range softmax count total_ns softmax_ns gemm", NULL},
	{"attention.changes", "Places with more than one back-end", NULL, NULL},
	{"attention_shapes", "Fused attention by kernel and grid", NULL, NULL},
	{"gemm_precisions", "Matrix products by precision", NULL, NULL},
	{"flop_rates", "Operations per second, where shapes are known",
		"device family precision calls kernel_ns tflops peak_tflops share_of_peak", NULL},
};

static const struct vpa_html_table graph_tables[] = {
	{"cuda_graphs.graphs", "CUDA graphs by time", NULL, NULL},
	{"cuda_graphs.setup", "Calls that load code or make graphs", NULL, NULL},
};

static const struct vpa_html_table check_tables[] = {
	{"checklist.checks", "Checks", "title status value pass_bound warn_bound note", NULL},
	{"step_kinds.kinds", "Steps by their kernels",
		"role steps ops of_full mean_ns total_ns second_half_ns saved_ns", NULL}};

static const struct vpa_html_table kernel_tables[] = {
	{"misfits", "Alignment, precision, layout",
		"title kernel calls exclusive_ns share_of_busy advice", NULL},
	{"families", "Kernel families", NULL, NULL},
	{"stage_families", "Families by stage", "stage family exclusive_ns stage_ns", NULL},
	{"kernels", "Kernels by exclusive time",
		"name family calls exclusive_ns mean_ns p50_ns p95_ns max_ns", "K"},
};

static const struct vpa_html_table gap_tables[] = {
	{"gaps", "The longest gaps", "id device start_ns duration_ns cause call range after before",
		"G"},
	{"devices.causes", "Idle time by cause and place", "cause ns gaps call range", NULL},
	{"devices.host_did", "What the host did after a wait that had held it",
		"cause call host ns gaps host_call host_range line", NULL},
};

static const struct vpa_html_table copy_tables[] = {{"copies", "Copies and memsets", NULL, "C"}};
static const struct vpa_html_table sync_tables[] = {
	{"syncs", "Calls that wait for the GPU", NULL, "S"}};
static const struct vpa_html_table range_tables[] = {{"ranges", "Ranges by time on the host",
	"name domain count host.mean_ns host.p95_ns host.total_ns busy_ns idle_host_ns ops", "R"}};
static const struct vpa_html_table device_tables[] = {
	{"overlap", "What runs at the same time", NULL, NULL}, {"streams", "Streams", NULL, NULL},
	{"devices", "GPUs with work",
		"device active_ns busy_ns idle_ns compute_ns exposed_copy_ns exposed_comm_ns gaps "
		"longest_gap_ns ops streams limit",
		NULL}};

/* Tables that other files print. */
static const char *const elsewhere[] = {"requests", "requests.blocks.series", "stages", "counters"};

static const struct list {
	const char *id, *title, *lead;
	const struct vpa_html_table *tables;
	size_t count;
} lists[] = {
	{"checklist", "Checklist", "What to look up first; unknown: the capture does not show it.",
		check_tables, COUNT(check_tables)},
	{"kernels", "Kernels",
		"Exclusive time counts each of k concurrent kernels as 1/k of the time, so it adds "
		"up to busy time.",
		kernel_tables, COUNT(kernel_tables)},
	{"gaps", "Gaps",
		"A gap is a stretch in which a GPU runs nothing. Starts count from the start of "
		"the window.",
		gap_tables, COUNT(gap_tables)},
	{"copies", "Copies", NULL, copy_tables, COUNT(copy_tables)},
	{"syncs", "Syncs", "By the GPU idle time that they cause.", sync_tables,
		COUNT(sync_tables)},
	{"ranges", "Ranges",
		"NVTX ranges and operators: time on the host, and what the GPUs did for them.",
		range_tables, COUNT(range_tables)},
	{"graphs", "CUDA graphs, code loading", NULL, graph_tables, COUNT(graph_tables)},
	{"devices", "GPUs", NULL, device_tables, COUNT(device_tables)},
};

/* Prints those tables of a section that have rows, in a section if there are any. */
static void put_list(struct vpa_html *h, const struct vpa_report *r, const struct list *list)
{
	size_t i, filled = 0;

	for (i = 0; i < list->count; i++)
		filled += vpa_html_rows(r, list->tables[i].path) != 0;
	if (!filled)
		return;
	vpa_html_begin(h, list->id, list->title, list->lead);
	for (i = 0; i < list->count; i++)
		vpa_html_put_table(h, r, &list->tables[i]);
	vpa_html_end(h);
}

void vpa_html_tables(struct vpa_html *h, const struct vpa_report *r, const struct vpa_digest *d)
{
	size_t i;

	(void)d;
	for (i = 0; i < COUNT(lists); i++)
		put_list(h, r, &lists[i]);
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
			"%%\"/></svg></td><td class=\"n\">%s</td><td class=\"n\">%s "
			"%%</td></tr>\n",
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
	for (i = 0; i < COUNT(attention_tables); i++)
		vpa_html_put_table(h, r, &attention_tables[i]);
	vpa_html_end(h);
}

/* ---- everything else ---- */

static int is_among(const struct vpa_html_table *tables, size_t count, const char *path)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(tables[i].path, path))
			return 1;
	return 0;
}

static int is_elsewhere(const char *path)
{
	size_t i;

	for (i = 0; i < COUNT(lists); i++)
		if (is_among(lists[i].tables, lists[i].count, path))
			return 1;
	for (i = 0; i < COUNT(elsewhere); i++)
		if (!strcmp(elsewhere[i], path))
			return 1;
	return is_among(attention_tables, COUNT(attention_tables), path);
}

/* Prints the tables below `fields` that have no other place. */
static void put_rest(struct vpa_html *h, const struct vpa_report *r,
	const struct vpa_fields *fields, const char *above)
{
	char path[PATH_BYTES];
	size_t i;

	for (i = 0; i < fields->count; i++) {
		const struct vpa_field *f = &fields->at[i];
		const struct vpa_html_table table = {path, path, NULL, NULL};

		if (!f->key || (f->type != VPA_FIELD_ROWS && !vpa_field_is_object(f)))
			continue;
		snprintf(path, sizeof(path), "%.90s%s%.32s", above, *above ? "." : "", f->key);
		if (f->type == VPA_FIELD_ROWS && !is_elsewhere(path))
			vpa_html_put_table(h, r, &table);
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

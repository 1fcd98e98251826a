/* trend_rows.c - a trend for programs: CSV and JSON. */
#include "analysis/export/cell_text.h"
#include "analysis/trend/trend.h"
#include "formats/io/json_writer.h"

#include <stdio.h>

static void put_text(struct vpa_line *l, const struct vpa_cat *form, const char *text)
{
	vpa_line_words(l, l->size && l->data[l->size - 1] != '\n' ? "," : "");
	vpa_cat_text_cell(form, l, text, strlen(text));
}

static void put_number(struct vpa_line *l, double value)
{
	vpa_line_words(l, ",");
	if (value >= 0)
		vpa_line_double(l, value);
}

static void put_point(
	struct vpa_line *l, const struct vpa_cat *form, const struct vpa_trend_point *p)
{
	char when[VPA_TREND_TIME];
	int i;

	vpa_trend_time(p->unix_ns, when);
	put_text(l, form, p->path);
	put_text(l, form, when);
	put_text(l, form, p->commit);
	put_text(l, form, p->tags);
	put_text(l, form, vpa_unit_kind_name(p->unit));
	vpa_line_words(l, p->complete ? ",1" : ",0");
	for (i = 0; i < VPA_TREND_FIGURES; i++)
		put_number(l, p->figures[i]);
	for (i = 0; i < VPA_CAUSES; i++)
		put_number(l, p->causes[i]);
	for (i = 0; i < VPA_TREND_FIGURES; i++)
		vpa_line_words(l, p->is_shift >> i & 1 ? ",1" : ",0");
	vpa_line_words(l, "\n");
}

/* Names of causes may have commas. */
static void put_name(
	struct vpa_line *l, const struct vpa_cat *form, const char *prefix, const char *words)
{
	char name[128];

	snprintf(name, sizeof(name), "%s%s", prefix, words);
	put_text(l, form, name);
}

static void put_head(struct vpa_line *l, const struct vpa_cat *form)
{
	int i;

	vpa_line_words(l, "file,time,commit,tags,unit,complete");
	for (i = 0; i < VPA_TREND_FIGURES; i++)
		put_name(l, form, "", vpa_trend_figures[i].name);
	for (i = 0; i < VPA_CAUSES; i++)
		put_name(l, form, "idle:", vpa_cause_text((enum vpa_cause)i));
	for (i = 0; i < VPA_TREND_FIGURES; i++)
		put_name(l, form, "changed:", vpa_trend_figures[i].name);
	vpa_line_words(l, "\n");
}

int vpa_trend_csv(const struct vpa_trend *t, struct vpt_sink *sink, struct vpt_err *err)
{
	const struct vpa_cat form = {.form = VPA_CAT_CSV, .csv = 1, .safe = 1};
	struct vpa_line l = {0};
	size_t i;
	int rc;

	put_head(&l, &form);
	for (i = 0; i < t->count; i++)
		put_point(&l, &form, &t->points[i]);
	rc = l.failed ? vpt_fail(err, VPT_ENOMEM, "no memory for the rows of a trend")
		      : vpt_sink_write(sink, l.data, l.size, err);
	vpt_free(l.data);
	return rc;
}

static void put_json_point(struct vpt_json *j, const struct vpa_trend_point *p)
{
	char when[VPA_TREND_TIME];
	int i;

	vpa_trend_time(p->unix_ns, when);
	vpt_json_object(j, NULL);
	vpt_json_string(j, "file", p->path);
	vpt_json_string(j, "time", *when ? when : NULL);
	vpt_json_string(j, "commit", *p->commit ? p->commit : NULL);
	vpt_json_string(j, "tags", p->tags);
	vpt_json_string(j, "unit", vpa_unit_kind_name(p->unit));
	vpt_json_bool(j, "complete", p->complete);
	for (i = 0; i < VPA_TREND_FIGURES; i++)
		if (p->figures[i] >= 0)
			vpt_json_fixed(j, vpa_trend_figures[i].name, p->figures[i], 6);
		else
			vpt_json_null(j, vpa_trend_figures[i].name);
	vpt_json_object(j, "idle");
	for (i = 0; i < VPA_CAUSES; i++)
		vpt_json_fixed(j, vpa_cause_text((enum vpa_cause)i), p->causes[i], 6);
	vpt_json_end(j);
	vpt_json_end(j);
}

static void put_json_shift(
	struct vpt_json *j, const struct vpa_trend *t, const struct vpa_trend_shift *s)
{
	vpt_json_object(j, NULL);
	vpt_json_string(j, "figure", vpa_trend_figures[s->figure].name);
	vpt_json_string(j, "file", t->points[s->at].path);
	vpt_json_u64(j, "at", s->at);
	vpt_json_u64(j, "reports_before", s->before_count);
	vpt_json_u64(j, "reports_after", s->after_count);
	vpt_json_fixed(j, "before", s->before, 6);
	vpt_json_fixed(j, "after", s->after, 6);
	vpt_json_fixed(j, "p", s->p, 6);
	vpt_json_string(j, "cause", s->cause == VPA_CAUSES ? NULL : vpa_cause_text(s->cause));
	vpt_json_fixed(j, "cause_before", s->cause_before, 6);
	vpt_json_fixed(j, "cause_after", s->cause_after, 6);
	vpt_json_end(j);
}

int vpa_trend_json(const struct vpa_trend *t, struct vpt_sink *sink, struct vpt_err *err)
{
	struct vpt_json j;
	size_t i;

	vpt_json_init(&j, sink, 1);
	vpt_json_object(&j, NULL);
	vpt_json_string(&j, "schema", "vptrace.trend/1");
	vpt_json_bool(&j, "by_time", t->is_by_time);
	vpt_json_string(&j, "unit", vpa_unit_kind_name(t->unit));
	vpt_json_array(&j, "changes");
	for (i = 0; i < t->shift_count; i++)
		put_json_shift(&j, t, &t->shifts[i]);
	vpt_json_end(&j);
	vpt_json_array(&j, "reports");
	for (i = 0; i < t->count; i++)
		put_json_point(&j, &t->points[i]);
	vpt_json_end(&j);
	vpt_json_end(&j);
	vpt_json_newline(&j);
	return vpt_json_finish(&j, err);
}

/* rank_alone.c - what the summary of one rank knows: who it is, what its time consists of, its stages and the samples of its GPU.
 * Nothing of that is about other ranks. */
#include "analysis/ranks/render/ranks_pages.h"

#include "analysis/base/sort.h"
#include "analysis/names/families.h"
#include "analysis/ranks/figures/job_metrics.h"
#include "analysis/render/digest.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <stdio.h>

enum { KINDS_SHOWN = 6 /* of each class of time */ };

static uint64_t span_of(const struct vpa_rank *r)
{
	return r->last_ns - r->first_ns;
}

/* A time of the rank as that of one unit: each part has the same share of a unit as of all. */
static uint64_t per_unit(const struct vpa_rank *r, uint64_t ns)
{
	return vpt_sat_scale(ns, r->unit_ns, span_of(r));
}

/* ---- who, and how fast ---- */

static void put_who(struct vpa_page *p, const struct vpa_rank *r)
{
	struct vpa_words w = {.used = 0};

	if (r->rank >= 0)
		vpa_words_add(&w, "", "%" PRId64, r->rank);
	else
		vpa_words_add(&w, "", "without a number");
	if (r->world_size > 0)
		vpa_words_add(&w, "", " of %" PRId64, r->world_size);
	if (r->job)
		vpa_words_add(&w, "", " of job %s", r->job);
	if (r->host)
		vpa_words_add(&w, "", ", on %s", r->host);
	if (r->gpu)
		vpa_words_add(&w, "", " (%s)", r->gpu);
	vpa_page_words(p, "RANK", VPA_PLAIN, "%s: summary of %s.", w.text,
		vpa_text_or(r->capture, "a capture"));
	vpa_page_words(p, "", VPA_PLAIN,
		"Who waits for whom is known from two ranks on: vptrace-analyze ranks *.vps.");
	if (r->simulated == 1)
		vpa_page_words(p, "DATA", VPA_YELLOW,
			"SIMULATED: no GPU ran; a stand-in made up every device time.");
	if (!r->complete)
		vpa_page_words(p, "LOSS", VPA_YELLOW, "records are missing from the capture: %s.",
			vpa_text_or(r->missing, "see its report"));
}

static void put_result(struct vpa_page *p, const struct vpa_rank *r)
{
	struct vpa_words w = {.used = 0};

	if (r->unit == VPA_UNIT_WINDOW)
		vpa_words_add(
			&w, "", "%s from the first op to the last", vpa_duration(r->unit_ns).text);
	else
		vpa_words_add(&w, "", "%s %s%s of %s", vpa_count(r->units).text,
			vpa_unit_kind_name(r->unit), vpa_plural(r->units),
			vpa_duration(r->unit_ns).text);
	if (r->fps > 0)
		vpa_words_add(&w, "; ", "%s FPS%s", vpa_rate(r->fps).text,
			r->is_end_to_end ? " end to end" : "");
	if (r->blocks_per_1e9s)
		vpa_words_add(&w, r->fps > 0 ? " and " : "; ", "%s blocks/s",
			vpa_rate((double)r->blocks_per_1e9s / 1e9).text);
	vpa_words_end(&w);
	vpa_words_add(&w, " ", "%s collective%s.", vpa_count(r->collective_count).text,
		vpa_plural(r->collective_count));
	vpa_page_blank(p);
	vpa_page_answer(p, "RESULT", VPA_BOLD, &w);
}

/* ---- its time ---- */

/* A kind of part: all places together. */
struct kind {
	unsigned kind;
	uint64_t ns;
};

static int by_time(const void *a, const void *b)
{
	const struct kind *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

static void put_time(const struct vpa_rank *r, struct vpa_table *t, unsigned indent,
	const char *name, uint64_t ns)
{
	struct vpa_row *row = vpa_table_row(t, indent, "%s", name);

	row->cells[0] = vpa_scaled(per_unit(r, ns), 1000000, 2);
	row->cells[1] = vpa_percent(ns, span_of(r));
}

static const char *kind_name(enum vpa_part_class klass, unsigned kind)
{
	if (klass == VPA_TIME_COMPUTE)
		return vpa_family_name((enum vpa_family)kind);
	return vpa_metric_words(VPA_METRIC_CAUSE, (enum vpa_cause)kind);
}

/* Families of kernels, causes of idle time. */
static void put_kinds(const struct vpa_rank *r, struct vpa_table *t, enum vpa_part_class klass)
{
	enum {
		KINDS = (int)VPA_FAMILY_COUNT > (int)VPA_CAUSES ? (int)VPA_FAMILY_COUNT
								: (int)VPA_CAUSES
	};
	struct kind kinds[KINDS];
	size_t i;

	for (i = 0; i < KINDS; i++)
		kinds[i] = (struct kind){(unsigned)i, 0};
	for (i = 0; i < r->part_name_count; i++)
		if (r->part_names[i].klass == klass && r->part_names[i].kind < KINDS)
			vpt_sat_add_to(&kinds[r->part_names[i].kind].ns, r->part_ns[i]);
	if (vpa_sort(kinds, KINDS, sizeof(*kinds), by_time)) {
		t->failed = 1;
		return;
	}
	for (i = 0; i < KINDS_SHOWN && kinds[i].ns; i++)
		put_time(r, t, 1, kind_name(klass, kinds[i].kind), kinds[i].ns);
}

static const struct vpa_column time_columns[] = {
	{.head = "ms"},
	{.head = "%"},
};

static void put_times(struct vpa_page *p, const struct vpa_rank *r)
{
	static const struct {
		enum vpa_part_class klass;
		const char *name;
	} classes[VPA_TIME_CLASSES] = {{VPA_TIME_COMPUTE, "computes"},
		{VPA_TIME_COMM, "collectives alone"}, {VPA_TIME_COPY, "copies alone"},
		{VPA_TIME_IDLE, "idle"}};
	struct vpa_table t;
	size_t i;

	vpa_table_init(&t, time_columns, 2, "TIME %s", vpa_unit_words(r->unit)->a_name);
	for (i = 0; i < VPA_TIME_CLASSES; i++) {
		put_time(r, &t, 0, classes[i].name, r->class_ns[classes[i].klass]);
		if (classes[i].klass == VPA_TIME_COMPUTE || classes[i].klass == VPA_TIME_IDLE)
			put_kinds(r, &t, classes[i].klass);
	}
	vpa_page_table(p, &t);
}

/* ---- stages and samples ---- */

static const struct vpa_column stage_columns[] = {
	{.head = "ms"},
	{.head = "instances"},
};

static void put_stages(struct vpa_page *p, const struct vpa_rank *r)
{
	struct vpa_table t;
	size_t i;

	vpa_table_init(&t, stage_columns, 2, "STAGE");
	for (i = 0; i < r->stage_count; i++) {
		const struct vpa_rank_stage *s = &r->stages[i];
		struct vpa_row *row =
			vpa_table_row(&t, 0, "%s, %s", s->name, s->in_blocks ? "a block" : "each");

		row->cells[0] = vpa_scaled(s->time_ns, 1000000, 2);
		row->cells[1] = vpa_count(s->count);
	}
	vpa_page_table(p, &t);
}

static const struct vpa_column gauge_columns[] = {
	{.head = "min"},
	{.head = "mean"},
	{.head = "max"},
};

static void put_gauges(struct vpa_page *p, const struct vpa_rank *r)
{
	static const enum vpa_metric metrics[VPA_GAUGES] = {
		[VPA_GAUGE_MEMORY_USED] = VPA_METRIC_MEMORY,
		[VPA_GAUGE_ALLOCATED] = VPA_METRIC_ALLOCATED,
		[VPA_GAUGE_RESERVED] = VPA_METRIC_RESERVED,
		[VPA_GAUGE_POWER] = VPA_METRIC_POWER,
		[VPA_GAUGE_TEMPERATURE] = VPA_METRIC_TEMPERATURE,
		[VPA_GAUGE_SM_CLOCK] = VPA_METRIC_SM_CLOCK};
	struct vpa_table t;
	size_t i;

	vpa_table_init(&t, gauge_columns, 3, "GPU, by samples");
	for (i = 0; i < VPA_GAUGES; i++) {
		const struct vpa_rank_gauge *g = &r->gauges[i];
		double scale = vpa_gauge_scale((enum vpa_gauge)i);
		struct vpa_row *row;

		if (!g->samples)
			continue;
		row = vpa_table_row(
			&t, 0, "%s", vpt_series_name(vpa_gauge_series((enum vpa_gauge)i)));
		row->cells[0] = vpa_metric_number(metrics[i], (double)g->least / scale);
		row->cells[1] = vpa_metric_number(metrics[i], (double)g->mean / scale);
		row->cells[2] = vpa_metric_number(metrics[i], (double)g->most / scale);
	}
	if (r->clock.limited_ns)
		vpa_text_row(&t, 0, "Clock limited for %s %% of the time it worked: %s",
			vpa_percent(r->clock.limited_ns, r->clock.awake_ns).text,
			vpa_text_or(r->clock.reason, "not known by what"));
	vpa_page_table(p, &t);
}

void vpa_rank_put(struct vpa_page *p, const struct vpa_rank *rank)
{
	put_who(p, rank);
	put_result(p, rank);
	put_times(p, rank);
	put_stages(p, rank);
	put_gauges(p, rank);
}

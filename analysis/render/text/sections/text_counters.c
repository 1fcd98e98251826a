/* text_counters.c - the section of counters: the series, energy, and memory by stage. */
#include "analysis/render/text/sections/text_sections.h"

#include "analysis/render/fields/view.h"
#include "analysis/render/measures.h"

#include <stdio.h>
#include <string.h>

enum { SERIES = 24, STAGES = 6, MEANS = 6 };

/* What a table need not repeat: constants of the machine, and bits. */
static int is_shown(const struct vpa_counter *c)
{
	return c->series != VPT_SERIES_MEMORY_TOTAL && vpa_measure_of(c->unit) != VPA_MEASURE_BITS;
}

static void add_series(struct vpa_table *t, const struct vpa_report *r, const struct vpa_view *v,
	const struct vpa_digest *d)
{
	char device[32] = "";
	size_t i, shown = 0, left_out = 0;

	for (i = 0; i < r->counter_count; i++) {
		const struct vpa_counter *c = &r->counters[i];
		int is_bytes = vpa_is_bytes(vpa_measure_of(c->unit));
		struct vpa_row *row;

		/* One that stayed 0 has nothing to say. */
		if (!is_shown(c) || !(c->max > 0))
			continue;
		if (shown == SERIES) {
			left_out++;
			continue;
		}
		shown++;
		if (c->device >= 0)
			snprintf(device, sizeof(device), "GPU %lld ", (long long)c->device);
		row = vpa_table_row(t, 1, "%s%s%s%s", c->device >= 0 ? device : "",
			vpa_fit(c->name, 60).text, c->unit[0] && !is_bytes ? ", " : "",
			is_bytes ? "" : vpa_fit(c->unit, 12).text);
		vpa_text_fill(row, v, c, d);
	}
	vpa_table_more(t, left_out);
}

/* Wh, or smaller units for small energies. */
static struct vpa_num energy(double wh)
{
	static const struct {
		double least, scale;
		const char *unit;
	} units[] = {{1, 1, " Wh"}, {1e-3, 1e3, " mWh"}, {0, 1e6, " uWh"}};
	struct vpa_num n;
	double value;
	size_t i = 0;

	while (wh < units[i].least)
		i++;
	value = wh * units[i].scale;
	n = vpa_fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0);
	strncat(n.text, units[i].unit, sizeof(n.text) - strlen(n.text) - 1);
	return n;
}

static void add_energy(struct vpa_table *t, const struct vpa_report *r, const struct vpa_counter *c)
{
	const struct vpa_request *main = vpa_main_request(r);
	struct vpa_words w = {.used = 0};
	size_t i, shown;

	vpa_words_add(
		&w, "", "Energy of GPU %lld: %s", (long long)c->device, energy(c->energy_wh).text);
	for (i = 0; i < c->request_count && main; i++) {
		const struct vpa_request_energy *e = &c->requests[i];

		if (&r->requests[e->request] != main)
			continue;
		if (main->source && e->energy_wh >= 0)
			vpa_words_add(&w, "; ", "a video %s", energy(e->energy_wh).text);
		if (e->per_block_wh >= 0)
			vpa_words_add(&w, ", ", "a block %s", energy(e->per_block_wh).text);
		if (e->per_frame_wh >= 0)
			vpa_words_add(&w, ", ", "a frame %s", energy(e->per_frame_wh).text);
	}
	for (i = shown = 0; i < c->part_count && shown < STAGES; i++) {
		const struct vpa_counter_part *p = &c->parts[i];

		if (p->energy_wh < 0 || p->kind != VPA_SCOPE_STAGE)
			continue;
		vpa_words_add(&w, shown++ ? ", " : "; of it ", "%s %s", vpa_fit(p->name, 40).text,
			energy(p->energy_wh).text);
	}
	vpa_text_row(t, 1, "%s", w.text);
}

/* "text_encode 4.3 GB, vae_decode 2.1 GB": the most of a series, by stage; of peaks that the program measures, in the
 * blocks too. Returns whether there is any. */
static int add_most(struct vpa_words *w, const struct vpa_counter *c)
{
	size_t i, shown = 0;

	for (i = 0; i < c->part_count && shown < STAGES; i++) {
		const struct vpa_counter_part *p = &c->parts[i];
		int has_peak = p->kind == VPA_SCOPE_STAGE ||
			       (p->kind == VPA_SCOPE_BLOCK && c->series == VPT_SERIES_MARKED_PEAK);

		if (!has_peak || (!p->samples && !p->covered_ns))
			continue;
		vpa_words_add(w, shown++ ? ", " : "", "%s %s", vpa_fit(p->name, 40).text,
			vpa_sample_value(p->max, "B").text);
	}
	return shown != 0;
}

/* Memory of PyTorch's allocator, by stage: what it holds at their ends, and the most in them. */
static void add_allocator(struct vpa_table *t, const struct vpa_report *r)
{
	static const struct {
		enum vpt_series series;
		const char *words;
	} rows[] = {{VPT_SERIES_MARKED_ALLOCATED, "PyTorch's memory at the end of a stage"},
		{VPT_SERIES_MARKED_PEAK, "PyTorch's memory in a stage or block, at most"}};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct vpa_counter *c = vpa_find_counter(r, -1, rows[i].series);
		struct vpa_words w = {.used = 0};

		if (c && add_most(&w, c))
			vpa_text_row(t, 1, "%s: %s", rows[i].words, w.text);
	}
}

/* Whether a series is a GPU's memory in use, whoever measured it. */
static int is_memory(const struct vpa_counter *c)
{
	return c->series == VPT_SERIES_MEMORY_USED || c->series == VPT_SERIES_CUDA_ALLOCATED ||
	       c->series == VPT_SERIES_TORCH_ALLOCATED;
}

/* The most memory in use, by stage. */
static void add_peaks(struct vpa_table *t, const struct vpa_report *r, const struct vpa_counter *c)
{
	const struct vpa_counter *total = vpa_find_counter(r, c->device, VPT_SERIES_MEMORY_TOTAL);
	struct vpa_words w = {.used = 0};

	if (!add_most(&w, c))
		return;
	vpa_text_row(t, 1, "%s of GPU %lld at most%s%s: %s", c->name, (long long)c->device,
		total ? ", of " : "", total ? vpa_sample_value(total->max, "B").text : "", w.text);
}

/* Which of the means are not by time. */
static void add_means(struct vpa_table *t, const struct vpa_report *r)
{
	struct vpa_words w = {.used = 0};
	size_t i, shown = 0;

	for (i = 0; i < r->counter_count; i++) {
		const struct vpa_counter *c = &r->counters[i];

		if (!is_shown(c) || !(c->max > 0) || c->mean_of != VPA_MEAN_OF_SAMPLES)
			continue;
		if (shown++ < MEANS)
			vpa_words_add(&w, ", ", "%s", vpa_fit(c->name, 40).text);
	}
	if (shown > MEANS)
		vpa_words_add(&w, ", ", "%zu more", shown - MEANS);
	if (shown)
		vpa_text_row(t, 1, "Mean and p95 of the samples, others by time: %s", w.text);
}

static void add_notes(struct vpa_table *t, const struct vpa_report *r)
{
	const char *nvml = vpa_meta(r, VPT_METADATA_NVML),
		   *failure = vpa_meta(r, VPT_METADATA_COUNTERS_FAILURE);
	size_t i;

	add_means(t, r);
	for (i = 0; i < r->counter_count; i++)
		if (r->counters[i].energy_wh >= 0 && r->counters[i].device >= 0)
			add_energy(t, r, &r->counters[i]);
	for (i = 0; i < r->counter_count; i++)
		if (r->counters[i].device >= 0 && is_memory(&r->counters[i]))
			add_peaks(t, r, &r->counters[i]);
	add_allocator(t, r);
	if (nvml)
		vpa_text_row(t, 1, "NVML %s", vpa_fit(nvml, 100).text);
	if (failure)
		vpa_text_row(t, 1, "%s", vpa_fit(failure, 100).text);
}

void vpa_text_counters(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_view *v = vpa_view_of("counters");
	const char *interval = vpa_meta(r, VPT_METADATA_COUNTERS_INTERVAL),
		   *list = vpa_meta(r, VPT_METADATA_COUNTERS);
	struct vpa_table t;

	if (!r->counter_count)
		return;
	vpa_table_init(&t, v->columns, v->column_count, "COUNTERS%s%s%s",
		interval ? ", every "
		: list   ? ", "
			 : "",
		interval ? vpa_fit(interval, 8).text
		: list   ? vpa_fit(list, 60).text
			 : "",
		interval ? " ms" : "");
	add_series(&t, r, v, d);
	add_notes(&t, r);
	vpa_page_table(p, &t);
}

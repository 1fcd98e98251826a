/* what_if_text.c - the answer to "what if" for a terminal. */
#include "analysis/retime/what_if/what_if_pages.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t ns_of(double ms)
{
	return ms > 0 ? (uint64_t)(ms * 1e6 + 0.5) : 0;
}

static void put_simulated(struct vpa_page *p, int simulated)
{
	if (simulated == 1)
		vpa_page_words(p, "DATA", VPA_YELLOW,
			"SIMULATED: no GPU ran; a stand-in made up every device time.");
}

/* Side by side they say what limits, without a threshold. */
static void put_paces(struct vpa_page *p, const struct vpa_forecast *f)
{
	if (f->base == VPA_BASE_NONE || !(f->gpu_ms > 0))
		return;
	vpa_page_words(p, "PACES", VPA_PLAIN,
		"The GPU alone would need %s%s%s, the host alone %s; together they take %s.",
		vpa_duration(ns_of(f->gpu_ms)).text, f->base != VPA_BASE_ACTIVE ? " for one " : "",
		f->base != VPA_BASE_ACTIVE ? vpa_base_name(f->base) : "",
		vpa_duration(ns_of(f->host_ms)).text, vpa_duration(ns_of(f->base_ms)).text);
}

static void put_confidence(
	struct vpa_page *p, const struct vpa_forecast *f, const struct vpa_report *r)
{
	vpa_page_words(p, "TRUST", f->confidence == VPA_CONFIDENCE_HIGH ? VPA_GREEN : VPA_YELLOW,
		"%s confidence: for %s %% of the time ops began late for no known reason%s.",
		vpa_confidence_word(f->confidence), vpa_share(f->unexplained_share).text,
		f->without_call_share > 0 ? "; some ops have no launch" : "");
	vpa_page_words(p, "", VPA_PLAIN,
		"Not predicted: kernels that slow each other down, clocks and power, memory, other "
		"processes%s.",
		vpa_has_collectives(r) ? ", and what other ranks do: collectives last as recorded, "
					 "and only vptrace-analyze ranks knows more"
				       : "");
}

/* ---- one answer ---- */

static const struct vpa_column columns[] = {
	{.head = "recorded"},
	{.head = "predicted"},
	{.head = "change, %"},
	{.head = "measured"},
	{.head = "error, %"},
};

static struct vpa_num change_of(double from, double to)
{
	struct vpa_num n;

	snprintf(n.text, sizeof(n.text), "%+.1f", from > 0 ? 100 * (to - from) / from : 0);
	return n;
}

static struct vpa_num rate(double value)
{
	struct vpa_num none = {"-"};

	return value > 0 ? vpa_fixed(value, 2) : none;
}

static void put_rates(
	struct vpa_table *t, const char *name, double recorded, double predicted, double measured)
{
	struct vpa_row *row;

	if (!(recorded > 0))
		return;
	row = vpa_table_row(t, 0, "%s", name);
	row->cells[0] = rate(recorded);
	row->cells[1] = rate(predicted);
	row->cells[2] = change_of(recorded, predicted);
	row->cells[3] = rate(measured);
	if (measured > 0)
		row->cells[4] = change_of(measured, predicted);
}

/* "-" for what is gone, or not measured. */
static struct vpa_num length(double ms)
{
	struct vpa_num none = {"-"};

	return ms > 0 ? vpa_duration(ns_of(ms)) : none;
}

static void put_lengths(
	struct vpa_row *row, double recorded_ms, double predicted_ms, double measured_ms)
{
	row->cells[0] = length(recorded_ms);
	row->cells[1] = length(predicted_ms);
	if (predicted_ms > 0)
		row->cells[2] = change_of(recorded_ms, predicted_ms);
	row->cells[3] = length(measured_ms);
	if (measured_ms > 0 && predicted_ms > 0)
		row->cells[4] = change_of(measured_ms, predicted_ms);
}

static void put_unit(struct vpa_table *t, const struct vpa_what_if_row *u)
{
	struct vpa_row *row =
		u->number < 0
			? vpa_table_row(t, 0, "%s%s", vpa_base_name(u->unit),
				  u->unit != VPA_BASE_ACTIVE ? ", mean" : " time")
			: vpa_table_row(t, 1, "%s %" PRId64, vpa_base_name(u->unit), u->number);

	put_lengths(row, u->recorded_ms, u->predicted_ms, u->measured_ms);
}

static void put_units(struct vpa_page *p, const struct vpa_what_if *w)
{
	struct vpa_table t;
	size_t i;

	vpa_table_init(&t, columns, w->other ? 5 : 3, "%s", "");
	for (i = 0; i < w->row_count; i++) {
		const struct vpa_what_if_row *u = &w->rows[i];

		put_unit(&t, u);
		put_rates(&t, "FPS", u->fps_recorded, u->fps_predicted, u->fps_measured);
		put_rates(&t, "steps per second", u->steps_per_s_recorded, u->steps_per_s_predicted,
			u->steps_per_s_measured);
	}
	vpa_page_table(p, &t);
}

/* Where the difference is. Steps of a block are beside those of the same number. */
static void put_parts(struct vpa_page *p, const struct vpa_what_if *w)
{
	struct vpa_words left_out = {.used = 0};
	struct vpa_table t;
	size_t i;

	vpa_table_init(&t, columns, w->other ? 5 : 3, "STAGES AND STEPS, MEAN");
	for (i = 0; i < w->part_count; i++) {
		const struct vpa_what_if_part *part = &w->parts[i];

		put_lengths(part->number < 0
				    ? vpa_table_row(&t, 0, "%s", part->name)
				    : vpa_table_row(&t, 1, "%s %" PRId64, part->name, part->number),
			part->recorded_ms, part->predicted_ms, part->measured_ms);
	}
	if (w->part_count)
		vpa_page_table(p, &t);
	for (i = 0; i < w->parts_left_out_count; i++)
		vpa_words_add(&left_out, ", ", "%s", vpa_fit(w->parts_left_out[i], 40).text);
	if (left_out.used)
		vpa_page_words(p, "", VPA_PLAIN,
			"Not predicted, since they overlap others or are too many: %s.",
			left_out.text);
}

static void put_change(struct vpa_page *p, const char *section, const struct vpa_what_if_change *c)
{
	if (c->hits)
		vpa_page_words(p, section, VPA_PLAIN, "%s: changes %s %s", c->text,
			vpa_count(c->hits).text, c->noun);
	else
		vpa_page_words(
			p, section, VPA_YELLOW, "%s: changes nothing in this trace", c->text);
}

void vpa_what_if_put(struct vpa_page *p, const struct vpa_what_if *w)
{
	size_t i;

	put_simulated(p, w->simulated);
	for (i = 0; i < w->change_count; i++)
		put_change(p, i ? "" : "WHAT IF", &w->changes[i]);
	put_units(p, w);
	put_parts(p, w);
	put_paces(p, &w->forecast);
	put_confidence(p, &w->forecast, w->report);
}

/* ---- all findings ---- */

static const struct vpa_column finding_columns[] = {
	{.head = "FPS or /s"},
	{.head = "predicted"},
	{.head = "at most"},
	{.head = "saves, ms"},
};

/* ">=18.2" */
static struct vpa_num at_least(int is_least, struct vpa_num n)
{
	struct vpa_num out = n;

	if (is_least && n.text[0] != '-')
		snprintf(out.text, sizeof(out.text), ">=%.30s", n.text);
	return out;
}

static void put_finding(struct vpa_table *t, const struct vpa_finding *f)
{
	int has_fps = f->fps_from > 0;
	struct vpa_row *row = vpa_table_row(t, 0, "%s", vpa_finding_text(f->id));

	row->cells[0] = rate(has_fps ? f->fps_from : f->steps_per_s_from);
	row->cells[1] = at_least(
		f->predicted_at_least, rate(has_fps ? f->fps_predicted : f->steps_per_s_predicted));
	row->cells[2] = rate(has_fps ? f->fps_to : f->steps_per_s_to);
	row->cells[3] = at_least(f->predicted_at_least, vpa_fixed(f->base_ms - f->predicted_ms, 1));
	vpa_text_row(t, 1, "%s", f->change);
}

void vpa_what_if_put_findings(struct vpa_page *p, const struct vpa_report *r)
{
	const struct vpa_forecast *f = &r->forecast;
	struct vpa_row *row;
	struct vpa_table t;
	size_t i, count = 0;

	put_simulated(p, r->simulated);
	if (f->why_not) {
		vpa_page_words(p, "TRUST", VPA_YELLOW, "no prediction: %s.", f->why_not);
		return;
	}
	vpa_table_init(&t, finding_columns, 4, "%s", "WHAT IF");
	for (i = 0; i < r->finding_count; i++)
		if (r->findings[i].predicted_ms > 0 && r->findings[i].change) {
			put_finding(&t, &r->findings[i]);
			count++;
		}
	if (f->all_count) {
		row = vpa_table_row(&t, 0, "all %zu together", f->all_count);
		row->cells[1] = at_least(
			f->all_at_least, rate(f->all_fps > 0 ? f->all_fps : f->all_steps_per_s));
		row->cells[3] = at_least(f->all_at_least, vpa_fixed(f->base_ms - f->all_ms, 1));
	}
	if (count)
		vpa_page_table(p, &t);
	else
		vpa_page_words(p, "WHAT IF", VPA_PLAIN,
			"No finding of this trace asks for a change that can be replayed. Try one "
			"with --change.");
	put_paces(p, f);
	put_confidence(p, f, r);
}

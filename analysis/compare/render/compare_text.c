/* compare_text.c - a comparison for people: the verdict, what differs in the set-up, then why.
 *
 * The page is one list of sections, which text and Markdown share. */
#include "analysis/compare/render/compare_pages.h"

#include "analysis/compare/comparison_steps.h"
#include "analysis/compare/render/change_numbers.h"
#include "analysis/render/kernel_names.h"
#include "analysis/render/measures.h"
#include "analysis/render/renderer.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { MARKDOWN_ROWS = 8, FACT_COLUMNS = 56 };

/* ---- the set-up ---- */

static void put_facts(struct vpa_page *p, const struct vpa_comparison *c)
{
	size_t i;

	vpa_page_blank(p);
	if (!c->fact_count)
		vpa_page_words(p, "SET-UP", VPA_PLAIN, "The same, as far as it was recorded.");
	for (i = 0; i < c->fact_count; i++) {
		const struct vpa_compared_fact *f = &c->facts[i];

		vpa_page_words(p, i ? "" : "SET-UP", VPA_PLAIN, "%s%s: %s -> %s",
			i ? "" : "differs. ", f->name,
			vpa_fit(vpa_text_or(f->a, "not recorded"), FACT_COLUMNS).text,
			vpa_fit(vpa_text_or(f->b, "not recorded"), FACT_COLUMNS).text);
	}
}

/* ---- why ---- */

static void fill_times(
	struct vpa_row *row, const struct vpa_comparison *c, const struct vpa_account_part *times)
{
	uint64_t mean = vpa_compare_mean_a(c);
	unsigned decimals = vpa_compared_decimals_of(mean);

	row->cells[0] = vpa_compared_plain_ms(times->a_ns, c->a_over, decimals);
	row->cells[1] = vpa_compared_plain_ms(times->b_ns, c->b_over, decimals);
	row->cells[2] = vpa_compared_change_ms(times->delta_ns, decimals + 1);
	row->cells[3] =
		mean ? vpa_compared_percent((double)times->delta_ns / (double)mean) : vpa_missing();
}

/* "gemm"; "blocking copy: host code in post_process" */
static struct vpa_row *part_row(struct vpa_table *t, const struct vpa_compared_part *part)
{
	struct vpa_row *row = vpa_table_row(t, 2, "%s%s%s", part->name, part->host ? ": " : "",
		part->host
			? vpa_compared_instead(part->host, part->host_call, &part->host_place).text
			: "");

	row->wrap = 1;
	return row;
}

/* The parts of a kind, the smallest changes in one row. */
static void add_parts(struct vpa_table *t, const struct vpa_comparison *c,
	enum vpa_block_part_kind kind, size_t most)
{
	uint64_t mean = vpa_compare_mean_a(c);
	size_t shown = 0, rest = 0, i;
	struct vpa_account_part times = {0};

	for (i = 0; i < c->part_count; i++) {
		const struct vpa_compared_part *part = &c->parts[i];
		int is_small = vpa_magnitude(part->times.delta_ns) < mean / 10000;

		if (part->kind != kind)
			continue;
		if (shown == most || (shown && is_small)) {
			rest++;
			vpa_compare_add_times(&times, &part->times);
			continue;
		}
		shown++;
		fill_times(part_row(t, part), c, &part->times);
	}
	if (rest)
		fill_times(vpa_table_row(t, 2, "%zu with smaller changes", rest), c, &times);
}

static void add_kind(struct vpa_table *t, const struct vpa_comparison *c,
	enum vpa_block_part_kind kind, const char *title, size_t most)
{
	struct vpa_account_part times = {0};
	struct vpa_row *row;
	size_t i, count = 0;

	for (i = 0; i < c->part_count; i++)
		if (c->parts[i].kind == kind) {
			vpa_compare_add_times(&times, &c->parts[i].times);
			count++;
		}
	if (!count)
		return;
	row = vpa_table_row(t, 1, "%s", title);
	row->style = VPA_BOLD;
	fill_times(row, c, &times);
	if (kind != VPA_PART_PAUSED && c->by_part)
		add_parts(t, c, kind, most);
}

static int is_equal(const struct vpa_comparison *c)
{
	size_t i;

	for (i = 0; i < c->part_count; i++)
		if (c->parts[i].times.delta_ns)
			return 0;
	return 1;
}

static void put_parts(struct vpa_page *p, const struct vpa_comparison *c, size_t top)
{
	static const struct vpa_column columns[] = {
		{.head = "A ms"}, {.head = "B ms"}, {.head = "change ms"}, {"% of A", .drop = 1}};
	const struct vpa_account_part whole = {c->a_total_ns, c->b_total_ns, c->delta_ns};
	struct vpa_table t;
	struct vpa_row *row;

	if (is_equal(c)) {
		vpa_page_blank(p);
		vpa_page_words(p, "WHY", VPA_PLAIN, "Every part of the mean %s is equal.",
			vpa_compared_unit(c));
		return;
	}
	vpa_table_init(&t, columns, COUNT(columns), "WHY THE MEAN %s CHANGED",
		c->per_frame ? "FRAME" : vpa_unit_words(c->unit)->title);
	row = vpa_table_row(&t, 1, "%s", c->unit == VPA_UNIT_WINDOW ? "window" : "period");
	fill_times(row, c, &whole);
	add_kind(&t, c, VPA_PART_BUSY, "GPU BUSY, by kernel family", top);
	add_kind(&t, c, VPA_PART_IDLE, "GPU IDLE, by cause", top);
	add_kind(&t, c, VPA_PART_PAUSED, "RECORDING PAUSED", top);
	vpa_page_table(p, &t);
}

/* ---- stages ---- */

static struct vpa_num stage_ms(double ns)
{
	return ns < 0 ? vpa_missing() : vpa_fixed(ns / 1e6, 2);
}

static void put_stages(struct vpa_page *p, const struct vpa_comparison *c)
{
	static const struct vpa_column columns[] = {{.head = "A ms"}, {.head = "B ms"},
		{.head = "change ms"}, {"%", .drop = 1}, {"n/block", .drop = 2},
		{.head = "p (Holm)"}};
	struct vpa_table t;
	size_t i, changed = 0;

	for (i = 0; i < c->stage_count; i++)
		changed += c->stages[i].a_ns != c->stages[i].b_ns ||
			   c->stages[i].a_per_unit != c->stages[i].b_per_unit;
	if (!changed)
		return;
	vpa_table_init(&t, columns,
		c->between_runs             ? COUNT(columns)
		: c->unit == VPA_UNIT_BLOCK ? COUNT(columns) - 1
					    : COUNT(columns) - 2,
		"STAGES (mean of an instance)");
	for (i = 0; i < c->stage_count; i++) {
		const struct vpa_compared_stage *s = &c->stages[i];
		struct vpa_row *row =
			vpa_table_row(&t, s->nested ? 3 : 1, "%s", vpa_text_or(s->name, "?"));
		int both = s->a_ns >= 0 && s->b_ns >= 0;

		row->cells[0] = stage_ms(s->a_ns);
		row->cells[1] = stage_ms(s->b_ns);
		row->cells[2] =
			both ? vpa_compared_change_ms(vpt_sat_i64(s->delta_ns), 2) : vpa_missing();
		row->cells[3] =
			both && s->a_ns > 0 ? vpa_compared_percent(s->change) : vpa_missing();
		row->cells[4] = vpa_compared_per_unit(s->a_per_unit);
		if (s->a_per_unit != s->b_per_unit)
			snprintf(row->cells[4].text, sizeof(row->cells[4].text), "%.16s->%.16s",
				vpa_compared_per_unit(s->a_per_unit).text,
				vpa_compared_per_unit(s->b_per_unit).text);
		row->cells[5] = s->p < 0 ? vpa_missing() : vpa_fixed(s->p, 4);
	}
	vpa_page_table(p, &t);
}

/* ---- kernels, places ---- */

/* "(whole window, per block)" */
static struct vpa_label over_window(const struct vpa_comparison *c)
{
	struct vpa_label out;
	int is_whole = c->unit == VPA_UNIT_WINDOW;

	snprintf(out.text, sizeof(out.text), "(whole window%s%s)", is_whole ? "" : ", per ",
		is_whole ? "" : vpa_unit_kind_name(c->unit));
	return out;
}

static void fill_row(struct vpa_row *row, const struct vpa_comparison *c,
	const struct vpa_compared_row *r, unsigned decimals)
{
	row->cells[0] = vpa_compared_per_unit(r->a_per_unit);
	row->cells[1] = vpa_compared_per_unit(r->b_per_unit);
	row->cells[2] = vpa_compared_plain_ms(r->times.a_ns, c->a_window_over, decimals);
	row->cells[3] = vpa_compared_plain_ms(r->times.b_ns, c->b_window_over, decimals);
	row->cells[4] = vpa_compared_change_ms(r->times.delta_ns, decimals);
	if (r->state != VPA_ROW_BOTH)
		snprintf(row->cells[5].text, sizeof(row->cells[5].text), "%s",
			vpa_row_state_name(r->state));
}

/* The mean time of a call, before and after; blank where one side has none. */
static void fill_mean(struct vpa_row *row, const struct vpa_compared_row *r)
{
	if (r->a_count && r->b_count)
		snprintf(row->cells[6].text, sizeof(row->cells[6].text), "%.16s->%.16s",
			vpa_duration(r->a_call_ns).text, vpa_duration(r->b_call_ns).text);
}

/* The rows of a kind that changed by a ten thousandth of a mean unit or more, or are of another shape and take that long. */
static size_t rows_of(const struct vpa_comparison *c, enum vpa_block_part_kind kind, size_t top,
	const struct vpa_compared_row **out)
{
	uint64_t least = vpa_compare_mean_a(c) / 10000;
	size_t i, count = 0;

	for (i = 0; i < c->row_count && count < top; i++) {
		const struct vpa_compared_row *row = &c->rows[i];
		int is_other = row->state == VPA_ROW_OTHER_SHAPE && row->b_mean_ns >= least;

		if (row->kind == kind &&
			(is_other || (row->times.delta_ns &&
					     vpa_magnitude(row->times.delta_ns) >= least)))
			out[count++] = row;
	}
	return count;
}

static unsigned window_decimals(const struct vpa_comparison *c)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < c->row_count; i++)
		vpt_sat_add_to(&ns, c->rows[i].times.a_ns);
	return vpa_compared_decimals_of(c->a_window_over ? ns / c->a_window_over : 0) + 1;
}

static void put_kernels(struct vpa_page *p, const struct vpa_comparison *c, size_t top)
{
	static const struct vpa_column columns[] = {{"A n", .drop = 1}, {"B n", .drop = 1},
		{.head = "A ms"}, {.head = "B ms"}, {"change", .unit = "ms"}, {"", .drop = 2},
		{"a call", .drop = 3}};
	const struct vpa_compared_row *rows[VPA_LABELS_MAX];
	const char *names[VPA_LABELS_MAX];
	struct vpa_label labels[VPA_LABELS_MAX];
	size_t i, count = rows_of(c, VPA_PART_BUSY, vpa_least(top, VPA_LABELS_MAX), rows);
	struct vpa_table t;

	if (!count)
		return;
	for (i = 0; i < count; i++)
		names[i] = rows[i]->name;
	vpa_table_init(&t, columns, COUNT(columns), "KERNELS AND COPIES %s", over_window(c).text);
	vpa_kernel_labels(names, count, 40, labels);
	for (i = 0; i < count; i++) {
		struct vpa_row *row = vpa_table_row(&t, 1, "%s", labels[i].text);

		fill_row(row, c, rows[i], window_decimals(c));
		fill_mean(row, rows[i]);
	}
	vpa_page_table(p, &t);
}

/* "sync: cudaStreamSynchronize in self_attn"; "sync: host code in step, after cudaStreamSynchronize" */
static struct vpa_row *place_row(struct vpa_table *t, const struct vpa_compared_row *r)
{
	const struct vpa_place *place = r->host ? &r->host_place : &r->place;
	struct vpa_label name = vpa_alike_label(&r->ranges, vpa_text_or(place->text, ""));
	struct vpa_place all = {place->kind, place->text ? name.text : NULL};
	struct vpa_row *row;

	if (!r->host)
		return vpa_table_row(t, 1, "%s%s%s%s%s", r->name, r->call ? ": " : "",
			vpa_text_or(r->call, ""), all.text ? " in " : "", name.text);
	row = vpa_table_row(t, 1, "%s: %s%s%s", r->name,
		vpa_compared_instead(r->host, r->host_call, &all).text, r->call ? ", after " : "",
		vpa_text_or(r->call, ""));
	row->wrap = 1;
	return row;
}

static void put_places(struct vpa_page *p, const struct vpa_comparison *c, size_t top)
{
	static const struct vpa_column columns[] = {{"A gaps", .drop = 2}, {"B gaps", .drop = 2},
		{.head = "A ms"}, {.head = "B ms"}, {"change", .unit = "ms"}};
	const struct vpa_compared_row *rows[VPA_LABELS_MAX];
	size_t i, count = rows_of(c, VPA_PART_IDLE, vpa_least(top, VPA_LABELS_MAX), rows);
	struct vpa_table t;

	if (!count)
		return;
	vpa_table_init(&t, columns, COUNT(columns), "IDLE TIME BY PLACE %s", over_window(c).text);
	for (i = 0; i < count; i++) {
		const struct vpa_compared_row *r = rows[i];

		fill_row(place_row(&t, r), c, r, window_decimals(c));
	}
	vpa_page_table(p, &t);
}

/* ---- lines ---- */

static void fill_line(
	struct vpa_row *row, const struct vpa_comparison *c, const struct vpa_account_part *times)
{
	row->cells[0] = vpa_compared_plain_ms(times->a_ns, c->a_window_over, window_decimals(c));
	row->cells[1] = vpa_compared_plain_ms(times->b_ns, c->b_window_over, window_decimals(c));
	row->cells[2] = vpa_compared_change_ms(times->delta_ns, window_decimals(c));
}

/* Whether a line changed by a ten thousandth of a mean unit or more, and not within the error of its samples. */
static int has_changed(const struct vpa_comparison *c, const struct vpa_compared_line *line)
{
	uint64_t least = vpa_compare_mean_a(c) / 10000;

	return line->beyond_samples && line->times.delta_ns &&
	       vpa_magnitude(line->times.delta_ns) >= least;
}

/* Lines that changed, the others in a row, and time without a line. */
static void put_lines(struct vpa_page *p, const struct vpa_comparison *c, size_t top)
{
	static const struct vpa_column columns[] = {
		{.head = "A ms"}, {.head = "B ms"}, {"change", .unit = "ms"}};
	struct vpa_account_part rest = {0}, none = {0};
	size_t i, shown = 0, others = 0;
	struct vpa_table t;
	char text[128];

	vpa_table_init(
		&t, columns, COUNT(columns), "IDLE TIME BY LINE OF PYTHON %s", over_window(c).text);
	for (i = 0; i < c->line_count; i++) {
		const struct vpa_compared_line *line = &c->lines[i];
		struct vpa_row *row;

		if (!line->line.function) {
			vpa_compare_add_times(&none, &line->times);
		} else if (shown == vpa_least(top, VPA_LABELS_MAX) || !has_changed(c, line)) {
			vpa_compare_add_times(&rest, &line->times);
			others++;
		} else {
			row = vpa_table_row(&t, 1, "%s, %s",
				vpa_line_text(text, sizeof(text), &line->line),
				vpa_cause_text(line->cause));
			row->wrap = 1;
			fill_line(row, c, &line->times);
			shown++;
		}
	}
	if (!shown)
		return;
	if (others)
		fill_line(vpa_table_row(&t, 1, "%zu with smaller or uncertain changes", others), c,
			&rest);
	if (none.a_ns || none.b_ns)
		fill_line(vpa_table_row(&t, 1, "no line: no Python, or too few samples"), c, &none);
	vpa_page_table(p, &t);
}

/* ---- counts ---- */

static struct vpa_num count_of(const struct vpa_compared_count *n, double value)
{
	if (vpa_measure_of(n->unit) == VPA_MEASURE_BYTES)
		return vpa_bytes(vpt_sat_u64(value + 0.5));
	return vpa_compared_per_unit(value);
}

static void put_counts(struct vpa_page *p, const struct vpa_comparison *c)
{
	static const struct vpa_column columns[] = {
		{.head = "A"}, {.head = "B"}, {"change", .drop = 1}};
	struct vpa_table t;
	size_t i;

	vpa_table_init(&t, columns, COUNT(columns), "COUNTS THAT CHANGED %s", over_window(c).text);
	for (i = 0; i < c->count_count; i++) {
		const struct vpa_compared_count *n = &c->counts[i];
		enum vpa_measure measure = vpa_measure_of(n->unit);
		int is_plain = measure == VPA_MEASURE_COUNT,
		    has_group = n->group != VPA_COUNTS_EVENTS;
		struct vpa_row *row;

		/* Idle time has a table of its own. */
		if (fabs(n->a - n->b) <= 0.005 * fmax(n->a, n->b) || fmax(n->a, n->b) < 0.5 ||
			measure == VPA_MEASURE_IDLE_NS)
			continue;
		row = vpa_table_row(&t, 1, "%s%s%s%s%s",
			has_group ? vpa_count_group_name(n->group) : "", has_group ? ": " : "",
			n->name, is_plain ? "" : ", ", is_plain ? "" : n->unit);
		row->cells[0] = count_of(n, n->a);
		row->cells[1] = count_of(n, n->b);
		row->cells[2] = vpa_compared_growth(n->a, n->b);
	}
	vpa_page_table(p, &t);
}

/* ---- memory, clocks ---- */

static struct vpa_num sample(double value, const char *unit)
{
	if (value < 0)
		return vpa_missing();
	if (vpa_measure_of(unit) == VPA_MEASURE_BYTES)
		return vpa_bytes(vpt_sat_u64(value + 0.5));
	return vpa_fixed(value, value < 100 ? 2 : 0);
}

static void put_counters(struct vpa_page *p, const struct vpa_comparison *c, size_t top)
{
	static const struct vpa_column columns[] = {{.head = "A mean"}, {.head = "B mean"},
		{"change", .drop = 1}, {"A max", .drop = 2}, {"B max", .drop = 2}};
	struct vpa_table t;
	size_t i, shown = 0;

	vpa_table_init(
		&t, columns, COUNT(columns), "MEMORY, CLOCKS AND OTHER SAMPLES THAT CHANGED");
	for (i = 0; i < c->counter_count && shown < top; i++) {
		const struct vpa_compared_counter *n = &c->counters[i];
		const char *unit = vpa_text_or(n->unit, "");
		struct vpa_row *row;

		/* What one side did not sample has not changed. */
		if (n->a_mean < 0 || n->b_mean < 0)
			continue;
		if (fabs(n->a_mean - n->b_mean) <= 0.01 * fmax(n->a_mean, n->b_mean) &&
			fabs(n->a_max - n->b_max) <= 0.01 * fmax(n->a_max, n->b_max))
			continue;
		shown++;
		/* Bytes stand with their unit. */
		if (vpa_measure_of(unit) == VPA_MEASURE_BYTES)
			unit = "";
		row = vpa_table_row(&t, 1, "%s%s%s", n->name, *unit ? ", " : "", unit);

		row->cells[0] = sample(n->a_mean, n->unit);
		row->cells[1] = sample(n->b_mean, n->unit);
		row->cells[2] = n->a_mean > 0 && n->b_mean >= 0
					? vpa_compared_percent((n->b_mean - n->a_mean) / n->a_mean)
					: vpa_missing();
		row->cells[3] = sample(n->a_max, n->unit);
		row->cells[4] = sample(n->b_max, n->unit);
	}
	vpa_page_table(p, &t);
}

static void put_findings(struct vpa_page *p, const struct vpa_comparison *c)
{
	size_t i;
	int first = 1, in_b;

	for (in_b = 1; in_b >= 0; in_b--)
		for (i = 0; i < c->finding_count; i++) {
			if (c->findings[i].in_b != in_b)
				continue;
			if (first)
				vpa_page_blank(p);
			vpa_page_words(p, first ? "FINDING" : "", VPA_PLAIN, "%s: %s",
				in_b ? "only in B" : "only in A", c->findings[i].title);
			first = 0;
		}
}

static uint64_t ns_of(double ms)
{
	return vpt_sat_u64(ms * 1e6 + 0.5);
}

static struct vpa_num signed_of(double percent)
{
	struct vpa_num n;

	snprintf(n.text, sizeof(n.text), "%+.1f", percent);
	return n;
}

void vpa_compare_put_prediction(struct vpa_page *p, const struct vpa_comparison *c)
{
	const struct vpa_compared_prediction *n = c->prediction;
	struct vpa_words w = {.used = 0};
	size_t i;

	if (!n)
		return;
	for (i = 0; i < n->finding_count; i++)
		vpa_words_add(&w, "", "%s%s", i ? "; " : "", n->titles[i]);
	vpa_page_blank(p);
	vpa_page_words(p, "REPLAY", VPA_PLAIN, "Gone in B: %s.", w.text);
	w.used = 0;
	vpa_words_add(&w, "", "A replayed with that takes %s %s, B takes %s: %s %% off",
		vpa_duration(ns_of(n->predicted_ms)).text,
		n->unit < VPA_BASE_UNIT
			? "a run"
			: vpa_unit_words((enum vpa_unit_kind)(n->unit - VPA_BASE_UNIT))->a_noun,
		vpa_duration(ns_of(n->measured_ms)).text, signed_of(n->error_percent).text);
	if (n->fps_predicted > 0 && n->fps_measured > 0)
		vpa_words_add(&w, "; ", "%s FPS predicted, %s measured",
			vpa_compared_rate(n->fps_predicted).text,
			vpa_compared_rate(n->fps_measured).text);
	vpa_page_words(p, "", VPA_PLAIN, "%s. Confidence: %s. Changes: %s", w.text, n->confidence,
		n->change);
}

/* Puts the whole comparison; at most `top` rows per table, 0: 12. */
static void put_comparison(struct vpa_page *p, const struct vpa_comparison *c, size_t top)
{
	size_t rows = top ? top : VPA_TOP_COMPARED;

	vpa_compare_put_result(p, c);
	vpa_compare_put_notes(p, c);
	put_facts(p, c);
	vpa_compare_put_kernels(p, c);
	vpa_compare_put_because(p, c);
	put_parts(p, c, rows);
	put_stages(p, c);
	put_kernels(p, c, rows);
	put_places(p, c, rows);
	put_lines(p, c, rows);
	put_counts(p, c);
	put_counters(p, c, rows);
	put_findings(p, c);
	vpa_compare_put_prediction(p, c);
}

int vpa_compare_text(const struct vpa_comparison *c, unsigned width, int colour, size_t top,
	struct vpt_sink *sink, struct vpt_err *err)
{
	struct vpa_page p;

	vpa_page_init(&p, sink, width ? width : 80, colour, err);
	put_comparison(&p, c, top);
	return p.rc;
}

/* ---- Markdown ---- */

static void put_page(struct vpa_page *p, const void *ctx)
{
	put_comparison(p, ctx, MARKDOWN_ROWS);
}

int vpa_compare_markdown(const struct vpa_comparison *c, struct vpt_sink *sink, struct vpt_err *err)
{
	return vpa_markdown_page(put_page, c, 2 * MARKDOWN_ROWS, sink, err);
}

/* text_blocks.c - tables about blocks: the mean block, the stages, the series.
 *
 * Shows one request, the one with most measured blocks. The mean block adds up: its parts are those of
 * the measured periods, divided by their number. */
#include "analysis/render/text/sections/text_blocks_parts.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"

enum { FAMILIES = 7, CAUSES = 6, STAGES = 14, BLOCKS = 8, OUTLIERS = 3 };

/* ---- THE MEAN BLOCK ---- */

static void fill_part(struct vpa_row *row, const struct vpa_blocks *b, uint64_t ns, uint64_t count)
{
	uint64_t all = vpa_blocks_ns(b);

	row->cells[0] = vpa_ms_of(vpa_divided(ns, b->measured), vpa_block_decimals(b));
	row->cells[1] = vpa_percent(ns, all);
	if (!count)
		return;
	row->cells[2] = vpa_a_block(count, b);
	row->cells[3] = vpa_mean(ns, count);
}

/* "of which host code in post_process": what the host did after the cause had held it back. */
static void add_code(struct vpa_table *t, const struct vpa_blocks *b,
	const struct vpa_block_part *part, const struct vpa_digest *d)
{
	uint64_t ns = vpa_part_code_ns(part);
	struct vpa_row *row;

	if (!ns)
		return;
	row = vpa_table_row(t, 4, "of which host code%s",
		vpa_code_place(&d->code[vpa_known_cause(vpa_part_cause(part->part))], 60).text);
	row->wrap = 1;
	fill_part(row, b, ns, 0);
}

static void add_parts(struct vpa_table *t, const struct vpa_blocks *b,
	enum vpa_block_part_kind kind, const struct vpa_digest *d, int has_code)
{
	uint64_t rest_ns = 0, rest_count = 0;
	size_t most = kind == VPA_PART_BUSY ? FAMILIES : CAUSES, shown = 0, rest = 0, i;

	for (i = 0; i < b->part_count; i++) {
		const struct vpa_block_part *part = &b->parts[i];
		struct vpa_label where = {{0}};

		if (part->kind != kind)
			continue;
		if (shown == most ||
			(shown && part->ns < vpt_sat_add(b->busy_ns, b->idle_ns) / 1000)) {
			rest++;
			vpt_sat_add_to(&rest_ns, part->ns);
			vpt_sat_add_to(&rest_count, part->count);
			continue;
		}
		shown++;
		if (kind == VPA_PART_IDLE)
			where = vpa_where(d, vpa_known_cause(vpa_part_cause(part->part)), 64);
		fill_part(vpa_table_row(t, 2, "%s%s%s", vpa_part_text(d, part),
				  where.text[0] ? ": " : "", where.text),
			b, part->ns, part->count);
		if (kind == VPA_PART_IDLE && has_code)
			add_code(t, b, part, d);
	}
	if (rest_ns >= vpt_sat_add(b->busy_ns, b->idle_ns) / 1000)
		fill_part(vpa_table_row(t, 2, "%zu smaller ones", rest), b, rest_ns, rest_count);
}

/* The row of the series of measured block number `at`. */
static size_t measured_row(const struct vpa_blocks *b, size_t at)
{
	size_t i;

	for (i = 0; i + 1 < b->count && (b->series[i].warmup || at); i++)
		at -= !b->series[i].warmup;
	return i;
}

static void put_mean_block(
	struct vpa_page *p, const struct vpa_blocks *b, const struct vpa_digest *d)
{
	static const struct vpa_column columns[] = {
		{.head = "ms"}, {.head = "% period"}, {"n/block", .drop = 1}, {"mean", .drop = 2}};
	struct vpa_table t;
	struct vpa_row *row;

	vpa_table_init(&t, columns, COUNT(columns), "THE MEAN BLOCK (%s to %s, %zu warm-up)",
		vpa_block_name(b, measured_row(b, 0)).text,
		vpa_block_name(b, measured_row(b, b->measured - 1)).text, b->warmup);
	row = vpa_table_row(&t, 1, "period  p50 %s  min %s  max %s ms",
		vpa_ms_of(b->period.p50_ns, vpa_block_decimals(b)).text,
		vpa_ms_of(b->period.min_ns, vpa_block_decimals(b)).text,
		vpa_ms_of(b->period.max_ns, vpa_block_decimals(b)).text);
	row->wrap = 1;
	fill_part(row, b, vpa_blocks_ns(b), 0);
	row->cells[0] = vpa_ms_of(vpa_divided(b->span_ns, b->measured), vpa_block_decimals(b));
	if (b->devices > 1)
		vpa_text_row(&t, 1,
			"the times of %u GPUs are summed below: 100 %% is the period times the "
			"number of GPUs of a block",
			b->devices);
	row = vpa_table_row(&t, 1, "GPU BUSY, by kernel family");
	row->style = VPA_BOLD;
	fill_part(row, b, b->busy_ns, 0);
	add_parts(&t, b, VPA_PART_BUSY, d, 0);
	if (b->idle_ns) {
		row = vpa_table_row(&t, 1, "GPU IDLE, by cause");
		row->style = VPA_BOLD;
		fill_part(row, b, b->idle_ns, 0);
		/* Markdown has a limit, and the findings say it. */
		add_parts(&t, b, VPA_PART_IDLE, d, !p->form);
	}
	if (b->paused_ns)
		fill_part(vpa_table_row(&t, 1, "RECORDING PAUSED"), b, b->paused_ns, 0);
	vpa_page_table(p, &t);
}

/* ---- STAGES ---- */

static void add_stage(
	struct vpa_table *t, const struct vpa_stage_row *s, int has_blocks, unsigned decimals)
{
	/* From one iteration to the next it is longer, or shorter, which RESULT says. */
	struct vpa_row *row = vpa_table_row(t, s->nested ? 3 : 1, "%s%s", vpa_text_or(s->name, "?"),
		s->kind == VPA_SCOPE_ITERATION ? ", its ops" : "");
	uint64_t n = s->time.count;

	if (has_blocks && s->in_blocks)
		row->cells[0] = vpa_fixed(s->per_block, s->in_blocks ? 1 : 0);
	else
		snprintf(row->cells[0].text, sizeof(row->cells[0].text), "%.30s%s",
			vpa_count(s->count).text, has_blocks ? " *" : "");
	row->cells[1] = vpa_ms_of(vpa_divided(s->time.total_ns, n), decimals);
	row->cells[2] = vpa_ms_of(vpa_divided(s->busy_ns, n), decimals);
	row->cells[3] = vpa_ms_of(vpa_divided(s->idle_ns, n), decimals);
	row->cells[4] = s->attention_ns ? vpa_ms_of(vpa_divided(s->attention_ns, n), decimals)
					: vpa_missing();
	row->cells[5] = vpa_ms_of(s->time.p95_ns, decimals);
	if (s->time.mean_ns > 0 && n > 1)
		snprintf(row->cells[6].text, sizeof(row->cells[6].text), "%.30s %%",
			vpa_fixed(100 * s->time.deviation_ns / s->time.mean_ns, 1).text);
	else
		row->cells[6] = vpa_missing();
}

/* The part of all measured periods in no stage. */
static void add_between(struct vpa_table *t, const struct vpa_report *r, unsigned decimals)
{
	uint64_t span = 0, inside = 0, count = 0;
	size_t i;

	for (i = 0; i < r->request_count; i++) {
		vpt_sat_add_to(&span, r->requests[i].blocks.span_ns);
		vpt_sat_add_to(&count, r->requests[i].blocks.measured);
	}
	for (i = 0; i < r->stage_count; i++)
		vpt_sat_add_to(&inside, r->stages[i].in_blocks ? r->stages[i].top_ns : 0);
	/* Stages that overlap on the device leave nothing between them. */
	if (inside && inside <= span)
		vpa_table_row(t, 1, VPA_BETWEEN_STAGES)->cells[1] =
			vpa_ms_of(vpa_divided(span - inside, count), decimals);
}

/* Whether a stage's passes lasted, in sum, longer than the time that they covered on the devices. */
static int overlaps(const struct vpa_report *r, const struct vpa_stage_row *s)
{
	uint64_t covered_ns = vpt_sat_add(s->busy_ns, s->idle_ns);

	return r->device_count == 1 && s->time.count > 1 &&
	       s->time.total_ns - s->time.total_ns / 20 > covered_ns;
}

/* `q` is NULL if there are stages, but neither blocks nor steps. */
static void put_stages(struct vpa_page *p, const struct vpa_report *r, const struct vpa_request *q)
{
	struct vpa_column columns[] = {{.head = "n/block"}, {.head = "mean ms"},
		{"busy", .drop = 1, .unit = "ms"}, {"idle", .drop = 1, .unit = "ms"},
		{"attention", .drop = 2, .unit = "ms"}, {"p95", .unit = "ms"}, {"CV", .drop = 3}};
	int has_blocks = q && q->blocks.measured > 0, outside = 0, touched = 0;
	unsigned decimals = has_blocks ? vpa_block_decimals(&q->blocks) : 1;
	const struct vpa_stage_row *overlapping = NULL;
	struct vpa_table t;
	size_t i;

	if (!r->stage_count)
		return;
	if (!has_blocks)
		columns[0].head = "n";
	vpa_table_init(&t, columns, COUNT(columns), "STAGES, on the GPU");
	for (i = 0; i < r->stage_count && i < STAGES; i++) {
		add_stage(&t, &r->stages[i], has_blocks, decimals);
		outside |= has_blocks && !r->stages[i].in_blocks;
		touched |= r->stages[i].touched;
		if (!overlapping && overlaps(r, &r->stages[i]))
			overlapping = &r->stages[i];
	}
	vpa_table_more(&t, r->stage_count - i);
	if (has_blocks)
		add_between(&t, r, decimals);
	if (outside)
		vpa_text_row(&t, 1, "* total count, outside measured blocks");
	if (overlapping)
		vpa_text_row(&t, 1,
			"the GPU still works on one %s when work of the next begins: their times "
			"overlap",
			vpa_text_or(overlapping->name, "?"));
	p->touched |= touched;
	vpa_page_table(p, &t);
}

/* ---- BLOCK ---- */

/* The measured block shown in a column: every block, or some at even steps from first to last. */
static size_t shown_block(const struct vpa_blocks *b, size_t column, size_t columns)
{
	if (b->measured <= columns)
		return measured_row(b, column);
	return measured_row(b, column * (b->measured - 1) / (columns - 1));
}

static void put_series(struct vpa_page *p, const struct vpa_report *r, const struct vpa_blocks *b)
{
	size_t columns = vpa_least(b->measured, BLOCKS), i;
	struct vpa_column heads[BLOCKS];
	struct vpa_num names[BLOCKS];
	struct vpa_table t;
	struct vpa_row *length, *fps = NULL, *deadline = NULL, *touched = NULL;

	for (i = 0; i < columns; i++) {
		names[i] = vpa_block_name(b, shown_block(b, i, columns));
		/* A narrow page drops those in the middle first and keeps the last. */
		heads[i] = (struct vpa_column){
			names[i].text, .drop = i && i + 1 < columns ? (unsigned)(columns - i) : 0};
	}
	vpa_table_init(&t, heads, columns, b->measured > columns ? "BLOCK, %zu of %zu" : "BLOCK",
		columns, b->measured);
	length = vpa_table_row(&t, 1, "ms");
	if (b->frames)
		fps = vpa_table_row(&t, 1, b->fps >= 0 ? "FPS" : "frames/s, denoising");
	if (b->misses >= 0)
		deadline = vpa_table_row(&t, 1, "at %s FPS", vpa_rate(vpa_target(r)).text);
	if (b->touched)
		touched = vpa_table_row(&t, 1, "may lack records");
	for (i = 0; i < columns; i++) {
		const struct vpa_block_row *row = &b->series[shown_block(b, i, columns)];

		length->cells[i] = vpa_ms_of(row->period_ns, vpa_block_decimals(b));
		if (fps)
			fps->cells[i] = vpa_rate(
				row->period_ns ? (double)row->frames * 1e9 / (double)row->period_ns
					       : -1);
		if (deadline)
			deadline->cells[i] = (struct vpa_num){"ok"};
		if (deadline && row->missed)
			deadline->cells[i] = (struct vpa_num){"MISS"};
		if (touched && row->touched)
			touched->cells[i] = (struct vpa_num){VPA_TOUCHED};
	}
	vpa_page_table(p, &t);
}

/* "+58.5 ms" */
static struct vpa_num signed_ms(double ns)
{
	struct vpa_num out;

	snprintf(out.text, sizeof(out.text), "%s%.30s ms", ns < 0 ? "" : "+",
		vpa_fixed(ns / 1e6, ns > -1e7 && ns < 1e7 ? 2 : 1).text);
	return out;
}

static void put_drift(struct vpa_page *p, const struct vpa_blocks *b)
{
	struct vpa_words w = {.used = 0};
	double threshold = b->period.mean_ns / 1000;

	if (!b->has_drift || (b->period_drift_ns < threshold && b->period_drift_ns > -threshold))
		return;
	vpa_words_add(&w, "", "Period %s per block", signed_ms(b->period_drift_ns).text);
	if (b->grown_until >= 0)
		vpa_words_add(
			&w, "", " until block %s", vpa_block_name(b, (size_t)b->grown_until).text);
	if (b->attention_drift_ns > threshold || b->attention_drift_ns < -threshold)
		vpa_words_add(&w, ", ", "attention %s%s%s", signed_ms(b->attention_drift_ns).text,
			b->attention_drift_most_ns > b->attention_drift_ns ? " to " : "",
			b->attention_drift_most_ns > b->attention_drift_ns
				? signed_ms(b->attention_drift_most_ns).text
				: "");
	if (b->saturated_at >= 0)
		vpa_words_add(&w, "; ", "attention stops growing at block %s",
			vpa_block_name(b, (size_t)b->saturated_at).text);
	vpa_page_words(p, "", VPA_PLAIN, "%s.", w.text);
}

/* Whether two blocks have the same line. */
static int is_same_line(const struct vpa_block_row *a, const struct vpa_block_row *b)
{
	return a->line && b->line && vpa_is_same_line(&a->line->line, &b->line->line);
}

/* The measured block whose line more than half of them have; NULL: there is no such line. *same: how many
 * have it; *none: how many have too few samples. */
static const struct vpa_block_row *usual_block(
	const struct vpa_blocks *b, size_t *same, size_t *none)
{
	const struct vpa_block_row *usual = NULL;
	size_t i, lead = 0;

	/* A majority outlives the others, if each of them cancels one of it. */
	for (i = 0; i < b->count; i++) {
		if (b->series[i].warmup)
			continue;
		if (usual && is_same_line(usual, &b->series[i])) {
			lead++;
		} else if (lead) {
			lead--;
		} else {
			usual = &b->series[i];
			lead = 1;
		}
	}
	*same = *none = 0;
	for (i = 0; i < b->count; i++) {
		if (b->series[i].warmup)
			continue;
		*same += usual && is_same_line(usual, &b->series[i]);
		*none += !b->series[i].line && b->series[i].line_samples < VPA_LINE_SAMPLES_MIN;
	}
	return *same > b->measured / 2 ? usual : NULL;
}

static void put_usual_line(struct vpa_page *p, const struct vpa_blocks *b)
{
	struct vpa_words w = {.used = 0};
	size_t same, none, i;
	const struct vpa_block_row *usual = usual_block(b, &same, &none);
	double least = 1, most = 0;
	char text[200];

	if (!usual)
		return;
	for (i = 0; i < b->count; i++)
		if (!b->series[i].warmup && is_same_line(usual, &b->series[i])) {
			double share = b->series[i].line->share;

			least = share < least ? share : least;
			most = share > most ? share : most;
		}
	vpa_words_add(&w, "", "The line with most idle time is %s (%s) in %zu of %zu blocks, ",
		vpa_line_text(text, sizeof(text), &usual->line->line),
		vpa_cause_text(vpa_known_cause(usual->line->cause)), same, b->measured);
	if (most - least >= .01)
		vpa_words_add(&w, "", "%s to ", vpa_fixed(100 * least, 0).text);
	vpa_words_add(&w, "", "%s %% of it", vpa_fixed(100 * most, 0).text);
	if (none)
		vpa_words_add(&w, "; ", "%zu %s fewer than %d samples", none,
			none == 1 ? "has" : "have", VPA_LINE_SAMPLES_MIN);
	vpa_page_words(p, "", VPA_PLAIN, "%s.", w.text);
}

/* "most idle time at run.py:60 (71 %, 14 samples)" */
static void add_block_line(struct vpa_words *w, const struct vpa_block_row *block)
{
	struct vpa_top_line top = {.samples = block->line_samples};
	char text[240];

	if (block->line) {
		top.line = block->line->line;
		top.share = block->line->share;
		vpa_words_add(
			w, "; ", "most idle time %s", vpa_top_line_text(text, sizeof(text), &top));
	} else if (block->line_samples) {
		vpa_words_add(w, "; ", "%s sample%s: too few to name a line",
			vpa_count(block->line_samples).text, vpa_plural(block->line_samples));
	}
}

static void put_outliers(struct vpa_page *p, const struct vpa_blocks *b)
{
	size_t i;

	for (i = 0; i < b->outlier_count && i < OUTLIERS; i++) {
		const struct vpa_outlier_row *o = &b->outliers[i];
		int is_idle = vpa_part_cause(o->part) < VPA_CAUSES;
		struct vpa_words w = {.used = 0};

		vpa_words_add(&w, "", "Block %s differs from its neighbours by %s",
			vpa_block_name(b, o->block).text, signed_ms((double)o->delta_ns).text);
		if (o->part)
			vpa_words_add(&w, ": ", "%s%s %s", is_idle ? "idle, " : "",
				vpa_block_part_name(o->part),
				signed_ms((double)o->part_delta_ns).text);
		if (is_idle && o->part_delta_ns > 0)
			add_block_line(&w, &b->series[o->block]);
		if (o->stage)
			vpa_words_add(&w, "; ", "%s %s", vpa_fit(o->stage, 40).text,
				signed_ms((double)o->stage_delta_ns).text);
		vpa_page_words(p, "", VPA_PLAIN, "%s.", w.text);
	}
	if (b->outlier_count > OUTLIERS)
		vpa_page_words(p, "", VPA_PLAIN, "%zu more blocks differ from their neighbours.",
			b->outlier_count - OUTLIERS);
}

/* ---- the sections ---- */

/* The blocks of the request that is shown; NULL: none was measured. */
static const struct vpa_blocks *measured_blocks(const struct vpa_report *r)
{
	const struct vpa_request *q = vpa_main_request(r);

	return q && q->blocks.measured > 0 ? &q->blocks : NULL;
}

void vpa_text_mean_block(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_blocks *b = measured_blocks(r);

	if (!b)
		return;
	p->touched = b->touched;
	put_mean_block(p, b, d);
}

void vpa_text_stages(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_blocks *b = measured_blocks(r);

	(void)d;
	p->touched = b ? b->touched : r->touched;
	put_stages(p, r, vpa_main_request(r));
}

void vpa_text_series(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_blocks *b = measured_blocks(r);

	(void)d;
	if (!b)
		return;
	p->touched = 0; /* a row says which */
	put_series(p, r, b);
	put_drift(p, b);
	put_usual_line(p, b);
	put_outliers(p, b);
}

/* text_expert.c - what people who tune a pipeline look up by hand: the checklist, what overlaps, CUDA
 * graphs, and kernels whose format costs time. */
#include "analysis/render/text/sections/text_sections.h"
#include "analysis/render/measures.h"
#include "formats/base/count.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <stdio.h>
#include <string.h>

enum { /* rows of each table */
	GRAPHS = 4,
	SETUPS = 4,
	STREAMS = 6,
	DEVICES = 8
};

/* ---- the checklist ---- */

static const struct {
	const char *word;
	enum vpa_style style;
} statuses[] = {[VPA_CHECK_PASS] = {"pass", VPA_GREEN},
	[VPA_CHECK_WARN] = {"warn", VPA_YELLOW},
	[VPA_CHECK_FAIL] = {"FAIL", VPA_RED},
	[VPA_CHECK_UNKNOWN] = {"unknown", VPA_PLAIN}};

/* "< 1 %", ">= 90 %", "< 10 us" */
static struct vpa_num bound_of(const struct vpa_check *c)
{
	const char *sign = c->at_least ? ">=" : "<";
	struct vpa_num out;

	if (vpa_measure_of(c->unit) == VPA_MEASURE_NS)
		snprintf(out.text, sizeof(out.text), "%s %.30s us", sign,
			vpa_fixed(c->pass_bound / 1e3, 0).text);
	else
		snprintf(out.text, sizeof(out.text), "%s %.30s %%", sign,
			vpa_fixed(c->pass_bound * 100, c->pass_bound < 0.01).text);
	return out;
}

static void add_check(struct vpa_table *t, const struct vpa_check *c)
{
	struct vpa_row *row = vpa_table_row(t, 1, "%s", c->title);

	row->style = statuses[c->status].style;
	snprintf(row->cells[0].text, sizeof(row->cells[0].text), "%.38s", c->shown);
	row->cells[1] = bound_of(c);
	snprintf(row->cells[2].text, sizeof(row->cells[2].text), "%s", statuses[c->status].word);
	if (c->note)
		vpa_text_row(t, 3, "%s", c->note);
}

/* A check that the capture cannot answer is in the JSON report and on the page, with the reason. */
void vpa_text_checks(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	static const struct vpa_column columns[] = {
		{.head = "measured"}, {.head = "bound"}, {.head = "result"}};
	const struct vpa_expert *e = &r->expert;
	struct vpa_table t;
	size_t i;

	(void)d;
	if (!e->check_count)
		return;
	if (e->loop.count)
		vpa_table_init(&t, columns, COUNT(columns), "CHECKLIST, a loop of %s %s%s",
			vpa_count(e->loop.count).text, vpa_unit_kind_name(e->loop.kind),
			vpa_plural(e->loop.count));
	else
		vpa_table_init(&t, columns, COUNT(columns), "CHECKLIST");
	for (i = 0; i < e->check_count; i++)
		if (e->checks[i].shown)
			add_check(&t, &e->checks[i]);
	vpa_page_table(p, &t);
}

/* ---- overlap ---- */

static const struct {
	unsigned bit;
	const char *name;
} kinds[] = {{VPA_OVERLAP_COMPUTE, "compute"}, {VPA_OVERLAP_COMM, "communication"},
	{VPA_OVERLAP_COPY, "copies"}};

static uint64_t sum_of(const struct vpa_overlap_row *o, unsigned bit)
{
	uint64_t ns = 0;
	unsigned i;

	for (i = 1; i < VPA_OVERLAPS; i++)
		ns += i & bit ? o->ns[i] : 0;
	return ns;
}

static void add_overlap(
	struct vpa_table *t, const struct vpa_overlap_row *o, const struct vpa_digest *d, int named)
{
	size_t i, k;

	for (i = 0; i < COUNT(kinds); i++) {
		unsigned bit = kinds[i].bit;
		struct vpa_row *row;

		if (!sum_of(o, bit))
			continue;
		row = named ? vpa_table_row(
				      t, 1, "GPU %lld %s", (long long)o->device, kinds[i].name)
			    : vpa_table_row(t, 1, "%s", kinds[i].name);
		row->cells[0] = vpa_ms(sum_of(o, bit), d);
		row->cells[1] = vpa_ms(o->ns[bit], d);
		for (k = 0; k < COUNT(kinds); k++)
			if (k != i && sum_of(o, kinds[k].bit))
				row->cells[2 + k] = vpa_ms(o->ns[bit | kinds[k].bit], d);
		if (o->ns[VPA_OVERLAPS - 1])
			row->cells[5] = vpa_ms(o->ns[VPA_OVERLAPS - 1], d);
	}
}

/* Copies that nothing overlaps are in the summary already. */
static int is_overlap_worth(const struct vpa_overlap_row *o)
{
	uint64_t pairs = 0;
	unsigned i;

	for (i = 1; i < VPA_OVERLAPS; i++)
		pairs += i & (i - 1) ? o->ns[i] : 0;
	return pairs || sum_of(o, VPA_OVERLAP_COMM);
}

static void put_streams(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_view *v = vpa_view_of("streams");
	const struct vpa_expert *e = &r->expert;
	size_t i, shown = vpa_least(e->stream_count, vpa_rows(r, STREAMS));
	struct vpa_table t;

	if (e->streams_used < 2)
		return;
	vpa_table_init(
		&t, v->columns, v->column_count, "STREAMS, %zu of %zu", shown, e->streams_used);
	for (i = 0; i < shown; i++) {
		const struct vpa_stream_row *s = &e->streams[i];
		struct vpa_row *row =
			r->device_count > 1
				? vpa_table_row(&t, 1, "GPU %lld stream %lld", (long long)s->device,
					  (long long)s->stream)
				: vpa_table_row(&t, 1, "stream %lld", (long long)s->stream);

		vpa_text_fill(row, v, s, d);
		row->cells[1] = vpa_percent(s->busy_ns, vpa_window_of_device(r, s->device));
	}
	vpa_page_table(p, &t);
}

void vpa_text_overlap(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	static const struct vpa_column columns[] = {{.head = "ms"}, {"alone", .unit = "ms"},
		{"+compute", .drop = 1, .unit = "ms"}, {"+comm", .drop = 2, .unit = "ms"},
		{"+copies", .drop = 3, .unit = "ms"}, {"all three", .drop = 4, .unit = "ms"}};
	const struct vpa_expert *e = &r->expert;
	struct vpa_table t;
	size_t i, left_out = 0;

	vpa_table_init(&t, columns, COUNT(columns), "OVERLAP");
	for (i = 0; i < vpa_least(e->overlap_count, DEVICES); i++)
		if (is_overlap_worth(&e->overlaps[i]))
			add_overlap(&t, &e->overlaps[i], d, e->overlap_count > 1);
	for (; i < e->overlap_count; i++)
		left_out += is_overlap_worth(&e->overlaps[i]) != 0;
	if (left_out)
		vpa_text_row(&t, 1, "and %zu more GPU%s in the JSON report", left_out,
			vpa_plural(left_out));
	vpa_page_table(p, &t);
	put_streams(p, r, d);
}

/* ---- CUDA graphs ---- */

static void put_setup(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_view *v = vpa_view_of("cuda_graphs.setup");
	static const char *const words[] = {[VPA_SETUP_MODULE] = "load code",
		[VPA_SETUP_GRAPH] = "build graphs",
		[VPA_SETUP_CAPTURE] = "capture graphs"};
	const struct vpa_graphs *g = &r->expert.graphs;
	size_t i, shown = vpa_least(g->setup_count, vpa_rows(r, SETUPS));
	struct vpa_table t;

	if (!shown || (g->setup[0].total_ns < d->windows_ns / 1000 && !r->top))
		return;
	vpa_table_init(&t, v->columns, v->column_count, "SETUP, code and CUDA graphs");
	for (i = 0; i < shown; i++) {
		const struct vpa_setup_row *s = &g->setup[i];
		struct vpa_row *row =
			vpa_table_row(&t, 1, "%s: %s", words[s->what], vpa_fit(s->call, 48).text);

		vpa_text_fill(row, v, s, d);
	}
	vpa_table_of(&t, shown, g->setup_count);
	vpa_page_table(p, &t);
}

static void put_graphs(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_view *v = vpa_view_of("cuda_graphs.graphs");
	const struct vpa_graphs *g = &r->expert.graphs;
	size_t i, shown = vpa_least(g->row_count, vpa_rows(r, GRAPHS));
	struct vpa_table t;

	if (!g->launches)
		return;
	vpa_table_init(&t, v->columns, v->column_count, "CUDA GRAPHS, %s launches of %zu graph%s",
		vpa_count(g->launches).text, g->distinct, vpa_plural(g->distinct));
	for (i = 0; i < shown; i++) {
		const struct vpa_graph_row *row = &g->rows[i];
		struct vpa_row *out =
			vpa_table_row(&t, 1, "%s%s", row->place.text ? "in " : "from ",
				row->place.text ? vpa_fit(row->place.text, 60).text
				: row->kernel   ? vpa_kernel_label(row->kernel, 60).text
						: "a copy");

		vpa_text_fill(out, v, row, d);
	}
	vpa_table_of(&t, shown, g->distinct);
	vpa_page_table(p, &t);
}

/* Steps that could be graphs, and compilation: sentences. */
static void put_candidates(struct vpa_page *p, const struct vpa_report *r)
{
	const struct vpa_graphs *g = &r->expert.graphs;
	const struct vpa_repeats *at = &g->repeats;
	struct vpa_words w = {.used = 0};
	uint64_t active = 0;
	size_t i;

	for (i = 0; i < r->device_count; i++)
		vpt_sat_add_to(&active, r->devices[i].active_ns);
	if (at->save_at_most_ns > active / 100) {
		vpa_page_blank(p);
		vpa_page_words(p, "REPLAY", VPA_PLAIN,
			"%s of %s steps launch the same kernels as another one, outside CUDA "
			"graphs: %s kernels and copies in all. As graphs they would save at most "
			"%s: the GPU's idle time for launches, less one launch per step.",
			vpa_count(at->steps).text, vpa_count(at->all_steps).text,
			vpa_count(at->ops).text, vpa_duration(at->save_at_most_ns).text);
	}
	if (g->compiled_regions || g->compiler_ranges) {
		vpa_page_blank(p);
		vpa_words_add(&w, "",
			"%s region%s of torch.compile, %s of them compiled again, by their names",
			vpa_count(g->compiled_regions).text, vpa_plural(g->compiled_regions),
			vpa_count(g->recompiles).text);
		if (g->compiler_ranges)
			vpa_words_add(&w, "; ", "the compiler ran %s time%s, %s",
				vpa_count(g->compiler_ranges).text, vpa_plural(g->compiler_ranges),
				vpa_duration(g->compiler_ns).text);
		else
			vpa_words_add(&w, "; ", "no run of the compiler was recorded");
		vpa_page_words(p, "COMPILE", VPA_PLAIN, "%s", w.text);
	}
}

void vpa_text_graphs(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	put_graphs(p, r, d);
	put_setup(p, r, d);
	put_candidates(p, r);
}

/* ---- steps by their kernels ---- */

enum { KINDS = 5 };

static const char *const roles[] = {[VPA_STEP_FULL] = "full",
	[VPA_STEP_FEWER] = "fewer of its ops",
	[VPA_STEP_HALF] = "one of its halves",
	[VPA_STEP_OTHER] = "other"};

static void add_step_kind(
	struct vpa_table *t, const struct vpa_step_kind *k, const struct vpa_digest *d)
{
	struct vpa_row *row = vpa_table_row(t, 1, "%s, %s step %s", roles[k->role],
		k->steps == 1 ? "only" : "from", vpa_count(k->first).text);

	vpa_text_fill(row, vpa_view_of("step_kinds.kinds"), k, d);
}

/* A kernel sequence shows that steps do less or the same twice, not why: the reason is a question. */
static void add_reasons(struct vpa_table *t, const struct vpa_step_kinds *k)
{
	if (k->fewer)
		vpa_text_row(t, 1,
			"%s of %s steps run at most 80 %% of a full step's kernels: a step cache? "
			"As many full steps take %s longer",
			vpa_count(k->fewer).text, vpa_count(k->steps).text,
			vpa_duration(k->saved_ns).text);
	if (k->paired)
		vpa_text_row(t, 1,
			"in %s step%s one half repeats the other: guidance? The second halves take "
			"%s, %s %% of all steps' time",
			vpa_count(k->paired).text, vpa_plural(k->paired),
			vpa_duration(k->second_ns).text,
			vpa_percent(k->second_ns, k->total_ns).text);
}

void vpa_text_step_kinds(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_view *v = vpa_view_of("step_kinds.kinds");
	const struct vpa_step_kinds *k = &r->expert.step_kinds;
	size_t i, shown = vpa_least(k->row_count, vpa_rows(r, KINDS));
	struct vpa_table t;

	/* That all steps are alike is what one expects. */
	if (!shown || (k->distinct == 1 && !k->paired && !r->top))
		return;
	vpa_table_init(&t, v->columns, v->column_count,
		"STEPS BY THEIR KERNELS, %zu of %zu kind%s%s", shown, k->distinct,
		vpa_plural(k->distinct), k->source == VPA_STEPS_INFERRED ? ", inferred" : "");
	for (i = 0; i < shown; i++)
		add_step_kind(&t, &k->rows[i], d);
	add_reasons(&t, k);
	vpa_page_table(p, &t);
}

/* ---- what stages are made of ---- */

enum { STAGE_ROWS = 8, FAMILY_COLUMNS = 5 };

/* The families that take most time over all stages. */
static size_t largest_families(const struct vpa_report *r, enum vpa_family *out)
{
	size_t i, count = 0;

	for (i = 0; i < r->family_count && count < FAMILY_COLUMNS; i++)
		out[count++] = r->families[i].family;
	return count;
}

/* One stage says no more than the window's table. */
static int has_stages(const struct vpa_expert *e)
{
	const char *first = NULL;
	size_t i;

	for (i = 0; i < e->stage_family_count; i++) {
		const struct vpa_stage_family_row *f = &e->stage_families[i];

		if (f->kind && first && strcmp(first, f->stage) != 0)
			return 1;
		first = f->kind && !first ? f->stage : first;
	}
	return 0;
}

static void add_family(struct vpa_row *row, const struct vpa_stage_family_row *f,
	const enum vpa_family *families, size_t count, const struct vpa_digest *d)
{
	size_t k;

	for (k = 0; k < count; k++)
		if (f->family == families[k])
			row->cells[1 + k] = vpa_ms(f->exclusive_ns, d);
}

void vpa_text_stage_families(
	struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	struct vpa_column columns[1 + FAMILY_COLUMNS] = {{.head = "busy ms"}};
	const struct vpa_expert *e = &r->expert;
	enum vpa_family families[FAMILY_COLUMNS];
	const char *stage = NULL;
	size_t i, stages = 0, most = vpa_rows(r, STAGE_ROWS), count = largest_families(r, families);
	struct vpa_row *row = NULL;
	struct vpa_table t;

	for (i = 0; i < count; i++)
		columns[1 + i] = (struct vpa_column){
			vpa_family_name(families[i]), .drop = (unsigned)i + 1, .unit = "ms"};
	if (!has_stages(e))
		return;
	vpa_table_init(&t, columns, 1 + count, "STAGES BY FAMILY");
	for (i = 0; i < e->stage_family_count; i++) {
		const struct vpa_stage_family_row *f = &e->stage_families[i];

		if (!row || !vpt_same_text(stage, f->stage)) {
			stage = f->stage;
			if (stages++ >= most)
				continue;
			row = vpa_table_row(&t, 1, "%s", vpa_fit(stage, 60).text);
			row->cells[0] = vpa_ms(f->stage_ns, d);
		}
		if (stages <= most)
			add_family(row, f, families, count, d);
	}
	vpa_table_of(&t, vpa_least(stages, most), stages);
	vpa_page_table(p, &t);
}

enum { SHAPES = 6 };

/* "self, flash-3", "flash-3" */
static void put_shape(
	struct vpa_table *t, const struct vpa_attention_shape *s, const struct vpa_digest *d)
{
	int is_known = s->kind != VPA_ATTENTION_UNKNOWN;
	struct vpa_row *row =
		vpa_table_row(t, 1, "%s%s%s", is_known ? vpa_attention_kind_name(s->kind) : "",
			is_known ? ", " : "", vpa_text_or(vpa_backend_name(s->backend), "?"));

	vpa_text_fill(row, vpa_view_of("attention_shapes"), s, d);
}

void vpa_text_shapes(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	const struct vpa_view *v = vpa_view_of("attention_shapes");
	const struct vpa_expert *e = &r->expert;
	size_t i, shown = vpa_least(e->shape_count, vpa_rows(r, SHAPES));
	int named = 0;
	struct vpa_table t;

	if (!shown)
		return;
	vpa_table_init(&t, v->columns, v->column_count, "ATTENTION BY GRID, %zu of %zu", shown,
		e->shapes_used);
	for (i = 0; i < shown; i++) {
		named |= e->shapes[i].kind != VPA_ATTENTION_UNKNOWN;
		put_shape(&t, &e->shapes[i], d);
	}
	if (!named)
		vpa_text_row(&t, 1, "no range around the launches names self or cross attention");
	vpa_page_table(p, &t);
}

/* Says what is missing, where there is work that could have a rate. */
static void put_no_shapes(struct vpa_page *p, const struct vpa_report *r)
{
	enum { WORTH_PERCENT = 5 };
	double share = 0;
	size_t i;

	for (i = 0; i < r->family_count; i++) {
		enum vpa_family family = r->families[i].family;

		if (family == VPA_FAMILY_GEMM || family == VPA_FAMILY_ATTENTION)
			share += r->families[i].share_of_busy;
	}
	if (share * 100 < WORTH_PERCENT)
		return;
	vpa_page_blank(p);
	vpa_page_words(p, "SHAPES", VPA_PLAIN,
		"TFLOP/s are unknown: no shapes of matrix products or attention are recorded. "
		"PyTorch's profiler records them with record_shapes=True.");
}

void vpa_text_flop_rates(struct vpa_page *p, const struct vpa_report *r, const struct vpa_digest *d)
{
	if (!vpa_text_put_view(p, r, d, vpa_view_of("flop_rates")))
		put_no_shapes(p, r);
}

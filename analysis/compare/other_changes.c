/* other_changes.c - what else changed: stages, counts of events, series of samples, findings.
 *
 * Rows of the two sides are matched by name. A figure of a side is the mean of its runs. */
#include "analysis/compare/comparison_steps.h"

#include "analysis/base/choices.h"

#include <stdlib.h>

static const struct vpa_report *run_at(const struct vpa_comparison *c, size_t run)
{
	return run < c->a.count ? c->a.reports[run] : c->b.reports[run - c->a.count];
}

/* A table of a report, by the names of its rows. */
static int name_rows(
	struct vpa_row_names *names, const void *rows, size_t count, vpa_row_name_of *name_of)
{
	size_t i;

	*names = (struct vpa_row_names){.rows = rows, .name_of = name_of};
	for (i = 0; i < count; i++)
		if (vpa_row_names_put(names, i) < 0)
			return VPT_ENOMEM;
	return VPT_OK;
}

static void free_names(struct vpa_row_names *names, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		vpt_map_free(&names[i].map);
}

/* ---- stages ---- */

static struct vpa_row_name stage_name(const void *rows, size_t i)
{
	const struct vpa_stage_row *row = (const struct vpa_stage_row *)rows + i;

	return (struct vpa_row_name){row->name, vpa_scope_kind_name(row->kind), 0};
}

static struct vpa_row_name compared_stage_name(const void *rows, size_t i)
{
	const struct vpa_compared_stage *row = (const struct vpa_compared_stage *)rows + i;

	return (struct vpa_row_name){row->name, row->kind, 0};
}

/* The mean duration of a stage in each run that has it; `in`: the stages of each run of the side. Returns how many
 * have it. */
static size_t stage_means(const struct vpa_side *s, const struct vpa_row_names *in,
	const struct vpa_compared_stage *stage, double *means, double *per_unit)
{
	const struct vpa_row_name name = {stage->name, stage->kind, 0};
	size_t i, count = 0;

	*per_unit = 0;
	for (i = 0; i < s->count; i++) {
		size_t at = vpa_row_names_find(&in[i], &name);
		const struct vpa_stage_row *row =
			at == SIZE_MAX ? NULL : &s->reports[i]->stages[at];

		if (!row || !row->time.count)
			continue;
		*per_unit += row->in_blocks ? row->per_block : 0;
		means[count++] = row->time.mean_ns;
	}
	*per_unit = count && *per_unit > 0 ? *per_unit / (double)count : -1;
	return count;
}

static int measure_stage(const struct vpa_comparison *c, const struct vpa_row_names *in,
	struct vpa_compared_stage *stage)
{
	double a[VPA_RUNS_MOST], b[VPA_RUNS_MOST];
	size_t in_a = stage_means(&c->a, in, stage, a, &stage->a_per_unit);
	size_t in_b = stage_means(&c->b, in + c->a.count, stage, b, &stage->b_per_unit);
	struct vpa_runs_test test;

	stage->a_ns = in_a ? vpa_mean_of(a, in_a).mean : -1;
	stage->b_ns = in_b ? vpa_mean_of(b, in_b).mean : -1;
	stage->delta_ns = in_a && in_b ? stage->b_ns - stage->a_ns : 0;
	stage->change = stage->a_ns > 0 ? stage->delta_ns / stage->a_ns : 0;
	stage->p = -1;
	if (!c->between_runs || in_a < VPA_RUNS_LEAST || in_b < VPA_RUNS_LEAST)
		return VPT_OK;
	if (vpa_runs_test(a, in_a, b, in_b, &test))
		return VPT_ENOMEM;
	stage->p = test.p;
	return VPT_OK;
}

/* Each stage of any run, once. `listed`: empty. */
static int list_stages(struct vpa_comparison *c, struct vpa_row_names *listed)
{
	size_t i, k;

	for (i = 0; i < c->a.count + c->b.count; i++)
		for (k = 0; k < run_at(c, i)->stage_count; k++) {
			const struct vpa_stage_row *row = &run_at(c, i)->stages[k];
			int put;

			c->stages[c->stage_count] = (struct vpa_compared_stage){.name = row->name,
				.kind = vpa_scope_kind_name(row->kind),
				.nested = row->nested};
			put = vpa_row_names_put(listed, c->stage_count);
			if (put < 0)
				return VPT_ENOMEM;
			c->stage_count += put > 0;
		}
	return VPT_OK;
}

static int measure_stages(struct vpa_comparison *c, const struct vpa_row_names *in, double *p)
{
	int rc = VPT_OK;
	size_t i;

	for (i = 0; i < c->stage_count && !rc; i++) {
		rc = measure_stage(c, in, &c->stages[i]);
		p[i] = c->stages[i].p;
	}
	if (rc || vpa_holm(p, c->stage_count))
		return VPT_ENOMEM;
	for (i = 0; i < c->stage_count; i++)
		c->stages[i].p = p[i];
	return VPT_OK;
}

/* `in`: for each run, empty. */
static int write_stages(struct vpa_comparison *c, struct vpa_row_names *in)
{
	struct vpa_row_names listed = {.name_of = compared_stage_name};
	size_t runs = c->a.count + c->b.count, most = 0, i;
	double *p;
	int rc = VPT_OK;

	for (i = 0; i < runs && !rc; i++) {
		const struct vpa_report *r = run_at(c, i);

		most += r->stage_count;
		rc = name_rows(&in[i], r->stages, r->stage_count, stage_name);
	}
	/* One more than there can be: a row is written before it is known to be new. */
	c->stages = vpa_arena_alloc(&c->arena, most + 1, sizeof(*c->stages));
	p = vpa_arena_alloc(&c->arena, most, sizeof(*p));
	listed.rows = c->stages;
	if (rc || !c->stages || !p || list_stages(c, &listed) || measure_stages(c, in, p))
		rc = VPT_ENOMEM;
	vpt_map_free(&listed.map);
	free_names(in, runs);
	return rc;
}

/* ---- counts ---- */

static double relative(double a, double b)
{
	return a > 0 ? (b - a) / a : 0;
}

VPA_WORDS_OF(enum vpa_count_group,
	vpa_count_group_name, [VPA_COUNTS_EVENTS] = "events", [VPA_COUNTS_GRAPHS] = "graphs",
	[VPA_COUNTS_COPIES] = "copies", [VPA_COUNTS_SYNCS] = "syncs",
	[VPA_COUNTS_ATTENTION] = "attention", [VPA_COUNTS_GEMM] = "gemm");

/* The counts that are written. */
struct counting {
	struct vpa_comparison *c;
	struct vpa_row_names listed[VPA_COUNT_GROUPS]; /* by group */
	int in_b;                                      /* of the run whose counts are added */
};

static struct vpa_row_name count_name(const void *rows, size_t i)
{
	const struct vpa_compared_count *row = (const struct vpa_compared_count *)rows + i;

	return (struct vpa_row_name){row->name, row->unit, 0};
}

static void add_count(struct counting *n, enum vpa_count_group group, const char *name,
	const char *unit, double value)
{
	struct vpa_comparison *c = n->c;
	uint64_t over = n->in_b ? c->b_window_units : c->a_window_units;
	const struct vpa_row_name key = {name, unit, 0};
	size_t i = vpa_row_names_find(&n->listed[group], &key);

	value /= over ? (double)over : 1;
	if (i == SIZE_MAX) {
		i = c->count_count++;
		c->counts[i] =
			(struct vpa_compared_count){.group = group, .name = name, .unit = unit};
		c->arena.failed |= vpa_row_names_put(&n->listed[group], i) < 0;
	}
	*(n->in_b ? &c->counts[i].b : &c->counts[i].a) += value;
}

static void add_events(struct counting *n, const struct vpa_report *r)
{
	const struct vpa_counts *all = &r->counts;

	add_count(n, VPA_COUNTS_EVENTS, "kernels", "count", (double)all->kernels);
	add_count(n, VPA_COUNTS_EVENTS, "copies", "count", (double)all->memcpy);
	add_count(n, VPA_COUNTS_EVENTS, "memsets", "count", (double)all->memset);
	add_count(n, VPA_COUNTS_EVENTS, "CUDA calls", "count", (double)all->calls);
}

static void add_report(struct counting *n, const struct vpa_report *r)
{
	const struct vpa_graphs *g = &r->expert.graphs;
	size_t i;

	if (g->launches) {
		add_count(n, VPA_COUNTS_GRAPHS, "launches", "count", (double)g->launches);
		add_count(n, VPA_COUNTS_GRAPHS, "nodes", "count", (double)g->nodes);
	}

	for (i = 0; i < r->copy_count; i++) {
		const struct vpa_copy_row *row = &r->copies[i];
		const char *name = vpa_arena_printf(&n->c->arena, "%s, %s to %s",
			vpt_word(VPT_UNIT_COPY_KIND, row->kind),
			vpt_word(VPT_UNIT_MEMORY_KIND, row->source),
			vpt_word(VPT_UNIT_MEMORY_KIND, row->target));

		add_count(n, VPA_COUNTS_COPIES, name, "count", (double)row->count);
		add_count(n, VPA_COUNTS_COPIES, name, "bytes", (double)row->bytes);
	}
	for (i = 0; i < r->sync_count; i++) {
		add_count(
			n, VPA_COUNTS_SYNCS, r->syncs[i].call, "count", (double)r->syncs[i].count);
		add_count(n, VPA_COUNTS_SYNCS, r->syncs[i].call, "ns idle",
			(double)r->syncs[i].idle_ns);
	}
	for (i = 0; i < r->attention.backend_count; i++)
		add_count(n, VPA_COUNTS_ATTENTION,
			vpa_backend_name(r->attention.backends[i].backend), "count",
			(double)r->attention.backends[i].calls);
	for (i = 0; i < r->attention.eager_count; i++)
		add_count(n, VPA_COUNTS_ATTENTION, "eager: GEMM, softmax, GEMM", "count",
			(double)r->attention.eager[i].count);
	for (i = 0; i < r->precision_count; i++)
		add_count(n, VPA_COUNTS_GEMM, vpa_precision_name(r->precisions[i].precision),
			"count", (double)r->precisions[i].calls);
}

static int write_counts(struct vpa_comparison *c)
{
	size_t runs = c->a.count + c->b.count, most = 6, i;
	struct counting n = {.c = c};

	for (i = 0; i < runs; i++) {
		const struct vpa_report *r = run_at(c, i);

		most += 2 * r->copy_count + 2 * r->sync_count + r->attention.backend_count +
			r->attention.eager_count + r->precision_count;
	}
	c->counts = vpa_arena_alloc(&c->arena, most, sizeof(*c->counts));
	if (!c->counts)
		return VPT_ENOMEM;
	for (i = 0; i < VPA_COUNT_GROUPS; i++)
		n.listed[i] = (struct vpa_row_names){.rows = c->counts, .name_of = count_name};
	for (i = 0; i < runs; i++) {
		n.in_b = i >= c->a.count;
		add_events(&n, run_at(c, i));
	}
	for (i = 0; i < runs && !c->arena.failed; i++) {
		n.in_b = i >= c->a.count;
		add_report(&n, run_at(c, i));
	}
	free_names(n.listed, VPA_COUNT_GROUPS);
	for (i = 0; i < c->count_count; i++)
		c->counts[i].change = relative(c->counts[i].a, c->counts[i].b);
	return c->arena.failed ? VPT_ENOMEM : VPT_OK;
}

/* ---- series of samples ---- */

static struct vpa_row_name counter_name(const void *rows, size_t i)
{
	const struct vpa_counter *row = (const struct vpa_counter *)rows + i;

	return (struct vpa_row_name){row->name, NULL, row->device};
}

static struct vpa_row_name compared_counter_name(const void *rows, size_t i)
{
	const struct vpa_compared_counter *row = (const struct vpa_compared_counter *)rows + i;

	return (struct vpa_row_name){row->name, NULL, row->device};
}

/* `in`: the counters of each run of the side. */
static void side_counter(const struct vpa_side *s, const struct vpa_row_names *in,
	const struct vpa_row_name *name, double *mean, double *max)
{
	size_t i, count = 0;

	*mean = 0;
	*max = -1;
	for (i = 0; i < s->count; i++) {
		size_t at = vpa_row_names_find(&in[i], name);
		const struct vpa_counter *n = at == SIZE_MAX ? NULL : &s->reports[i]->counters[at];

		if (!n)
			continue;
		*mean += n->mean;
		*max = n->max > *max ? n->max : *max;
		count++;
	}
	*mean = count ? *mean / (double)count : -1;
}

static int list_counters(
	struct vpa_comparison *c, const struct vpa_row_names *in, struct vpa_row_names *listed)
{
	size_t i, k;

	for (i = 0; i < c->a.count + c->b.count; i++)
		for (k = 0; k < run_at(c, i)->counter_count; k++) {
			const struct vpa_counter *n = &run_at(c, i)->counters[k];
			const struct vpa_row_name name = {n->name, NULL, n->device};
			struct vpa_compared_counter *row = &c->counters[c->counter_count];
			int put;

			*row = (struct vpa_compared_counter){
				.name = n->name, .unit = n->unit, .device = n->device};
			put = vpa_row_names_put(listed, c->counter_count);
			if (put < 0)
				return VPT_ENOMEM;
			if (!put)
				continue;
			side_counter(&c->a, in, &name, &row->a_mean, &row->a_max);
			side_counter(&c->b, in + c->a.count, &name, &row->b_mean, &row->b_max);
			row->change = relative(row->a_mean, row->b_mean);
			c->counter_count++;
		}
	return VPT_OK;
}

/* `in`: for each run, empty. */
static int write_counters(struct vpa_comparison *c, struct vpa_row_names *in)
{
	struct vpa_row_names listed = {.name_of = compared_counter_name};
	size_t runs = c->a.count + c->b.count, most = 0, i;
	int rc = VPT_OK;

	for (i = 0; i < runs && !rc; i++) {
		const struct vpa_report *r = run_at(c, i);

		most += r->counter_count;
		rc = name_rows(&in[i], r->counters, r->counter_count, counter_name);
	}
	c->counters = vpa_arena_alloc(&c->arena, most + 1, sizeof(*c->counters));
	listed.rows = c->counters;
	if (rc || !c->counters || list_counters(c, in, &listed))
		rc = VPT_ENOMEM;
	vpt_map_free(&listed.map);
	free_names(in, runs);
	return rc;
}

/* ---- findings ---- */

/* Each finding that only one side has, once. One of another version, which is none here, is left out. */
static int write_findings(struct vpa_comparison *c)
{
	unsigned char has[2][VPA_FOUND_COUNT] = {{0}}, is_listed[VPA_FOUND_COUNT] = {1};
	size_t runs = c->a.count + c->b.count, i, k;

	for (i = 0; i < runs; i++)
		for (k = 0; k < run_at(c, i)->finding_count; k++)
			has[i >= c->a.count][run_at(c, i)->findings[k].id] = 1;
	c->findings = vpa_arena_alloc(&c->arena, VPA_FOUND_COUNT, sizeof(*c->findings));
	for (i = 0; c->findings && i < runs; i++)
		for (k = 0; k < run_at(c, i)->finding_count; k++) {
			const struct vpa_finding *f = &run_at(c, i)->findings[k];
			int in_b = i >= c->a.count;

			if (is_listed[f->id] || has[!in_b][f->id])
				continue;
			is_listed[f->id] = 1;
			c->findings[c->finding_count++] =
				(struct vpa_compared_finding){f->id, f->title, in_b};
		}
	return c->findings ? VPT_OK : VPT_ENOMEM;
}

int vpa_compare_tables(struct vpa_comparison *c)
{
	struct vpa_row_names *in = vpa_arena_alloc(&c->arena, c->a.count + c->b.count, sizeof(*in));

	if (!in)
		return VPT_ENOMEM;
	return write_stages(c, in) || write_counts(c) || write_counters(c, in) || write_findings(c)
		       ? VPT_ENOMEM
		       : VPT_OK;
}

/* other_changes.c - what else changed: stages, counts of events, series of samples, findings.
 *
 * Rows of the two sides are matched by name. A figure of a side is the mean of its runs. */
#include "analysis/compare/comparison_steps.h"

#include <stdlib.h>
#include <string.h>

static int is_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* ---- stages ---- */

static const struct vpa_stage_row *stage_in(
	const struct vpa_report *r, const char *name, const char *kind)
{
	size_t i;

	for (i = 0; i < r->stage_count; i++)
		if (is_same(r->stages[i].name, name) && is_same(r->stages[i].kind, kind))
			return &r->stages[i];
	return NULL;
}

/* The mean duration of a stage in each run that has it. Returns how many have. */
static size_t stage_means(const struct vpa_side *s, const struct vpa_compared_stage *stage,
	double *means, double *per_unit)
{
	size_t i, count = 0;

	*per_unit = 0;
	for (i = 0; i < s->count; i++) {
		const struct vpa_stage_row *row = stage_in(s->reports[i], stage->name, stage->kind);

		if (!row || !row->time.count)
			continue;
		*per_unit += row->in_blocks ? row->per_block : 0;
		means[count++] = row->time.mean_ns;
	}
	*per_unit = count && *per_unit > 0 ? *per_unit / (double)count : -1;
	return count;
}

static int measure_stage(const struct vpa_comparison *c, struct vpa_compared_stage *stage)
{
	double a[VPA_RUNS_MOST], b[VPA_RUNS_MOST];
	size_t in_a = stage_means(&c->a, stage, a, &stage->a_per_unit);
	size_t in_b = stage_means(&c->b, stage, b, &stage->b_per_unit);
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

static int has_stage(const struct vpa_comparison *c, const struct vpa_stage_row *row)
{
	size_t i;

	for (i = 0; i < c->stage_count; i++)
		if (is_same(c->stages[i].name, row->name) && is_same(c->stages[i].kind, row->kind))
			return 1;
	return 0;
}

static const struct vpa_report *run_at(const struct vpa_comparison *c, size_t run)
{
	return run < c->a.count ? c->a.reports[run] : c->b.reports[run - c->a.count];
}

static int write_stages(struct vpa_comparison *c)
{
	size_t runs = c->a.count + c->b.count, most = 0, i, k;
	double *p;
	int rc = VPT_OK;

	for (i = 0; i < runs; i++)
		most += run_at(c, i)->stage_count;
	c->stages = vpa_arena_alloc(&c->arena, most, sizeof(*c->stages));
	p = vpa_arena_alloc(&c->arena, most, sizeof(*p));
	if (!c->stages || !p)
		return VPT_ENOMEM;
	for (i = 0; i < runs; i++)
		for (k = 0; k < run_at(c, i)->stage_count; k++) {
			const struct vpa_stage_row *row = &run_at(c, i)->stages[k];

			if (!has_stage(c, row))
				c->stages[c->stage_count++] =
					(struct vpa_compared_stage){.name = row->name,
						.kind = row->kind,
						.nested = row->nested};
		}
	for (i = 0; i < c->stage_count && !rc; i++) {
		rc = measure_stage(c, &c->stages[i]);
		p[i] = c->stages[i].p;
	}
	if (rc || vpa_holm(p, c->stage_count))
		return VPT_ENOMEM;
	for (i = 0; i < c->stage_count; i++)
		c->stages[i].p = p[i];
	return VPT_OK;
}

/* ---- counts ---- */

static double relative(double a, double b)
{
	return a > 0 ? (b - a) / a : 0;
}

static void add_count(struct vpa_comparison *c, const char *group, const char *name,
	const char *unit, int in_b, double value)
{
	uint64_t over = in_b ? c->b_window_units : c->a_window_units;
	size_t i;

	value /= over ? (double)over : 1;
	for (i = 0; i < c->count_count; i++)
		if (c->counts[i].group == group && !strcmp(c->counts[i].name, name) &&
			!strcmp(c->counts[i].unit, unit))
			break;
	if (i == c->count_count)
		c->counts[c->count_count++] =
			(struct vpa_compared_count){.group = group, .name = name, .unit = unit};
	*(in_b ? &c->counts[i].b : &c->counts[i].a) += value;
}

static void add_events(struct vpa_comparison *c, const struct vpa_report *r, int in_b)
{
	static const char group[] = "events";
	const struct vpa_counts *n = &r->counts;

	add_count(c, group, "kernels", "count", in_b, (double)n->kernels);
	add_count(c, group, "copies", "count", in_b, (double)n->memcpy);
	add_count(c, group, "memsets", "count", in_b, (double)n->memset);
	add_count(c, group, "CUDA calls", "count", in_b, (double)n->calls);
}

static void add_report(struct vpa_comparison *c, const struct vpa_report *r, int in_b)
{
	static const char copies[] = "copies", syncs[] = "syncs", attention[] = "attention",
			  gemm[] = "gemm", graphs[] = "graphs";
	const struct vpa_graphs *g = &r->expert.graphs;
	size_t i;

	if (g->launches) {
		add_count(c, graphs, "launches", "count", in_b, (double)g->launches);
		add_count(c, graphs, "nodes", "count", in_b, (double)g->nodes);
	}

	for (i = 0; i < r->copy_count; i++) {
		const struct vpa_copy_row *row = &r->copies[i];
		const char *name = row->source && row->target && *row->source && *row->target
					   ? vpa_arena_printf(&c->arena, "%s, %s to %s", row->kind,
						     row->source, row->target)
					   : row->kind;

		add_count(c, copies, name, "count", in_b, (double)row->count);
		add_count(c, copies, name, "bytes", in_b, (double)row->bytes);
	}
	for (i = 0; i < r->sync_count; i++) {
		add_count(c, syncs, r->syncs[i].call, "count", in_b, (double)r->syncs[i].count);
		add_count(c, syncs, r->syncs[i].call, "ns idle", in_b, (double)r->syncs[i].idle_ns);
	}
	for (i = 0; i < r->attention.backend_count; i++)
		add_count(c, attention, r->attention.backends[i].backend, "count", in_b,
			(double)r->attention.backends[i].calls);
	for (i = 0; i < r->attention.eager_count; i++)
		add_count(c, attention, "eager: GEMM, softmax, GEMM", "count", in_b,
			(double)r->attention.eager[i].count);
	for (i = 0; i < r->precision_count; i++)
		add_count(c, gemm, r->precisions[i].precision, "count", in_b,
			(double)r->precisions[i].calls);
}

static int write_counts(struct vpa_comparison *c)
{
	size_t runs = c->a.count + c->b.count, most = 6, i;

	for (i = 0; i < runs; i++) {
		const struct vpa_report *r = run_at(c, i);

		most += 2 * r->copy_count + 2 * r->sync_count + r->attention.backend_count +
			r->attention.eager_count + r->precision_count;
	}
	c->counts = vpa_arena_alloc(&c->arena, most, sizeof(*c->counts));
	if (!c->counts)
		return VPT_ENOMEM;
	for (i = 0; i < runs; i++)
		add_events(c, run_at(c, i), i >= c->a.count);
	for (i = 0; i < runs && !c->arena.failed; i++)
		add_report(c, run_at(c, i), i >= c->a.count);
	for (i = 0; i < c->count_count; i++)
		c->counts[i].change = relative(c->counts[i].a, c->counts[i].b);
	return c->arena.failed ? VPT_ENOMEM : VPT_OK;
}

/* ---- series of samples ---- */

static void side_counter(
	const struct vpa_side *s, const char *name, int64_t device, double *mean, double *max)
{
	size_t i, count = 0;

	*mean = 0;
	*max = -1;
	for (i = 0; i < s->count; i++) {
		const struct vpa_counter *n = vpa_find_counter(s->reports[i], device, name);

		if (!n)
			continue;
		*mean += n->mean;
		*max = n->max > *max ? n->max : *max;
		count++;
	}
	*mean = count ? *mean / (double)count : -1;
}

static int has_counter(const struct vpa_comparison *c, const struct vpa_counter *n)
{
	size_t i;

	for (i = 0; i < c->counter_count; i++)
		if (c->counters[i].device == n->device && !strcmp(c->counters[i].name, n->name))
			return 1;
	return 0;
}

static int write_counters(struct vpa_comparison *c)
{
	size_t runs = c->a.count + c->b.count, most = 0, i, k;

	for (i = 0; i < runs; i++)
		most += run_at(c, i)->counter_count;
	c->counters = vpa_arena_alloc(&c->arena, most, sizeof(*c->counters));
	if (!c->counters)
		return VPT_ENOMEM;
	for (i = 0; i < runs; i++)
		for (k = 0; k < run_at(c, i)->counter_count; k++) {
			const struct vpa_counter *n = &run_at(c, i)->counters[k];
			struct vpa_compared_counter *row = &c->counters[c->counter_count];

			if (has_counter(c, n))
				continue;
			*row = (struct vpa_compared_counter){
				.name = n->name, .unit = n->unit, .device = n->device};
			side_counter(&c->a, n->name, n->device, &row->a_mean, &row->a_max);
			side_counter(&c->b, n->name, n->device, &row->b_mean, &row->b_max);
			row->change = relative(row->a_mean, row->b_mean);
			c->counter_count++;
		}
	return VPT_OK;
}

/* ---- findings ---- */

static int side_has(const struct vpa_side *s, const char *id)
{
	size_t i, k;

	for (i = 0; i < s->count; i++)
		for (k = 0; k < s->reports[i]->finding_count; k++)
			if (is_same(s->reports[i]->findings[k].id, id))
				return 1;
	return 0;
}

static int is_listed(const struct vpa_comparison *c, const char *id)
{
	size_t i;

	for (i = 0; i < c->finding_count; i++)
		if (is_same(c->findings[i].id, id))
			return 1;
	return 0;
}

static int write_findings(struct vpa_comparison *c)
{
	size_t runs = c->a.count + c->b.count, most = 0, i, k;

	for (i = 0; i < runs; i++)
		most += run_at(c, i)->finding_count;
	c->findings = vpa_arena_alloc(&c->arena, most, sizeof(*c->findings));
	if (!c->findings)
		return VPT_ENOMEM;
	for (i = 0; i < runs; i++)
		for (k = 0; k < run_at(c, i)->finding_count; k++) {
			const struct vpa_finding *f = &run_at(c, i)->findings[k];
			int in_b = i >= c->a.count;

			if (side_has(in_b ? &c->a : &c->b, f->id) || is_listed(c, f->id))
				continue;
			c->findings[c->finding_count++] =
				(struct vpa_compared_finding){f->id, f->title, in_b};
		}
	return VPT_OK;
}

int vpa_compare_tables(struct vpa_comparison *c)
{
	return write_stages(c) || write_counts(c) || write_counters(c) || write_findings(c)
		       ? VPT_ENOMEM
		       : VPT_OK;
}

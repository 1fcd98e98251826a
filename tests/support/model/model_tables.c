/* model_tables.c - the tables of a report by looking at every event for every row. */
#include "formats/base/memory.h"
#include "tests/support/model/model_causes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t sum_of(const struct model_edges *values)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < values->count; i++)
		sum += values->items[i];
	return sum;
}

/* The smallest value that is not exceeded by `percent` of all. */
static uint64_t nearest_rank(const struct model_edges *sorted, unsigned percent)
{
	size_t i;

	for (i = 0; i < sorted->count; i++)
		if ((i + 1) * 100 >= sorted->count * percent)
			return sorted->items[i];
	return 0;
}

static void compare_spread(struct model *m, const char *where, struct model_edges *values,
	const struct vpa_durations *s)
{
	size_t n = values->count;

	model_edges_sort(values);
	model_same(m, where, "count", n, s->count);
	model_same(m, where, "total", sum_of(values), s->total_ns);
	model_same(m, where, "min", n ? values->items[0] : 0, s->min_ns);
	model_same(m, where, "p50", nearest_rank(values, 50), s->p50_ns);
	model_same(m, where, "p90", nearest_rank(values, 90), s->p90_ns);
	model_same(m, where, "p95", nearest_rank(values, 95), s->p95_ns);
	model_same(m, where, "p99", nearest_rank(values, 99), s->p99_ns);
	model_same(m, where, "max", n ? values->items[n - 1] : 0, s->max_ns);
	vpt_free(values->items);
}

/* ---- counts ---- */

static void check_counts(struct model *m, const struct vpa_report *r)
{
	uint64_t ops[3] = {0}, calls = 0, ranges = 0, cpu_ops = 0, unlaunched = 0, without_op = 0,
		 zero = 0;
	uint64_t reversed = 0, no_time = 0, unmatched = 0;
	size_t i;

	for (i = 0; i < m->ops.count; i++) {
		const struct model_op *op = &m->ops.items[i];

		if (!op->counted)
			continue;
		ops[op->kind]++;
		unlaunched += op->valid && !op->launch;
		zero += (uint64_t)op->empty;
		reversed += op->end < op->start;
		no_time += !op->raw_start;
	}
	for (i = 0; i < m->calls.count; i++) {
		const struct model_call *c = &m->calls.items[i];
		int inside = c->start >= m->window_start && c->start <= m->limit;

		calls += (uint64_t)inside;
		without_op += inside && vpt_call_launches(c->klass) && !c->ops && !c->failed;
	}
	for (i = 0; i < m->ranges.count; i++) {
		const struct model_range *g = &m->ranges.items[i];
		int inside = g->start >= m->window_start && g->start <= m->limit;

		unmatched += (g->unmatched || g->end == UINT64_MAX) && g->start <= m->limit &&
			     g->end >= m->window_start;
		if (!inside || g->unmatched || g->end == UINT64_MAX)
			continue;
		if (g->domain && !strcmp(g->domain, "cpu_op"))
			cpu_ops++;
		else
			ranges++;
	}
	model_same(m, "counts", "kernels", ops[VPA_KERNEL], r->counts.kernels);
	model_same(m, "counts", "memcpy", ops[VPA_MEMCPY], r->counts.memcpy);
	model_same(m, "counts", "memset", ops[VPA_MEMSET], r->counts.memset);
	model_same(m, "counts", "calls", calls, r->counts.calls);
	model_same(m, "counts", "ranges", ranges, r->counts.ranges);
	model_same(m, "counts", "cpu_ops", cpu_ops, r->counts.cpu_ops);
	model_same(m, "verdict", "ops without launch", unlaunched, r->verdict.ops_without_launch);
	model_same(m, "verdict", "launches without op", without_op, r->verdict.launches_without_op);
	model_same(m, "verdict", "zero duration", zero, r->verdict.zero_duration);
	model_same(m, "verdict", "reversed", reversed, r->verdict.reversed);
	model_same(m, "verdict", "zero time", no_time, r->verdict.zero_time);
	model_same(m, "verdict", "unmatched ranges", unmatched, r->verdict.unmatched_ranges);
	model_same(m, "verdict", "late ops", 0, r->verdict.late_ops);
	model_same(m, "verdict", "late ranges", 0, r->verdict.late_ranges);
}

/* ---- ranges ---- */

struct sums {
	uint64_t ops, launches, envelope, busy, idle, foreign, idle_host;
};

static int belongs(const struct model *m, const struct model_range *r, const struct model_op *op)
{
	return op->active && op->launch &&
	       model_is_open(m, r, op->launch->thread, op->launch->start);
}

/* Whether a range that launched nothing is charged with a device: its process was at work there before it ended, or on no
 * device anything was before. */
static int is_charged(const struct model *m, const struct model_range *r, int64_t device)
{
	int is_first = 1;
	size_t i;

	for (i = 0; i < m->ops.count; i++) {
		const struct model_op *op = &m->ops.items[i];

		if (belongs(m, r, op))
			return 0;
	}
	for (i = 0; i < m->ops.count; i++) {
		const struct model_op *op = &m->ops.items[i];

		if (!op->active)
			continue;
		if (op->device == device && (op->pid == r->pid || op->pid < 0 || r->pid < 0) &&
			(is_first || op->start < r->end))
			return 1;
		is_first = 0;
	}
	return 0;
}

static int is_empty(const struct model_range *r)
{
	return r->end <= r->start;
}

/* What an instance did on one device; its envelope's start, or ~0 if it did nothing there. */
static uint64_t project(const struct model *m, const struct model_range *r, int64_t device,
	struct sums *s, struct model_edges *envelopes)
{
	uint64_t end = r->end < m->window_end ? r->end : m->window_end;
	struct model_edges e = {0};
	uint64_t first = UINT64_MAX, last = 0;
	int charged = is_charged(m, r, device);
	size_t i, k;

	model_edge(&e, r->start);
	model_edge(&e, end);
	model_edge(&e, m->window_end);

	for (i = 0; i < m->ops.count; i++) {
		const struct model_op *op = &m->ops.items[i];

		if (op->device != device || !op->active)
			continue;
		model_edge(&e, op->start);
		model_edge(&e, op->end);
		if (!belongs(m, r, op))
			continue;
		s->ops++;
		first = op->start < first ? op->start : first;
		last = op->end > last ? op->end : last;
	}
	model_edges_sort(&e);
	for (i = 0; i + 1 < e.count; i++) {
		uint64_t from = e.items[i], to = e.items[i + 1];
		int own = 0, any = 0, inside = from >= first && to <= last;
		int host = !is_empty(r) && from >= r->start && to <= end &&
			   (charged || first != UINT64_MAX);

		if (!inside && !host)
			continue;
		for (k = 0; k < m->ops.count; k++) {
			const struct model_op *op = &m->ops.items[k];

			if (op->device != device || !op->active || op->start > from || op->end < to)
				continue;
			any = 1;
			own |= belongs(m, r, op);
		}
		s->idle_host += any ? 0 : to - from;
		if (inside)
			*(own ? &s->busy : any ? &s->foreign : &s->idle) += to - from;
	}
	vpt_free(e.items);
	if (first != UINT64_MAX) {
		s->envelope += last - first;
		model_edge(envelopes, last - first);
	}
	return first;
}

static uint64_t launches_of(const struct model *m, const struct model_range *r)
{
	uint64_t n = 0;
	size_t i, k;

	for (i = 0; i < m->calls.count; i++)
		for (k = 0; k < m->ops.count; k++)
			if (m->ops.items[k].launch == &m->calls.items[i] &&
				belongs(m, r, &m->ops.items[k])) {
				n++;
				break;
			}
	return n;
}

static int has_row(const struct model *m, const struct model_range *r)
{
	return r->start >= m->window_start && r->start <= m->window_end;
}

/* What never ended is around all that began in it. */
static int is_inside(const struct model_range *r, const struct model_range *o)
{
	return o->end > r->start && (o->unmatched || r->end <= o->end);
}

/* Whether it is a part of one of its name on its thread that began before. */
static int is_nested(const struct model *m, const struct model_range *r)
{
	size_t i;

	for (i = 0; i < m->ranges.count && !r->process_wide; i++) {
		const struct model_range *o = &m->ranges.items[i];
		int is_before = o->start != r->start ? o->start < r->start
				: o->end != r->end   ? o->end > r->end
						     : o->order < r->order;

		if (o != r && !o->process_wide && o->thread == r->thread && is_before &&
			is_inside(r, o) && !is_empty(o) && model_same_text(o->name, r->name) &&
			model_same_text(o->domain, r->domain))
			return 1;
	}
	return 0;
}

static void check_range_row(
	struct model *m, const struct vpa_report *r, const struct vpa_range_row *row)
{
	struct model_edges host = {0}, lag = {0}, gpu = {0};
	struct sums s = {0};
	uint64_t unmatched = 0, nested = 0;
	char where[160];
	size_t i, k;

	for (i = 0; i < m->ranges.count; i++) {
		const struct model_range *g = &m->ranges.items[i];
		uint64_t first = UINT64_MAX, end = g->end == UINT64_MAX ? m->window_end : g->end;

		if (!has_row(m, g) || strcmp(g->name ? g->name : "(no name)", row->name) ||
			strcmp(g->domain ? g->domain : "", row->domain))
			continue;
		if (is_nested(m, g)) {
			nested++;
			continue;
		}
		model_edge(&host, end > g->start ? end - g->start : 0);
		unmatched += g->unmatched || g->end == UINT64_MAX;
		s.launches += launches_of(m, g);
		for (k = 0; k < r->device_count; k++) {
			uint64_t f = project(m, g, r->devices[k].device, &s, &gpu);

			first = f < first ? f : first;
		}
		if (first != UINT64_MAX && first >= g->start)
			model_edge(&lag, first - g->start);
	}
	snprintf(where, sizeof(where), "range %s (%s)", row->name, row->domain);
	model_same(m, where, "nested", nested, row->nested);
	model_same(m, where, "unmatched", unmatched, row->unmatched);
	model_same(m, where, "ops", s.ops, row->ops);
	model_same(m, where, "launches", s.launches, row->launches);
	model_same(m, where, "envelope", s.envelope, row->envelope_ns);
	model_same(m, where, "busy", s.busy, row->busy_ns);
	model_same(m, where, "foreign", s.foreign, row->foreign_ns);
	model_same(m, where, "idle", s.idle, row->idle_ns);
	model_same(m, where, "idle, host", s.idle_host, row->idle_host_ns);
	compare_spread(m, where, &host, &row->host);
	compare_spread(m, where, &lag, &row->lag);
	compare_spread(m, where, &gpu, &row->gpu);
}

static void check_ranges(struct model *m, const struct vpa_report *r)
{
	size_t i, k, rows = 0;

	for (i = 0; i < r->range_count; i++)
		check_range_row(m, r, &r->ranges[i]);
	for (i = 0; i < m->ranges.count; i++) {
		const struct model_range *a = &m->ranges.items[i];
		int again = 0;

		for (k = 0; k < i; k++) {
			const struct model_range *b = &m->ranges.items[k];

			again |= has_row(m, b) && model_same_text(a->name, b->name) &&
				 model_same_text(a->domain, b->domain);
		}
		rows += has_row(m, a) && !again;
	}
	model_same(m, "ranges", "rows", rows, r->range_names);
}

/* ---- kernels and families ---- */

static enum vpa_family family_of(const struct model_op *op)
{
	return op->kind == VPA_KERNEL   ? op->family
	       : op->kind == VPA_MEMCPY ? VPA_FAMILY_MEMCPY
					: VPA_FAMILY_MEMSET;
}

/* Exclusive time of the ops that `pick` chooses: between two edges every op that runs has an equal part. What
 * does not divide is given to some of them, so the report may be one off for each piece: *tolerance. */
static double exclusive(const struct model *m, const char *text, int by_name, double *tolerance)
{
	struct model_edges e = {0};
	double sum = 0;
	size_t i, k;

	for (i = 0; i < m->ops.count; i++)
		if (m->ops.items[i].active) {
			model_edge(&e, m->ops.items[i].start);
			model_edge(&e, m->ops.items[i].end);
		}
	model_edges_sort(&e);
	*tolerance = 0.5;
	for (i = 0; i + 1 < e.count; i++) {
		uint64_t from = e.items[i], to = e.items[i + 1];

		/* On each device of the ops at hand. */
		for (k = 0; k < m->ops.count && from < to; k++) {
			const struct model_op *op = &m->ops.items[k];
			size_t j, n = 0;

			if (!op->active || op->start > from || op->end < to ||
				strcmp(by_name ? (op->name ? op->name : "")
					       : vpa_family_name(family_of(op)),
					text))
				continue;
			for (j = 0; j < m->ops.count; j++)
				n += m->ops.items[j].active &&
				     m->ops.items[j].device == op->device &&
				     m->ops.items[j].start <= from && m->ops.items[j].end >= to;
			sum += (double)(to - from) / (double)n;
			*tolerance += n > 1;
		}
	}
	vpt_free(e.items);
	return sum;
}

static void check_exclusive(struct model *m, const char *text, int by_name, uint64_t reported)
{
	double tolerance, model = exclusive(m, text, by_name, &tolerance);

	if (fabs(model - (double)reported) > tolerance)
		model_say(m, "%s: exclusive time is %" PRIu64 ", the model says %.1f", text,
			reported, model);
}

/* Ops of no length inside the window ran too, and took no time. */
static int ran(const struct model_op *op)
{
	return op->counted && op->valid;
}

static void check_kernels(struct model *m, const struct vpa_report *r)
{
	size_t i, k;

	for (i = 0; i < r->kernel_count; i++) {
		const struct vpa_kernel_row *row = &r->kernels[i];
		struct model_edges times = {0};

		for (k = 0; k < m->ops.count; k++) {
			const struct model_op *op = &m->ops.items[k];

			if (ran(op) && op->name && !strcmp(op->name, row->name))
				model_edge(&times, op->end - op->start);
		}
		compare_spread(m, row->name, &times, &row->time);
		check_exclusive(m, row->name, 1, row->exclusive_ns);
	}
}

static void check_families(struct model *m, const struct vpa_report *r)
{
	uint64_t calls = 0, exclusive_sum = 0, busy = 0, all = 0;
	size_t i, k;

	for (i = 0; i < r->family_count; i++) {
		const struct vpa_family_row *row = &r->families[i];
		uint64_t n = 0, total = 0;

		for (k = 0; k < m->ops.count; k++)
			if (ran(&m->ops.items[k]) && family_of(&m->ops.items[k]) == row->family) {
				n++;
				total += m->ops.items[k].end - m->ops.items[k].start;
			}
		model_same(m, vpa_family_name(row->family), "calls", n, row->calls);
		model_same(m, vpa_family_name(row->family), "total", total, row->total_ns);
		check_exclusive(m, vpa_family_name(row->family), 0, row->exclusive_ns);
		calls += n;
		exclusive_sum += row->exclusive_ns;
	}
	for (k = 0; k < m->ops.count; k++)
		all += (uint64_t)ran(&m->ops.items[k]);
	for (i = 0; i < r->device_count; i++)
		busy += r->devices[i].busy_ns;
	model_same(m, "families", "calls in all", all, calls);
	model_same(m, "families", "exclusive time in all", busy, exclusive_sum);
}

/* ---- copies and syncs ---- */

static void check_copies(struct model *m, const struct vpa_report *r)
{
	uint64_t rows = 0, ops = 0;
	size_t i, k;

	for (i = 0; i < r->copy_count; i++) {
		const struct vpa_copy_row *row = &r->copies[i];
		uint64_t n = 0, bytes = 0, ns = 0;

		for (k = 0; k < m->ops.count; k++) {
			const struct model_op *op = &m->ops.items[k];

			if (!ran(op) || op->kind == VPA_KERNEL || op->copy_kind != row->kind ||
				op->source != row->source || op->target != row->target)
				continue;
			n++;
			bytes += op->bytes;
			ns += op->end - op->start;
		}
		model_same(m, vpt_word(VPT_UNIT_COPY_KIND, row->kind), "copies", n, row->count);
		model_same(m, vpt_word(VPT_UNIT_COPY_KIND, row->kind), "bytes", bytes, row->bytes);
		model_same(m, vpt_word(VPT_UNIT_COPY_KIND, row->kind), "time", ns, row->total_ns);
		rows += n;
	}
	for (k = 0; k < m->ops.count; k++)
		ops += ran(&m->ops.items[k]) && m->ops.items[k].kind != VPA_KERNEL;
	model_same(m, "copies", "in all", ops, rows);
}

static int waits(const struct model *m, const struct model_call *c)
{
	enum vpt_call_class effect = model_effect(c);

	return (effect == VPT_CALL_SYNC || effect == VPT_CALL_BLOCKING_COPY) &&
	       c->start >= m->window_start && c->start <= m->window_end;
}

/* What a call of this name costs: idle time that it caused, in how many gaps. */
static uint64_t cost_of(const struct model_causes *causes, const char *call, uint64_t *gaps)
{
	uint64_t ns = 0;
	size_t d, i, k;

	*gaps = 0;
	for (d = 0; d < causes->device_count; d++)
		for (i = 0; i < causes->devices[d].gap_count; i++) {
			const struct model_gap *g = &causes->devices[d].gaps[i];
			uint64_t own_ns = 0;

			for (k = 0; k < g->piece_count; k++)
				if ((g->pieces[k].cause == MODEL_SYNC ||
					    g->pieces[k].cause == MODEL_BLOCKING_COPY) &&
					model_same_text(g->pieces[k].call, call))
					own_ns += g->pieces[k].end - g->pieces[k].start;
			ns += own_ns;
			*gaps += own_ns != 0;
		}
	return ns;
}

static void check_syncs(
	struct model *m, const struct model_causes *causes, const struct vpa_report *r)
{
	uint64_t calls = 0, reported = 0;
	size_t i, k;

	for (i = 0; i < r->sync_count; i++) {
		const struct vpa_sync_row *row = &r->syncs[i];
		uint64_t n = 0, ns = 0, gaps = 0;

		for (k = 0; k < m->calls.count; k++)
			if (waits(m, &m->calls.items[k]) &&
				!strcmp(m->calls.items[k].name, row->call)) {
				n++;
				ns += m->calls.items[k].end - m->calls.items[k].start;
			}
		model_same(m, row->call, "waits", n, row->count);
		model_same(m, row->call, "time waited", ns, row->total_ns);
		model_same(m, row->call, "cost", cost_of(causes, row->call, &gaps), row->idle_ns);
		if (!model_has_pauses(m)) /* which cut a gap in two */
			model_same(m, row->call, "gaps", gaps, row->gaps);
		reported += n;
	}
	for (k = 0; k < m->calls.count; k++)
		calls += (uint64_t)waits(m, &m->calls.items[k]);
	model_same(m, "syncs", "calls in all", calls, reported);
}

void model_check_tables(
	struct model *m, const struct model_causes *causes, const struct vpa_report *r)
{
	check_counts(m, r);
	check_ranges(m, r);
	check_kernels(m, r);
	check_families(m, r);
	check_copies(m, r);
	check_syncs(m, causes, r);
}

/* graphs_write.c - writes what graph_costs.c gathered: graphs by their nodes, calls that made them, and steps
 * that equal each other. */
#include "analysis/folds/kernels/graphs_table.h"

#include "analysis/names/demangle.h"
#include "analysis/report/overview.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

static int compare_graphs(const void *pa, const void *pb)
{
	const struct vpa_graph_row *a = pa, *b = pb;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	if (a->nodes != b->nodes)
		return a->nodes > b->nodes ? -1 : 1;
	return a->replays != b->replays ? (a->replays > b->replays ? -1 : 1) : 0;
}

static void add_launch(struct vpa_graph_row *row, const struct vpa_graph_launch *l,
	const struct vpa_fold_context *c, struct vpa_report *out)
{
	const struct vpa_model *m = c->model;

	if (!row->replays++) {
		row->nodes = l->nodes;
		row->place = vpa_fold_place(&out->arena, m, l->place);
		if (l->kernel != VPA_NONE) {
			row->kernel = vpa_fold_name(out, m, m->kernels[l->kernel].name);
			row->kernel = row->kernel ? vpa_demangle(&out->arena, row->kernel) : NULL;
		}
	}
	row->total_ns += l->last_ns - l->first_ns;
	row->kernel_ns += l->kernel_ns;
}

static int write_graphs(
	const struct vpa_graphs_table *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_graphs *g = &out->expert.graphs;
	struct vpa_index index = {0};
	size_t i;

	g->launches = s->launch_index.count + s->left_out;
	g->left_out = s->left_out;
	g->rows = vpa_arena_alloc(&out->arena, s->launch_index.count, sizeof(*g->rows));
	if (!g->rows && s->launch_index.count)
		return VPT_ENOMEM;
	for (i = 0; i < s->launch_index.count; i++) {
		const struct vpa_graph_launch *l = &s->launches[i];
		uint32_t row = vpa_index_put(&index, l->hash, l->nodes);

		if (row == UINT32_MAX) {
			vpa_index_free(&index);
			return VPT_ENOMEM;
		}
		g->nodes += l->nodes;
		add_launch(&g->rows[row], l, c, out);
	}
	g->distinct = index.count;
	vpa_index_free(&index);
	qsort(g->rows, g->distinct, sizeof(*g->rows), compare_graphs);
	g->row_count = g->distinct < c->top ? g->distinct : c->top;
	return VPT_OK;
}

static int compare_setups(const void *pa, const void *pb)
{
	const struct vpa_setup_row *a = pa, *b = pb;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return strcmp(a->call, b->call);
}

static int write_setups(
	const struct vpa_graphs_table *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_graphs *g = &out->expert.graphs;
	size_t i;

	g->setup = vpa_arena_alloc(&out->arena, s->setup_index.count, sizeof(*g->setup));
	if (!g->setup && s->setup_index.count)
		return VPT_ENOMEM;
	for (i = 0; i < s->setup_index.count; i++) {
		const struct vpa_index_entry *e = &s->setup_index.entries[i];
		const char *name = vpa_fold_name(out, c->model, (uint32_t)e->b);

		if (s->setups[i].count)
			g->setup[g->setup_count++] =
				(struct vpa_setup_row){.what = (enum vpa_setup_kind)e->a,
					.call = name ? name : "begin to end",
					.count = s->setups[i].count,
					.total_ns = s->setups[i].total_ns};
	}
	qsort(g->setup, g->setup_count, sizeof(*g->setup), compare_setups);
	return VPT_OK;
}

/* Idle time of a cause in the measured blocks, else of the active devices. */
static uint64_t idle_of(const struct vpa_report *r, enum vpa_cause cause)
{
	const struct vpa_request *q = vpa_main_request(r);
	uint64_t ns = 0;
	size_t i, k;

	for (i = 0; q && q->blocks.measured && i < q->blocks.part_count; i++)
		if (vpa_part_cause(q->blocks.parts[i].part) == cause)
			ns += q->blocks.parts[i].ns;
	for (i = 0; !(q && q->blocks.measured) && i < r->device_count; i++)
		for (k = 0; k < r->devices[i].cause_count; k++)
			if (r->devices[i].causes[k].cause == cause)
				ns += r->devices[i].causes[k].ns;
	return ns;
}

/* A graph has one launch where there were many. Its own launch still costs what one costs now. */
static void write_saving(struct vpa_report *out)
{
	struct vpa_expert *e = &out->expert;
	struct vpa_repeats *p = &e->graphs.repeats;
	uint64_t idle = idle_of(out, VPA_CAUSE_LAUNCH_RATE) + idle_of(out, VPA_CAUSE_LAUNCH_CALL) +
			idle_of(out, VPA_CAUSE_LAUNCH_LATENCY);
	uint64_t left = p->steps * e->launch_p50_ns;
	double share = e->loop.ops ? (double)p->ops / (double)e->loop.ops : 0;
	uint64_t ns = vpt_sat_u64((double)idle * (share < 1 ? share : 1));

	p->save_at_most_ns = ns > left ? ns - left : 0;
}

static void write_repeats(const struct vpa_graphs_table *s, struct vpa_report *out)
{
	struct vpa_repeats *p = &out->expert.graphs.repeats;
	const struct vpa_inferred *inferred = out->inferred_count ? &out->inferred[0] : NULL;
	size_t i;

	for (i = 0; i < s->step_index.count; i++) {
		const struct vpa_graph_steps *k = &s->kinds[i];

		p->all_steps += k->count;
		if (k->count < 2)
			continue;
		p->steps += k->count;
		p->distinct++;
		p->ops += k->count * k->ops;
	}
	if (!p->all_steps && inferred) {
		p->all_steps = p->steps = inferred->step_count;
		p->distinct = 1;
		p->ops = vpt_sat_u64(inferred->confidence * (double)inferred->ops);
	}
	if (p->steps)
		write_saving(out);
}

int vpa_graphs_write(
	struct vpa_graphs_table *s, const struct vpa_fold_context *c, struct vpa_report *out)
{
	if (write_graphs(s, c, out) || write_setups(s, c, out))
		return VPT_ENOMEM;
	write_repeats(s, out);
	return VPT_OK;
}

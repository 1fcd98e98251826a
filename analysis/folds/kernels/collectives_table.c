/* collectives_table.c - collectives by name, communicator and size, and the bandwidth that they reach.
 *
 * A collective's time holds the wait for other ranks: its shortest call says best what the links do. */
#include "analysis/folds/fold.h"

#include "analysis/base/index.h"
#include "analysis/model/collective_facts.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"

#include <stdlib.h>
#include <string.h>

struct row {
	uint64_t calls, total_ns, shortest_ns;
};

struct state {
	struct vpa_index index; /* (device, kernel), annotation */
	struct row *rows;
	size_t row_cap;
};

static int add(struct state *s, const struct vpa_model *m, const struct vpa_ops *ops, size_t i,
	const struct vpa_op_stretch *stretch)
{
	uint64_t kernel = (uint64_t)ops->device[i] << 32 | ops->kernel[i];
	uint64_t ns = ops->end_ns[i] - ops->start_ns[i];
	uint32_t payload = vpa_collective_payload(m, stretch, ops->launch_start_ns[i]);
	uint32_t at =
		vpa_index_row(&s->index, kernel, payload, &s->rows, &s->row_cap, sizeof(*s->rows));

	if (at == UINT32_MAX)
		return VPT_ENOMEM;
	s->rows[at].shortest_ns =
		s->rows[at].calls++ && s->rows[at].shortest_ns < ns ? s->rows[at].shortest_ns : ns;
	vpt_sat_add_to(&s->rows[at].total_ns, ns);
	return VPT_OK;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	const struct vpa_model *m = c->model;
	size_t i, k, stretch = 0;
	int rc = VPT_OK;

	for (k = 0; k < ops->other_count && !rc; k++) {
		i = ops->others[k];
		/* One that the window cuts has another time. */
		if (ops->is_comm[i] && ops->start_ns[i] > m->window_start_ns &&
			ops->end_ns[i] < m->window_end_ns)
			rc = add(state, m, ops, i, vpa_ops_stretch(ops, i, &stretch));
	}
	return rc;
}

static void write_row(const struct state *s, size_t i, const struct vpa_fold_context *c,
	struct vpa_report *out, struct vpa_collective_row *row)
{
	const struct vpa_index_entry *e = &s->index.entries[i];
	const struct vpa_model *m = c->model;
	struct vpa_collective_said said;
	double bytes;

	vpa_collective_describe(&out->arena,
		vpa_name(m, m->kernels[(uint32_t)(e->a & UINT32_MAX)].name),
		vpa_name(m, (uint32_t)e->b), &said);
	bytes = vpa_collective_bus_bytes(said.kind, said.bytes, said.ranks);
	*row = (struct vpa_collective_row){.device = m->devices[e->a >> 32],
		.kind = vpa_collective_name(said.kind),
		.name = said.text,
		.group = said.group,
		.ranks = said.ranks,
		.bytes = said.bytes,
		.calls = s->rows[i].calls,
		.total_ns = s->rows[i].total_ns,
		.shortest_ns = s->rows[i].shortest_ns,
		.bus_gb_per_s = -1,
		.bus_gb_per_s_most = -1};
	if (bytes >= 0 && row->shortest_ns) {
		row->bus_gb_per_s = bytes * (double)row->calls / (double)row->total_ns;
		row->bus_gb_per_s_most = bytes / (double)row->shortest_ns;
	}
}

static int compare(const void *pa, const void *pb)
{
	const struct vpa_collective_row *a = pa, *b = pb;
	int order;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	order = vpt_text_order(a->name, b->name);
	if (!order)
		order = vpt_text_order(a->group, b->group);
	if (order || a->bytes == b->bytes)
		return order;
	return a->bytes < b->bytes ? -1 : 1;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_expert *e = &out->expert;
	struct state *s = state;
	size_t i;

	e->collectives = vpa_arena_alloc(&out->arena, s->index.count, sizeof(*e->collectives));
	if (!e->collectives && s->index.count)
		return VPT_ENOMEM;
	for (i = 0; i < s->index.count; i++)
		write_row(s, i, c, out, &e->collectives[i]);
	e->collectives_used = s->index.count;
	qsort(e->collectives, e->collectives_used, sizeof(*e->collectives), compare);
	e->collective_count = e->collectives_used < c->top ? e->collectives_used : c->top;
	return out->arena.failed ? VPT_ENOMEM : VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpa_index_free(&s->index);
	vpt_free(s->rows);
}

const struct vpa_fold vpa_fold_collectives = {
	.name = "collectives",
	.help = "collectives by name, communicator and size, and their bandwidth",
	.state_bytes = sizeof(struct state),
	.wanted = vpa_fold_is_table,
	.aside = fold_ops,
	.finish = finish,
	.free = free_state,
};

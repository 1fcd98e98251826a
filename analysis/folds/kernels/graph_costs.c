/* graph_costs.c - CUDA graphs and what they cost: launches, replays, captures and instantiations; loaded
 * code; and steps that could be graphs.
 *
 * No record says which graph a launch is of. Launches of equal nodes are replays of one graph: the sum
 * of a hash of each node's id, kernel and grid, whatever the order in which they ran. A step is compared
 * with others in the same way, by its ops outside graphs. */
#include "analysis/folds/kernels/graphs_table.h"

#include "analysis/past/past_calls.h"
#include "analysis/steps/step_kinds.h"
#include "formats/base/hash.h"
#include "formats/base/memory.h"
#include "formats/base/vectorise.h"

#include <string.h>

enum { LAUNCHES_MAX = 1 << 20, NESTED_MAX = 64 };

VPT_VECTORISE
static uint64_t sum_symbols(
	const uint32_t *restrict kernels, const uint32_t *restrict blocks, size_t count)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += vpa_op_symbol(kernels[i], blocks[i]);
	return sum;
}

/* ---- launches of graphs ---- */

static struct vpa_graph_launch *launch_of(struct vpa_graphs_table *s,
	const struct vpa_fold_context *c, const struct vpa_ops *ops, size_t i,
	const struct vpa_op_stretch *stretch)
{
	uint64_t process = stretch->thread == VPA_NONE ? UINT32_MAX
						       : c->model->threads[stretch->thread].process;
	uint64_t id = ops->correlation[i];
	struct vpa_graph_launch *row;
	uint32_t at;

	if (!vpa_index_has_room(&s->launch_index, LAUNCHES_MAX, process, id)) {
		s->left_out += ops->first_of_launch[i];
		return NULL;
	}
	at = vpa_index_row(
		&s->launch_index, process, id, &s->launches, &s->launch_cap, sizeof(*s->launches));
	if (at == UINT32_MAX) {
		s->failed = 1;
		return NULL;
	}
	row = &s->launches[at];
	if (!row->nodes) {
		row->first_ns = ops->start_ns[i];
		row->kernel = ops->kernel[i];
		row->place = stretch->place;
	}
	return row;
}

static void add_node(struct vpa_graph_launch *row, const struct vpa_ops *ops, size_t i)
{
	row->nodes++;
	row->hash += vpt_mix((uint64_t)(ops->graph_node[i] != 0) << 32 |
			     vpa_op_symbol(ops->kernel[i], ops->blocks[i]));
	row->kernel_ns += ops->end_ns[i] - ops->start_ns[i];
	row->last_ns = ops->end_ns[i] > row->last_ns ? ops->end_ns[i] : row->last_ns;
}

/* ---- steps ---- */

static int end_step(struct vpa_graphs_table *s, struct vpa_graph_step *step)
{
	struct vpa_graph_steps *row;
	uint32_t at;

	if (!step->ops)
		return VPT_OK;
	at = vpa_index_row(
		&s->step_index, step->hash, step->ops, &s->kinds, &s->kind_cap, sizeof(*s->kinds));
	if (at == UINT32_MAX)
		return VPT_ENOMEM;
	row = &s->kinds[at];
	row->count++;
	row->ops = step->ops;
	*step = (struct vpa_graph_step){0};
	return VPT_OK;
}

/* Scopes of steps are numbered anew when they have ended: a step ends at the latest when its number
 * begins again. */
static int begin_steps(struct vpa_graphs_table *s, const struct vpa_position *p)
{
	uint32_t i;
	int rc = VPT_OK;

	for (i = 0; i < p->begun_count && !rc; i++)
		if (p->begun[i] == p->around.step)
			rc = end_step(s, &s->steps[p->begun[i]]);
	return rc;
}

static void add_to_step(
	struct vpa_graph_step *step, const struct vpa_ops *ops, size_t begin, size_t end)
{
	size_t i, count = end - begin;

	step->hash += sum_symbols(ops->kernel + begin, ops->blocks + begin, count);
	step->ops += count;
	for (i = begin; ops->graph_launches && i < end; i++)
		if (vpa_op_is_of_graph(ops, i)) {
			step->hash -= vpa_op_symbol(ops->kernel[i], ops->blocks[i]);
			step->ops--;
		}
}

static int add_steps(
	struct vpa_graphs_table *s, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	const struct vpa_pipeline *p = c->pipeline;
	size_t begin = 0, i;
	int rc = VPT_OK;

	if (vpt_grow_zeroed(&s->steps, &s->step_cap, p->scope_count, sizeof(*s->steps)))
		return VPT_ENOMEM;
	for (i = 0; i < p->position_count && !rc; begin = p->positions[i++].end) {
		const struct vpa_position *at = &p->positions[i];

		if (at->around.step == VPA_NONE)
			continue;
		rc = begin_steps(s, at);
		add_to_step(&s->steps[at->around.step], ops, begin, at->end);
	}
	return rc;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct vpa_graphs_table *s = state;
	const struct vpa_call *launch = NULL; /* that of `row` */
	struct vpa_graph_launch *row = NULL;
	size_t i, k = 0;

	for (i = 0; ops->graph_launches && i < ops->count; i++) {
		if (!vpa_op_is_of_graph(ops, i) || !ops->launch[i])
			continue;
		if (!row || ops->launch[i] != launch)
			row = launch_of(s, c, ops, i, vpa_ops_stretch(ops, i, &k));
		launch = ops->launch[i];
		if (row)
			add_node(row, ops, i);
	}
	return s->failed ? VPT_ENOMEM : add_steps(s, c, ops);
}

/* ---- calls that load code and make graphs ---- */

static int add_setup(
	struct vpa_graphs_table *s, uint32_t name, enum vpa_setup_kind kind, uint64_t ns, int sign)
{
	uint32_t at = vpa_index_row(
		&s->setup_index, kind, name, &s->setups, &s->setup_cap, sizeof(*s->setups));

	if (at == UINT32_MAX)
		return VPT_ENOMEM;
	s->setups[at].count += (uint64_t)sign;
	s->setups[at].total_ns += (uint64_t)sign * ns;
	return VPT_OK;
}

/* A call inside another one came first: it counts as the outer one only. */
static int take_back(struct vpa_graphs_table *s, struct vpa_setup_thread *t, uint64_t start_ns)
{
	int rc = VPT_OK;

	while (t->count && t->recent[t->count - 1].start_ns >= start_ns && !rc) {
		const struct vpa_setup_call *inner = &t->recent[--t->count];

		rc = add_setup(s, inner->name, inner->kind, inner->ns, -1);
	}
	return rc;
}

static int add_capture(
	struct vpa_graphs_table *s, struct vpa_setup_thread *t, const struct vpa_call *call)
{
	int rc = VPT_OK;

	if (call->klass == VPT_CALL_BEGIN_CAPTURE) {
		/* A runtime call and the driver's inside it begin one capture. */
		t->capture_ns = vpa_call_start(call);
		return VPT_OK;
	}
	if (t->capture_ns)
		rc = add_setup(s, 0, VPA_SETUP_CAPTURE, vpa_call_end(call) - t->capture_ns, 1);
	t->capture_ns = 0;
	return rc;
}

static int fold_setup(void *state, const struct vpa_fold_context *c, const struct vpa_call *call)
{
	uint32_t thread = vpa_call_thread(call);
	struct vpa_graphs_table *s = state;
	struct vpa_setup_thread *t;
	struct vpa_setup_call *last;
	int rc;

	if (vpt_grow_zeroed(
		    &s->threads, &s->thread_cap, c->model->thread_count, sizeof(*s->threads)))
		return VPT_ENOMEM;
	t = &s->threads[thread];
	if (call->klass == VPT_CALL_BEGIN_CAPTURE || call->klass == VPT_CALL_END_CAPTURE)
		return add_capture(s, t, call);
	rc = take_back(s, t, vpa_call_start(call));
	if (rc || vpt_grow(&t->recent, &t->cap, t->count + 1, sizeof(*t->recent)))
		return VPT_ENOMEM;
	if (t->count == NESTED_MAX) {
		t->count--;
		memmove(t->recent, t->recent + 1, t->count * sizeof(*t->recent));
	}
	last = &t->recent[t->count++];
	*last = (struct vpa_setup_call){vpa_call_start(call),
		vpa_call_end(call) - vpa_call_start(call), call->name,
		call->klass == VPT_CALL_MODULE_LOAD ? VPA_SETUP_MODULE : VPA_SETUP_GRAPH};
	return add_setup(s, last->name, last->kind, last->ns, 1);
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_graphs_table *s = state;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < s->step_cap && !rc; i++)
		rc = end_step(s, &s->steps[i]);
	return rc ? rc : vpa_graphs_write(s, c, out);
}

static void free_state(void *state)
{
	struct vpa_graphs_table *s = state;
	size_t i;

	vpa_index_free(&s->launch_index);
	vpa_index_free(&s->step_index);
	vpa_index_free(&s->setup_index);
	for (i = 0; i < s->thread_cap; i++)
		vpt_free(s->threads[i].recent);
	vpt_free(s->launches);
	vpt_free(s->steps);
	vpt_free(s->kinds);
	vpt_free(s->setups);
	vpt_free(s->threads);
}

const struct vpa_fold vpa_fold_graphs = {
	.name = "graphs",
	.help = "CUDA graphs, their replays and setup, loaded code, and steps that could be graphs",
	.state_bytes = sizeof(struct vpa_graphs_table),
	.ops = fold_ops,
	.setup = fold_setup,
	.finish = finish,
	.free = free_state,
};

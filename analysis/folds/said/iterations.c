/* iterations.c - a row for each step or context pass, or iteration of a profiler; for each block where there are none, and
 * for each request where there is no block. */
#include "analysis/folds/said/said_label.h"

#include "formats/base/memory.h"

#include <stdlib.h>

enum { ROWS_MAX = 4096 };

/* What one list has. */
enum list { STEPS, BLOCKS, REQUESTS, LISTS };

struct state {
	struct vpa_iteration *rows[LISTS];
	size_t counts[LISTS], caps[LISTS], seen[LISTS];
};

static enum list list_of(enum vpa_scope_kind kind)
{
	switch (kind) {
	case VPA_SCOPE_STEP:
	case VPA_SCOPE_CONTEXT:
	case VPA_SCOPE_ITERATION:
		return STEPS;
	case VPA_SCOPE_BLOCK:
		return BLOCKS;
	case VPA_SCOPE_REQUEST:
		return REQUESTS;
	default:
		return LISTS;
	}
}

/* Summed over devices, as for ranges. */
static void add_gpu(const struct vpa_range *range, struct vpa_iteration *row)
{
	const struct vpa_projection *gpu;

	for (gpu = &range->gpu; gpu; gpu = gpu->next) {
		if (gpu->device == VPA_NONE)
			continue;
		row->ops += gpu->ops;
		row->busy_ns += gpu->busy_ns;
		row->idle_ns += gpu->idle_last_ns - gpu->idle_first_ns;
	}
	row->gpu_ns = vpa_said_gpu_ns(range);
}

static int fold_range(void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	struct state *s = state;
	struct vpa_scope_label label;
	struct vpa_where where;
	enum list list;
	struct vpa_iteration *row;

	if (vpa_said_label(c, range, &label))
		return VPT_ENOMEM;
	list = list_of(label.kind);
	if (list == LISTS || s->seen[list]++ >= ROWS_MAX)
		return VPT_OK;
	if (vpt_grow(&s->rows[list], &s->caps[list], s->counts[list] + 1, sizeof(*row)) ||
		vpa_pipeline_where(c->pipeline, vpa_range_around(range, range->start_ns), NULL,
			range->start_ns, &where))
		return VPT_ENOMEM;
	row = &s->rows[list][s->counts[list]++];
	*row = (struct vpa_iteration){.kind = label.kind,
		.index = label.index,
		.block = where.block,
		.timestep = label.timestep,
		.request = -1,
		.start_ns = range->start_ns,
		.host_ns = range->end_ns - range->start_ns};
	add_gpu(range, row);
	return VPT_OK;
}

/* One that launched nothing is no scope. */
static int fold_unplaced(
	void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	return vpa_pipeline_kind(range) ? VPT_OK : fold_range(state, c, range);
}

/* ---- writing down ---- */

static int by_start(const void *pa, const void *pb)
{
	const struct vpa_iteration *a = pa, *b = pb;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->host_ns > b->host_ns ? -1 : a->host_ns < b->host_ns; /* the outer one */
}

/* Of each row: the newest request that had begun, if it had not ended. */
static void set_requests(
	struct vpa_iteration *rows, size_t count, const struct vpa_iteration *requests, size_t all)
{
	size_t i, begun = 0;

	for (i = 0; i < count; i++) {
		while (begun < all && requests[begun].start_ns <= rows[i].start_ns)
			begun++;
		if (begun && rows[i].start_ns - requests[begun - 1].start_ns <
				     requests[begun - 1].host_ns)
			rows[i].request = (int64_t)begun - 1;
	}
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	struct vpa_said *said = &out->said;
	size_t list = STEPS, i;

	(void)c;
	while (list < LISTS && !s->counts[list])
		list++;
	if (list == LISTS)
		return VPT_OK;
	said->iterations = vpa_arena_alloc(&out->arena, s->counts[list], sizeof(*said->iterations));
	if (!said->iterations)
		return VPT_ENOMEM;
	for (i = 0; i < LISTS; i++)
		if (s->counts[i])
			qsort(s->rows[i], s->counts[i], sizeof(*s->rows[i]), by_start);
	if (list != REQUESTS)
		set_requests(
			s->rows[list], s->counts[list], s->rows[REQUESTS], s->counts[REQUESTS]);
	for (i = 0; i < s->counts[list]; i++)
		said->iterations[i] = s->rows[list][i];
	said->iteration_count = s->counts[list];
	said->iterations_used = s->seen[list];
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < LISTS; i++)
		vpt_free(s->rows[i]);
}

const struct vpa_fold vpa_fold_iterations = {
	.name = "iterations",
	.help = "each step, iteration, block or request",
	.state_bytes = sizeof(struct state),
	.scope = fold_range,
	.annotated = fold_unplaced,
	.finish = finish,
	.free = free_state,
};

/* collectives.c - waiting in communication. A collective begins on each rank when that rank is ready and ends
 * after the last one is. So a call's time beyond the shortest call of its kernel and grid on its stream is time
 * spent waiting for other ranks, provided that such calls move the same number of bytes. Communicators have streams
 * of their own: a small group may move less with the same kernel.
 *
 * Calls cut by the window do not count for the shortest. */
#include "analysis/folds/fold.h"

#include "analysis/base/index.h"
#include "formats/base/memory.h"

#include <string.h>

struct row {
	uint64_t count, total_ns, shortest_ns;
	uint32_t device;
};

struct state {
	struct vpa_index index; /* (stream, kernel), grid */
	struct row *rows;
	size_t row_cap;
};

static struct row *row_of(struct state *s, const struct vpa_ops *ops, size_t i)
{
	uint64_t kernel = (uint64_t)ops->stream[i] << 32 | ops->kernel[i];
	uint32_t row = vpa_index_row(
		&s->index, kernel, ops->blocks[i], &s->rows, &s->row_cap, sizeof(*s->rows));

	return row == UINT32_MAX ? NULL : &s->rows[row];
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	const struct vpa_model *m = c->model;
	size_t i, k;

	for (k = 0; k < ops->other_count; k++) {
		struct row *row;
		uint64_t ns;

		i = ops->others[k];
		if (!ops->is_comm[i] || ops->start_ns[i] <= m->window_start_ns ||
			ops->end_ns[i] >= m->window_end_ns)
			continue;
		row = row_of(state, ops, i);
		if (!row)
			return VPT_ENOMEM;
		ns = ops->end_ns[i] - ops->start_ns[i];
		row->device = ops->device[i];
		row->shortest_ns = row->count++ && row->shortest_ns < ns ? row->shortest_ns : ns;
		row->total_ns += ns;
	}
	return VPT_OK;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	size_t i, d;

	for (i = 0; i < s->index.count; i++) {
		const struct row *row = &s->rows[i];
		int64_t device = c->model->devices[row->device];

		for (d = 0; d < out->device_count && out->devices[d].device != device; d++)
			;
		if (d == out->device_count)
			continue;
		out->devices[d].comm_ns += row->total_ns;
		out->devices[d].comm_wait_ns += row->total_ns - row->count * row->shortest_ns;
		if (row->shortest_ns > VPA_SMALL_COMM_NS)
			continue;
		out->devices[d].comm_small_calls += row->count;
		out->devices[d].comm_small_ns += row->count * row->shortest_ns;
	}
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpa_index_free(&s->index);
	vpt_free(s->rows);
}

const struct vpa_fold vpa_fold_comm = {
	.name = "comm",
	.help = "communication of each GPU, and how much of it waited for other ranks",
	.state_bytes = sizeof(struct state),
	.aside = fold_ops,
	.finish = finish,
	.free = free_state,
};

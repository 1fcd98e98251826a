/* syncs.c - calls in which the host waits for a device, and the cost of each: the idle time it caused,
 * not the time in the call. */
#include "analysis/folds/fold.h"

#include "analysis/base/index.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

struct row {
	uint64_t count, total_ns, gaps, idle_ns;
	uint64_t newest_gap; /* counted already */
};

struct state {
	struct vpa_index index; /* (name of the call, 0) */
	struct row *rows;
	size_t row_cap;
	uint64_t gap_count; /* emitted so far */
};

static struct row *row_of(struct state *s, uint32_t name)
{
	uint32_t row = vpa_index_row(&s->index, name, 0, &s->rows, &s->row_cap, sizeof(*s->rows));

	return row == UINT32_MAX ? NULL : &s->rows[row];
}

static int fold_call(void *state, const struct vpa_fold_context *c, const struct vpa_call *call)
{
	struct row *row;

	(void)c;
	row = row_of(state, call->name);
	if (!row)
		return VPT_ENOMEM;
	row->count++;
	vpt_sat_add_to(&row->total_ns, vpa_call_end(call) - vpa_call_start(call));
	return VPT_OK;
}

static int fold_gap(void *state, const struct vpa_fold_context *c, const struct vpa_gap *gap)
{
	struct state *s = state;
	struct row *row;
	size_t i;

	(void)c;
	s->gap_count++;
	for (i = 0; i < gap->piece_count; i++) {
		const struct vpa_cause_piece *piece = &gap->pieces[i];

		if (piece->cause != VPA_CAUSE_SYNC && piece->cause != VPA_CAUSE_BLOCKING_COPY)
			continue;
		row = row_of(s, piece->call);
		if (!row)
			return VPT_ENOMEM;
		row->gaps += row->newest_gap != s->gap_count;
		row->newest_gap = s->gap_count;
		row->idle_ns += piece->end_ns - piece->start_ns;
	}
	return VPT_OK;
}

static int compare_syncs(const void *pa, const void *pb)
{
	const struct vpa_sync_row *a = pa, *b = pb;

	if (a->idle_ns != b->idle_ns)
		return a->idle_ns > b->idle_ns ? -1 : 1;
	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return strcmp(a->call, b->call);
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	size_t i;

	out->syncs = vpa_arena_alloc(&out->arena, s->index.count, sizeof(*out->syncs));
	if (!out->syncs)
		return VPT_ENOMEM;
	for (i = 0; i < s->index.count; i++) {
		const char *name = vpa_fold_name(out, c->model, (uint32_t)s->index.entries[i].a);

		out->syncs[out->sync_count++] =
			(struct vpa_sync_row){.call = name ? name : "(no name)",
				.count = s->rows[i].count,
				.total_ns = s->rows[i].total_ns,
				.gaps = s->rows[i].gaps,
				.idle_ns = s->rows[i].idle_ns};
	}
	qsort(out->syncs, out->sync_count, sizeof(*out->syncs), compare_syncs);
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpa_index_free(&s->index);
	vpt_free(s->rows);
}

const struct vpa_fold vpa_fold_syncs = {
	.name = "syncs",
	.help = "calls in which the host waits for the device, by the idle time they cause",
	.state_bytes = sizeof(struct state),
	.call = fold_call,
	.gap = fold_gap,
	.finish = finish,
	.free = free_state,
};

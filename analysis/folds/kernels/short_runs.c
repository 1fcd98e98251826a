/* short_runs.c - which sequences of short kernels a stream runs again and again: what to fuse, or to launch as a graph.
 *
 * A run is two or more kernels of less than 10 us each, one after another on a stream. A longer kernel, a copy, or 100 us
 * without work ends it, and so does its 32nd kernel. Runs of the same kernels are one row. */
#include "analysis/folds/fold.h"

#include "analysis/base/index.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"

#include <stdlib.h>
#include <string.h>

enum { SHORT_NS = 10000, APART_NS = 100000, RUN_MAX = 32, RUNS_MAX = 16384, NAMES_SHOWN = 6 };

struct run {
	uint64_t busy_ns, start_ns, end_ns;
	uint32_t kernels[RUN_MAX], count;
};

struct row {
	uint64_t runs, busy_ns, span_ns;
	uint32_t kernels[RUN_MAX], count;
};

struct state {
	struct run *runs; /* by stream */
	size_t run_cap;
	struct vpa_index index; /* (device, kernels), a hash of them */
	struct row *rows;
	size_t row_cap;
	uint64_t kernels, ns; /* short ones, of all devices */
};

static uint64_t hash_of(const struct run *r)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	uint32_t i;

	for (i = 0; i < r->count; i++)
		hash = (hash ^ r->kernels[i]) * UINT64_C(0x100000001b3) ^ hash >> 29;
	return hash;
}

/* A row that another run's hash hides is left to that one. */
static int end_run(struct state *s, struct run *r, uint32_t device)
{
	uint64_t key = (uint64_t)device << 32 | r->count;
	uint32_t at;
	struct row *row;

	if (r->count < 2 || s->index.count >= RUNS_MAX) {
		r->count = 0;
		return VPT_OK;
	}
	at = vpa_index_row(&s->index, key, hash_of(r), &s->rows, &s->row_cap, sizeof(*s->rows));
	if (at == UINT32_MAX)
		return VPT_ENOMEM;
	row = &s->rows[at];
	if (!row->runs++) {
		memcpy(row->kernels, r->kernels, sizeof(r->kernels));
		row->count = r->count;
	}
	vpt_sat_add_to(&row->busy_ns, r->busy_ns);
	vpt_sat_add_to(&row->span_ns, vpt_sat_sub(r->end_ns, r->start_ns));
	r->count = 0;
	return VPT_OK;
}

/* Ops of one stream. */
static int add(struct state *s, const struct vpa_ops *ops, size_t begin, size_t end)
{
	struct run *r = &s->runs[ops->stream[begin]];
	uint32_t device = ops->device[begin];
	uint64_t kernels = 0, sum_ns = 0;
	size_t i;
	int rc = VPT_OK;

	for (i = begin; i < end && !rc; i++) {
		uint64_t start_ns = ops->start_ns[i], ns = ops->end_ns[i] - start_ns;
		int is_short = ns < SHORT_NS && ops->kind[i] == VPA_KERNEL && !ops->is_comm[i];

		if (r->count && (!is_short || r->count == RUN_MAX ||
					vpt_sat_sub(start_ns, r->end_ns) > APART_NS))
			rc = end_run(s, r, device);
		if (!is_short || rc)
			continue;
		if (!r->count) {
			r->start_ns = start_ns;
			r->busy_ns = 0;
		}
		r->kernels[r->count++] = ops->kernel[i];
		r->busy_ns += ns;
		r->end_ns = ops->end_ns[i];
		kernels++;
		sum_ns += ns;
	}
	s->kernels += kernels;
	vpt_sat_add_to(&s->ns, sum_ns);
	return rc;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	size_t i;
	int rc = VPT_OK;

	if (vpt_grow_zeroed(&s->runs, &s->run_cap, c->model->stream_count, sizeof(*s->runs)))
		return VPT_ENOMEM;
	for (i = 0; i < ops->run_count && !rc; i++)
		rc = add(s, ops, ops->runs[i].begin, ops->runs[i].end);
	return rc;
}

/* ---- writing down ---- */

/* A kernel's name without namespaces and what is in brackets: "reduce_kernel". */
static const char *plain_name(struct vpa_report *out, struct vpt_text name)
{
	static const char unnamed[] = "(anonymous namespace)::", type[] = "void ";
	size_t from = name.len > 5 && !memcmp(name.text, type, 5) ? 5 : 0, at = from;

	while (at < name.len && name.text[at] != '<' && name.text[at] != '(') {
		size_t step = 1;

		if (name.len - at > 2 && !memcmp(name.text + at, "::", 2))
			step = 2;
		if (step == 2 && name.len - at > 2 + sizeof(unnamed) - 1 &&
			!memcmp(name.text + at + 2, unnamed, sizeof(unnamed) - 1))
			step += sizeof(unnamed) - 1;
		at += step;
		from = step > 1 ? at : from;
	}
	return vpa_arena_text(&out->arena, name.text + from, at - from);
}

static const char *names_of(
	struct vpa_report *out, const struct vpa_model *m, const struct row *row)
{
	const char *text = "", *name;
	uint32_t i;

	for (i = 0; i < row->count && i < NAMES_SHOWN && text; i++) {
		name = plain_name(out, vpa_name(m, m->kernels[row->kernels[i]].name));
		text = vpa_arena_printf(
			&out->arena, "%s%s%.100s", text, i ? ", " : "", name && *name ? name : "?");
	}
	if (row->count > NAMES_SHOWN && text)
		text = vpa_arena_printf(
			&out->arena, "%s and %u more", text, row->count - NAMES_SHOWN);
	return text;
}

static int compare(const void *pa, const void *pb)
{
	const struct vpa_short_run_row *a = pa, *b = pb;

	if (a->span_ns != b->span_ns)
		return a->span_ns > b->span_ns ? -1 : 1;
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->runs != b->runs)
		return a->runs > b->runs ? -1 : 1;
	return a->kernels && b->kernels ? strcmp(a->kernels, b->kernels) : 0;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	const struct vpa_model *m = c->model;
	struct vpa_expert *e = &out->expert;
	struct state *s = state;
	size_t i;

	for (i = 0; i < s->run_cap && i < m->stream_count; i++)
		if (end_run(s, &s->runs[i], m->streams[i].device))
			return VPT_ENOMEM;
	e->short_runs = vpa_arena_alloc(&out->arena, s->index.count, sizeof(*e->short_runs));
	if (!e->short_runs && s->index.count)
		return VPT_ENOMEM;
	/* What happens once is no habit. */
	for (i = 0; i < s->index.count; i++)
		if (s->rows[i].runs > 1)
			e->short_runs[e->short_runs_used++] = (struct vpa_short_run_row){
				.device = m->devices[s->index.entries[i].a >> 32],
				.kernels = names_of(out, m, &s->rows[i]),
				.count = s->rows[i].count,
				.runs = s->rows[i].runs,
				.busy_ns = s->rows[i].busy_ns,
				.span_ns = s->rows[i].span_ns};
	qsort(e->short_runs, e->short_runs_used, sizeof(*e->short_runs), compare);
	e->short_run_count = e->short_runs_used < c->top ? e->short_runs_used : c->top;
	e->short_kernels = s->kernels;
	e->short_kernel_ns = s->ns;
	return out->arena.failed ? VPT_ENOMEM : VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpa_index_free(&s->index);
	vpt_free(s->rows);
	vpt_free(s->runs);
}

const struct vpa_fold vpa_fold_short_runs = {
	.name = "short_runs",
	.help = "sequences of short kernels that repeat",
	.state_bytes = sizeof(struct state),
	.wanted = vpa_fold_is_table,
	.aside = fold_ops,
	.finish = finish,
	.free = free_state,
};

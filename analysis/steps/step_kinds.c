/* step_kinds.c - groups steps by a hash of their ops, and judges the groups.
 *
 * The steps that run most are the *full* ones: the kind with most ops among those that make up a twentieth
 * of the steps, and at least two. Any other kind is compared with it. One that runs at most four fifths of
 * its ops, mostly the same ones, in less time, and that comes back, left work out: a step cache does that. If the full steps have
 * two halves, a step with exactly one of them is no such step, but one without guidance. */
#include "analysis/steps/step_kinds.h"

#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/vectorise.h"

#include <stdlib.h>
#include <string.h>

/* ---- the ops of a step ---- */

int vpa_step_ops_reserve(struct vpa_step_ops *s, size_t count)
{
	size_t need = s->kept + count < VPA_STEP_OPS_MAX ? s->kept + count : VPA_STEP_OPS_MAX;

	return vpt_grow(&s->symbols, &s->symbol_cap, need, sizeof(*s->symbols)) ||
			       vpt_grow(&s->starts_ns, &s->start_cap, need, sizeof(*s->starts_ns))
		       ? VPT_ENOMEM
		       : VPT_OK;
}

void vpa_step_ops_reset(struct vpa_step_ops *s)
{
	s->kept = 0;
	s->ops = s->first_ns = s->last_ns = 0;
	s->in_any_order = 0;
}

void vpa_step_ops_free(struct vpa_step_ops *s)
{
	vpt_free(s->symbols);
	vpt_free(s->starts_ns);
	*s = (struct vpa_step_ops){.symbols = NULL};
}

/* ---- hashes ---- */

/* Each op times an odd number of its place: two ops that change places change the sum. */
VPT_VECTORISE
static uint64_t hash_in_order(const uint32_t *restrict symbols, size_t count)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < (uint32_t)count; i++)
		sum += (uint64_t)symbols[i] * (i * 0x9e3779b2u + 1);
	return sum;
}

/* The same for equal ops in any order. */
VPT_VECTORISE
static uint64_t hash_of_set(const uint32_t *restrict symbols, size_t count)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += (uint64_t)(symbols[i] ^ symbols[i] >> 13) * (symbols[i] | 1);
	return sum;
}

/* ---- kinds ---- */

static int begin_group(
	struct vpa_step_groups *g, struct vpa_step_group *row, const struct vpa_step_ops *step)
{
	const struct vpa_step_halves *h = &row->halves;

	row->first = g->steps - 1;
	row->ops = step->ops;
	row->kept = step->kept;
	row->set_hash = hash_of_set(step->symbols, step->kept);
	if (step->kept > VPA_STEP_SYMBOLS_MAX - g->symbols)
		return VPT_OK;
	row->symbols = vpt_alloc(step->kept, sizeof(*row->symbols));
	if (!row->symbols || vpa_step_halves_find(step->symbols, step->kept, &row->halves))
		return VPT_ENOMEM;
	memcpy(row->symbols, step->symbols, step->kept * sizeof(*row->symbols));
	g->symbols += step->kept;
	row->half_hash = hash_of_set(step->symbols + h->second, h->end - h->second);
	return VPT_OK;
}

static uint64_t second_half_ns(const struct vpa_step_ops *step, const struct vpa_step_halves *h)
{
	uint64_t end_ns = h->end < step->kept ? step->starts_ns[h->end] : step->last_ns;

	return h->end ? end_ns - step->starts_ns[h->second] : 0;
}

int vpa_step_groups_add(struct vpa_step_groups *g, const struct vpa_step_ops *step)
{
	struct vpa_step_group *row;
	uint64_t hash;
	uint32_t at;

	if (!step->ops)
		return VPT_OK;
	g->steps++;
	g->total_ns += step->last_ns - step->first_ns;
	hash = step->in_any_order ? ~hash_of_set(step->symbols, step->kept)
				  : hash_in_order(step->symbols, step->kept);
	if (g->index.count == VPA_STEP_KINDS_MAX &&
		vpa_index_find(&g->index, hash, step->ops) == UINT32_MAX) {
		g->left_out++;
		return VPT_OK;
	}
	at = vpa_index_row(&g->index, hash, step->ops, &g->rows, &g->row_cap, sizeof(*g->rows));
	if (at == UINT32_MAX)
		return VPT_ENOMEM;
	row = &g->rows[at];
	if (!row->count && begin_group(g, row, step))
		return VPT_ENOMEM;
	row->count++;
	row->total_ns += step->last_ns - step->first_ns;
	row->second_ns += second_half_ns(step, &row->halves);
	return VPT_OK;
}

void vpa_step_groups_free(struct vpa_step_groups *g)
{
	size_t i;

	for (i = 0; i < g->row_cap; i++)
		vpt_free(g->rows[i].symbols);
	vpt_free(g->rows);
	vpa_index_free(&g->index);
}

/* ---- judging them ---- */

/* NULL: no kind is frequent enough. */
static const struct vpa_step_group *find_full(const struct vpa_step_groups *g)
{
	const struct vpa_step_group *full = NULL;
	size_t i;

	for (i = 0; i < g->index.count; i++) {
		const struct vpa_step_group *row = &g->rows[i];

		if (row->count < 2 || 20 * row->count < g->steps || !row->symbols)
			continue;
		if (!full || row->ops > full->ops ||
			(row->ops == full->ops && row->total_ns > full->total_ns))
			full = row;
	}
	return full;
}

/* The time that these steps would take if they were full ones, at the mean. */
static uint64_t as_full_ns(const struct vpa_step_group *full, const struct vpa_step_group *row)
{
	return vpt_sat_u64((double)full->total_ns / (double)full->count * (double)row->count);
}

static enum vpa_step_role role_of(const struct vpa_step_group *full,
	const struct vpa_step_group *row, struct vpa_symbol_counts *counts)
{
	if (!full)
		return VPA_STEP_OTHER;
	if (row == full)
		return VPA_STEP_FULL;
	if (!row->symbols || as_full_ns(full, row) <= row->total_ns)
		return VPA_STEP_OTHER;
	if (full->halves.end && row->set_hash == full->set_hash - full->half_hash)
		return VPA_STEP_HALF;
	if (row->count > 1 && 5 * row->ops <= 4 * full->ops &&
		4 * vpa_symbol_counts_common(counts, row->symbols, row->kept) >= 3 * row->kept)
		return VPA_STEP_FEWER;
	return VPA_STEP_OTHER;
}

static void write_row(const struct vpa_step_group *full, const struct vpa_step_group *g,
	struct vpa_symbol_counts *counts, struct vpa_step_kinds *out)
{
	struct vpa_step_kind *row = &out->rows[out->distinct++];

	*row = (struct vpa_step_kind){.role = role_of(full, g, counts),
		.first = g->first,
		.steps = g->count,
		.ops = g->ops,
		.total_ns = g->total_ns,
		.of_full = full ? (double)g->ops / (double)full->ops : -1,
		.half_ops = g->halves.end - g->halves.second,
		.second_ns = g->second_ns};
	if (row->role == VPA_STEP_FEWER) {
		row->saved_ns = as_full_ns(full, g) - g->total_ns;
		out->fewer += g->count;
		out->saved_ns += row->saved_ns;
	}
	if (row->half_ops) {
		out->paired += g->count;
		out->second_ns += g->second_ns;
	}
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct vpa_step_kind *a = pa, *b = pb;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

int vpa_step_groups_write(struct vpa_step_groups *g, enum vpa_steps_source source, size_t top,
	struct vpa_arena *arena, struct vpa_step_kinds *out)
{
	const struct vpa_step_group *full = find_full(g);
	struct vpa_symbol_counts counts = {.slots = NULL};
	size_t i;

	*out = (struct vpa_step_kinds){.source = source,
		.steps = g->steps,
		.left_out = g->left_out,
		.total_ns = g->total_ns,
		.full_ops = full ? full->ops : 0};
	out->rows = vpa_arena_alloc(arena, g->index.count + 1, sizeof(*out->rows));
	if (!out->rows || (full && vpa_symbol_counts_make(&counts, full->symbols, full->kept))) {
		vpa_symbol_counts_free(&counts);
		return VPT_ENOMEM;
	}
	for (i = 0; i < g->index.count; i++)
		write_row(full, &g->rows[i], &counts, out);
	vpa_symbol_counts_free(&counts);
	qsort(out->rows, out->distinct, sizeof(*out->rows), compare_rows);
	out->row_count = out->distinct < top ? out->distinct : top;
	return VPT_OK;
}

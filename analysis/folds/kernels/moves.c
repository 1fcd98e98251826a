/* moves.c - kernels that join tensors or change their type, by the place of their launch.
 *
 * A call of a graph has the place of the graph's launch. */
#include "analysis/folds/fold.h"

#include "analysis/base/index.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/vectorise.h"

#include <stdlib.h>
#include <string.h>

struct sum {
	uint64_t calls, ns;
};

struct state {
	struct vpa_index index; /* (enum vpa_move, place) */
	struct sum *sums;
	size_t sum_cap;
};

static enum vpa_move move_of(const struct vpa_kernel_class *k)
{
	return vpa_is_marked(k->marks, VPA_MARK_CAT) ? VPA_MOVE_CAT : VPA_MOVE_CAST;
}

static int add(struct state *s, enum vpa_move move, uint32_t place, uint64_t ns)
{
	uint32_t row = vpa_index_row(
		&s->index, (uint64_t)move, place, &s->sums, &s->sum_cap, sizeof(*s->sums));

	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	s->sums[row].calls++;
	vpt_sat_add_to(&s->sums[row].ns, ns);
	return VPT_OK;
}

/* Sets `moves` of ops that move tensors. */
VPT_VECTORISE
static void find_moves(const uint8_t *restrict traits, uint8_t *restrict moves, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		moves[i] = (traits[i] & VPA_TRAIT_MOVES) != 0;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	uint8_t moves[VPA_OPS_MAX];
	const uint8_t *at = moves;
	size_t i, k = 0;

	find_moves(ops->traits, moves, ops->count);
	while ((at = memchr(at, 1, ops->count - (size_t)(at - moves))) != NULL) {
		i = (size_t)(at++ - moves);
		if (add(state, move_of(&c->model->kernels[ops->kernel[i]].klass),
			    vpa_ops_stretch(ops, i, &k)->place, ops->end_ns[i] - ops->start_ns[i]))
			return VPT_ENOMEM;
	}
	return VPT_OK;
}

static int compare(const void *pa, const void *pb)
{
	const struct vpa_move_row *a = pa, *b = pb;

	if (a->what != b->what)
		return a->what < b->what ? -1 : 1;
	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return vpa_place_compare(&a->place, &b->place);
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	size_t i;

	out->moves = vpa_arena_alloc(&out->arena, s->index.count, sizeof(*out->moves));
	if (!out->moves && s->index.count)
		return VPT_ENOMEM;
	for (i = 0; i < s->index.count; i++) {
		const struct vpa_index_entry *e = &s->index.entries[i];

		out->moves[out->move_count++] = (struct vpa_move_row){.what = (enum vpa_move)e->a,
			.place = vpa_fold_place(&out->arena, c->model, (uint32_t)e->b),
			.calls = s->sums[i].calls,
			.total_ns = s->sums[i].ns};
	}
	if (out->move_count)
		qsort(out->moves, out->move_count, sizeof(*out->moves), compare);
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpa_index_free(&s->index);
	vpt_free(s->sums);
}

const struct vpa_fold vpa_fold_moves = {
	.name = "moves",
	.help = "kernels that join tensors or change their type, by place",
	.state_bytes = sizeof(struct state),
	.aside = fold_ops,
	.finish = finish,
	.free = free_state,
};

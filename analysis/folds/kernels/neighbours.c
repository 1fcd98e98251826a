/* neighbours.c - kernels that say something by what runs right before them on their stream: chains of
 * kernels of which one could read and write the data once; and the copies between layouts and quantisations that an
 * attention needs of its operands.
 *
 * A chain is two or more kernels with nothing between, one of them elementwise, the others too, or casts and copies,
 * reductions, norms and lookups, which a compiler fuses as well: an RMS norm in FP32 is a cast, a power, a mean, a
 * sum, a root, two products and a cast. Inductor has fused what it could, so its kernels are in none. The longest of
 * a chain is what a fused kernel takes at least. */
#include "analysis/folds/fold.h"

#include "formats/base/memory.h"
#include "formats/base/vectorise.h"

#include <string.h>

/* What ran last on a stream. */
struct lane {
	uint64_t chain_ns, longest_ns; /* of the chain so far */
	uint64_t chained, elementwise;
	uint32_t first;           /* its first kernel */
	uint64_t moved_ns, moved; /* in copies between layouts, and quantisations, up to now */
};

struct moved {
	uint64_t ns, kernels;
};

struct state {
	struct lane *lanes; /* by stream */
	size_t lane_cap;
	struct moved *before; /* by attention kernel */
	size_t before_cap;
	uint64_t *kernel_ns; /* of elementwise ones in chains, by kernel */
	size_t kernel_cap;
	/* By 1 + kernel, whether it can be fused with those beside it; the first is of other ops. */
	uint8_t *joins;
	size_t joins_cap, kernel_count;
	struct vpa_chains chains;
};

/* Whether a compiler fuses a kernel with those beside it. It made some of several operators already, and a change of
 * layouts for convolutions is fused with nothing. */
static int is_fusible(const struct vpa_kernel_class *k)
{
	return (k->family == VPA_FAMILY_ELEMENTWISE || k->family == VPA_FAMILY_LAYOUT ||
		       k->family == VPA_FAMILY_REDUCE || k->family == VPA_FAMILY_NORM ||
		       k->family == VPA_FAMILY_INDEX) &&
	       !vpa_is_marked(k->marks, VPA_MARK_FUSED) &&
	       !vpa_is_marked(k->marks, VPA_MARK_CONV_LAYOUT);
}

static int make_room(struct state *s, const struct vpa_model *m)
{
	if (vpt_grow_zeroed(&s->lanes, &s->lane_cap, m->stream_count, sizeof(*s->lanes)) ||
		vpt_grow_zeroed(&s->before, &s->before_cap, m->kernel_count, sizeof(*s->before)) ||
		vpt_grow_zeroed(
			&s->kernel_ns, &s->kernel_cap, m->kernel_count, sizeof(*s->kernel_ns)) ||
		vpt_grow_zeroed(&s->joins, &s->joins_cap, m->kernel_count + 1, 1))
		return VPT_ENOMEM;
	for (; s->kernel_count < m->kernel_count; s->kernel_count++)
		s->joins[s->kernel_count + 1] =
			(uint8_t)is_fusible(&m->kernels[s->kernel_count].klass);
	return VPT_OK;
}

static void end_chain(struct state *s, struct lane *l)
{
	if (l->chained > 1 && l->elementwise) {
		s->chains.count++;
		s->chains.kernels += l->chained;
		s->chains.total_ns += l->chain_ns;
		s->chains.longest_ns += l->longest_ns;
	}
	/* Alone it is in no chain. */
	if (l->chained == 1 && l->elementwise)
		s->kernel_ns[l->first] -= l->chain_ns;
	l->chained = l->elementwise = l->chain_ns = l->longest_ns = 0;
}

/* Adds kernels [begin, end) to the chain that the lane has. */
static void add_to_chain(
	struct state *s, struct lane *l, const struct vpa_ops *ops, size_t begin, size_t end)
{
	uint64_t *kernel_ns = s->kernel_ns, sum_ns = 0, longest_ns = l->longest_ns;
	size_t i, elementwise = 0;

	if (!l->chained && begin < end)
		l->first = ops->kernel[begin];
	for (i = begin; i < end; i++) {
		uint64_t ns = ops->end_ns[i] - ops->start_ns[i];

		sum_ns += ns;
		longest_ns = ns > longest_ns ? ns : longest_ns;
		if (ops->family[i] != VPA_FAMILY_ELEMENTWISE)
			continue;
		elementwise++;
		kernel_ns[ops->kernel[i]] += ns;
	}
	l->chained += end - begin;
	l->elementwise += elementwise;
	l->chain_ns += sum_ns;
	l->longest_ns = longest_ns;
}

/* Sets `pairs` where a kernel that can be fused is followed by another. */
VPT_VECTORISE
static void find_pairs(const uint8_t *restrict joins, uint8_t *restrict pairs, size_t count)
{
	size_t i;

	for (i = 0; i + 1 < count; i++)
		pairs[i] = joins[i] & joins[i + 1];
}

static size_t end_of_chain(const uint8_t *joins, size_t at, size_t end)
{
	while (at < end && joins[at])
		at++;
	return at;
}

/* In ops [begin, end) of one stream. */
static void find_chains(struct state *s, struct lane *l, const struct vpa_ops *ops,
	const uint8_t *joins, const uint8_t *pairs, size_t begin, size_t end)
{
	const uint8_t *pair;
	size_t at = begin, to;

	if (l->chained) {
		at = end_of_chain(joins, begin, end);
		add_to_chain(s, l, ops, begin, at);
	}
	while (at < end) {
		if (l->chained)
			end_chain(s, l);
		pair = at + 1 < end ? memchr(pairs + at, 1, end - 1 - at) : NULL;
		if (!pair)
			break;
		at = (size_t)(pair - pairs);
		to = end_of_chain(joins, at, end);
		add_to_chain(s, l, ops, at, to);
		at = to;
	}
	if (at < end && joins[end - 1])
		add_to_chain(s, l, ops, end - 1, end);
}

/* The copies and quantisations of [begin, end) that end there, and those of the lane if that is all. A helper
 * of the attention may stand between. */
static struct lane moved_before(
	const struct lane *l, const struct vpa_ops *ops, size_t begin, size_t end)
{
	struct lane sum = {.moved = 0};

	for (; end > begin; end--) {
		uint8_t family = ops->family[end - 1];

		if (family == VPA_FAMILY_LAYOUT || family == VPA_FAMILY_QUANT) {
			sum.moved_ns += ops->end_ns[end - 1] - ops->start_ns[end - 1];
			sum.moved++;
		} else if (family != VPA_FAMILY_ATTENTION_AUX) {
			return sum;
		}
	}
	sum.moved_ns += l->moved_ns;
	sum.moved += l->moved;
	return sum;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	uint8_t joins[VPA_OPS_MAX], pairs[VPA_OPS_MAX];
	size_t r, i, special = 0;

	if (make_room(s, c->model))
		return VPT_ENOMEM;
	for (i = 0; i < ops->count; i++)
		joins[i] = s->joins[ops->kernel[i] + 1u];
	find_pairs(joins, pairs, ops->count);
	for (r = 0; r < ops->run_count; r++) {
		size_t begin = ops->runs[r].begin, end = ops->runs[r].end;
		struct lane *l = &s->lanes[ops->stream[begin]], moved;

		find_chains(s, l, ops, joins, pairs, begin, end);
		for (; special < ops->special_count && ops->specials[special] < end; special++) {
			size_t at = ops->specials[special];
			struct moved *before = NULL;

			if (ops->role[at] != VPA_ROLE_FUSED)
				continue;
			before = &s->before[ops->kernel[at]];
			moved = moved_before(l, ops, begin, at);
			before->ns += moved.moved_ns;
			before->kernels += moved.moved;
		}
		moved = moved_before(l, ops, begin, end);
		l->moved_ns = moved.moved_ns;
		l->moved = moved.moved;
	}
	return VPT_OK;
}

/* ---- writing down ---- */

static void write_before(const struct state *s, const struct vpa_model *m, struct vpa_attention *a)
{
	size_t i, k;

	for (i = 0; i < s->before_cap && i < m->kernel_count; i++)
		for (k = 0; s->before[i].kernels && k < a->backend_count; k++) {
			enum vpa_backend backend = m->kernels[i].klass.backend;

			if (a->backends[k].backend != (backend ? backend : VPA_BACKEND_UNKNOWN))
				continue;
			a->backends[k].before_ns += s->before[i].ns;
			a->backends[k].before_kernels += s->before[i].kernels;
		}
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	size_t i, most = 0;

	for (i = 0; i < s->lane_cap; i++)
		end_chain(s, &s->lanes[i]);
	write_before(s, c->model, &out->attention);
	out->chains = s->chains;
	for (i = 0; i < s->kernel_cap && i < c->model->kernel_count; i++)
		if (s->kernel_ns[i] > s->kernel_ns[most])
			most = i;
	if (s->chains.count)
		out->chains.kernel = vpa_fold_name(out, c->model, c->model->kernels[most].name);
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpt_free(s->lanes);
	vpt_free(s->before);
	vpt_free(s->kernel_ns);
	vpt_free(s->joins);
}

const struct vpa_fold vpa_fold_neighbours = {
	.name = "neighbours",
	.help = "chains of kernels that could be fused; copies and quantisations before attention",
	.state_bytes = sizeof(struct state),
	.aside = fold_ops,
	.finish = finish,
	.free = free_state,
};

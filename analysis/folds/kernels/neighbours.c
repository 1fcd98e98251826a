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
	uint32_t first;           /* its first kernel, if that is elementwise; else VPA_NONE */
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
	struct vpa_chains chains;
};

static int make_room(struct state *s, const struct vpa_model *m)
{
	return vpt_grow_zeroed(&s->lanes, &s->lane_cap, m->stream_count, sizeof(*s->lanes)) ||
			       vpt_grow_zeroed(&s->before, &s->before_cap, m->kernel_count,
				       sizeof(*s->before)) ||
			       vpt_grow_zeroed(&s->kernel_ns, &s->kernel_cap, m->kernel_count,
				       sizeof(*s->kernel_ns))
		       ? VPT_ENOMEM
		       : VPT_OK;
}

static void end_chain(struct state *s, struct lane *l)
{
	if (l->chained > 1 && l->elementwise) {
		s->chains.count++;
		s->chains.kernels += l->chained;
		s->chains.total_ns += l->chain_ns;
		s->chains.longest_ns += l->longest_ns;
	}
	l->chained = l->elementwise = l->chain_ns = l->longest_ns = 0;
}

/* Whether a compiler made the kernel of several operators, or it changes a layout for convolutions, which no compiler
 * fuses with anything. */
static int is_fused(const struct vpa_fold_context *c, uint32_t kernel)
{
	unsigned marks = c->model->kernels[kernel].klass.marks;

	return vpa_is_marked(marks, VPA_MARK_FUSED) || vpa_is_marked(marks, VPA_MARK_CONV_LAYOUT);
}

/* Whether a compiler fuses such kernels with those beside them. */
static inline int is_fusible(uint8_t family)
{
	return (family == VPA_FAMILY_ELEMENTWISE) | (family == VPA_FAMILY_LAYOUT) |
	       (family == VPA_FAMILY_REDUCE) | (family == VPA_FAMILY_NORM) |
	       (family == VPA_FAMILY_INDEX);
}

/* Time of a kernel that stands alone is in no chain. */
static void note_kernel(struct state *s, struct lane *l, uint32_t kernel, uint64_t ns, int counts)
{
	if (!l->chained) {
		l->first = counts ? kernel : VPA_NONE;
		return;
	}
	if (l->chained == 1 && l->first != VPA_NONE)
		s->kernel_ns[l->first] += l->chain_ns;
	if (counts)
		s->kernel_ns[kernel] += ns;
}

/* Kernels [begin, end) that can be fused, right after what the lane has. */
static void add_to_chain(struct state *s, const struct vpa_fold_context *c, struct lane *l,
	const struct vpa_ops *ops, size_t begin, size_t end)
{
	size_t i;

	for (i = begin; i < end; i++) {
		uint64_t ns = ops->end_ns[i] - ops->start_ns[i];
		int is_elementwise = ops->family[i] == VPA_FAMILY_ELEMENTWISE;

		if (is_fused(c, ops->kernel[i])) {
			end_chain(s, l);
			continue;
		}
		note_kernel(s, l, ops->kernel[i], ns, is_elementwise);
		l->chained++;
		l->elementwise += (uint64_t)is_elementwise;
		l->chain_ns += ns;
		l->longest_ns = ns > l->longest_ns ? ns : l->longest_ns;
	}
}

/* Sets `pairs` where a kernel that can be fused is followed by another. */
VPT_VECTORISE
static void find_pairs(const uint8_t *restrict family, uint8_t *restrict pairs, size_t count)
{
	size_t i;

	for (i = 0; i + 1 < count; i++)
		pairs[i] = (uint8_t)(is_fusible(family[i]) & is_fusible(family[i + 1]));
}

static size_t end_of_chain(const struct vpa_ops *ops, size_t at, size_t end)
{
	while (at < end && is_fusible(ops->family[at]))
		at++;
	return at;
}

/* In ops [begin, end) of one stream. */
static void find_chains(struct state *s, const struct vpa_fold_context *c, struct lane *l,
	const struct vpa_ops *ops, const uint8_t *pairs, size_t begin, size_t end)
{
	const uint8_t *pair;
	size_t at = begin, to;

	if (l->chained) {
		at = end_of_chain(ops, begin, end);
		add_to_chain(s, c, l, ops, begin, at);
	}
	while (at < end) {
		if (l->chained)
			end_chain(s, l);
		pair = at + 1 < end ? memchr(pairs + at, 1, end - 1 - at) : NULL;
		if (!pair)
			break;
		at = (size_t)(pair - pairs);
		to = end_of_chain(ops, at, end);
		add_to_chain(s, c, l, ops, at, to);
		at = to;
	}
	if (at < end && is_fusible(ops->family[end - 1]))
		add_to_chain(s, c, l, ops, end - 1, end);
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
	uint8_t pairs[VPA_OPS_MAX];
	size_t r, special = 0;

	if (make_room(s, c->model))
		return VPT_ENOMEM;
	find_pairs(ops->family, pairs, ops->count);
	for (r = 0; r < ops->run_count; r++) {
		size_t begin = ops->runs[r].begin, end = ops->runs[r].end;
		struct lane *l = &s->lanes[ops->stream[begin]], moved;

		find_chains(s, c, l, ops, pairs, begin, end);
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
}

const struct vpa_fold vpa_fold_neighbours = {
	.name = "neighbours",
	.help = "chains of kernels that could be fused; copies and quantisations before attention",
	.state_bytes = sizeof(struct state),
	.aside = fold_ops,
	.finish = finish,
	.free = free_state,
};

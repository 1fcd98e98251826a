/* neighbours.c - kernels that say something by what runs right before them on their stream: chains of
 * kernels of which one could read and write the data once; and the copies between layouts and quantisations that an
 * attention needs of its operands; weights that are unpacked for a product; adapters beside layers; operands that are
 * quantised, and convolutions of columns (operands.h).
 *
 * A chain is two or more kernels with nothing between, one of them elementwise, the others too, or casts and copies,
 * reductions, norms and lookups, which a compiler fuses as well: an RMS norm in FP32 is a cast, a power, a mean, a
 * sum, a root, two products and a cast. Inductor has fused what it could, so its kernels are in none. The longest of
 * a chain is what a fused kernel takes at least. What unpacks weights is in none: it goes as a whole. */
#include "analysis/folds/fold.h"

#include "analysis/folds/kernels/operands.h"
#include "analysis/model/adapter.h"
#include "analysis/model/unpacking.h"
#include "formats/base/memory.h"
#include "formats/base/vectorise.h"

#include <string.h>

enum {
	PARTS = VPA_PART_PRODUCT | VPA_PART_SPLIT_K | VPA_PART_SCALE | VPA_PART_ADD | VPA_PART_CAST,
	RECENT = 16 /* VPA_ADAPTER_OPS, as a power of two */
};
_Static_assert((int)RECENT >= (int)VPA_ADAPTER_OPS, "what an answer depends on");

/* Copies between layouts, and quantisations. */
struct moved {
	uint64_t ns, kernels;
};

/* What ran last on a stream. */
struct lane {
	uint64_t chain_ns, longest_ns; /* of the chain so far */
	uint64_t chained, elementwise;
	uint32_t first;                 /* its first kernel */
	struct moved moved;             /* up to now */
	struct vpa_unpacking unpacking; /* so far; `count`: some kernel shifted or masked bytes */
	struct vpa_adapter_op recent[RECENT]; /* its last ops that may be of an adapter, in turns */
	size_t recent_count;
	struct vpa_operand_lane operand;
};

struct state {
	struct lane *lanes; /* by stream */
	size_t lane_cap;
	struct moved *before; /* by attention kernel */
	size_t before_cap;
	uint64_t *kernel_ns; /* of elementwise ones in chains, by kernel */
	size_t kernel_cap;
	uint8_t known; /* all traits of kernels; those of later ops may be in it */
	struct vpa_chains chains;
	struct vpa_unpacking unpacking;
	struct vpa_adapter_pairs adapters;
	/* By 1 + kernel, the same of operands.h; the first is of other ops. */
	uint8_t *operand_parts;
	size_t operand_cap, kernel_count;
	uint8_t operands_known;
	struct vpa_operands operands;
};

static int make_room(struct state *s, const struct vpa_model *m)
{
	if (vpt_grow_zeroed(&s->lanes, &s->lane_cap, m->stream_count, sizeof(*s->lanes)) ||
		vpt_grow_zeroed(&s->before, &s->before_cap, m->kernel_count, sizeof(*s->before)) ||
		vpt_grow_zeroed(
			&s->kernel_ns, &s->kernel_cap, m->kernel_count, sizeof(*s->kernel_ns)) ||
		vpt_grow_zeroed(&s->operand_parts, &s->operand_cap, m->kernel_count + 1, 1))
		return VPT_ENOMEM;
	for (; s->kernel_count < m->kernel_count; s->kernel_count++) {
		const struct vpa_kernel *k = &m->kernels[s->kernel_count];
		uint8_t operand = vpa_operand_part(&k->klass, vpa_name(m, k->name));

		s->known |= k->traits;
		s->operand_parts[s->kernel_count + 1] = operand;
		s->operands_known |= operand;
	}
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

/* ---- unpacking ---- */

/* What an op is, from what is known of it here. */
static enum vpa_unpacking_part unpacking_part(const struct vpa_ops *ops, size_t i)
{
	uint8_t part = ops->traits[i];

	if (part & VPA_TRAIT_UNPACKS)
		return VPA_UNPACKING_BEGINS;
	if (ops->family[i] == VPA_FAMILY_GEMM || ops->family[i] == VPA_FAMILY_CONV)
		return VPA_UNPACKING_IS_USED;
	return part & VPA_TRAIT_FUSIBLE || ops->family[i] == VPA_FAMILY_QUANT ||
			       ops->kernel[i] == VPA_NONE
		       ? VPA_UNPACKING_GOES_ON
		       : VPA_UNPACKING_NONE;
}

static void add_to_unpacking(struct vpa_unpacking *u, const struct vpa_ops *ops, size_t i)
{
	uint64_t ns = ops->end_ns[i] - ops->start_ns[i];

	if (ops->kernel[i] == VPA_NONE)
		return;
	u->kernels++;
	u->total_ns += ns;
	if (ops->family[i] == VPA_FAMILY_QUANT)
		return;
	u->other_kernels++;
	u->other_ns += ns;
}

static void end_unpacking(struct state *s, struct lane *l, int is_used)
{
	if (is_used) {
		s->unpacking.count += l->unpacking.count;
		s->unpacking.kernels += l->unpacking.kernels;
		s->unpacking.total_ns += l->unpacking.total_ns;
		s->unpacking.other_kernels += l->unpacking.other_kernels;
		s->unpacking.other_ns += l->unpacking.other_ns;
	}
	l->unpacking = (struct vpa_unpacking){.count = 0};
}

/* In ops [begin, end) of one stream. What is unpacked is fused with nothing. */
static void find_unpacking(struct state *s, struct lane *l, const struct vpa_ops *ops,
	uint8_t *joins, size_t begin, size_t end)
{
	size_t i;

	for (i = begin; i < end; i++) {
		enum vpa_unpacking_part part;

		if (!l->unpacking.count && !(ops->traits[i] & VPA_TRAIT_UNPACKS))
			continue;
		part = unpacking_part(ops, i);
		if (part == VPA_UNPACKING_NONE || part == VPA_UNPACKING_IS_USED) {
			end_unpacking(s, l, part == VPA_UNPACKING_IS_USED);
			continue;
		}
		l->unpacking.count = 1;
		add_to_unpacking(&l->unpacking, ops, i);
		joins[i] = 0;
	}
}

/* ---- adapters ---- */

/* Sets `ends` where the two ops of a scale and a sum, or one of both, follow two products. */
VPT_VECTORISE
static void find_sums(const uint8_t *restrict traits, uint8_t *restrict ends, size_t count)
{
	const uint8_t sums = VPA_PART_SCALE | VPA_PART_ADD,
		      products = VPA_PART_PRODUCT | VPA_PART_SPLIT_K;
	size_t i;

	for (i = 0; i + 3 < count; i++) {
		uint8_t last = traits[i + 3] & sums, before = traits[i + 2] & sums;

		ends[i + 3] =
			(uint8_t)(((last == sums) & ((traits[i + 2] & products) != 0) &
					  ((traits[i + 1] & products) != 0)) |
				  (((last | before) == sums) & (last != 0) & (before != 0) &
					  ((traits[i + 1] & (products | VPA_PART_SCALE)) != 0) &
					  ((traits[i] & products) != 0)));
	}
}

static struct vpa_adapter_op op_of(const struct vpa_ops *ops, size_t i)
{
	return (struct vpa_adapter_op){.start_ns = ops->start_ns[i],
		.end_ns = ops->end_ns[i],
		.kernel = ops->kernel[i],
		.blocks = ops->blocks[i],
		.part = ops->traits[i] & PARTS};
}

/* The last ops of the stream up to `i`, of a run that begins at `begin`. Returns how many. */
static size_t recent_ops(const struct lane *l, const struct vpa_ops *ops, size_t begin, size_t i,
	struct vpa_adapter_op out[VPA_ADAPTER_OPS])
{
	size_t of_run = i - begin + 1, before, k;

	if (of_run > VPA_ADAPTER_OPS)
		of_run = VPA_ADAPTER_OPS;
	before = VPA_ADAPTER_OPS - of_run;
	if (before > l->recent_count)
		before = l->recent_count;
	for (k = 0; k < before; k++)
		out[k] = l->recent[(l->recent_count - before + k) % RECENT];
	for (k = 0; k < of_run; k++)
		out[before + k] = op_of(ops, i + 1 - of_run + k);
	return before + of_run;
}

static void add_adapter(struct state *s, const struct vpa_adapter_op *recent, size_t count)
{
	struct vpa_adapter a;
	struct vpa_adapter_pair *pair;
	const struct vpa_adapter_op *last = &recent[count - 1];
	size_t i;

	if (!vpa_adapter_ends(recent, count, &a))
		return;
	pair = vpa_adapter_pair_of(&s->adapters, &a);
	if (!pair)
		return;
	pair->count++;
	pair->small += (uint64_t)a.is_small;
	pair->kernels += a.kernels;
	for (i = count - a.kernels; i < count; i++)
		pair->total_ns += recent[i].end_ns - recent[i].start_ns;
	/* Ops of one stream may overlap where it is not one of CUDA's. */
	if (last->end_ns > recent[count - a.kernels - 1].end_ns)
		pair->span_ns += last->end_ns - recent[count - a.kernels - 1].end_ns;
}

/* In ops [begin, end) of one stream. `ends` knows only of ops of the run. */
static void find_adapters(struct state *s, struct lane *l, const struct vpa_ops *ops,
	const uint8_t *ends, size_t begin, size_t end)
{
	struct vpa_adapter_op recent[VPA_ADAPTER_OPS];
	size_t i = begin, first = begin + 3 < end ? begin + 3 : end;

	for (; i < end; i++) {
		if (i >= first) {
			const uint8_t *next = memchr(ends + i, 1, end - i);

			if (!next)
				break;
			i = (size_t)(next - ends);
		} else if (!(ops->traits[i] & (VPA_PART_SCALE | VPA_PART_ADD))) {
			continue;
		}
		add_adapter(s, recent, recent_ops(l, ops, begin, i, recent));
	}
	/* What is no part ends them, so nothing before it is asked for again. */
	for (i = end; i > begin && end - i < VPA_ADAPTER_OPS && ops->traits[i - 1] & PARTS;)
		i--;
	if (i > begin)
		l->recent_count = 0;
	for (; i < end; i++)
		l->recent[l->recent_count++ % RECENT] = op_of(ops, i);
}

/* ---- attention ---- */

/* The copies and quantisations of [begin, end) that end there, and those of the lane if that is all. A helper
 * of the attention may stand between. */
static struct moved moved_before(
	const struct lane *l, const struct vpa_ops *ops, size_t begin, size_t end)
{
	struct moved sum = {.ns = 0};

	for (; end > begin; end--) {
		uint8_t family = ops->family[end - 1];

		if (family == VPA_FAMILY_LAYOUT || family == VPA_FAMILY_QUANT) {
			sum.ns += ops->end_ns[end - 1] - ops->start_ns[end - 1];
			sum.kernels++;
		} else if (family != VPA_FAMILY_ATTENTION_AUX) {
			return sum;
		}
	}
	sum.ns += l->moved.ns;
	sum.kernels += l->moved.kernels;
	return sum;
}

/* ---- ops ---- */

/* Sets `joins` of what can be fused. */
VPT_VECTORISE
static void find_fusible(const uint8_t *restrict traits, uint8_t *restrict joins, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		joins[i] = traits[i] & VPA_TRAIT_FUSIBLE;
}

/* What asks for more than what a kernel is. Both begin with a kernel that is known by then. */
static void find_others(struct state *s, const struct vpa_ops *ops, uint8_t *joins)
{
	int unpacks = s->known & VPA_TRAIT_UNPACKS, adapts = s->known & VPA_PART_PRODUCT;
	uint8_t ends[VPA_OPS_MAX];
	size_t r;

	if (!unpacks && !adapts)
		return;
	if (adapts)
		find_sums(ops->traits, ends, ops->count);
	for (r = 0; r < ops->run_count; r++) {
		size_t begin = ops->runs[r].begin, end = ops->runs[r].end;
		struct lane *l = &s->lanes[ops->stream[begin]];

		if (unpacks)
			find_unpacking(s, l, ops, joins, begin, end);
		if (adapts)
			find_adapters(s, l, ops, ends, begin, end);
	}
}

/* The same of operands: both have a kernel that few traces know. */
static void find_operands(struct state *s, const struct vpa_ops *ops, uint8_t *joins)
{
	int packs = s->operands_known & VPA_OPERAND_NARROW,
	    columns = s->operands_known & VPA_OPERAND_COLUMNS;
	uint8_t parts[VPA_OPS_MAX];
	size_t r, i;

	if (!packs && !columns)
		return;
	for (i = 0; i < ops->count; i++)
		parts[i] = s->operand_parts[ops->kernel[i] + 1u];
	for (r = 0; r < ops->run_count; r++) {
		size_t begin = ops->runs[r].begin, end = ops->runs[r].end;
		struct vpa_operand_lane *l = &s->lanes[ops->stream[begin]].operand;

		if (packs)
			vpa_packing_find(&s->operands, l, ops, parts, joins, begin, end);
		if (columns)
			vpa_column_convs_find(&s->operands, l, ops, parts, joins, begin, end);
	}
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	uint8_t joins[VPA_OPS_MAX], pairs[VPA_OPS_MAX];
	size_t r, special = 0;

	if (make_room(s, c->model))
		return VPT_ENOMEM;
	find_fusible(ops->traits, joins, ops->count);
	find_others(s, ops, joins);
	find_operands(s, ops, joins);
	find_pairs(joins, pairs, ops->count);
	for (r = 0; r < ops->run_count; r++) {
		size_t begin = ops->runs[r].begin, end = ops->runs[r].end;
		struct lane *l = &s->lanes[ops->stream[begin]];
		struct moved moved;

		find_chains(s, l, ops, joins, pairs, begin, end);
		for (; special < ops->special_count && ops->specials[special] < end; special++) {
			size_t at = ops->specials[special];
			struct moved *before = NULL;

			if (ops->role[at] != VPA_ROLE_FUSED)
				continue;
			before = &s->before[ops->kernel[at]];
			moved = moved_before(l, ops, begin, at);
			before->ns += moved.ns;
			before->kernels += moved.kernels;
		}
		l->moved = moved_before(l, ops, begin, end);
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

static void write_adapters(struct state *s, const struct vpa_model *m, struct vpa_report *out)
{
	struct vpa_adapters *sum = &out->adapters;
	const struct vpa_adapter_pair *most = NULL;
	size_t i;

	for (i = 0; i < s->adapters.count; i++) {
		const struct vpa_adapter_pair *p = &s->adapters.pairs[i];

		if (!vpa_adapter_pair_is_one(p))
			continue;
		sum->count += p->count;
		sum->kernels += p->kernels;
		sum->total_ns += p->total_ns;
		sum->span_ns += p->span_ns;
		most = !most || p->span_ns > most->span_ns ? p : most;
	}
	if (!most)
		return;
	sum->first = vpa_fold_name(out, m, m->kernels[most->first].name);
	sum->second = vpa_fold_name(out, m, m->kernels[most->second].name);
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;
	size_t i, most = 0;

	for (i = 0; i < s->lane_cap; i++)
		end_chain(s, &s->lanes[i]);
	write_before(s, c->model, &out->attention);
	out->chains = s->chains;
	out->unpacking = s->unpacking;
	out->quantised = s->operands.packing;
	out->column_convs = s->operands.convs;
	if (s->operands.product)
		out->quantised.kernel = vpa_fold_name(
			out, c->model, c->model->kernels[s->operands.product - 1].name);
	write_adapters(s, c->model, out);
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
	vpt_free(s->operand_parts);
}

const struct vpa_fold vpa_fold_neighbours = {
	.name = "neighbours",
	.help = "chains of kernels that could be fused; copies and quantisations before attention; "
		"unpacked weights; adapters; quantised operands; convolutions of columns",
	.state_bytes = sizeof(struct state),
	.aside = fold_ops,
	.finish = finish,
	.free = free_state,
};

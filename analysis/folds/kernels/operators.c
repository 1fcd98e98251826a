/* operators.c - operators of PyTorch by name and the shapes of their inputs: their own time on the GPU and the host, and that of
 * the nodes of CUDA graphs that were captured in them.
 *
 * An op belongs to the innermost operator around its launch. Shapes are those that an importer wrote into the range's
 * annotation, {"shapes": "2x3 3x4"}, or those that emit_nvtx() appended to its name, "aten::mm, sizes = [[2, 3], [3, 4]]". */
#include "analysis/folds/fold.h"

#include "analysis/base/index.h"
#include "analysis/base/json_key.h"
#include "analysis/folds/kernels/captured_nodes.h"
#include "analysis/folds/kernels/said_number.h"
#include "formats/base/memory.h"
#include "formats/base/saturate.h"
#include "formats/base/text.h"
#include "formats/chunk/strings.h"

#include <stdlib.h>
#include <string.h>

enum { FLOP, BYTES, KEYS };
enum { UNKNOWN_YET = 0, FIRST_SHAPES = 1 };

/* An operator that is open: what it launched itself, and how long operators in it took. */
struct open {
	uint64_t ops, copies, gpu_ns, inside_ns;
};

struct sum {
	uint64_t calls, ops, gpu_ns, host_ns, host_own_ns;
	uint64_t graph_ops, graph_ns;
	struct {
		uint64_t amount, ns;
	} said[KEYS];
};

struct state {
	struct vpa_index opens; /* by address, which a new range may reuse when a range is over */
	struct open *open;
	size_t open_cap;
	struct vpt_strings shapes;
	uint32_t *shapes_of; /* by payload: UNKNOWN_YET, else FIRST_SHAPES + id in shapes */
	size_t shapes_cap;
	struct vpa_said_number said[KEYS];
	struct vpa_index sum_index; /* name, shapes */
	struct sum *sums;
	size_t sum_cap;
	struct vpa_captured captured; /* the owner is a row of sums */
};

/* ---- ops ---- */

static const struct vpa_range *operator_at(const struct vpa_range *range, uint64_t at_ns)
{
	range = vpa_range_open_at((struct vpa_range *)range, at_ns);
	while (range && !vpa_range_is_operator(range))
		range = vpa_range_around(range, at_ns);
	return range;
}

static struct open *open_of(struct state *s, const struct vpa_range *range)
{
	uint32_t row = vpa_index_row(
		&s->opens, (uintptr_t)range, 0, &s->open, &s->open_cap, sizeof(*s->open));

	return row == UINT32_MAX ? NULL : &s->open[row];
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	size_t i, k = 0;

	for (i = 0; c->model->has_operators && i < ops->count; i++) {
		const struct vpa_op_stretch *stretch = vpa_ops_stretch(ops, i, &k);
		const struct vpa_range *range =
			operator_at(stretch->range, ops->launch_start_ns[i]);
		struct open *open = range ? open_of(s, range) : NULL;

		if (range && !open)
			return VPT_ENOMEM;
		if (open) {
			open->ops++;
			open->copies += ops->kind[i] == VPA_MEMCPY;
			open->gpu_ns += ops->end_ns[i] - ops->start_ns[i];
		}
	}
	return vpa_captured_ops(&s->captured, c->model, ops);
}

/* What was captured in an operator stands in its row alone, which findings read for its time on the host. */
static int fold_section(void *state, const struct vpa_fold_context *c, const struct vpt_batch *b,
	const struct vpt_section *section)
{
	struct state *s = state;

	(void)b;
	return section->kind == VPT_GRAPH && !c->options->only_screen
		       ? vpa_captured_section(&s->captured, c->model, section)
		       : VPT_OK;
}

/* ---- shapes ---- */

/* The sizes that emit_nvtx() appended to a name; nothing: there are none. */
static struct vpt_text sizes_of(struct vpt_text name)
{
	static const char begin[] = ", sizes = [[", close[] = "]]";
	const char *at = name.len ? memmem(name.text, name.len, begin, sizeof(begin) - 1) : NULL;
	const char *until;
	size_t rest;

	if (!at)
		return (struct vpt_text){"", 0};
	at += sizeof(begin) - 1;
	rest = (size_t)(name.text + name.len - at);
	until = memmem(at, rest, close, sizeof(close) - 1);
	return (struct vpt_text){at, until ? (size_t)(until - at) : rest};
}

static int put_shapes(struct state *s, struct vpt_text text, uint32_t *id)
{
	uint64_t put = vpt_strings_put(&s->shapes, text.text, text.len);

	*id = (uint32_t)put + FIRST_SHAPES;
	return put == VPT_NO_ID ? VPT_ENOMEM : VPT_OK;
}

/* "2, 3], [3, 4" as "2x3 3x4". */
static int put_sizes(struct state *s, struct vpt_text sizes, uint32_t *id)
{
	char text[256];
	size_t i, len = 0;

	for (i = 0; i < sizes.len && len < sizeof(text); i++)
		if (vpt_is_digit(sizes.text[i]))
			text[len++] = sizes.text[i];
		else if (sizes.text[i] == ']' && len && text[len - 1] != ' ')
			text[len++] = ' ';
		else if (sizes.text[i] == ',' && i && sizes.text[i - 1] != ']')
			text[len++] = 'x';
	len -= len && text[len - 1] == ' ';
	return put_shapes(s, (struct vpt_text){text, len}, id);
}

static int find_shapes(
	struct state *s, const struct vpa_model *m, const struct vpa_range *range, uint32_t *id)
{
	if (range->recorded)
		return put_sizes(
			s, sizes_of(vpt_strings_get(&m->recorded, range->recorded - 1)), id);
	if (vpt_grow_zeroed(&s->shapes_of, &s->shapes_cap, (size_t)range->payload + 1,
		    sizeof(*s->shapes_of)))
		return VPT_ENOMEM;
	*id = s->shapes_of[range->payload];
	if (*id != UNKNOWN_YET)
		return VPT_OK;
	if (put_shapes(s, vpa_json_key_text(vpa_name(m, range->payload), "\"shapes\""), id))
		return VPT_ENOMEM;
	s->shapes_of[range->payload] = *id;
	return VPT_OK;
}

/* ---- the end of an operator ---- */

static struct sum *sum_of(struct state *s, const struct vpa_model *m, const struct vpa_range *range)
{
	uint32_t shapes, row;

	if (find_shapes(s, m, range, &shapes))
		return NULL;
	row = vpa_index_row(
		&s->sum_index, range->name, shapes, &s->sums, &s->sum_cap, sizeof(*s->sums));
	return row == UINT32_MAX ? NULL : &s->sums[row];
}

/* A rate is that of calls that say their work and have run all of it. Copies are not at work on the GPU's own memory alone. */
static void add_work(struct state *s, const struct vpa_model *m, const struct vpa_range *range,
	const struct open *own, struct sum *sum)
{
	size_t k;

	if (!range->payload || !own->gpu_ns || own->copies || range->cut)
		return;
	for (k = 0; k < KEYS; k++) {
		uint64_t amount = vpa_said_number(&s->said[k], m, range->payload);

		if (amount) {
			vpt_sat_add_to(&sum->said[k].amount, amount);
			sum->said[k].ns += own->gpu_ns;
		}
	}
}

/* Adds what the operator launched itself. Returns its row; NULL: no memory. */
static struct sum *add_own(
	struct state *s, const struct vpa_model *m, const struct vpa_range *range, struct open *own)
{
	struct open *open = open_of(s, range);
	struct sum *sum = open ? sum_of(s, m, range) : NULL;

	if (!sum)
		return NULL;
	*own = *open;
	*open = (struct open){0};
	sum->ops += own->ops;
	sum->gpu_ns += own->gpu_ns;
	vpa_captured_range(&s->captured, range, (uint32_t)(sum - s->sums));
	return sum;
}

static int fold_range(void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	struct state *s = state;
	const struct vpa_range *around;
	struct open own, *outer;
	struct sum *sum;
	uint64_t host_ns;

	s->said[FLOP].key = "\"flop\"";
	s->said[BYTES].key = "\"bytes\"";
	sum = add_own(s, c->model, range, &own);
	if (!sum)
		return VPT_ENOMEM;
	if (range->unmatched)
		return VPT_OK;
	host_ns = range->end_ns - range->start_ns;
	sum->calls++;
	sum->host_ns += host_ns;
	sum->host_own_ns += host_ns > own.inside_ns ? host_ns - own.inside_ns : 0;
	add_work(s, c->model, range, &own, sum);
	around = operator_at(range->parent, range->start_ns);
	outer = around ? open_of(s, around) : NULL;
	if (outer)
		outer->inside_ns += host_ns;
	return (around && !outer) || s->said[FLOP].failed || s->said[BYTES].failed ? VPT_ENOMEM
										   : VPT_OK;
}

/* ---- writing down ---- */

static int compare_rows(const void *pa, const void *pb)
{
	const struct vpa_operator_row *a = pa, *b = pb;
	int order;

	if (a->gpu_ns + a->graph_ns != b->gpu_ns + b->graph_ns)
		return a->gpu_ns + a->graph_ns > b->gpu_ns + b->graph_ns ? -1 : 1;
	if (a->host_own_ns != b->host_own_ns)
		return a->host_own_ns > b->host_own_ns ? -1 : 1;
	order = strcmp(a->name, b->name);
	return order ? order : strcmp(a->shapes ? a->shapes : "", b->shapes ? b->shapes : "");
}

static double rate_of(uint64_t amount, uint64_t ns, double unit)
{
	return ns ? (double)amount / (double)ns / unit : -1;
}

/* Adds the ops of nodes to the operators that they were captured in. */
static void add_captured(struct state *s)
{
	size_t i;

	for (i = 0; i < s->captured.index.count; i++) {
		const struct vpa_captured_node *n = &s->captured.nodes[i];
		uint32_t owner = n->ops ? vpa_captured_owner(&s->captured, i) : UINT32_MAX;

		if (owner == UINT32_MAX)
			continue;
		s->sums[owner].graph_ops += n->ops;
		s->sums[owner].graph_ns += n->gpu_ns;
	}
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_expert *e = &out->expert;
	struct state *s = state;
	size_t i;

	e->operators = vpa_arena_alloc(&out->arena, s->sum_index.count + 1, sizeof(*e->operators));
	if (!e->operators)
		return VPT_ENOMEM;
	add_captured(s);
	for (i = 0; i < s->sum_index.count; i++) {
		const struct vpa_index_entry *at = &s->sum_index.entries[i];
		struct vpt_text shapes = vpt_strings_get(&s->shapes, at->b - FIRST_SHAPES);
		const char *name = vpa_fold_name(out, c->model, (uint32_t)at->a);
		const struct sum *sum = &s->sums[i];

		e->operators[i] = (struct vpa_operator_row){.name = name ? name : "(no name)",
			.shapes = shapes.len ? vpa_arena_text(&out->arena, shapes.text, shapes.len)
					     : NULL,
			.calls = sum->calls,
			.ops = sum->ops,
			.gpu_ns = sum->gpu_ns,
			.graph_ops = sum->graph_ops,
			.graph_ns = sum->graph_ns,
			.host_own_ns = sum->host_own_ns,
			.host_ns = sum->host_ns,
			.tflops = rate_of(sum->said[FLOP].amount, sum->said[FLOP].ns, 1e3),
			.gb_per_s = rate_of(sum->said[BYTES].amount, sum->said[BYTES].ns, 1)};
		if (shapes.len && !e->operators[i].shapes)
			return VPT_ENOMEM;
	}
	e->operators_used = s->sum_index.count;
	qsort(e->operators, e->operators_used, sizeof(*e->operators), compare_rows);
	e->operator_count = e->operators_used < c->top ? e->operators_used : c->top;
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;
	size_t k;

	for (k = 0; k < KEYS; k++)
		vpa_said_number_free(&s->said[k]);
	vpa_index_free(&s->opens);
	vpa_index_free(&s->sum_index);
	vpa_captured_free(&s->captured);
	vpt_strings_free(&s->shapes);
	vpt_free(s->shapes_of);
	vpt_free(s->open);
	vpt_free(s->sums);
}

const struct vpa_fold vpa_fold_operators = {
	.name = "operators",
	.help = "operators by name and shapes: their own time on the GPU and the host",
	.wanted = vpa_fold_is_table,
	.state_bytes = sizeof(struct state),
	.ops = fold_ops,
	.operator_range = fold_range,
	.section = fold_section,
	.finish = finish,
	.free = free_state,
};

/* attention_shapes.c - fused attention by kernel and grid, and self- and cross-attention apart where a
 * range around the launch says which it is.
 *
 * The grid follows from batch, heads and the length of the queries, not from that of the keys. So equal
 * grids may be self- and cross-attention. */
#include "analysis/folds/fold.h"

#include "analysis/base/index.h"
#include "analysis/names/demangle.h"
#include "formats/base/count.h"
#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	RANGES_LOOKED_AT = 8, /* around a launch */
	ROWS_LOOKED_AT = 8
};

struct state {
	struct vpa_index index; /* kernel and kind, grid */
	struct calls {
		uint64_t count, total_ns, min_ns, max_ns;
	} * rows;
	size_t row_cap;
	uint8_t *kinds; /* by name: 0 not looked up, else 1 + enum vpa_attention_kind */
	size_t kind_cap;
};

static int holds(struct vpt_text text, const char *word)
{
	size_t len = strlen(word), i;

	for (i = 0; i + len <= text.len; i++)
		if (!strncasecmp(text.text + i, word, len))
			return 1;
	return 0;
}

/* "blocks.3.cross_attn", "attn2", "self_attention" ... */
static enum vpa_attention_kind kind_of_name(struct vpt_text name)
{
	if (!holds(name, "attn") && !holds(name, "attention"))
		return VPA_ATTENTION_UNKNOWN;
	if (holds(name, "cross") || holds(name, "attn2"))
		return VPA_ATTENTION_CROSS;
	return holds(name, "self") || holds(name, "attn1") ? VPA_ATTENTION_SELF
							   : VPA_ATTENTION_UNKNOWN;
}

static enum vpa_attention_kind kind_of(struct state *s, const struct vpa_fold_context *c,
	const struct vpa_op_stretch *stretch, uint64_t at_ns)
{
	const struct vpa_range *range =
		vpa_range_open_at((struct vpa_range *)stretch->range, at_ns);
	size_t n;

	for (n = 0; range && n < RANGES_LOOKED_AT; n++) {
		uint8_t *kind;

		if (range->name >= s->kind_cap && vpt_grow_zeroed(&s->kinds, &s->kind_cap,
							  c->model->names.count, sizeof(*s->kinds)))
			return VPA_ATTENTION_UNKNOWN;
		kind = &s->kinds[range->name];
		if (!*kind)
			*kind = (uint8_t)(1 + kind_of_name(vpa_name(c->model, range->name)));
		if (*kind - 1 != VPA_ATTENTION_UNKNOWN)
			return (enum vpa_attention_kind)(*kind - 1);
		range = vpa_range_around(range, at_ns);
	}
	return VPA_ATTENTION_UNKNOWN;
}

/* Most traces have a handful of rows. */
static uint32_t row_of(struct state *s, uint64_t kernel, uint64_t blocks)
{
	uint32_t i;

	for (i = 0; i < s->index.count && i < ROWS_LOOKED_AT; i++)
		if (s->index.entries[i].a == kernel && s->index.entries[i].b == blocks)
			return i;
	return vpa_index_row(&s->index, kernel, blocks, &s->rows, &s->row_cap, sizeof(*s->rows));
}

static void add_call(struct calls *c, uint64_t ns)
{
	if (!c->count++ || ns < c->min_ns)
		c->min_ns = ns;
	if (ns > c->max_ns)
		c->max_ns = ns;
	c->total_ns += ns;
}

static int fold_ops(void *state, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	struct state *s = state;
	size_t k, at_stretch = 0;

	for (k = 0; k < ops->special_count; k++) {
		size_t i = ops->specials[k];
		uint64_t ns = ops->end_ns[i] - ops->start_ns[i], kind;
		uint32_t at;

		if (ops->role[i] != VPA_ROLE_FUSED)
			continue;
		kind = (uint64_t)kind_of(
			s, c, vpa_ops_stretch(ops, i, &at_stretch), ops->launch_start_ns[i]);
		at = row_of(s, kind << 32 | ops->kernel[i], ops->blocks[i]);
		if (at == UINT32_MAX)
			return VPT_ENOMEM;
		add_call(&s->rows[at], ns);
	}
	return VPT_OK;
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct vpa_attention_shape *a = pa, *b = pb;
	int order;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	order = strcmp(a->kernel, b->kernel);
	if (!order) /* by name: "cross", "self", "unknown" */
		order = strcmp(vpa_attention_kind_name(a->kind), vpa_attention_kind_name(b->kind));
	return order ? order : a->blocks < b->blocks ? -1 : a->blocks > b->blocks;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_expert *e = &out->expert;
	struct state *s = state;
	size_t i;

	e->shapes = vpa_arena_alloc(&out->arena, (size_t)s->index.count + 1, sizeof(*e->shapes));
	if (!e->shapes)
		return VPT_ENOMEM;
	for (i = 0; i < s->index.count; i++) {
		const struct vpa_index_entry *at = &s->index.entries[i];
		const struct vpa_kernel *kernel = &c->model->kernels[(uint32_t)at->a];
		const char *name = vpa_fold_name(out, c->model, kernel->name);

		e->shapes[e->shapes_used++] = (struct vpa_attention_shape){
			.kernel = name ? vpa_demangle(&out->arena, name) : "(no name)",
			.backend = kernel->klass.backend,
			.kind = (enum vpa_attention_kind)(at->a >> 32),
			.blocks = at->b,
			.calls = s->rows[i].count,
			.total_ns = s->rows[i].total_ns,
			.min_ns = s->rows[i].min_ns,
			.max_ns = s->rows[i].max_ns};
	}
	qsort(e->shapes, e->shapes_used, sizeof(*e->shapes), compare_rows);
	e->shape_count = e->shapes_used < c->top ? e->shapes_used : c->top;
	return VPT_OK;
}

static void free_state(void *state)
{
	struct state *s = state;

	vpa_index_free(&s->index);
	vpt_free(s->rows);
	vpt_free(s->kinds);
}

const struct vpa_fold vpa_fold_attention_shapes = {
	.name = "attention_shapes",
	.help = "fused attention by kernel and grid, self and cross apart where ranges or "
		"durations tell",
	.state_bytes = sizeof(struct state),
	.wanted = vpa_fold_is_table,
	.aside = fold_ops,
	.finish = finish,
	.free = free_state,
};

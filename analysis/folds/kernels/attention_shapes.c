/* attention_shapes.c - fused attention by kernel and grid, and self- and cross-attention apart where a
 * range around the launch says which it is.
 *
 * The grid follows from batch, heads and the length of the queries, not from that of the keys. So equal
 * grids may be self- and cross-attention. Where no range names them, their durations may: cross-attention
 * to a text reads far fewer keys than self-attention over a video, so its calls are shorter. */
#include "analysis/folds/fold.h"

#include "analysis/base/duration_groups.h"
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

static const char *const kind_texts[] = {[VPA_ATTENTION_UNKNOWN] = "unknown",
	[VPA_ATTENTION_SELF] = "self",
	[VPA_ATTENTION_CROSS] = "cross"};

struct state {
	struct vpa_index index; /* kernel and kind, grid */
	struct vpa_lengths *rows;
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
		vpa_lengths_add(&s->rows[at], ns);
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
	if (!order)
		order = strcmp(a->kind, b->kind);
	if (!order)
		order = strcmp(a->length, b->length);
	return order ? order : a->blocks < b->blocks ? -1 : a->blocks > b->blocks;
}

static void put_shape(struct vpa_report *out, struct vpa_attention_shape shape, const char *length,
	const struct vpa_length *calls)
{
	shape.length = length;
	shape.calls = calls->count;
	shape.total_ns = calls->total_ns;
	shape.min_ns = calls->min_ns;
	shape.max_ns = calls->max_ns;
	out->expert.shapes[out->expert.shapes_used++] = shape;
}

/* A shape, or two if no range names it and its calls are of two lengths. */
static void put_shapes(
	struct vpa_report *out, struct vpa_attention_shape shape, const struct vpa_lengths *lengths)
{
	struct vpa_length all = vpa_lengths_all(lengths), short_ones, long_ones;

	if (strcmp(shape.kind, kind_texts[VPA_ATTENTION_UNKNOWN]) != 0 ||
		!vpa_lengths_split(lengths, &short_ones, &long_ones)) {
		put_shape(out, shape, "all", &all);
		return;
	}
	put_shape(out, shape, "long", &long_ones);
	put_shape(out, shape, "short", &short_ones);
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct vpa_expert *e = &out->expert;
	struct state *s = state;
	size_t i;

	e->shapes =
		vpa_arena_alloc(&out->arena, 2 * (size_t)s->index.count + 1, sizeof(*e->shapes));
	if (!e->shapes)
		return VPT_ENOMEM;
	for (i = 0; i < s->index.count; i++) {
		const struct vpa_index_entry *at = &s->index.entries[i];
		const struct vpa_kernel *kernel = &c->model->kernels[(uint32_t)at->a];
		const char *name = vpa_fold_name(out, c->model, kernel->name);

		put_shapes(out,
			(struct vpa_attention_shape){
				.kernel = name ? vpa_demangle(&out->arena, name) : "(no name)",
				.backend = kernel->klass.backend,
				.kind = kind_texts[at->a >> 32],
				.blocks = at->b},
			&s->rows[i]);
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
	.ops = fold_ops,
	.finish = finish,
	.free = free_state,
};

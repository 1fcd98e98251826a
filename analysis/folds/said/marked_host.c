/* marked_host.c - how the marks of a pipeline are nested on the host, with their times. It is for traces without work on a
 * GPU, where no other table says what the marks found.
 *
 * A row is all marks of one kind that lie in marks of the row around it; stages and requests have a row for each name. */
#include "analysis/folds/fold.h"

#include "analysis/base/index.h"
#include "formats/base/memory.h"

enum { ROWS_MAX = 256, DEPTH_MAX = 16 };

struct row {
	uint32_t parent; /* row around it; VPA_NONE: none */
	uint32_t name;   /* of the model; 0: the kind's */
	enum vpa_scope_kind kind;
	unsigned depth;
	uint64_t first_ns;
	struct vpa_durations_builder host;
};

struct state {
	struct vpa_index index; /* (row around + 1, kind and name) */
	struct row *rows;
	size_t cap;
};

/* What a range is by what it says itself, and around it. */
struct place {
	uint32_t row;    /* VPA_NONE: of none */
	unsigned inside; /* bits of vpa_scope_inside() */
};

static uint32_t row_of(struct state *s, const struct place *around,
	const struct vpa_scope_label *label, const struct vpa_range *range)
{
	int is_named = label->kind == VPA_SCOPE_STAGE || label->kind == VPA_SCOPE_REQUEST;
	uint32_t name = is_named ? range->name : 0, row;
	uint64_t parent = (uint64_t)around->row + 1;
	size_t before = s->index.count;

	if (!vpa_index_has_room(&s->index, ROWS_MAX, parent, (uint64_t)label->kind << 32 | name))
		return VPA_NONE;
	row = vpa_index_row(&s->index, parent, (uint64_t)label->kind << 32 | name, &s->rows,
		&s->cap, sizeof(*s->rows));
	if (row != VPA_NONE && s->index.count > before)
		s->rows[row] = (struct row){.parent = around->row,
			.name = name,
			.kind = label->kind,
			.depth = around->row == VPA_NONE ? 0 : s->rows[around->row].depth + 1,
			.first_ns = range->start_ns};
	return row;
}

/* Follows the ranges that are open around one, from the outermost to it. 0 or VPT_ENOMEM. */
static int place_of(struct state *s, const struct vpa_fold_context *c,
	const struct vpa_range *range, struct place *out)
{
	const struct vpa_range *chain[DEPTH_MAX], *r = range;
	struct vpa_scope_label label;
	size_t count = 0;

	*out = (struct place){VPA_NONE, 0};
	for (; r && count < DEPTH_MAX; r = vpa_range_around(r, range->start_ns))
		chain[count++] = r;
	while (count--) {
		int nests = chain[count]->kind != VPT_RANGEKIND_START_END, is_last = !count;

		if (vpa_pipeline_label(c->pipeline, chain[count], &label))
			return VPT_ENOMEM;
		if (label.kind == VPA_SCOPE_NONE ||
			vpa_scope_is_misplaced(&label, out->inside, nests)) {
			if (is_last)
				out->row = VPA_NONE;
			continue;
		}
		out->row = row_of(s, out, &label, chain[count]);
		out->inside = vpa_scope_inside(&label, out->inside, nests);
		if (out->row == VPA_NONE)
			break;
	}
	return VPT_OK;
}

static int fold_range(void *state, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	struct state *s = state;
	struct place place;

	if (c->idle->device_count)
		return VPT_END;
	if (range->end_ns == UINT64_MAX)
		return VPT_OK;
	if (place_of(s, c, range, &place))
		return VPT_ENOMEM;
	return place.row == VPA_NONE ? VPT_OK
				     : vpa_durations_add(&s->rows[place.row].host,
					       range->end_ns - range->start_ns);
}

/* The row after `before`, in the order of their first mark, among those around which `parent` stands. */
static uint32_t next_row(const struct state *s, uint32_t parent, uint32_t before)
{
	uint32_t best = VPA_NONE, i;

	for (i = 0; i < s->index.count; i++) {
		const struct row *r = &s->rows[i],
				 *b = before == VPA_NONE ? NULL : &s->rows[before];

		if (r->parent != parent || i == before ||
			(b && (r->first_ns < b->first_ns ||
				      (r->first_ns == b->first_ns && i < before))))
			continue;
		if (best == VPA_NONE || r->first_ns < s->rows[best].first_ns)
			best = i;
	}
	return best;
}

static int write_rows(
	struct state *s, const struct vpa_fold_context *c, uint32_t parent, struct vpa_report *out)
{
	uint32_t i = VPA_NONE;
	int rc = VPT_OK;

	while (!rc && (i = next_row(s, parent, i)) != VPA_NONE) {
		struct row *r = &s->rows[i];
		const char *kind = vpa_scope_kind_name(r->kind);
		const char *name = vpa_fold_name(out, c->model, r->name);
		struct vpa_marked_row *row;

		if (r->host.count) {
			row = &out->expert.marked[out->expert.marked_count++];
			*row = (struct vpa_marked_row){.kind = kind,
				.name = name,
				.depth = r->depth,
				.host = vpa_durations_of(&r->host)};
			row->label = vpa_arena_printf(&out->arena, "%*s%s%s%s", (int)r->depth * 2,
				"", kind, name ? " " : "", name ? name : "");
		}
		rc = write_rows(s, c, i, out);
	}
	return rc;
}

static int finish(void *state, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct state *s = state;

	if (c->idle->device_count || !s->index.count)
		return VPT_OK;
	out->expert.marked =
		vpa_arena_alloc(&out->arena, s->index.count, sizeof(*out->expert.marked));
	return out->expert.marked ? write_rows(s, c, VPA_NONE, out) : VPT_ENOMEM;
}

static void free_state(void *state)
{
	struct state *s = state;
	size_t i;

	for (i = 0; i < s->index.count; i++)
		vpa_durations_free(&s->rows[i].host);
	vpa_index_free(&s->index);
	vpt_free(s->rows);
}

const struct vpa_fold vpa_fold_marked_host = {
	.name = "marked_host",
	.help = "the marks of a pipeline on the host, of a trace without work on a GPU",
	.state_bytes = sizeof(struct state),
	.range = fold_range,
	.finish = finish,
	.free = free_state,
};

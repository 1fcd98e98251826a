/* lines_scopes.c - adds idle time to the rows of the stages, and splits it by line.
 *
 * Rows are those of the report's stages, by kind, source and name. Time of a part is split by the samples
 * of the whole part: a range is mostly in one stage, and then the split is that of the stage. */
#include "analysis/folds/lines_scopes.h"

#include "analysis/folds/lines_state.h"
#include "analysis/limit.h"
#include "formats/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
	ROWS_MAX = 256, /* stages beyond these count as "(other stages)" */
	LINES_LISTED = 5
};

int vpa_lines_scopes_note(
	struct vpa_lines_scopes *s, const struct vpa_gap *gap, const struct vpa_scoped_time *time)
{
	if (!gap->before || !gap->gating || !time->ns)
		return VPT_OK;
	if (vpt_grow(&s->waiting, &s->waiting_cap, s->waiting_count + 1, sizeof(*s->waiting)))
		return VPT_ENOMEM;
	s->waiting[s->waiting_count] = *time;
	s->waiting[s->waiting_count].op_start_ns = gap->gating->start_ns;
	s->waiting[s->waiting_count++].op_stream = gap->gating->stream;
	return VPT_OK;
}

void vpa_lines_scopes_free(struct vpa_lines_scopes *s)
{
	vpt_free(s->waiting);
	vpa_index_free(&s->rows_index);
	vpt_free(s->waited_ns);
	vpa_index_free(&s->parts_index);
	vpt_free(s->part_ns);
	vpa_index_free(&s->exact_index);
	vpt_free(s->exact_ns);
	vpt_free(s->seen_ns);
}

/* ---- rows ---- */

/* Rows of the scopes of a position, each once. */
struct rows {
	uint32_t items[VPA_SCOPES_OPEN_MAX];
	size_t count;
};

static uint32_t row_of(
	struct vpa_lines_scopes *s, const struct vpa_fold_context *c, const struct vpa_scope *scope)
{
	const struct vpa_scope_label *label = &scope->label;
	int is_named = label->kind == VPA_SCOPE_STAGE || label->kind == VPA_SCOPE_REQUEST;
	uint64_t name = is_named ? scope->name : 0;

	if (label->name)
		name = vpt_strings_put(&c->model->names, label->name, strlen(label->name));
	if (name == VPT_NO_ID)
		return UINT32_MAX;
	if (s->rows_index.count >= ROWS_MAX)
		name = 0;
	return vpa_index_row(&s->rows_index, (uint64_t)label->kind << 8 | label->source, name,
		&s->waited_ns, &s->row_cap, sizeof(*s->waited_ns));
}

static int find_rows(struct vpa_lines_scopes *s, const struct vpa_fold_context *c,
	const struct vpa_position *position, struct rows *out)
{
	size_t i, k;

	out->count = 0;
	for (i = 0; i < position->count; i++) {
		uint32_t row = row_of(s, c, &c->pipeline->scopes[position->scopes[i]]);

		if (row == UINT32_MAX)
			return VPT_ENOMEM;
		for (k = 0; k < out->count && out->items[k] != row; k++)
			;
		if (k == out->count)
			out->items[out->count++] = row;
	}
	return VPT_OK;
}

/* ---- a batch ---- */

static int add(
	struct vpa_index *x, uint64_t a, uint64_t b, uint64_t **ns, size_t *cap, uint64_t more)
{
	uint32_t row = vpa_index_row(x, a, b, ns, cap, sizeof(**ns));

	if (row == UINT32_MAX)
		return VPT_ENOMEM;
	(*ns)[row] += more;
	return VPT_OK;
}

static int add_time(
	struct lines_state *all, const struct rows *rows, const struct vpa_scoped_time *time)
{
	struct vpa_lines_scopes *s = &all->scopes;
	uint64_t cause = all->parts_index.entries[time->part].a & 0xff;
	size_t k;
	int rc = VPT_OK;

	for (k = 0; k < rows->count && !rc; k++)
		rc = time->is_exact ? add(&s->exact_index, (uint64_t)rows->items[k] << 8 | cause,
					      time->stack, &s->exact_ns, &s->exact_cap, time->ns)
				    : add(&s->parts_index, rows->items[k], time->part, &s->part_ns,
					      &s->part_cap, time->ns);
	return rc;
}

/* What waits for ops [begin, end), which have these rows. Gaps were noted in the order of the ops. */
static int add_waiting(struct lines_state *all, const struct vpa_ops *ops, size_t begin, size_t end,
	const struct rows *rows, size_t *done)
{
	const struct vpa_lines_scopes *s = &all->scopes;
	int rc = VPT_OK;

	while (begin < end && *done < s->waiting_count && !rc) {
		const struct vpa_scoped_time *time = &s->waiting[*done];

		if (ops->start_ns[begin] != time->op_start_ns ||
			ops->stream[begin] != time->op_stream) {
			begin++;
			continue;
		}
		rc = add_time(all, rows, time);
		++*done;
	}
	return rc;
}

/* Idle time of a device from its op before ops [first, last], which are of one run, up to the last. */
static int add_waited(struct vpa_lines_scopes *s, const struct vpa_ops *ops, size_t first,
	size_t last, const struct rows *rows)
{
	uint32_t device = ops->device[last];
	uint64_t ns;
	size_t k;

	if (vpt_grow_zeroed(&s->seen_ns, &s->seen_cap, (size_t)device + 1, sizeof(*s->seen_ns)))
		return VPT_ENOMEM;
	/* The time before a device's first op is no wait for a stage. */
	ns = s->seen_ns[device] ? ops->idle_ns[last] - (s->seen_ns[device] - 1)
				: ops->idle_ns[last] - ops->idle_ns[first];
	s->seen_ns[device] = 1 + ops->idle_ns[last];
	for (k = 0; k < rows->count; k++)
		s->waited_ns[rows->items[k]] += ns;
	return VPT_OK;
}

int vpa_lines_scopes_ops(
	struct lines_state *all, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	const struct vpa_pipeline *p = c->pipeline;
	struct rows rows;
	size_t begin = 0, at, r = 0, done = 0;
	int rc = VPT_OK;

	for (at = 0; at < p->position_count && !rc; at++) {
		rc = find_rows(&all->scopes, c, &p->positions[at], &rows);
		if (!rc)
			rc = add_waiting(all, ops, begin, p->positions[at].end, &rows, &done);
		while (begin < p->positions[at].end && !rc) {
			size_t end = p->positions[at].end;

			while (ops->runs[r].end <= begin)
				r++;
			end = ops->runs[r].end < end ? ops->runs[r].end : end;
			rc = add_waited(&all->scopes, ops, begin, end - 1, &rows);
			begin = end;
		}
	}
	all->scopes.waiting_count = 0;
	return rc;
}

/* ---- writing down ---- */

/* Time at a line. */
struct at_line {
	uint64_t key; /* row << 8 | cause */
	uint32_t frame;
	uint64_t ns;
};

struct writing {
	struct lines_state *all;
	struct vpa_model *model;
	struct vpa_index index; /* (row << 8 | cause, frame) */
	uint64_t *ns;
	size_t cap;
	uint32_t *heads, *nexts; /* by part and by share: 1 + share; 0: no more */
};

/* Links the shares of each part. */
static int link_shares(struct writing *w)
{
	const struct lines_state *all = w->all;
	size_t i, parts = all->parts_index.count, shares = all->shares_index.count;

	w->heads = vpt_calloc(parts + 1, sizeof(*w->heads));
	w->nexts = vpt_calloc(shares + 1, sizeof(*w->nexts));
	if (!w->heads || !w->nexts)
		return VPT_ENOMEM;
	for (i = shares; i-- > 0;) {
		uint64_t part = all->shares_index.entries[i].a;

		w->nexts[i] = w->heads[part];
		w->heads[part] = (uint32_t)i + 1;
	}
	return VPT_OK;
}

static int add_line(struct writing *w, uint64_t key, uint32_t stack, uint64_t ns)
{
	uint32_t frame = vpa_stacks_line(w->model, stack);

	return frame == VPA_NONE ? VPT_OK : add(&w->index, key, frame, &w->ns, &w->cap, ns);
}

/* Splits the time of a part in a row as the part is split. */
static int split(struct writing *w, uint64_t row, uint32_t part, uint64_t ns)
{
	const struct lines_state *all = w->all;
	uint64_t key = row << 8 | (all->parts_index.entries[part].a & 0xff);
	uint64_t weight_ns = all->parts[part].weight_ns, from = 0, to;
	uint32_t at = w->heads[part];
	int rc = VPT_OK;

	if (all->parts[part].samples < VPA_LINE_SAMPLES_MIN)
		return VPT_OK;
	for (; at && !rc; at = w->nexts[at - 1]) {
		to = from + all->shares[at - 1].weight_ns;
		rc = add_line(w, key, (uint32_t)all->shares_index.entries[at - 1].b,
			vpa_portion(ns, to, weight_ns) - vpa_portion(ns, from, weight_ns));
		from = to;
	}
	return rc;
}

static int split_all(struct writing *w)
{
	const struct vpa_lines_scopes *s = &w->all->scopes;
	size_t i;
	int rc = link_shares(w);

	for (i = 0; i < s->parts_index.count && !rc; i++)
		rc = split(w, s->parts_index.entries[i].a, (uint32_t)s->parts_index.entries[i].b,
			s->part_ns[i]);
	for (i = 0; i < s->exact_index.count && !rc; i++)
		rc = add_line(w, s->exact_index.entries[i].a, (uint32_t)s->exact_index.entries[i].b,
			s->exact_ns[i]);
	return rc;
}

/* By row, then by time, descending. */
static int compare(const void *pa, const void *pb)
{
	const struct at_line *a = pa, *b = pb;

	if (a->key >> 8 != b->key >> 8)
		return a->key >> 8 < b->key >> 8 ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->frame < b->frame ? -1 : a->frame > b->frame;
}

/* The lines of one row, the largest first. */
static int write_stage(struct writing *w, const struct at_line *lines, size_t count,
	struct vpa_stage_row *stage, struct vpa_report *out)
{
	size_t i, shown = count < LINES_LISTED ? count : LINES_LISTED;

	stage->lines = vpa_arena_alloc(&out->arena, shown, sizeof(*stage->lines));
	if (!stage->lines)
		return VPT_ENOMEM;
	for (i = 0; i < shown && lines[i].ns; i++)
		stage->lines[stage->line_count++] = (struct vpa_stage_line){
			.line = vpa_fold_line(out, w->model, lines[i].frame),
			.cause = (enum vpa_cause)(lines[i].key & 0xff),
			.idle_ns = lines[i].ns,
			.share = (double)lines[i].ns / (double)stage->waited_ns};
	return VPT_OK;
}

static int write_stages(struct writing *w, struct vpa_report *out)
{
	const struct vpa_lines_scopes *s = &w->all->scopes;
	size_t count = w->index.count, i, begin, end;
	struct at_line *lines = vpt_calloc(count + 1, sizeof(*lines));
	int rc = VPT_OK;

	if (!lines)
		return VPT_ENOMEM;
	for (i = 0; i < count; i++)
		lines[i] = (struct at_line){
			w->index.entries[i].a, (uint32_t)w->index.entries[i].b, w->ns[i]};
	qsort(lines, count, sizeof(*lines), compare);
	for (i = 0; i < out->stage_count && !rc; i++) {
		struct vpa_stage_row *stage = &out->stages[i];
		uint32_t row = vpa_index_find(&s->rows_index, stage->scope, stage->scope_name);

		if (row == UINT32_MAX)
			continue;
		stage->waited_ns = s->waited_ns[row];
		for (begin = 0; begin < count && lines[begin].key >> 8 < row; begin++)
			;
		for (end = begin; end < count && lines[end].key >> 8 == row; end++)
			;
		rc = write_stage(w, lines + begin, end - begin, stage, out);
	}
	vpt_free(lines);
	return rc;
}

int vpa_lines_scopes_write(
	struct lines_state *all, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct writing w = {.all = all, .model = c->model};
	int rc = split_all(&w);

	if (!rc)
		rc = write_stages(&w, out);
	vpa_index_free(&w.index);
	vpt_free(w.ns);
	vpt_free(w.heads);
	vpt_free(w.nexts);
	return rc;
}

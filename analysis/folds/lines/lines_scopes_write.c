/* lines_scopes_write.c - splits the idle time of stages and blocks by line.
 *
 * Time of a part in a stage is split by the samples of the whole part: a range is mostly in one stage, and
 * then the split is that of the stage. A block's is split by its own samples, as the question is how it
 * differs from other blocks. */
#include "analysis/folds/lines/lines_scopes.h"

#include "analysis/folds/lines/lines_state.h"
#include "analysis/report/device_limit.h"
#include "formats/base/memory.h"

#include <stdlib.h>

enum { LINES_LISTED = 5 };

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

	return frame == VPA_NONE ? VPT_OK
				 : vpa_scoped_add(&w->index, key, frame, &w->ns, &w->cap, ns);
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

static int is_block(const struct vpa_lines_scopes *s, uint64_t row)
{
	return s->rows_index.entries[row].a == VPA_SCOPED_BLOCK;
}

/* Splits the times of parts in blocks by the blocks' own samples. */
static int split_own(struct writing *w)
{
	const struct lines_state *all = w->all;
	const struct vpa_lines_scopes *s = &all->scopes;
	uint64_t *before = vpt_calloc(s->parts_index.count + 1, sizeof(*before));
	size_t i;
	int rc = before ? VPT_OK : VPT_ENOMEM;

	for (i = 0; i < s->own_index.count && !rc; i++) {
		uint64_t at = s->own_index.entries[i].a;
		const struct vpa_index_entry *part = &s->parts_index.entries[at];
		uint64_t from = before[at], to = from + s->own_ns[i];

		before[at] = to;
		rc = add_line(w, part->a << 8 | (all->parts_index.entries[part->b].a & 0xff),
			(uint32_t)s->own_index.entries[i].b,
			vpa_portion(s->parts[at].ns, to, s->parts[at].weight_ns) -
				vpa_portion(s->parts[at].ns, from, s->parts[at].weight_ns));
	}
	vpt_free(before);
	return rc;
}

static int split_all(struct writing *w)
{
	const struct vpa_lines_scopes *s = &w->all->scopes;
	size_t i;
	int rc = link_shares(w);

	for (i = 0; i < s->parts_index.count && !rc; i++)
		if (!is_block(s, s->parts_index.entries[i].a))
			rc = split(w, s->parts_index.entries[i].a,
				(uint32_t)s->parts_index.entries[i].b, s->parts[i].ns);
	if (!rc)
		rc = split_own(w);
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

static struct vpa_stage_line line_of(
	struct writing *w, const struct at_line *at, uint64_t waited_ns, struct vpa_report *out)
{
	return (struct vpa_stage_line){.line = vpa_fold_line(out, w->model, at->frame),
		.cause = (enum vpa_cause)(at->key & 0xff),
		.idle_ns = at->ns,
		.share = (double)at->ns / (double)waited_ns};
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
		stage->lines[stage->line_count++] = line_of(w, &lines[i], stage->waited_ns, out);
	return VPT_OK;
}

/* All lines in their order, and where those of each row begin. */
struct sorted {
	struct at_line *lines;
	size_t *begins; /* by row, and the end */
};

static int sort(const struct writing *w, struct sorted *out)
{
	size_t rows = w->all->scopes.rows_index.count, count = w->index.count, row, i;

	out->lines = vpt_calloc(count + 1, sizeof(*out->lines));
	out->begins = vpt_calloc(rows + 1, sizeof(*out->begins));
	if (!out->lines || !out->begins)
		return VPT_ENOMEM;
	for (i = 0; i < count; i++)
		out->lines[i] = (struct at_line){
			w->index.entries[i].a, (uint32_t)w->index.entries[i].b, w->ns[i]};
	qsort(out->lines, count, sizeof(*out->lines), compare);
	for (row = i = 0; row <= rows; row++) {
		while (i < count && out->lines[i].key >> 8 < row)
			i++;
		out->begins[row] = i;
	}
	return VPT_OK;
}

static int write_stages(struct writing *w, const struct sorted *all, struct vpa_report *out)
{
	const struct vpa_lines_scopes *s = &w->all->scopes;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < out->stage_count && !rc; i++) {
		struct vpa_stage_row *stage = &out->stages[i];
		uint32_t row = vpa_index_find(&s->rows_index, stage->scope, stage->scope_name);

		if (row == UINT32_MAX)
			continue;
		stage->waited_ns = s->rows[row].waited_ns;
		rc = write_stage(w, all->lines + all->begins[row],
			all->begins[row + 1] - all->begins[row], stage, out);
	}
	return rc;
}

static int write_block(struct writing *w, const struct sorted *all, struct vpa_block_row *block,
	struct vpa_report *out)
{
	const struct vpa_lines_scopes *s = &w->all->scopes;
	uint32_t row = vpa_index_find(&s->rows_index, VPA_SCOPED_BLOCK, block->scope);
	const struct at_line *top;
	struct vpa_stage_line *line;

	if (row == UINT32_MAX)
		return VPT_OK;
	top = &all->lines[all->begins[row]];
	block->waited_ns = s->rows[row].waited_ns;
	block->line_samples = s->rows[row].samples;
	if (all->begins[row + 1] == all->begins[row] || !top->ns ||
		(!s->rows[row].has_exact && block->line_samples < VPA_LINE_SAMPLES_MIN))
		return VPT_OK;
	line = vpa_arena_alloc(&out->arena, 1, sizeof(*line));
	if (!line)
		return VPT_ENOMEM;
	*line = line_of(w, top, block->waited_ns, out);
	block->line = line;
	return VPT_OK;
}

static int write_blocks(struct writing *w, const struct sorted *all, struct vpa_report *out)
{
	size_t q, i;
	int rc = VPT_OK;

	for (q = 0; q < out->request_count; q++)
		for (i = 0; i < out->requests[q].blocks.count && !rc; i++)
			rc = write_block(w, all, &out->requests[q].blocks.series[i], out);
	return rc;
}

int vpa_lines_scopes_write(
	struct lines_state *all, const struct vpa_fold_context *c, struct vpa_report *out)
{
	struct writing w = {.all = all, .model = c->model};
	struct sorted sorted = {0};
	int rc = split_all(&w);

	if (!rc)
		rc = sort(&w, &sorted);
	if (!rc)
		rc = write_stages(&w, &sorted, out);
	if (!rc)
		rc = write_blocks(&w, &sorted, out);
	vpt_free(sorted.lines);
	vpt_free(sorted.begins);
	vpa_index_free(&w.index);
	vpt_free(w.ns);
	vpt_free(w.heads);
	vpt_free(w.nexts);
	return rc;
}

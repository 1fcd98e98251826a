/* lines_scopes.c - adds idle time to the rows of stages and blocks.
 *
 * Rows of stages are those of the report, by kind, source and name. Each block also has a row of its own,
 * with its own samples. */
#include "analysis/folds/lines/lines_scopes.h"

#include "analysis/folds/lines/lines_state.h"
#include "formats/base/memory.h"

enum {
	STAGES_MAX = 256,      /* those beyond count as "(other stages)" */
	SAMPLES_MAX = 1 << 20, /* of blocks; those beyond count for none */
	SHARES_MAX = 1 << 20   /* the same, of their stacks */
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
	vpt_free(s->places);
	vpa_index_free(&s->rows_index);
	vpt_free(s->rows);
	vpa_index_free(&s->parts_index);
	vpt_free(s->parts);
	vpa_index_free(&s->samples_index);
	vpa_index_free(&s->own_index);
	vpt_free(s->own_ns);
	vpa_index_free(&s->exact_index);
	vpt_free(s->exact_ns);
	vpt_free(s->seen_ns);
}

/* ---- rows ---- */

static uint32_t row_of(
	struct vpa_lines_scopes *s, const struct vpa_fold_context *c, const struct vpa_scope *scope)
{
	const struct vpa_scope_label *label = &scope->label;
	int is_named = label->kind == VPA_SCOPE_STAGE || label->kind == VPA_SCOPE_REQUEST;
	uint64_t name = is_named ? scope->name : 0;
	size_t before;
	uint32_t row;

	if (label->name)
		name = vpa_fold_intern(c, label->name);
	if (name == VPT_NO_ID)
		return UINT32_MAX;
	if (s->stage_count >= STAGES_MAX)
		name = 0;
	before = s->rows_index.count;
	row = vpa_index_row(&s->rows_index, (uint64_t)label->kind << 8 | label->source, name,
		&s->rows, &s->row_cap, sizeof(*s->rows));
	s->stage_count += s->rows_index.count - before;
	return row;
}

static int find_rows(struct vpa_lines_scopes *s, const struct vpa_fold_context *c,
	const struct vpa_position *position, struct vpa_scoped_rows *out)
{
	size_t i, k;

	out->end = position->end;
	out->count = 0;
	out->block = VPA_NONE;
	for (i = 0; i < position->count; i++) {
		uint32_t row = row_of(s, c, &c->pipeline->scopes[position->scopes[i]]);

		if (row == UINT32_MAX)
			return VPT_ENOMEM;
		for (k = 0; k < out->count && out->items[k] != row; k++)
			;
		if (k == out->count)
			out->items[out->count++] = row;
	}
	if (position->around.block == VPA_NONE)
		return VPT_OK;
	out->block = vpa_index_row(&s->rows_index, VPA_SCOPED_BLOCK, position->around.block,
		&s->rows, &s->row_cap, sizeof(*s->rows));
	out->items[out->count++] = out->block;
	return out->block == UINT32_MAX ? VPT_ENOMEM : VPT_OK;
}

/* ---- a batch ---- */

static struct vpa_scoped_part *part_of(struct vpa_lines_scopes *s, uint32_t row, uint32_t part)
{
	uint32_t at = vpa_index_row(
		&s->parts_index, row, part, &s->parts, &s->part_cap, sizeof(*s->parts));

	return at == UINT32_MAX ? NULL : &s->parts[at];
}

/* Counts a sample of a block, once. */
static int count_sample(
	struct vpa_lines_scopes *s, uint32_t row, const struct vpa_scoped_time *sample)
{
	size_t before = s->samples_index.count;

	if (before >= SAMPLES_MAX)
		return VPT_OK;
	if (vpa_index_put(&s->samples_index, (uint64_t)row << 32 | sample->thread,
		    sample->sample_ns) == UINT32_MAX)
		return VPT_ENOMEM;
	s->rows[row].samples += s->samples_index.count - before;
	return VPT_OK;
}

static int add_sample(
	struct vpa_lines_scopes *s, uint32_t row, const struct vpa_scoped_time *sample)
{
	struct vpa_scoped_part *part = part_of(s, row, sample->part);

	if (!part || count_sample(s, row, sample))
		return VPT_ENOMEM;
	if (s->own_index.count >= SHARES_MAX)
		return VPT_OK;
	part->weight_ns += sample->ns;
	return vpa_scoped_add(&s->own_index, (uint64_t)(part - s->parts), sample->stack, &s->own_ns,
		&s->own_cap, sample->ns);
}

static int add_time(struct lines_state *all, const struct vpa_scoped_rows *rows,
	const struct vpa_scoped_time *time)
{
	struct vpa_lines_scopes *s = &all->scopes;
	uint64_t cause = all->parts_index.entries[time->part].a & 0xff;
	struct vpa_scoped_part *part;
	size_t k;

	if (time->kind == VPA_SCOPED_SAMPLE)
		return rows->block == VPA_NONE ? VPT_OK : add_sample(s, rows->block, time);
	for (k = 0; k < rows->count; k++) {
		if (time->kind == VPA_SCOPED_EXACT) {
			s->rows[rows->items[k]].has_exact = 1;
			if (vpa_scoped_add(&s->exact_index, (uint64_t)rows->items[k] << 8 | cause,
				    time->stack, &s->exact_ns, &s->exact_cap, time->ns))
				return VPT_ENOMEM;
			continue;
		}
		part = part_of(s, rows->items[k], time->part);
		if (!part)
			return VPT_ENOMEM;
		part->ns += time->ns;
	}
	return VPT_OK;
}

/* What waits for ops [begin, end), which have these rows. Gaps were noted in the order of the ops. */
static int add_waiting(struct lines_state *all, const struct vpa_ops *ops, size_t begin, size_t end,
	const struct vpa_scoped_rows *rows, size_t *done)
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
	size_t last, const struct vpa_scoped_rows *rows)
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
		s->rows[rows->items[k]].waited_ns += ns;
	return VPT_OK;
}

int vpa_lines_scopes_ops(
	struct lines_state *all, const struct vpa_fold_context *c, const struct vpa_ops *ops)
{
	const struct vpa_pipeline *p = c->pipeline;
	struct vpa_lines_scopes *s = &all->scopes;
	size_t begin = 0, at, r = 0, done = 0;
	int rc = VPT_OK;

	if (vpt_grow(&s->places, &s->place_cap, p->position_count, sizeof(*s->places)))
		return VPT_ENOMEM;
	for (at = 0; at < p->position_count && !rc; at++) {
		struct vpa_scoped_rows *rows = &s->places[at];

		rc = find_rows(s, c, &p->positions[at], rows);
		if (!rc)
			rc = add_waiting(all, ops, begin, rows->end, rows, &done);
		while (begin < rows->end && !rc) {
			size_t end = rows->end;

			while (ops->runs[r].end <= begin)
				r++;
			end = ops->runs[r].end < end ? ops->runs[r].end : end;
			rc = add_waited(s, ops, begin, end - 1, rows);
			begin = end;
		}
	}
	s->waiting_count = 0;
	s->place = 0;
	return rc;
}

/* ---- gaps with the line of a launch ---- */

static int queue_time(struct vpa_scoped_queue *queue, uint64_t key, uint64_t ns)
{
	size_t i = queue->count;

	/* A run is mostly in the scopes of its newest ops. */
	while (i > 0 && queue->items[i - 1].key != key)
		i--;
	if (!i) {
		if (vpt_grow(&queue->items, &queue->cap, queue->count + 1, sizeof(*queue->items)))
			return VPT_ENOMEM;
		i = ++queue->count;
		queue->items[i - 1] = (struct vpa_scoped_cause){key, 0};
	}
	queue->items[i - 1].ns += ns;
	return VPT_OK;
}

int vpa_lines_scopes_queue(struct vpa_lines_scopes *s, const struct vpa_ops *ops, size_t i,
	struct vpa_scoped_queue *queue)
{
	const struct vpa_scoped_rows *rows;
	size_t k;
	int rc = VPT_OK;

	while (s->places[s->place].end <= i)
		s->place++;
	rows = &s->places[s->place];
	for (k = 0; k < rows->count && !rc; k++)
		rc = queue_time(
			queue, (uint64_t)rows->items[k] << 8 | ops->gap_cause[i], ops->gap_ns[i]);
	return rc;
}

int vpa_lines_scopes_settle(struct vpa_lines_scopes *s, struct vpa_scoped_queue *queue,
	const struct vpa_scoped_time *sample)
{
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < queue->count && sample->stack && !rc; i++) {
		uint32_t row = (uint32_t)(queue->items[i].key >> 8);

		if (sample->kind == VPA_SCOPED_EXACT)
			s->rows[row].has_exact = 1;
		else if (s->rows_index.entries[row].a == VPA_SCOPED_BLOCK)
			rc = count_sample(s, row, sample);
		if (!rc)
			rc = vpa_scoped_add(&s->exact_index, queue->items[i].key, sample->stack,
				&s->exact_ns, &s->exact_cap, queue->items[i].ns);
	}
	queue->count = 0;
	return rc;
}

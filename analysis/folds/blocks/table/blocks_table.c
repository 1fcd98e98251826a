/* blocks_table.c - rows, sums and samples. */
#include "analysis/folds/blocks/table/blocks_table.h"

#include "formats/base/memory.h"

#include <string.h>

int vpa_blocks_know_scopes(struct vpa_blocks_table *s)
{
	size_t count = s->pipeline->scope_count;

	if (count <= s->gpu_count)
		return VPT_OK;
	if (vpt_grow(&s->gpu, &s->gpu_cap, count, sizeof(*s->gpu)))
		return VPT_ENOMEM;
	memset(s->gpu + s->gpu_count, 0, (count - s->gpu_count) * sizeof(*s->gpu));
	s->gpu_count = count;
	return VPT_OK;
}

uint32_t vpa_blocks_row(struct vpa_blocks_table *s, const struct vpa_fold_context *c,
	const struct vpa_scope_label *label, uint32_t name)
{
	uint32_t row;
	uint64_t id;

	if (label->kind != VPA_SCOPE_STAGE && label->kind != VPA_SCOPE_REQUEST)
		name = 0;
	if (label->name) {
		id = vpa_fold_intern(c, label->name);
		if (id == VPT_NO_ID)
			return VPA_NONE;
		name = (uint32_t)id;
	}
	/* Too many different stages: the excess gets no names of its own. */
	if (s->row_index.count >= VPA_STAGE_ROWS_MAX - VPA_SCOPE_KINDS)
		name = 0;
	row = vpa_index_row(&s->row_index, (uint64_t)label->kind << 8 | label->source, name,
		&s->rows, &s->row_cap, sizeof(*s->rows));
	if (row == UINT32_MAX)
		return VPA_NONE;
	s->rows[row].kind = label->kind;
	s->rows[row].source = label->source;
	s->rows[row].name = name;
	return row;
}

/* Whether a plain part of this name has no row, and gets none. */
static int has_no_row(const struct vpa_blocks_table *s, uint32_t name)
{
	uint64_t key = (uint64_t)VPA_SCOPE_STAGE << 8 | VPA_SOURCE_PLACE;

	return (s->plain_parts == VPA_PLAIN_PARTS_MAX ||
		       s->row_index.count >= VPA_STAGE_ROWS_MAX - VPA_SCOPE_KINDS) &&
	       vpa_index_find(&s->row_index, key, name) == UINT32_MAX;
}

/* The first step may be the only one: then the report has its parts. Any iteration may be the last. */
static int add_end_cut(
	struct vpa_blocks_table *s, const struct vpa_scope_label *label, struct vpa_scope_gpu *g)
{
	if ((label->kind != VPA_SCOPE_STEP && label->kind != VPA_SCOPE_ITERATION) ||
		label->source == VPA_SOURCE_MARKS || !s->pins_steps || s->has_end_cut[label->kind])
		return VPT_OK;
	s->has_end_cut[label->kind] = label->kind == VPA_SCOPE_STEP;
	g->end_cut = vpa_sweep_cut_new(&s->sweep);
	return g->end_cut == VPA_NONE ? VPT_ENOMEM : VPT_OK;
}

int vpa_blocks_begin_scope(struct vpa_blocks_table *s, const struct vpa_fold_context *c,
	uint32_t scope, uint32_t marked_span)
{
	const struct vpa_scope *what = vpa_blocks_scope(s, scope);
	struct vpa_scope_gpu *g = &s->gpu[scope];
	enum vpa_scope_kind kind = what->label.kind;
	size_t before;

	*g = (struct vpa_scope_gpu){.known = 1,
		.first_ns = UINT64_MAX,
		.cut = VPA_NONE,
		.pin = VPA_NONE,
		.end_cut = VPA_NONE,
		.block = what->block,
		.request = what->request,
		.marked_span = marked_span,
		.row = VPA_NONE,
		.loop = VPA_NONE};
	s->has_blocks |= kind == VPA_SCOPE_BLOCK;
	if (vpa_scope_is_kept(kind)) {
		g->cut = vpa_sweep_cut_new(&s->sweep);
		if (g->cut == VPA_NONE)
			return VPT_ENOMEM;
		if (what->label.work != VPA_WORK_WHOLE)
			return VPT_OK;
	}
	if (what->label.source == VPA_SOURCE_PLACE && has_no_row(s, what->name))
		return VPT_OK;
	if (add_end_cut(s, &what->label, g))
		return VPT_ENOMEM;
	before = s->row_index.count;
	g->row = vpa_blocks_row(s, c, &what->label, what->name);
	if (g->row == VPA_NONE)
		return VPT_ENOMEM;
	if (what->label.source == VPA_SOURCE_PLACE)
		s->plain_parts += s->row_index.count - before;
	if (kind != VPA_SCOPE_STAGE && what->stage != VPA_NONE)
		s->rows[s->gpu[what->stage].row].holds_steps = 1;
	return VPT_OK;
}

struct vpa_stage_sum *vpa_blocks_sum(struct vpa_blocks_table *s, uint32_t block, uint32_t row)
{
	uint32_t at = vpa_index_row(
		&s->sum_index, (uint64_t)(block + 1), row, &s->sums, &s->sum_cap, sizeof(*s->sums));

	return at == UINT32_MAX ? NULL : &s->sums[at];
}

void vpa_stage_sum_add(struct vpa_stage_sum *to, const struct vpa_stage_sum *from)
{
	to->count += from->count;
	to->total_ns += from->total_ns;
	to->top_ns += from->top_ns;
	to->marked_span_top_ns += from->marked_span_top_ns;
	to->busy_ns += from->busy_ns;
	to->idle_ns += from->idle_ns;
	to->attention_ns += from->attention_ns;
	to->ops += from->ops;
}

static void subtract(struct vpa_stage_sum *from, const struct vpa_stage_sum *what)
{
	from->count -= what->count;
	from->total_ns -= what->total_ns;
	from->top_ns -= what->top_ns;
	from->marked_span_top_ns -= what->marked_span_top_ns;
	from->busy_ns -= what->busy_ns;
	from->idle_ns -= what->idle_ns;
	from->attention_ns -= what->attention_ns;
	from->ops -= what->ops;
}

struct vpa_alone_owner vpa_blocks_owner(
	const struct vpa_blocks_table *s, const uint32_t *scopes, size_t count)
{
	size_t k;

	for (k = 0; k < count; k++) {
		enum vpa_scope_kind kind = vpa_blocks_scope(s, scopes[k])->label.kind;
		const struct vpa_scope_gpu *g = &s->gpu[scopes[k]];

		if (kind == VPA_SCOPE_REQUEST || kind == VPA_SCOPE_BLOCK ||
			kind == VPA_SCOPE_ITERATION)
			continue;
		if (g->row != VPA_NONE)
			return (struct vpa_alone_owner){g->row, g->block, g->first_ns};
		break;
	}
	return (struct vpa_alone_owner){VPA_NONE, VPA_NONE, 0};
}

/* What a scope adds to the sums of its block. */
static struct vpa_stage_sum sum_of(const struct vpa_step_kept *step, uint64_t total_ns)
{
	return (struct vpa_stage_sum){.count = 1,
		.total_ns = total_ns,
		.busy_ns = step->busy_ns,
		.idle_ns = step->idle_ns,
		.attention_ns = step->attention_ns,
		.ops = step->ops,
		.top_ns = step->in_marked_span ? 0 : total_ns,
		.marked_span_top_ns = step->in_marked_span && !step->nested ? total_ns : 0};
}

static int add_sample(struct vpa_blocks_table *s, const struct vpa_stage_sample *sample)
{
	if (s->sample_count == VPA_SAMPLES_MAX) {
		s->too_many++;
		return VPT_OK;
	}
	if (vpt_grow(&s->samples, &s->sample_cap, s->sample_count + 1, sizeof(*s->samples)))
		return VPT_ENOMEM;
	s->samples[s->sample_count++] = *sample;
	return VPT_OK;
}

/* Keeps the newest sample as a step. */
static int add_step(struct vpa_blocks_table *s, const struct vpa_step_kept *step)
{
	if (vpt_grow(&s->steps, &s->step_cap, s->step_count + 1, sizeof(*s->steps)))
		return VPT_ENOMEM;
	s->steps[s->step_count] = *step;
	s->steps[s->step_count++].sample = (uint32_t)(s->sample_count - 1);
	return VPT_OK;
}

static int is_like_step(enum vpa_scope_kind kind)
{
	return kind == VPA_SCOPE_STEP || kind == VPA_SCOPE_CONTEXT || kind == VPA_SCOPE_ITERATION;
}

int vpa_blocks_end_scope(struct vpa_blocks_table *s, uint32_t scope, uint64_t end_ns,
	const struct vpa_projection *projection)
{
	const struct vpa_scope *what = vpa_blocks_scope(s, scope);
	const struct vpa_scope_gpu *g = &s->gpu[scope];
	int nested = what->nested;
	struct vpa_step_kept step = {.attention_ns = g->attention_ns,
		.end_cut = g->end_cut,
		.nested = nested != 0,
		.in_marked_span = nested || g->marked_span};
	struct vpa_stage_sample sample = {what->start_ns, end_ns, g->first_ns, 0, g->block,
		g->request, g->row, nested ? 0 : g->marked_span, g->pin};
	struct vpa_stage_sum *sum = vpa_blocks_sum(s, g->block, g->row), own;
	const struct vpa_projection *p;
	uint64_t last_ns = g->first_ns;
	size_t before = s->sample_count;

	if (!sum)
		return VPT_ENOMEM;
	for (p = projection; p && p->ops; p = p->next) {
		last_ns = p->last_ns > last_ns ? p->last_ns : last_ns;
		step.busy_ns += p->busy_ns;
		step.ops += p->ops;
		step.idle_ns += p->idle_last_ns - p->idle_first_ns;
	}
	sample.ns = last_ns - g->first_ns;
	own = sum_of(&step, sample.ns);
	vpa_stage_sum_add(sum, &own);
	s->rows[g->row].count++;
	s->rows[g->row].nested += step.nested;
	s->rows[g->row].in_marked_span += step.in_marked_span;
	if (add_sample(s, &sample))
		return VPT_ENOMEM;
	return s->sample_count > before && is_like_step(what->label.kind) ? add_step(s, &step)
									  : VPT_OK;
}

/* Removes the samples without a row. Steps are in the order of their samples. */
static void pack_samples(struct vpa_blocks_table *s)
{
	size_t kept = 0, step = 0, i;

	for (i = 0; i < s->sample_count; i++) {
		if (s->samples[i].row == VPA_NONE)
			continue;
		if (step < s->step_count && s->steps[step].sample == i)
			s->steps[step++].sample = (uint32_t)kept;
		s->samples[kept++] = s->samples[i];
	}
	s->sample_count = kept;
}

int vpa_blocks_drop_cut(struct vpa_blocks_table *s, const struct vpa_intervals *paused)
{
	size_t kept = 0, i;

	if (!paused->count)
		return VPT_OK;
	for (i = 0; i < s->step_count; i++) {
		const struct vpa_step_kept *step = &s->steps[i];
		struct vpa_stage_sample *sample = &s->samples[step->sample];
		struct vpa_stage_sum *sum, own = sum_of(step, sample->ns);

		if (!vpa_intervals_cut(paused, sample->start_ns, sample->first_ns,
			    sample->first_ns + sample->ns, sample->end_ns)) {
			s->steps[kept++] = *step;
			continue;
		}
		sum = vpa_blocks_sum(s, sample->block, sample->row);
		if (!sum)
			return VPT_ENOMEM;
		subtract(sum, &own);
		s->rows[sample->row].count--;
		s->rows[sample->row].nested -= step->nested;
		s->rows[sample->row].in_marked_span -= step->in_marked_span;
		sample->row = VPA_NONE;
		s->steps_cut++;
	}
	s->step_count = kept;
	pack_samples(s);
	return VPT_OK;
}

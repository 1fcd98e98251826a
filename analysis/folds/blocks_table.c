/* blocks_table.c - rows, sums and samples. */
#include "analysis/folds/blocks_table.h"

#include "formats/memory.h"

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
		id = vpt_strings_put(&c->model->names, label->name, strlen(label->name));
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

int vpa_blocks_begin_scope(
	struct vpa_blocks_table *s, const struct vpa_fold_context *c, uint32_t scope, uint32_t lap)
{
	const struct vpa_scope *what = vpa_blocks_scope(s, scope);
	struct vpa_scope_gpu *g = &s->gpu[scope];
	enum vpa_scope_kind kind = what->label.kind;

	*g = (struct vpa_scope_gpu){.known = 1,
		.first_ns = UINT64_MAX,
		.cut = VPA_NONE,
		.pin = VPA_NONE,
		.block = what->block,
		.request = what->request,
		.lap = lap,
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
	g->row = vpa_blocks_row(s, c, &what->label, what->name);
	if (g->row == VPA_NONE)
		return VPT_ENOMEM;
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

static int add_sample(
	struct vpa_blocks_table *s, const struct vpa_scope_gpu *g, uint64_t ns, int nested)
{
	if (s->sample_count == VPA_SAMPLES_MAX) {
		s->too_many++;
		return VPT_OK;
	}
	if (vpt_grow(&s->samples, &s->sample_cap, s->sample_count + 1, sizeof(*s->samples)))
		return VPT_ENOMEM;
	s->samples[s->sample_count++] = (struct vpa_stage_sample){
		g->first_ns, ns, g->block, g->request, g->row, nested ? 0 : g->lap, g->pin};
	return VPT_OK;
}

int vpa_blocks_end_scope(
	struct vpa_blocks_table *s, uint32_t scope, const struct vpa_projection *projection)
{
	const struct vpa_scope_gpu *g = &s->gpu[scope];
	int nested = vpa_blocks_scope(s, scope)->nested;
	struct vpa_stage_sum *sum = vpa_blocks_sum(s, g->block, g->row);
	const struct vpa_projection *p;
	uint64_t last = 0;

	if (!sum)
		return VPT_ENOMEM;
	for (p = projection; p && p->ops; p = p->next) {
		last = p->last_ns > last ? p->last_ns : last;
		sum->busy_ns += p->busy_ns;
		sum->ops += p->ops;
		sum->idle_ns += p->idle_last_ns - p->idle_first_ns;
	}
	last = last > g->first_ns ? last : g->first_ns;
	sum->count++;
	sum->total_ns += last - g->first_ns;
	if (!nested)
		*(g->lap ? &sum->lap_top_ns : &sum->top_ns) += last - g->first_ns;
	sum->attention_ns += g->attention_ns;
	s->rows[g->row].count++;
	s->rows[g->row].nested += (uint64_t)nested;
	s->rows[g->row].in_lap += nested || g->lap;
	return add_sample(s, g, last - g->first_ns, nested);
}

/* stage_times.c - collects the times of scopes from the ends of their ranges. */
#include "analysis/folds/stage_times.h"

#include "formats/base/memory.h"

#include <string.h>

static int is_row(enum vpa_scope_kind kind)
{
	return kind == VPA_SCOPE_REQUEST || kind == VPA_SCOPE_BLOCK || kind == VPA_SCOPE_STEP ||
	       kind == VPA_SCOPE_CONTEXT || kind == VPA_SCOPE_STAGE;
}

int vpa_stage_at_of(
	const struct vpa_fold_context *c, const struct vpa_range *range, struct vpa_stage_at *out)
{
	const struct vpa_projection *gpu;
	const struct vpa_scope *scope;
	int is_stage;

	if (range->scope < VPA_FIRST_SCOPE || !is_row(vpa_pipeline_kind(range)))
		return 0;
	scope = &c->pipeline->scopes[range->scope - VPA_FIRST_SCOPE];
	is_stage = scope->label.kind == VPA_SCOPE_STAGE;
	*out = (struct vpa_stage_at){.kind = scope->label.kind,
		.name = is_stage ? scope->name : 0,
		.given = is_stage ? scope->label.name : NULL,
		.first_ns = UINT64_MAX};
	out->key = (uint64_t)out->kind << 1 | (out->given != NULL);
	out->key_name = out->given ? (uint64_t)(uintptr_t)out->given : out->name;
	for (gpu = &range->gpu; gpu; gpu = gpu->next) {
		if (gpu->device == VPA_NONE)
			continue;
		out->first_ns = gpu->first_ns < out->first_ns ? gpu->first_ns : out->first_ns;
		out->last_ns = gpu->last_ns > out->last_ns ? gpu->last_ns : out->last_ns;
	}
	return 1;
}

const char *vpa_stage_at_name(
	struct vpa_report *out, const struct vpa_model *m, const struct vpa_stage_at *at)
{
	const char *given = at->given ? at->given : vpa_scope_kind_name(at->kind);

	return at->name && !at->given ? vpa_fold_name(out, m, at->name)
				      : vpa_arena_text(&out->arena, given, strlen(given));
}

static struct vpa_stage_time *row_of(struct vpa_stage_times *t, const struct vpa_stage_at *stage)
{
	size_t before = t->index.count;
	uint32_t at = vpa_index_put(&t->index, stage->key, stage->key_name);

	if (at == UINT32_MAX ||
		vpt_grow_zeroed(&t->rows, &t->cap, (size_t)at + 1, sizeof(*t->rows)))
		return NULL;
	if (t->index.count > before)
		t->rows[at] = (struct vpa_stage_time){.at = *stage, .first_start_ns = UINT64_MAX};
	return &t->rows[at];
}

int vpa_stage_times_add(
	struct vpa_stage_times *t, const struct vpa_fold_context *c, const struct vpa_range *range)
{
	struct vpa_stage_time *row;
	struct vpa_stage_at at;
	int rc;

	if (t->total == VPA_STAGE_TIMES_MAX || !vpa_stage_at_of(c, range, &at))
		return VPT_OK;
	row = row_of(t, &at);
	if (!row)
		return VPT_ENOMEM;
	t->total++;
	if (range->start_ns < row->first_start_ns) {
		row->first_start_ns = range->start_ns;
		row->first_end_ns = range->end_ns;
	}
	rc = range->end_ns > range->start_ns
		     ? vpa_intervals_add(&row->host, range->start_ns, range->end_ns)
		     : VPT_OK;
	if (!rc && at.first_ns < at.last_ns)
		rc = vpa_intervals_add(&row->gpu, at.first_ns, at.last_ns);
	return rc;
}

void vpa_stage_times_free(struct vpa_stage_times *t)
{
	size_t i;

	for (i = 0; i < t->index.count && i < t->cap; i++) {
		vpa_intervals_free(&t->rows[i].host);
		vpa_intervals_free(&t->rows[i].gpu);
	}
	vpa_index_free(&t->index);
	vpt_free(t->rows);
}

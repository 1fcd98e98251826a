/* stage_names.c - a position is mostly in the same stage as the one before it, which is remembered. */
#include "analysis/folds/kernels/stage_names.h"

enum { STAGES_MAX = 64 }; /* those after it count as "(other stages)" */

/* The row of a stage of this kind and name. */
VPA_RARE static uint32_t find_row(struct vpa_stage_names *n, const struct vpa_fold_context *c,
	const struct vpa_scope_label *label, uint64_t name)
{
	uint64_t kind = label ? label->kind : VPA_SCOPE_NONE;

	if (kind != VPA_SCOPE_STAGE)
		name = 0;
	else if (label->name)
		name = vpa_fold_intern(c, label->name);
	if (name == VPT_NO_ID)
		return VPA_NONE;
	if (n->index.count >= STAGES_MAX && kind == VPA_SCOPE_STAGE &&
		vpa_index_find(&n->index, kind, name) == UINT32_MAX)
		name = 0;
	n->has_stage |= label != NULL;
	return vpa_index_put(&n->index, kind, name);
}

uint32_t vpa_stage_names_row(struct vpa_stage_names *n, const struct vpa_fold_context *c,
	const struct vpa_position *position)
{
	const struct vpa_scope *scope =
		position->count ? &c->pipeline->scopes[position->scopes[position->count - 1]]
				: NULL;
	uint32_t name = scope ? scope->name : 0, kind = scope ? scope->label.kind : VPA_SCOPE_NONE;
	uint32_t row;

	if (n->has_last && name == n->last_name && kind == n->last_kind)
		return n->last_row;
	row = find_row(n, c, scope ? &scope->label : NULL, name);
	if (row == VPA_NONE)
		return VPA_NONE;
	n->has_last = 1;
	n->last_name = name;
	n->last_kind = kind;
	n->last_row = row;
	return row;
}

enum vpa_scope_kind vpa_stage_names_kind(const struct vpa_stage_names *n, uint32_t row)
{
	return (enum vpa_scope_kind)n->index.entries[row].a;
}

const char *vpa_stage_names_text(const struct vpa_stage_names *n, const struct vpa_fold_context *c,
	struct vpa_report *out, uint32_t row)
{
	enum vpa_scope_kind kind = vpa_stage_names_kind(n, row);
	uint64_t name = n->index.entries[row].b;

	switch (kind) {
	case VPA_SCOPE_NONE:
		return "outside all stages";
	case VPA_SCOPE_STEP:
		return vpa_pipeline_step_name(c->pipeline);
	case VPA_SCOPE_CONTEXT:
		return "context pass";
	case VPA_SCOPE_STAGE:
		return name ? vpa_fold_name(out, c->model, (uint32_t)name) : "(other stages)";
	default:
		return vpa_scope_kind_name(kind);
	}
}

void vpa_stage_names_free(struct vpa_stage_names *n)
{
	vpa_index_free(&n->index);
}

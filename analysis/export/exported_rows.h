/* exported_rows.h - which rows of a chunk an export has: the same in every format that writes rows as they were recorded. */
#ifndef VPA_ANALYSIS_EXPORT_EXPORTED_ROWS_H
#define VPA_ANALYSIS_EXPORT_EXPORTED_ROWS_H

#include "analysis/export/exporter.h"
#include "analysis/folds/fold.h"
#include "analysis/model/model.h"

/* Whether the export has rows of this kind: calls may be left out. */
static inline int vpa_export_has_kind(const struct vpa_export_context *c, unsigned kind)
{
	return kind != VPT_CALL || !c->options->no_api;
}

/* Whether a row touches the window, if there is one. */
static inline int vpa_export_has_row(
	const struct vpa_export_context *c, const struct vpt_section *s, uint32_t row)
{
	const struct vpa_model *m = c->view.context->model;
	const struct vpt_kind_desc *kind;
	uint64_t start, end;

	if (!c->windowed)
		return 1;
	kind = vpt_kind_desc(s->kind);
	if (kind->flags & VPT_KIND_TABLE)
		return 1;
	start = end = s->col[0][row];
	/* An end before its start wraps; such a row has no length. */
	if (kind->flags & VPT_KIND_SPAN && start + s->col[1][row] > start)
		end = start + s->col[1][row];
	if (s->kind == VPT_KERNEL || s->kind == VPT_COPY)
		return vpa_is_op_in_window(m, start, end);
	return start < m->window_end_ns && end >= m->window_start_ns;
}

#endif

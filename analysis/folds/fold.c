/* fold.c - how folds write names into the report. */
#include "analysis/folds/fold.h"

const char *vpa_fold_name(struct vpa_report *out, const struct vpa_model *m, uint32_t id)
{
	struct vpt_text t = vpa_name(m, id);

	return id ? vpa_arena_text(&out->arena, t.text, t.len) : NULL;
}

const char *vpa_fold_place(struct vpa_report *out, const struct vpa_model *m, uint32_t place)
{
	const char *name = vpa_fold_name(out, m, place & ~VPA_PLACE_BEFORE);

	return name && place & VPA_PLACE_BEFORE ? vpa_arena_printf(&out->arena, "before %s", name)
						: name;
}

struct vpa_code_line vpa_fold_line(
	struct vpa_report *out, const struct vpa_model *m, uint32_t frame)
{
	struct vpt_frame row = vpa_stacks_frame_at(&m->stacks, frame);
	const char *file = vpa_fold_name(out, m, (uint32_t)row.file);

	return (struct vpa_code_line){
		vpa_fold_name(out, m, (uint32_t)row.function), file ? file : "", row.line};
}

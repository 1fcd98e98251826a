/* fold.c - the list of folds, and how they write names into the report. */
#include "analysis/folds/fold.h"

#include "analysis/folds/lanes.h"
#include "analysis/folds/pass.h"

#include <string.h>

#define LIST(name) &vpa_fold_##name,
const struct vpa_fold *const vpa_folds[] = {VPA_FOLDS(LIST) NULL};
#undef LIST
_Static_assert(sizeof(vpa_folds) / sizeof(vpa_folds[0]) <= VPA_FOLDS_MAX + 1,
	"a pass has room for every fold");

int vpa_fold_is_table(const struct vpa_options *options)
{
	return !options->only_screen;
}

const char *vpa_fold_name(struct vpa_report *out, const struct vpa_model *m, uint32_t id)
{
	struct vpt_text t = vpa_name(m, id);

	return id ? vpa_arena_text(&out->arena, t.text, t.len) : NULL;
}

uint64_t vpa_fold_intern(const struct vpa_fold_context *c, const char *name)
{
	struct vpt_strings *names = &c->model->names;
	uint64_t id = vpt_strings_find(names, name, strlen(name));

	if (id != VPT_NO_ID || vpa_lanes_settle_ops(c->lanes))
		return id;
	return vpt_strings_put(names, name, strlen(name));
}

struct vpa_place vpa_fold_place(struct vpa_arena *texts, const struct vpa_model *m, uint32_t id)
{
	struct vpt_text name = vpa_name(m, id & ~VPA_BEFORE);

	if (!(id & ~VPA_BEFORE))
		return (struct vpa_place){VPA_PLACE_IN, NULL};
	if (!(id & VPA_BEFORE))
		return (struct vpa_place){VPA_PLACE_IN, vpa_arena_text(texts, name.text, name.len)};
	return (struct vpa_place){VPA_PLACE_BEFORE,
		vpa_arena_printf(texts, VPA_BEFORE_TEXT "%.*s", (int)name.len, name.text)};
}

struct vpa_code_line vpa_fold_line(
	struct vpa_report *out, const struct vpa_model *m, uint32_t frame)
{
	struct vpt_frame row = vpa_stacks_frame_at(&m->stacks, frame);
	const char *file = vpa_fold_name(out, m, (uint32_t)row.file);

	return (struct vpa_code_line){
		vpa_fold_name(out, m, (uint32_t)row.function), file ? file : "", row.line};
}

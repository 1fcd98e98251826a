/* registry.c - the list of folds, in the order in which they see the trace and finish. */
#include "analysis/folds/fold.h"

const struct vpa_fold *const vpa_folds[] = {
	&vpa_fold_devices,
	&vpa_fold_gaps,
	&vpa_fold_gains, /* asks what gaps has written */
	&vpa_fold_kernels,
	&vpa_fold_attention,
	&vpa_fold_ranges,
	&vpa_fold_copies,
	&vpa_fold_comm,
	&vpa_fold_first_use, /* adds up what gaps has written */
	&vpa_fold_syncs,
	&vpa_fold_blocks,
	&vpa_fold_attention_steps, /* asks what blocks has placed */
	NULL,
};

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

/* pass.c - for each kind of event a list of the folds that take it. */
#include "analysis/folds/pass.h"

#include "formats/base/memory.h"

int vpa_folds_begin(struct vpa_fold_pass *p)
{
	int *ops = p->with_ops, *call = p->with_call, *range = p->with_range;
	int *scope = p->with_scope, *gap = p->with_gap, *mark = p->with_mark;
	int *section = p->with_section, *setup = p->with_setup, *instants = p->with_instants, i;

	for (i = 0; vpa_folds[i]; i++) {
		const struct vpa_fold *f = vpa_folds[i];

		if (f->wanted && !f->wanted(p->context.options))
			continue;
		p->states[i] = vpt_calloc(1, f->state_bytes + 1);
		if (!p->states[i])
			return VPT_ENOMEM;
		if (f->ops)
			*ops++ = i;
		if (f->instants)
			*instants++ = i;
		if (f->call)
			*call++ = i;
		if (f->setup)
			*setup++ = i;
		if (f->range)
			*range++ = i;
		if (f->scope)
			*scope++ = i;
		if (f->mark)
			*mark++ = i;
		if (f->gap)
			*gap++ = i;
		if (f->section)
			*section++ = i;
	}
	*ops = *instants = *call = *setup = *range = *scope = *mark = *gap = *section = -1;
	return VPT_OK;
}

/* Calls `take` of each fold in a list with what follows its state, until one fails: 0 or its code. */
#define PASS(p, list, take, ...)                                                                   \
	__extension__({                                                                            \
		const int *at_ = (p)->list;                                                        \
		int rc_ = VPT_OK;                                                                  \
                                                                                                   \
		for (; *at_ >= 0 && !rc_; at_++)                                                   \
			rc_ = vpa_folds[*at_]->take(                                               \
				(p)->states[*at_], &(p)->context, __VA_ARGS__);                    \
		rc_;                                                                               \
	})

int vpa_folds_ops(struct vpa_fold_pass *p, const struct vpa_ops *ops)
{
	return PASS(p, with_ops, ops, ops);
}

int vpa_folds_instants(struct vpa_fold_pass *p, const struct vpa_ops *ops)
{
	return PASS(p, with_instants, instants, ops);
}

int vpa_folds_gap(struct vpa_fold_pass *p, const struct vpa_gap *gap)
{
	return PASS(p, with_gap, gap, gap);
}

int vpa_folds_call(struct vpa_fold_pass *p, const struct vpa_call *call)
{
	return PASS(p, with_call, call, call);
}

int vpa_folds_setup(struct vpa_fold_pass *p, const struct vpa_call *call)
{
	return PASS(p, with_setup, setup, call);
}

int vpa_folds_range(struct vpa_fold_pass *p, const struct vpa_range *range)
{
	int rc = PASS(p, with_range, range, range);

	return rc || !vpa_pipeline_kind(range) ? rc : PASS(p, with_scope, scope, range);
}

int vpa_folds_mark(struct vpa_fold_pass *p, const struct vpa_mark *mark)
{
	return PASS(p, with_mark, mark, mark);
}

int vpa_folds_sections(struct vpa_fold_pass *p, const struct vpt_batch *b)
{
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < b->section_count && !rc; i++) {
		const struct vpt_section *s = &b->sections[i];

		if (s->kind == VPT_COUNTER || s->kind == VPT_MEMORY || s->kind == VPT_LOSS)
			rc = PASS(p, with_section, section, b, s);
	}
	return rc;
}

int vpa_folds_finish(struct vpa_fold_pass *p, struct vpa_report *out)
{
	int i, rc = VPT_OK;

	for (i = 0; vpa_folds[i] && !rc; i++)
		if (p->states[i] && vpa_folds[i]->finish)
			rc = vpa_folds[i]->finish(p->states[i], &p->context, out);
	return rc;
}

void vpa_folds_free(struct vpa_fold_pass *p)
{
	int i;

	for (i = 0; vpa_folds[i]; i++) {
		if (p->states[i] && vpa_folds[i]->free)
			vpa_folds[i]->free(p->states[i]);
		vpt_free(p->states[i]);
	}
}

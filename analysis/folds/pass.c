/* pass.c - for each kind of event a list of the folds that take it. */
#include "analysis/folds/pass.h"

#include "formats/base/memory.h"

static int feed(void *ctx, int fold, const struct vpa_lane_batch *batch)
{
	struct vpa_fold_pass *p = ctx;
	const struct vpa_fold *f = vpa_folds[fold];
	size_t i;
	int rc = VPT_OK;

	if (!batch->range_count)
		return f->aside(p->states[fold], &p->context, &batch->ops);
	for (i = 0; f->range_aside && i < batch->range_count && !rc; i++)
		rc = f->range_aside(p->states[fold], &p->context, &batch->ranges[i]);
	return rc;
}

int vpa_folds_begin(struct vpa_fold_pass *p)
{
	int *ops = p->with_ops, *call = p->with_call, *range = p->with_range;
	int *scope = p->with_scope, *gap = p->with_gap, *mark = p->with_mark;
	int *aside = p->with_aside, *range_aside = p->with_range_aside, *section = p->with_section,
	    *setup = p->with_setup, *instants = p->with_instants, *annotated = p->with_annotated,
	    *operator_range = p->with_operator_range, i;

	p->lanes.feed = feed;
	p->lanes.ctx = p;
	for (i = 0; vpa_folds[i]; i++) {
		const struct vpa_fold *f = vpa_folds[i];

		if (f->wanted && !f->wanted(p->context.options))
			continue;
		p->states[i] = vpt_calloc(1, f->state_bytes + 1);
		if (!p->states[i])
			return VPT_ENOMEM;
		if (f->ops)
			*ops++ = i;
		if (f->aside) {
			vpa_lanes_add(&p->lanes, i);
			*aside++ = i;
		}
		if (f->instants)
			*instants++ = i;
		if (f->call)
			*call++ = i;
		if (f->setup)
			*setup++ = i;
		if (f->range)
			*range++ = i;
		if (f->range_aside)
			*range_aside++ = i;
		if (f->annotated)
			*annotated++ = i;
		if (f->operator_range)
			*operator_range++ = i;
		if (f->scope)
			*scope++ = i;
		if (f->mark)
			*mark++ = i;
		if (f->gap)
			*gap++ = i;
		if (f->section)
			*section++ = i;
	}
	*ops = *aside = *instants = *call = *setup = *range = *range_aside = *scope = *mark = *gap =
		*section = *annotated = *operator_range = -1;
	return VPT_OK;
}

/* Calls `take` of each fold in a list with what follows its state, once it has the ops before: 0, or the code of the
 * first that fails. */
#define PASS(p, list, take, ...)                                                                   \
	__extension__({                                                                            \
		int is_late_ = (p)->lanes.crew && !(p)->lanes.is_settled;                          \
		const int *at_ = (p)->list;                                                        \
		int rc_ = VPT_OK;                                                                  \
                                                                                                   \
		for (; *at_ >= 0 && !rc_; at_++) {                                                 \
			if (is_late_ && vpa_folds[*at_]->aside)                                    \
				rc_ = vpa_lanes_catch_up(&(p)->lanes, *at_);                       \
			if (!rc_)                                                                  \
				rc_ = vpa_folds[*at_]->take(                                       \
					(p)->states[*at_], &(p)->context, __VA_ARGS__);            \
		}                                                                                  \
		rc_;                                                                               \
	})

void vpa_folds_share(struct vpa_fold_pass *p, struct vpa_crew *crew)
{
	vpa_lanes_share(&p->lanes, crew);
}

int vpa_folds_unshare(struct vpa_fold_pass *p)
{
	return vpa_lanes_unshare(&p->lanes);
}

int vpa_folds_settle(struct vpa_fold_pass *p)
{
	return vpa_lanes_settle(&p->lanes);
}

int vpa_folds_ops(struct vpa_fold_pass *p, const struct vpa_ops *ops)
{
	const int *at;
	int rc = VPT_OK;

	for (at = p->with_ops; *at >= 0 && !rc; at++)
		rc = vpa_folds[*at]->ops(p->states[*at], &p->context, ops);
	if (rc)
		return rc;
	return p->lanes.crew ? vpa_lanes_put(&p->lanes, ops) : PASS(p, with_aside, aside, ops);
}

int vpa_folds_instants(struct vpa_fold_pass *p, const struct vpa_ops *ops)
{
	return PASS(p, with_instants, instants, ops);
}

int vpa_folds_gap(struct vpa_fold_pass *p, const struct vpa_gap *gap)
{
	const int *at;
	int rc = VPT_OK;

	for (at = p->with_gap; *at >= 0 && !rc; at++) {
		const struct vpa_fold *f = vpa_folds[*at];

		if (f->aside && !f->gap_is_apart)
			rc = vpa_lanes_catch_up(&p->lanes, *at);
		if (!rc)
			rc = f->gap(p->states[*at], &p->context, gap);
	}
	return rc;
}

int vpa_folds_call(struct vpa_fold_pass *p, const struct vpa_call *call)
{
	return PASS(p, with_call, call, call);
}

int vpa_folds_setup(struct vpa_fold_pass *p, const struct vpa_call *call)
{
	return PASS(p, with_setup, setup, call);
}

/* Ranges of one device are copied. */
static int put_range(struct vpa_fold_pass *p, const struct vpa_range *range)
{
	if (!p->lanes.crew || range->gpu.next)
		return PASS(p, with_range_aside, range_aside, range);
	return vpa_lanes_put_range(&p->lanes, range);
}

/* Leaves out from then on the folds that need no more ranges. */
static int pass_range(struct vpa_fold_pass *p, const struct vpa_range *range)
{
	int *at = p->with_range, *kept = at, rc = VPT_OK;

	for (; *at >= 0 && !rc; at++) {
		if (vpa_folds[*at]->aside)
			rc = vpa_lanes_catch_up(&p->lanes, *at);
		if (!rc)
			rc = vpa_folds[*at]->range(p->states[*at], &p->context, range);
		if (rc == VPT_END)
			rc = VPT_OK;
		else
			*kept++ = *at;
	}
	if (!rc)
		*kept = -1;
	return rc;
}

int vpa_folds_range(struct vpa_fold_pass *p, const struct vpa_range *range)
{
	int rc = *p->with_range_aside >= 0 ? put_range(p, range) : VPT_OK;

	if (!rc && *p->with_range >= 0)
		rc = pass_range(p, range);
	if (!rc && range->payload)
		rc = PASS(p, with_annotated, annotated, range);
	if (!rc && vpa_range_is_operator(range))
		rc = PASS(p, with_operator_range, operator_range, range);
	if (rc || !vpa_pipeline_has_scope(range))
		return rc;
	rc = PASS(p, with_scope, scope, range);
	return rc ? rc : vpa_stage_times_add(&p->stages, &p->context, range);
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

		if (s->kind == VPT_COUNTER || s->kind == VPT_MEMORY || s->kind == VPT_LOSS ||
			s->kind == VPT_GRAPH)
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
	vpa_stage_times_free(&p->stages);
}

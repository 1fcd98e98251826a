/* pass.c - passes each event to the folds that take it, one after the other. */
#include "analysis/folds/pass.h"

#include "analysis/idle/idle_gaps.h"
#include "formats/base/memory.h"

int vpa_folds_begin(struct vpa_fold_driver *d)
{
	int *ops = d->with_ops, *call = d->with_call, *range = d->with_range, *gap = d->with_gap;
	int *mark = d->with_mark, *section = d->with_section, *setup = d->with_setup;
	int *any_range = d->with_any_range, i;

	for (i = 0; vpa_folds[i]; i++) {
		if (vpa_folds[i]->wanted && !vpa_folds[i]->wanted(d->context.options))
			continue;
		d->states[i] = vpt_calloc(1, vpa_folds[i]->state_bytes + 1);
		if (!d->states[i])
			return VPT_ENOMEM;
		if (vpa_folds[i]->ops)
			*ops++ = i;
		if (vpa_folds[i]->call)
			*call++ = i;
		if (vpa_folds[i]->range)
			*range++ = i;
		if (vpa_folds[i]->range && !vpa_folds[i]->only_scopes)
			*any_range++ = i;
		if (vpa_folds[i]->gap)
			*gap++ = i;
		if (vpa_folds[i]->mark)
			*mark++ = i;
		if (vpa_folds[i]->section)
			*section++ = i;
		if (vpa_folds[i]->setup)
			*setup++ = i;
	}
	*ops = *call = *range = *any_range = *gap = *mark = *section = *setup = -1;
	return VPT_OK;
}

static int wants_gap(const struct vpa_fold *f, const struct vpa_gap *gap)
{
	size_t i;

	for (i = 0; f->gap_causes && i < gap->piece_count; i++)
		if (f->gap_causes >> gap->pieces[i].cause & 1)
			return 1;
	return !f->gap_causes;
}

int vpa_folds_gap(void *driver, const struct vpa_gap *gap)
{
	struct vpa_fold_driver *d = driver;
	const int *i = d->with_gap;
	int rc = VPT_OK;

	for (; *i >= 0 && !rc; i++)
		if (wants_gap(vpa_folds[*i], gap))
			rc = vpa_folds[*i]->gap(d->states[*i], &d->context, gap);
	if (!rc && d->tap && d->tap->gap && gap->end_ns - gap->start_ns >= d->tap->min_gap_ns)
		rc = d->tap->gap(d->tap->ctx, gap);
	return rc;
}

/* Passes the gaps before a batch's ops one by one, for a fold without gaps_with_ops. */
static int fold_each_gap(struct vpa_fold_driver *d, int fold, const struct vpa_ops *ops)
{
	const struct vpa_fold *f = vpa_folds[fold];
	struct vpa_whole_gap whole;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < ops->count && !rc; i++) {
		if (!ops->gap_cause[i])
			continue;
		vpa_idle_gap(d->context.idle, ops, i, &whole);
		if (wants_gap(f, &whole.gap))
			rc = f->gap(d->states[fold], &d->context, &whole.gap);
	}
	return rc;
}

/* The same for the tap, then the ops. */
static int tap_ops(struct vpa_fold_driver *d, const struct vpa_ops *ops)
{
	const struct vpa_observer *tap = d->tap;
	struct vpa_whole_gap whole;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; tap->gap && i < ops->count && !rc; i++) {
		if (!ops->gap_cause[i] || ops->gap_ns[i] < tap->min_gap_ns)
			continue;
		vpa_idle_gap(d->context.idle, ops, i, &whole);
		rc = tap->gap(tap->ctx, &whole.gap);
	}
	return rc || !tap->ops ? rc : tap->ops(tap->ctx, ops);
}

/* The causes that ops->gap_cause can have. */
static const uint64_t queued_causes = 1u << VPA_CAUSE_LAUNCH_LATENCY | 1u << VPA_CAUSE_GRAPH_START |
				      1u << VPA_CAUSE_SCHEDULING | 1u << VPA_CAUSE_QUEUED;

int vpa_folds_ops(void *driver, struct vpa_ops *ops)
{
	struct vpa_fold_driver *d = driver;
	const int *i;
	int rc = vpa_idle_ops(d->context.idle, ops);

	if (!rc)
		rc = vpa_pipeline_ops(d->context.pipeline, ops);
	for (i = d->with_gap; *i >= 0 && !rc; i++) {
		const struct vpa_fold *f = vpa_folds[*i];

		if (!f->gaps_with_ops && (!f->gap_causes || f->gap_causes & queued_causes))
			rc = fold_each_gap(d, *i, ops);
	}
	for (i = d->with_ops; *i >= 0 && !rc; i++)
		rc = vpa_folds[*i]->ops(d->states[*i], &d->context, ops);
	if (!rc && d->tap)
		rc = tap_ops(d, ops);
	vpa_idle_done(d->context.idle, ops);
	return rc;
}

int vpa_folds_instants(void *driver, const struct vpa_ops *ops)
{
	struct vpa_fold_driver *d = driver;
	int i, rc = VPT_OK;

	for (i = 0; vpa_folds[i] && !rc; i++)
		if (d->states[i] && vpa_folds[i]->instants)
			rc = vpa_folds[i]->instants(d->states[i], &d->context, ops);
	if (!rc && d->tap && d->tap->instants)
		rc = d->tap->instants(d->tap->ctx, ops);
	return rc;
}

int vpa_folds_call(void *driver, const struct vpa_call *call)
{
	struct vpa_fold_driver *d = driver;
	const int *i = d->with_call;
	int rc = VPT_OK;

	for (; *i >= 0 && !rc; i++)
		rc = vpa_folds[*i]->call(d->states[*i], &d->context, call);
	return rc;
}

int vpa_folds_setup(void *driver, const struct vpa_call *call)
{
	struct vpa_fold_driver *d = driver;
	const int *i = d->with_setup;
	int rc = VPT_OK;

	for (; *i >= 0 && !rc; i++)
		rc = vpa_folds[*i]->setup(d->states[*i], &d->context, call);
	return rc;
}

int vpa_folds_range(void *driver, struct vpa_range *range)
{
	struct vpa_fold_driver *d = driver;
	int rc = vpa_pipeline_end(d->context.pipeline, range);
	const int *i = vpa_pipeline_kind(range) ? d->with_range : d->with_any_range;

	for (; *i >= 0 && !rc; i++)
		rc = vpa_folds[*i]->range(d->states[*i], &d->context, range);
	if (!rc && d->tap && d->tap->range)
		rc = d->tap->range(d->tap->ctx, range);
	vpa_pipeline_forget(d->context.pipeline, range);
	return rc;
}

int vpa_folds_mark(void *driver, const struct vpa_mark *mark)
{
	struct vpa_fold_driver *d = driver;
	const int *i = d->with_mark;
	int rc = VPT_OK;

	for (; *i >= 0 && !rc; i++)
		rc = vpa_folds[*i]->mark(d->states[*i], &d->context, mark);
	return rc;
}

int vpa_folds_sections(struct vpa_fold_driver *d, const struct vpt_batch *b)
{
	const int *k;
	size_t i;
	int rc = VPT_OK;

	for (i = 0; i < b->section_count && !rc; i++) {
		const struct vpt_section *s = &b->sections[i];

		if (s->kind != VPT_COUNTER && s->kind != VPT_MEMORY && s->kind != VPT_LOSS)
			continue;
		for (k = d->with_section; *k >= 0 && !rc; k++)
			rc = vpa_folds[*k]->section(d->states[*k], &d->context, b, s);
	}
	return rc;
}

int vpa_folds_finish(struct vpa_fold_driver *d, struct vpa_report *out)
{
	int i, rc = VPT_OK;

	for (i = 0; vpa_folds[i] && !rc; i++)
		if (d->states[i] && vpa_folds[i]->finish)
			rc = vpa_folds[i]->finish(d->states[i], &d->context, out);
	return rc;
}

void vpa_folds_free(struct vpa_fold_driver *d)
{
	int i;

	for (i = 0; vpa_folds[i]; i++) {
		if (d->states[i] && vpa_folds[i]->free)
			vpa_folds[i]->free(d->states[i]);
		vpt_free(d->states[i]);
	}
}

/* chrome_iterations.c - blocks or steps as ProfilerStep#0, #1 ...
 *
 * TensorBoard's plugin and HTA measure the time between ranges of that name, and have no time of a step without them. A reader
 * of ours knows them by the argument "iteration", and leaves them out: the ranges that they repeat are there too. */
#include "analysis/export/chrome/chrome_ranges.h"

#include "analysis/pipeline/pipeline.h"

#include <stdlib.h>

int vpa_chrome_iterations_take(struct vpa_chrome_iterations *i, const struct vpa_export_context *c,
	const struct vpa_range *range)
{
	const struct vpa_model *m = c->view.context->model;
	struct vpa_scope_label label;

	if (vpa_pipeline_label(c->view.context->pipeline, range, &label))
		return VPT_ENOMEM;
	i->has_own |= label.kind == VPA_SCOPE_ITERATION;
	if ((label.kind != VPA_SCOPE_BLOCK && label.kind != VPA_SCOPE_STEP) ||
		range->start_ns >= m->window_end_ns || range->end_ns < m->window_start_ns)
		return VPT_OK;
	if (vpt_grow(&i->all, &i->cap, i->count + 1, sizeof(*i->all)))
		return VPT_ENOMEM;
	i->all[i->count++] = (struct vpa_chrome_iteration){
		range->start_ns, range->end_ns, range->thread, label.kind == VPA_SCOPE_BLOCK};
	i->blocks += label.kind == VPA_SCOPE_BLOCK;
	return VPT_OK;
}

static int compare(const void *a, const void *b)
{
	const struct vpa_chrome_iteration *l = a, *r = b;

	if (l->start_ns != r->start_ns)
		return l->start_ns < r->start_ns ? -1 : 1;
	if (l->end_ns != r->end_ns)
		return l->end_ns < r->end_ns ? -1 : 1;
	return l->thread < r->thread ? -1 : l->thread > r->thread;
}

void vpa_chrome_iterations_put(struct vpa_chrome_iterations *i, struct vpa_chrome *x)
{
	const struct vpa_model *m = x->c->view.context->model;
	uint64_t number = 0;
	size_t k;

	if (i->has_own)
		return;
	if (i->count)
		qsort(i->all, i->count, sizeof(*i->all), compare);
	for (k = 0; k < i->count; k++) {
		const struct vpa_chrome_iteration *one = &i->all[k];
		const struct vpa_thread *t = &m->threads[one->thread];

		if (one->is_block != (i->blocks != 0))
			continue;
		vpa_chrome_event(x);
		vpa_chrome_natural(&x->out,
			"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#",
			number++);
		vpa_chrome_place_of(x, &x->place, (uint64_t)t->pid, (uint64_t)t->tid);
		vpa_chrome_words(x, "\"");
		vpa_line_put(&x->out, x->place.data, x->place.size);
		vpa_chrome_time(x, one->start_ns);
		vpa_chrome_words(x, ",\"dur\":");
		vpa_line_micros(&x->out, one->end_ns - one->start_ns);
		vpa_chrome_words(x, ",\"args\":{\"iteration\":1}}");
	}
}

void vpa_chrome_iterations_free(struct vpa_chrome_iterations *i)
{
	vpt_free(i->all);
}

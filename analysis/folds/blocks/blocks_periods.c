/* blocks_periods.c - orders the steps of a request by loop, and finds which follow each other. */
#include "analysis/folds/blocks/blocks_periods.h"

#include <stdlib.h>

static int by_loop(const void *pa, const void *pb)
{
	const struct vpa_marked_step *a = pa, *b = pb;

	if (a->loop != b->loop)
		return a->loop < b->loop ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int by_time(const void *pa, const void *pb)
{
	const struct vpa_marked_step *a = pa, *b = pb;

	if (a->first_ns != b->first_ns)
		return a->first_ns < b->first_ns ? -1 : 1;
	return a->last_ns < b->last_ns ? -1 : a->last_ns > b->last_ns;
}

size_t vpa_marked_steps(const struct vpa_blocks_writer *w, const struct vpa_blocks_group *g,
	enum vpa_scope_kind kind, struct vpa_marked_step *out)
{
	const struct vpa_blocks_table *s = w->s;
	size_t count = 0, i;

	for (i = 0; i < g->sample_count; i++) {
		const struct vpa_stage_sample *sample = &s->samples[g->samples[i]];

		if (vpa_row_kind(w, &s->rows[sample->row]) != kind)
			continue;
		out[count++] = (struct vpa_marked_step){.start_ns = sample->start_ns,
			.end_ns = sample->end_ns,
			.first_ns = sample->first_ns,
			.last_ns = sample->first_ns + sample->ns,
			.loop = vpa_block_around(w, sample->block),
			.pin = sample->pin,
			.sample = (uint32_t)g->samples[i],
			.measured = sample->block != VPA_NONE && w->measured[sample->block]};
	}
	qsort(out, count, sizeof(*out), by_time);
	for (i = 0; i < count; i++)
		out[i].order = (uint32_t)i;
	qsort(out, count, sizeof(*out), by_loop);
	return count;
}

/* Whether recording paused between two steps on the host, where another one may have been. */
static int is_paused_between(const struct vpa_blocks_writer *w, const struct vpa_marked_step *a,
	const struct vpa_marked_step *b)
{
	return vpa_intervals_between(&w->c->resolver->paused, vpa_earlier(a->end_ns, b->end_ns),
		vpa_later(a->start_ns, b->start_ns));
}

uint64_t vpa_marked_period(const struct vpa_blocks_writer *w, const struct vpa_marked_step *step)
{
	const struct vpa_marked_step *next = step + 1;

	if (next->loop != step->loop || is_paused_between(w, step, next))
		return 0;
	return next->first_ns - step->first_ns;
}

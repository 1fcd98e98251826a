/* blocks_periods.c - orders the steps of a request by loop, and finds which follow each other. */
#include "analysis/folds/blocks/blocks_periods.h"

#include "formats/base/search.h"

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

/* Whether a step is known to be in a shorter stage. */
static int has_shorter(const struct vpa_blocks_table *s, const struct vpa_marked_step *step,
	const struct vpa_stage_sample *stage)
{
	const struct vpa_stage_sample *known = step->stage ? &s->samples[step->stage - 1] : NULL;

	return known && known->end_ns - known->start_ns <= stage->end_ns - stage->start_ns;
}

/* Notes an instance of a stage in those steps that it holds, if it holds several. They are in order of time. */
static void note_stage(const struct vpa_blocks_table *s, uint32_t sample,
	struct vpa_marked_step *steps, size_t count)
{
	const struct vpa_stage_sample *stage = &s->samples[sample];
	size_t first = 0, last, end = count, i;

	VPT_SEARCH(first, end, middle, steps[middle].start_ns < stage->start_ns);
	for (last = first; last < count && steps[last].end_ns <= stage->end_ns; last++)
		;
	for (i = first; last - first > 1 && i < last; i++)
		if (!has_shorter(s, &steps[i], stage))
			steps[i].stage = sample + 1;
}

static void note_stages(const struct vpa_blocks_writer *w, const struct vpa_blocks_group *g,
	struct vpa_marked_step *steps, size_t count)
{
	const struct vpa_blocks_table *s = w->s;
	size_t i;

	for (i = 0; i < g->sample_count; i++)
		if (vpa_row_kind(w, &s->rows[s->samples[g->samples[i]].row]) == VPA_SCOPE_STAGE)
			note_stage(s, g->samples[i], steps, count);
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
	note_stages(w, g, out, count);
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

	if (next->loop != step->loop || next->stage != step->stage ||
		is_paused_between(w, step, next))
		return 0;
	return next->first_ns - step->first_ns;
}

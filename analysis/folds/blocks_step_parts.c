/* blocks_step_parts.c - the period of each marked step, else of each iteration, by part.
 *
 * A period is from the start of a step's first op to the start of the next one's in its request. So the last
 * step of a request has none, and a pass over the context belongs to the step before it. */
#include "analysis/folds/blocks_step_parts.h"

#include "analysis/folds/blocks_parts.h"
#include "formats/count.h"
#include "formats/memory.h"

#include <stdlib.h>

static int by_time(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

/* Gathers the edges of one kind; `marks` has room for a time and an edge of each sample. */
static size_t gather(const struct vpa_blocks_writer *w, const struct vpa_blocks_group *g,
	enum vpa_scope_kind kind, uint64_t (*marks)[2])
{
	const struct vpa_blocks_table *s = w->s;
	size_t i, count = 0;

	for (i = 0; i < g->sample_count; i++) {
		const struct vpa_stage_sample *sample = &s->samples[g->samples[i]];

		if (sample->pin == VPA_NONE || vpa_row_kind(w, &s->rows[sample->row]) != kind)
			continue;
		marks[count][0] = s->sweep.edges[sample->pin].time_ns;
		marks[count++][1] = sample->pin;
	}
	qsort(marks, count, sizeof(*marks), by_time);
	return count;
}

static int add_period(struct vpa_blocks_writer *w, size_t group, const uint64_t from[2],
	const uint64_t to[2], struct vpa_parts_sum *total)
{
	struct vpa_report *out = w->out;
	struct vpa_step_part *row = &out->step_parts[out->step_part_count];
	size_t devices = vpa_least_devices(w->c->model->device_count), i;
	struct vpa_sweep_sums sums = {.count = {0}};
	uint64_t all;

	if (to[0] <= from[0])
		return VPT_OK;
	*row = (struct vpa_step_part){.request = group,
		.start_ns = from[0],
		.period_ns = to[0] - from[0],
		.devices = (unsigned)devices};
	row->parts_ns = vpa_arena_alloc(&out->arena, VPA_SWEEP_PARTS, sizeof(*row->parts_ns));
	if (!row->parts_ns)
		return VPT_ENOMEM;
	vpa_sweep_between(&w->s->sweep, (uint32_t)from[1], (uint32_t)to[1],
		((uint32_t)1 << devices) - 1, &sums, NULL, NULL);
	for (i = 0; i < VPA_SWEEP_PARTS; i++) {
		row->parts_ns[i] = sums.ns[i];
		*(i < VPA_SWEEP_IDLE ? &row->busy_ns : &row->idle_ns) += sums.ns[i];
	}
	all = row->period_ns * devices;
	row->paused_ns = all > row->busy_ns + row->idle_ns ? all - row->busy_ns - row->idle_ns : 0;
	vpa_parts_sum_add(total, &sums);
	total->paused_ns += row->paused_ns;
	out->step_part_count++;
	return VPT_OK;
}

static int write_kind(struct vpa_blocks_writer *w, enum vpa_scope_kind kind, uint64_t (*marks)[2],
	struct vpa_parts_sum *total)
{
	size_t g, i, count, group = 0;
	int rc = VPT_OK;

	w->out->steps_marked = 0;
	for (g = 0; g < w->group_count && !rc; g++) {
		count = gather(w, &w->groups[g], kind, marks);
		w->out->steps_marked += count;
		for (i = 1; i < count && !rc; i++)
			rc = add_period(w, group, marks[i - 1], marks[i], total);
		group += count > 1;
	}
	return rc;
}

static struct vpa_only_step only_step(const struct vpa_blocks_table *s)
{
	size_t i;

	for (i = 0; i < COUNT(s->newest); i++)
		if (s->newest_count[i])
			return s->newest_count[i] == 1 ? s->newest[i] : (struct vpa_only_step){0};
	return (struct vpa_only_step){0};
}

int vpa_blocks_step_parts(struct vpa_blocks_writer *w)
{
	struct vpa_report *out = w->out;
	struct vpa_parts_sum total = {.paused_ns = 0};
	uint64_t(*marks)[2] = vpt_alloc(w->s->sample_count + 1, sizeof(*marks));
	int rc;

	out->step_parts =
		vpa_arena_alloc(&out->arena, VPA_STEP_PARTS_MAX, sizeof(*out->step_parts));
	if (!marks || !out->step_parts) {
		vpt_free(marks);
		return VPT_ENOMEM;
	}
	rc = write_kind(w, VPA_SCOPE_STEP, marks, &total);
	if (!rc && !out->step_part_count) {
		rc = write_kind(w, VPA_SCOPE_ITERATION, marks, &total);
		out->steps_are_iterations = 1;
	}
	vpt_free(marks);
	if (!out->step_part_count)
		out->only_step = only_step(w->s);
	if (!rc)
		rc = vpa_parts_sum_write(
			&total, &out->arena, &out->step_totals, &out->step_total_count);
	return rc;
}

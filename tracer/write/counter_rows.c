/* counter_rows.c - a ring of samples in front of the recorder. */
#include "tracer/write/writer_sources.h"

#include "formats/base/memory.h"

#include <string.h>

/* Without memory the sample is left out: a capture without it is better than none. */
static void hold(struct vtr_counter_rows *rows, const struct vtr_sample *sample)
{
	if (rows->held_count == VTR_COUNTERS_HELD) {
		rows->held[rows->oldest] = *sample;
		rows->oldest = (rows->oldest + 1) % VTR_COUNTERS_HELD;
	} else if (!vpt_grow(&rows->held, &rows->held_cap, rows->held_count + 1,
			   sizeof(*rows->held))) {
		rows->held[rows->held_count++] = *sample;
	}
}

static void put(
	struct vtr_counter_rows *rows, const struct vtr_sample *sample, struct vtr_recorder *r)
{
	struct vpt_counter row = {.time_ns = sample->time_ns};

	memcpy(&row.value, &sample->value, sizeof(row.value));
	vtr_recorder_room(r);
	rows->written += (uint64_t)vtr_recorder_put(r, VPT_COUNTER,
		vtr_recorder_series(r, sample->device, sample->name, sample->unit), &row);
}

void vtr_counter_rows_flush(struct vtr_counter_rows *rows, struct vtr_recorder *r)
{
	size_t i;

	if (!rows->held_count || vtr_recorder_is_empty(r))
		return;
	for (i = 0; i < rows->held_count; i++)
		put(rows, &rows->held[(rows->oldest + i) % rows->held_count], r);
	vtr_counter_rows_free(rows);
}

void vtr_counter_rows_put(
	struct vtr_counter_rows *rows, const struct vtr_sample *sample, struct vtr_recorder *r)
{
	vtr_counter_rows_flush(rows, r);
	if (vtr_recorder_is_empty(r))
		hold(rows, sample);
	else
		put(rows, sample, r);
}

void vtr_counter_rows_free(struct vtr_counter_rows *rows)
{
	vpt_free(rows->held);
	*rows = (struct vtr_counter_rows){.written = rows->written};
}

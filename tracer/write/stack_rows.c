/* stack_rows.c - interns the stacks of samples in the open chunk. */
#include "tracer/write/writer_sources.h"

#include "formats/base/memory.h"

#include <string.h>

enum { SAMPLES_AT_ONCE = 256 };

struct interning {
	struct vpt_batch *batch;
	uint64_t stack;
};

/* Outermost frame first: each is called from the stack so far. */
static void intern_frame(void *ctx, struct vpt_text function, struct vpt_text file, uint32_t line)
{
	struct interning *i = ctx;
	struct vpt_frame frame = {
		.function = vpt_batch_string(i->batch, function.text, function.len),
		.file = vpt_batch_string(i->batch, file.text, file.len),
		.line = line};

	i->stack = vpt_batch_stack(i->batch, i->stack, vpt_batch_frame(i->batch, &frame));
}

/* The chunk's number of a stack; 0: the empty one, or no memory. */
static uint64_t stack_id(struct vtr_stack_rows *rows, struct vtr_stack_samples *samples,
	struct vtr_recorder *r, uint32_t stack)
{
	struct interning i = {.batch = vtr_recorder_batch(r)};

	if (!stack)
		return 0;
	if (rows->chunk != vtr_recorder_chunk(r) && rows->id_cap)
		memset(rows->ids, 0, rows->id_cap * sizeof(*rows->ids));
	rows->chunk = vtr_recorder_chunk(r);
	if (!vpt_grow_zeroed(&rows->ids, &rows->id_cap, (size_t)stack + 1, sizeof(*rows->ids)) &&
		rows->ids[stack])
		return rows->ids[stack];
	vtr_stack_samples_frames(samples, stack, intern_frame, &i);
	if (stack < rows->id_cap)
		rows->ids[stack] = (uint32_t)i.stack;
	return i.stack;
}

void vtr_stack_rows_put(
	struct vtr_stack_rows *rows, struct vtr_stack_samples *samples, struct vtr_recorder *r)
{
	struct vtr_stack_sample some[SAMPLES_AT_ONCE];
	struct vpt_sample row;
	size_t n, i;

	do {
		n = vtr_stack_samples_take(samples, some, SAMPLES_AT_ONCE);
		for (i = 0; i < n; i++) {
			if (vtr_recorder_failure(r))
				continue;
			vtr_recorder_room(r);
			row = (struct vpt_sample){.time_ns = some[i].time_ns,
				.stack = stack_id(rows, samples, r, some[i].stack),
				.state = some[i].state,
				.cpu_us = some[i].cpu_us,
				.wait_us = some[i].wait_us,
				.flags = some[i].flags};
			vtr_recorder_sample(r, vtr_recorder_thread(r, some[i].tid), &row);
		}
	} while (n == SAMPLES_AT_ONCE);
}

void vtr_stack_rows_free(struct vtr_stack_rows *rows)
{
	vpt_free(rows->ids);
	memset(rows, 0, sizeof(*rows));
}

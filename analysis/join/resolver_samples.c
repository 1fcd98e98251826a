/* resolver_samples.c - Python stacks of a chunk: numbers them for the whole trace, adds samples to the
 * past of their threads, and says how far they reach. */
#include "analysis/join/resolver_maps.h"
#include "analysis/join/resolver_parts.h"

#include "formats/base/memory.h"
#include "formats/chunk/batch_stacks.h"

/* The number of a chunk's frame in the whole trace; VPT_NO_ID: it is a mark's wrapper. */
static int add_frame(struct vpa_resolver *r, const struct vpt_batch *b,
	const struct vpt_frame *frame, uint64_t *id)
{
	struct vpt_frame own = {.line = frame->line};
	uint32_t function, file;
	int rc = vpa_maps_name(r, b, frame->function, &function);

	if (!rc)
		rc = vpa_maps_name(r, b, frame->file, &file);
	if (rc)
		return rc;
	own.function = function;
	own.file = file;
	*id = VPT_NO_ID;
	if (vpa_stacks_is_wrapper(r->model, &own))
		return VPT_OK;
	*id = vpt_stack_table_frame(&r->model->stacks.table, &own);
	return *id == VPT_NO_ID ? VPT_ENOMEM : VPT_OK;
}

/* The number of a chunk's stack, whose callers have theirs. */
static int add_stack(struct vpa_resolver *r, const struct vpt_stacks *view, uint32_t row)
{
	struct vpa_stacks *s = &r->model->stacks;
	uint64_t caller = row, frame, id;
	struct vpt_frame innermost;
	int rc;

	s->of_row[row] = 0;
	if (!vpt_stacks_depth(view, row))
		return VPT_OK;
	innermost = vpt_stacks_pop(view, &caller);
	if (vpa_stacks_count(s) >= VPA_STACKS_MAX) {
		s->left_out++;
		return VPT_OK;
	}
	rc = add_frame(r, view->batch, &innermost, &frame);
	if (rc)
		return rc;
	id = vpa_stacks_of_row(s, caller);
	if (frame != VPT_NO_ID)
		id = vpt_stack_table_stack(&s->table, id, frame);
	if (id == VPT_NO_ID)
		return VPT_ENOMEM;
	s->of_row[row] = (uint32_t)id;
	return VPT_OK;
}

int vpa_resolver_add_stacks(struct vpa_resolver *r, const struct vpt_batch *b)
{
	struct vpa_stacks *s = &r->model->stacks;
	struct vpt_stacks view;
	uint32_t row;
	int rc = VPT_OK;

	vpt_stacks_view(&view, b);
	s->row_count = 0;
	if (!view.stacks || !vpt_batch_find(b, VPT_SAMPLE))
		return VPT_OK;
	if (vpt_grow(&s->of_row, &s->row_cap, view.stacks->row_count, sizeof(*s->of_row)))
		return VPT_ENOMEM;
	for (row = 0; !rc && row < view.stacks->row_count; row++) {
		s->row_count = row;
		rc = add_stack(r, &view, row);
	}
	s->row_count = view.stacks->row_count;
	return rc;
}

int vpa_resolver_add_samples(struct vpa_resolver *r, const struct vpt_section *s)
{
	uint32_t thread, row;
	int rc = vpa_maps_thread(r, s->lane, &thread);

	for (row = 0; !rc && row < s->row_count; row++) {
		uint64_t wait_us = s->col[VPT_SAMPLE_WAIT][row];
		const struct vpa_stack_sample sample = {.time_ns = s->col[VPT_SAMPLE_TIME][row],
			.stack =
				vpa_stacks_of_row(&r->model->stacks, s->col[VPT_SAMPLE_STACK][row]),
			.wait_us = wait_us < UINT32_MAX ? (uint32_t)wait_us : UINT32_MAX,
			.state = (uint8_t)s->col[VPT_SAMPLE_STATE][row],
			.is_exact = (uint8_t)(s->col[VPT_SAMPLE_FLAGS][row] & VPT_SAMPLE_EXACT)};

		uint64_t unsorted = r->pasts[thread].samples.late;

		rc = vpa_stack_samples_add(&r->pasts[thread].samples, &sample);
		if (unsorted == r->pasts[thread].samples.late)
			r->late_samples += sample.time_ns < r->newest_op_ns;
		r->exact_samples += sample.is_exact;
	}
	if (!rc && s->row_count)
		r->pasts[thread].sampled_chunk = r->chunks;
	r->counts.samples += s->row_count;
	return rc;
}

const struct vpa_stack_samples *vpa_resolver_stand_in(
	const struct vpa_resolver *r, uint32_t thread, uint32_t *other)
{
	*other = r->processes[r->model->threads[thread].process].main_thread;
	return *other == VPA_NONE || *other == thread || !r->pasts[thread].samples.first_ns
		       ? NULL
		       : &r->pasts[*other].samples;
}

/* The latest sample of a thread; ~0: no further one is expected. Exact ones come in order, and a
 * thread without a sample in two chunks is no longer sampled. */
static uint64_t newest_sample_ns(const struct vpa_resolver *r, const struct vpa_thread_past *past)
{
	const struct vpa_stack_samples *s = &past->samples;
	const struct vpa_stack_sample *last =
		s->count > s->dropped ? &s->items[s->count - 1] : NULL;

	if (!past->sampled_chunk || past->sampled_chunk + 1 < r->chunks || !last || last->is_exact)
		return UINT64_MAX;
	return last->time_ns;
}

uint64_t vpa_resolver_sampled(struct vpa_resolver *r, uint64_t until_ns)
{
	uint64_t sampled_ns = UINT64_MAX, waited_ns = r->asked_ns;
	uint32_t i;

	r->asked_ns = until_ns;
	for (i = 0; r->counts.samples && i < r->model->thread_count; i++)
		sampled_ns = vpa_earlier(sampled_ns, newest_sample_ns(r, &r->pasts[i]));
	return vpa_earlier(until_ns, vpa_later(sampled_ns, waited_ns));
}

/* batch_stacks.c - reads the stacks of a batch, whose reader has checked them. */
#include "formats/chunk/batch_stacks.h"

#include "formats/chunk/batch.h"

void vpt_stacks_view(struct vpt_stacks *s, const struct vpt_batch *b)
{
	s->batch = b;
	s->stacks = vpt_batch_find(b, VPT_STACK);
	s->frames = vpt_batch_find(b, VPT_FRAME);
}

uint32_t vpt_stacks_depth(const struct vpt_stacks *s, uint64_t stack)
{
	return s->stacks && stack < s->batch->stacks.depth_count ? s->batch->stacks.depths[stack]
								 : 0;
}

struct vpt_frame vpt_stacks_pop(const struct vpt_stacks *s, uint64_t *stack)
{
	struct vpt_frame frame = {.function = VPT_NO_ID};
	uint64_t id = s->stacks->col[VPT_STACK_FRAME][*stack];

	*stack = s->stacks->col[VPT_STACK_CALLER][*stack];
	if (s->frames && id < s->frames->row_count)
		frame = (struct vpt_frame){.function = s->frames->col[VPT_FRAME_FUNCTION][id],
			.file = s->frames->col[VPT_FRAME_FILE][id],
			.line = s->frames->col[VPT_FRAME_LINE][id]};
	return frame;
}

/* stack_text.c - stacks as text. Names are put as they are: what they contain is for the caller to
 * quote. */
#include "analysis/export/cell_text.h"

#include "formats/capture_layout.h"

void vpa_frame_text(struct vpa_line *l, const struct vpt_batch *b, const struct vpt_frame *frame)
{
	struct vpt_text function = vpt_batch_text(b, frame->function);
	struct vpt_text file = vpt_batch_text(b, frame->file);

	vpa_line_put(l, function.text, function.len);
	if (!file.len && !frame->line)
		return;
	vpa_line_put(l, " (", 2);
	vpa_line_put(l, file.text, file.len);
	if (frame->line) {
		vpa_line_put(l, ":", 1);
		vpa_line_unsigned(l, frame->line);
	}
	vpa_line_put(l, ")", 1);
}

/* At least as long as the frame's text and a semicolon. */
static size_t frame_bytes(const struct vpt_batch *b, const struct vpt_frame *frame)
{
	enum { AROUND = 4 + 20 + 1 };

	return vpt_batch_text(b, frame->function).len + vpt_batch_text(b, frame->file).len + AROUND;
}

void vpa_stack_text(struct vpa_line *l, const struct vpt_stacks *s, uint64_t stack)
{
	struct vpt_frame frames[VPT_STACK_DEPTH_MAX]; /* innermost first */
	uint32_t left = vpt_stacks_depth(s, stack), count = 0;
	size_t bytes = 0;

	for (; left; left--) {
		frames[count] = vpt_stacks_pop(s, &stack);
		bytes += frame_bytes(s->batch, &frames[count]);
		if (count && bytes > VPT_STRING_MAX)
			break;
		count++;
	}
	if (left)
		vpa_line_put(l, "...;", 4);
	while (count) {
		vpa_frame_text(l, s->batch, &frames[--count]);
		if (count)
			vpa_line_put(l, ";", 1);
	}
}

/* stack_text.h - stacks and frames of a chunk as text. */
#ifndef VPA_ANALYSIS_EXPORT_STACK_TEXT_H
#define VPA_ANALYSIS_EXPORT_STACK_TEXT_H

#include "analysis/export/text_line.h"
#include "formats/chunk/batch.h"
#include "formats/chunk/batch_stacks.h"

/* Appends a frame as "function (file:line)", without what is unknown. */
void vpa_frame_text(struct vpa_line *l, const struct vpt_batch *b, const struct vpt_frame *frame);

/* Appends a stack, outermost frame first: "main (train.py:12);forward (model.py:40)". A text of more
 * than VPT_STRING_MAX bytes has "..." in place of its outer frames. */
void vpa_stack_text(struct vpa_line *l, const struct vpt_stacks *s, uint64_t stack);

#endif

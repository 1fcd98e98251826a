/* tape_samples.c - which lines of Python were running when. */
#include "analysis/retime/tape/tape_reading.h"

#include "formats/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Whether a frame is a line, as FILE:LINE, of which FILE is the end of a path. */
static int is_line(struct vpt_text file, uint64_t number, const char *line)
{
	const char *colon = strrchr(line, ':');
	size_t len = colon ? (size_t)(colon - line) : 0;

	return colon && strtoull(colon + 1, NULL, 10) == number && file.len >= len &&
	       !memcmp(file.text + file.len - len, line, len) &&
	       (file.len == len || file.text[file.len - len - 1] == '/');
}

static uint64_t lines_of_frame(
	const struct vpa_tape_reading *r, const struct vpt_section *frames, uint32_t row)
{
	struct vpt_text file = vpt_batch_text(r->batch, frames->col[VPT_FRAME_FILE][row]);
	uint64_t lines = 0;
	size_t i;

	for (i = 0; i < r->limits.line_count; i++)
		if (is_line(file, frames->col[VPT_FRAME_LINE][row], r->limits.lines[i]))
			lines |= (uint64_t)1 << i;
	return lines;
}

/* A stack has the lines of its innermost frame and those of its caller, a smaller row. */
static int read_stacks(struct vpa_tape_reading *r, const struct vpt_batch *b)
{
	const struct vpt_section *frames = vpt_batch_find(b, VPT_FRAME),
				 *stacks = vpt_batch_find(b, VPT_STACK);
	uint32_t frame_count = frames ? frames->row_count : 0, row;

	if (vpt_grow(&r->frame_lines, &r->frame_cap, (size_t)frame_count + 1,
		    sizeof(*r->frame_lines)) ||
		vpt_grow(&r->stack_lines, &r->stack_cap, (stacks ? stacks->row_count : 0) + 1,
			sizeof(*r->stack_lines)))
		return VPT_ENOMEM;
	for (row = 0; row < frame_count; row++)
		r->frame_lines[row] = lines_of_frame(r, frames, row);
	for (row = 0; stacks && row < stacks->row_count; row++) {
		uint64_t caller = stacks->col[VPT_STACK_CALLER][row],
			 frame = stacks->col[VPT_STACK_FRAME][row];

		r->stack_lines[row] = row && frame < frame_count ? r->frame_lines[frame] : 0;
		if (caller < row)
			r->stack_lines[row] |= r->stack_lines[caller];
	}
	return VPT_OK;
}

static int read_rows(struct vpa_tape_reading *r, const struct vpt_section *s, uint32_t stack_count)
{
	struct vpa_tape *t = r->tape;
	uint32_t thread, row;

	if (vpa_tape_find_thread(r, s->lane, &thread) ||
		vpt_grow(&t->samples, &t->sample_cap, t->sample_count + s->row_count,
			sizeof(*t->samples)))
		return VPT_ENOMEM;
	for (row = 0; row < s->row_count; row++) {
		uint64_t stack = s->col[VPT_SAMPLE_STACK][row];

		t->samples[t->sample_count++] = (struct vpa_tape_sample){
			.ns = s->col[VPT_SAMPLE_TIME][row],
			.lines = stack < stack_count ? r->stack_lines[stack] : 0,
			.thread = thread,
			.is_exact = s->col[VPT_SAMPLE_FLAGS][row] & VPT_SAMPLE_EXACT ? 1 : 0};
	}
	return VPT_OK;
}

int vpa_tape_read_samples(struct vpa_tape_reading *r, const struct vpt_batch *b)
{
	const struct vpt_section *stacks = vpt_batch_find(b, VPT_STACK);
	size_t i;
	int rc;

	if (!r->limits.line_count || !vpt_batch_find(b, VPT_SAMPLE))
		return VPT_OK;
	rc = read_stacks(r, b);
	for (i = 0; i < b->section_count && !rc; i++)
		if (b->sections[i].kind == VPT_SAMPLE)
			rc = read_rows(r, &b->sections[i], stacks ? stacks->row_count : 0);
	return rc;
}

/* python_frame.c - reads a frame's fields. */
#include "tracer/python_stacks/python_stack.h"

#include "tracer/python_stacks/python_threads.h"

#include <string.h>

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

void vtr_frame_span_of(const struct vtr_python_layout *at, struct vtr_frame_span *out)
{
	uint32_t end =
		larger(at->frame_instruction, larger(at->frame_previous, at->frame_code)) + 8;

	if (at->frame_generator != VTR_NO_FIELD)
		end = larger(end, at->frame_generator + 8u);
	if (at->frame_live != VTR_NO_FIELD)
		end = larger(end, at->frame_live + 1u);
	if (at->frame_owner != VTR_NO_FIELD)
		end = larger(end, at->frame_owner + 1u);
	out->from = at->frame_previous < at->frame_code ? at->frame_previous : at->frame_code;
	out->bytes = end - out->from;
}

/* Frames that are objects. */
static void parse_object(
	const struct vtr_python_layout *at, const uint8_t *start, struct vtr_raw_frame *out)
{
	int32_t number;

	memcpy(&number, start + at->frame_instruction, sizeof(number));
	out->instruction = (uint64_t)(int64_t)number;
	out->is_generator = vtr_word(start, at->frame_generator) != 0;
	out->is_entry = 1;
	out->is_dead = start[at->frame_live] != (at->minor == 9 ? VTR_LIVE_39 : VTR_LIVE_310);
}

void vtr_raw_frame_parse(const struct vtr_python_layout *at, const struct vtr_frame_span *span,
	uint64_t frame, const uint8_t *bytes, struct vtr_raw_frame *out)
{
	const uint8_t *start = bytes - span->from;

	*out = (struct vtr_raw_frame){.at = frame,
		.code = vtr_word(start, at->frame_code),
		.previous = vtr_word(start, at->frame_previous)};
	if (at->frame_live != VTR_NO_FIELD) {
		parse_object(at, start, out);
		return;
	}
	out->instruction = vtr_word(start, at->frame_instruction);
	out->is_generator = start[at->frame_owner] == VTR_OWNER_GENERATOR;
	out->is_c = at->minor >= 12 && start[at->frame_owner] == VTR_OWNER_C;
	out->is_entry =
		at->frame_is_entry != VTR_NO_FIELD ? start[at->frame_is_entry] == 1 : out->is_c;
}

int vtr_raw_frame_same(const struct vtr_raw_frame *a, const struct vtr_raw_frame *b)
{
	return a->code == b->code && a->previous == b->previous && a->is_c == b->is_c &&
	       a->is_generator == b->is_generator && a->is_dead == b->is_dead;
}

int32_t vtr_raw_frame_offset(const struct vtr_python_layout *at, const struct vtr_raw_frame *f)
{
	switch (at->instruction) {
	case VTR_INSTRUCTION_BYTES:
		return (int32_t)f->instruction;
	case VTR_INSTRUCTION_UNITS:
		return (int32_t)((uint32_t)f->instruction * 2);
	case VTR_INSTRUCTION_POINTER:
		break;
	}
	return (int32_t)(f->instruction - (f->code + at->code_instructions));
}

/* python_copies.c - lists what to copy, and finds it in what was copied. */
#include "tracer/python_stacks/python_stack.h"

#include <string.h>

enum {
	REGION_BYTES_MAX = 1024,
	INNER_FRAMES = 16,
	GAP_MAX = 256,     /* between frames of one region: locals and temporaries */
	AHEAD_BYTES = 320, /* copied beyond the innermost frame: where it calls the next */
	PAGE = 4096
};

void vtr_python_copies_init(
	struct vtr_python_copies *c, struct vtr_own_memory *m, const struct vtr_python *python)
{
	c->m = m;
	c->python = python;
	vtr_python_threads_init(&c->threads, m, python);
	vtr_frame_span_of(&python->at, &c->span);
}

/* ---- the plan ---- */

/* Whether a frame at `from` continues the region of its caller. */
static int continues(
	const struct vtr_python_copies *c, const struct vtr_python_region *region, uint64_t from)
{
	uint64_t end = region->at + region->bytes;

	return from >= end && from <= end + GAP_MAX &&
	       from + c->span.bytes <= region->at + REGION_BYTES_MAX;
}

int vtr_python_copies_plan(struct vtr_python_copies *c, struct vtr_python_plan *plan,
	const struct vtr_raw_frame *frames, uint32_t depth)
{
	struct vtr_python_region *region = NULL;
	uint64_t from, room;
	uint32_t i, bytes = 0;

	plan->region_count = plan->depth = plan->first_inner = 0;
	for (i = depth; i-- > 0;) {
		plan->frames[i] = frames[i].at;
		from = frames[i].at + c->span.from;
		if (region && continues(c, region, from)) {
			bytes -= region->bytes;
			region->bytes = (uint32_t)(from + c->span.bytes - region->at);
		} else {
			if (plan->region_count == VTR_PYTHON_REGIONS_MAX)
				return -1;
			region = &plan->regions[plan->region_count++];
			*region = (struct vtr_python_region){from, c->span.bytes};
		}
		bytes += region->bytes;
		if (i == INNER_FRAMES - 1)
			plan->first_inner = plan->region_count - 1;
	}
	if (!region || bytes + AHEAD_BYTES > VTR_PYTHON_REGION_BYTES)
		return -1;
	if (c->python->at.frame_owner != VTR_NO_FIELD && !frames[0].is_generator &&
		!frames[0].is_c) {
		room = -(region->at + region->bytes) & (PAGE - 1);
		region->bytes += (uint32_t)(room < AHEAD_BYTES ? room : AHEAD_BYTES);
	}
	plan->depth = depth;
	return 0;
}

/* ---- copying ---- */

static uint32_t add_piece(struct vtr_python_copies *c, uint32_t *bytes, uint64_t at, uint32_t size)
{
	uint32_t offset = *bytes;

	c->iov[c->pieces].iov_base = (void *)(uintptr_t)at;
	c->iov[c->pieces++].iov_len = size;
	*bytes += size;
	return offset;
}

static void add_anchor(struct vtr_python_copies *c, uint32_t *bytes,
	const struct vtr_python_plan *plan, unsigned round)
{
	const struct vtr_python_layout *at = &c->python->at;

	c->anchor[round] = add_piece(c, bytes, plan->thread.at + at->thread_frame, 8);
	if (at->cframe_frame != VTR_NO_FIELD)
		add_piece(c, bytes, plan->cframe + at->cframe_frame, 8);
	if (at->thread_data_stack != VTR_NO_FIELD)
		c->data_stack[round] =
			add_piece(c, bytes, plan->thread.at + at->thread_data_stack, 16);
}

static void add_copy(struct vtr_python_copies *c, uint32_t *bytes,
	const struct vtr_python_plan *plan, uint32_t i, unsigned copy)
{
	c->copy[i][copy] = add_piece(c, bytes, plan->regions[i].at, plan->regions[i].bytes);
}

/* The copies that are not made of an outer region are those that are. */
static void share_copies(struct vtr_python_copies *c, uint32_t i)
{
	unsigned copy;

	for (copy = 1; copy + 1 < VTR_PYTHON_COPIES; copy++)
		c->copy[i][copy] =
			c->copy[i][copy <= VTR_PYTHON_ROUNDS ? 0 : VTR_PYTHON_COPIES - 1];
}

static void add_round(struct vtr_python_copies *c, uint32_t *bytes,
	const struct vtr_python_plan *plan, unsigned round, uint64_t any)
{
	uint32_t i, n = plan->region_count, inner = plan->first_inner;

	for (i = round ? inner : 0; i < n; i++)
		add_copy(c, bytes, plan, i, 2 * round);
	add_anchor(c, bytes, plan, round);
	for (i = n; i-- > (round + 1 < VTR_PYTHON_ROUNDS ? inner : 0);)
		add_copy(c, bytes, plan, i, 2 * round + 1);
	c->random = c->random * 1664525 + 1013904223;
	for (i = c->random >> 24 & VTR_PYTHON_PAUSE; i; i--)
		add_piece(c, bytes, any, 8);
}

/* In as few calls as can be. */
static int copy_pieces(struct vtr_python_copies *c, uint8_t *out)
{
	size_t done, n, i, bytes;

	for (done = 0; done < c->pieces; done += n, out += bytes) {
		n = c->pieces - done < VTR_PIECES_MAX ? c->pieces - done : VTR_PIECES_MAX;
		for (bytes = 0, i = 0; i < n; i++)
			bytes += c->iov[done + i].iov_len;
		if (vtr_own_memory_gather(c->m, c->iov + done, n, out, bytes))
			return -1;
	}
	return 0;
}

/* Most frames do not change at all, nor do their locals. */
static void compare_regions(struct vtr_python_copies *c, const struct vtr_python_plan *plan)
{
	const uint32_t *copy;
	unsigned k;
	uint32_t i;

	for (i = 0; i < plan->region_count; i++) {
		copy = c->copy[i];
		for (k = 1; k < VTR_PYTHON_COPIES &&
			    !memcmp(c->bytes + copy[0], c->bytes + copy[k], plan->regions[i].bytes);
			k++)
			;
		c->is_same[i] = k == VTR_PYTHON_COPIES;
	}
}

int vtr_python_copies_make(struct vtr_python_copies *c, const struct vtr_python_plan *plan)
{
	uint64_t newest = c->python->runtime + c->python->at.runtime_interpreters;
	uint32_t bytes = 0, i;
	unsigned round;

	c->pieces = 0;
	c->near = plan->region_count - 1;
	c->head[0] = add_piece(c, &bytes, plan->thread.at, c->threads.state_bytes);
	c->newest = add_piece(c, &bytes, newest, 8);
	for (round = 0; round < VTR_PYTHON_ROUNDS; round++)
		add_round(c, &bytes, plan, round, newest);
	for (i = 0; i < plan->first_inner; i++)
		share_copies(c, i);
	c->head[1] = add_piece(c, &bytes, plan->thread.at, c->threads.state_bytes);
	if (copy_pieces(c, c->bytes))
		return -1;
	compare_regions(c, plan);
	return 0;
}

/* ---- what was copied ---- */

int vtr_python_copies_is_thread(
	const struct vtr_python_copies *c, const struct vtr_python_plan *plan)
{
	return vtr_python_thread_is(&c->threads, &plan->thread, c->bytes + c->head[0]) &&
	       vtr_python_thread_is(&c->threads, &plan->thread, c->bytes + c->head[1]) &&
	       vtr_word(c->bytes, c->newest) == plan->newest;
}

int vtr_python_copies_top(const struct vtr_python_copies *c, const struct vtr_python_plan *plan,
	unsigned round, uint64_t *frame)
{
	*frame = vtr_word(c->bytes, c->anchor[round]);
	if (c->python->at.cframe_frame == VTR_NO_FIELD)
		return 0;
	if (*frame != plan->cframe)
		return -1;
	*frame = vtr_word(c->bytes, c->anchor[round] + 8);
	return 0;
}

/* Whether a frame may be the first in a piece of memory for frames, which is a few pages. */
static int may_be_first(uint64_t frame)
{
	enum { HEAD_BYTES = 24 }; /* and 8 more in a thread's first piece */

	return (frame & (PAGE - 1)) == HEAD_BYTES || (frame & (PAGE - 1)) == HEAD_BYTES + 8;
}

/* Reads the size of each frame, in bytes, into the buffer: 8 bytes for each. */
static int read_sizes(
	struct vtr_python_copies *c, const struct vtr_raw_frame *frames, uint32_t count)
{
	const struct vtr_python_layout *at = &c->python->at;
	uint32_t more = at->code_more_words == VTR_NO_FIELD ? at->code_words : at->code_more_words;
	uint32_t i;

	for (i = 0; i < count; i++) {
		c->iov[2 * i].iov_base = (void *)(uintptr_t)(frames[i].code + at->code_words);
		c->iov[2 * i + 1].iov_base = (void *)(uintptr_t)(frames[i].code + more);
		c->iov[2 * i].iov_len = c->iov[2 * i + 1].iov_len = sizeof(int32_t);
	}
	c->pieces = 2 * (size_t)count;
	return copy_pieces(c, c->sizes);
}

static uint64_t size_of(const struct vtr_python_copies *c, uint32_t i)
{
	int32_t words[2];

	memcpy(words, c->sizes + 8 * (size_t)i, sizeof(words));
	if (c->python->at.code_more_words == VTR_NO_FIELD)
		return (uint64_t)(uint32_t)words[0] * 8;
	return ((uint64_t)(uint32_t)words[0] + (uint32_t)words[1] + VTR_FRAME_WORDS_311) * 8;
}

int vtr_python_copies_tiled(struct vtr_python_copies *c, unsigned round,
	const struct vtr_raw_frame *frames, uint32_t count, uint32_t *first, uint32_t *newest)
{
	uint64_t piece = vtr_word(c->bytes, c->data_stack[round]);
	uint64_t free_from = vtr_word(c->bytes, c->data_stack[round] + 8);
	uint64_t end = 0; /* of the frame before; 0: there is none */
	const struct vtr_raw_frame *f;
	uint32_t i;

	*first = *newest = count;
	if (read_sizes(c, frames, count))
		return -1;
	for (i = count; i-- > 0;) {
		f = &frames[i];
		if (f->is_generator)
			*first = i;
		if (f->is_c || f->is_generator)
			continue;
		if (end && f->at != end && !may_be_first(f->at))
			break;
		end = f->at + size_of(c, i);
		if (f->at < piece || f->at >= free_from)
			continue; /* in an older piece */
		if (end >= free_from) {
			*newest = i;
			break;
		}
		*first = i;
	}
	return 0;
}

/* The region of a frame, near that of the frame before; -1: none. */
static int find_region(
	struct vtr_python_copies *c, const struct vtr_python_plan *plan, uint64_t frame)
{
	uint32_t n = plan->region_count, i, k;
	uint64_t from = frame + c->span.from;

	if (!vtr_python_is_address(frame))
		return -1;
	for (k = 0; k < n; k++) {
		i = c->near >= k ? c->near - k : n + c->near - k;
		if (from >= plan->regions[i].at &&
			from + c->span.bytes <= plan->regions[i].at + plan->regions[i].bytes) {
			c->near = i;
			return (int)i;
		}
	}
	return -1;
}

int vtr_python_copies_frame(struct vtr_python_copies *c, const struct vtr_python_plan *plan,
	unsigned copy, uint64_t frame, struct vtr_raw_frame *out)
{
	int region = find_region(c, plan, frame);

	if (region < 0)
		return -1;
	vtr_raw_frame_parse(&c->python->at, &c->span, frame,
		c->bytes + c->copy[region][copy] +
			(frame + c->span.from - plan->regions[region].at),
		out);
	return 0;
}

int vtr_python_copies_is_inner(
	struct vtr_python_copies *c, const struct vtr_python_plan *plan, uint64_t frame)
{
	int region = find_region(c, plan, frame);

	return region >= 0 && (uint32_t)region >= plan->first_inner;
}

int vtr_python_copies_same(
	struct vtr_python_copies *c, const struct vtr_python_plan *plan, uint64_t frame)
{
	int region = find_region(c, plan, frame);

	return region >= 0 && c->is_same[region];
}

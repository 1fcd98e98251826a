/* python_stack.c - copies a thread's frames several times, and keeps what was the same in all
 * copies.
 *
 * A *region* is a piece of memory with one or more frames in it, a *copy* one pass over regions, an
 * *anchor* one read of the thread's pointer to its innermost frame, a *round* two copies around an
 * anchor. */
#include "tracer/python_stack.h"

#include "formats/memory.h"
#include "tracer/thread_state.h"

#include <stddef.h>
#include <string.h>

enum {
	ATTEMPTS = 4,
	ROUNDS = 3, /* each: a copy, an anchor, and a copy in reverse */
	COPIES = 2 * ROUNDS,
	PAUSE_MAX = 7, /* pieces between rounds, some 40 ns each */
	REGION_BYTES_MAX = 1024,
	REGION_GAP_MAX = 256, /* between frames of one region: locals and temporaries */
	AHEAD_BYTES = 320,    /* copied beyond the innermost frame: where it calls the next */
	BLOCK_BYTES = 2048,   /* read at once when a stack is discovered */
	COPY_BYTES_MAX = 160 << 10,
	PAGE = 4096,
	MEET_STEPS = 64,
	PIECES_MAX = COPIES * VTR_PYTHON_REGIONS_MAX + ROUNDS * (2 + PAUSE_MAX) + 3
};

struct raw_frame {
	uint64_t at, code, previous, instruction;
	uint8_t is_c, is_generator, is_entry;
};

struct vtr_python_reader {
	struct vtr_own_memory *m;
	const struct vtr_python *python;
	struct vtr_python_threads threads;
	uint32_t frame_from, frame_bytes; /* the part of a frame that is read */
	int has_cframe;

	/* of the last gather */
	int gathered, is_stale; /* the copies are there; not of all frames */
	uint32_t head[2], newest, anchor[ROUNDS], anchor_cframe[ROUNDS];
	uint32_t copy[VTR_PYTHON_REGIONS_MAX][COPIES]; /* where in `bytes` */
	size_t pieces;
	uint32_t random;

	/* of the walk that goes on */
	uint32_t near;         /* the region of the last frame */
	uint32_t depth, first; /* frames, and the innermost one that stood still */
	struct raw_frame chain[VTR_PYTHON_DEPTH_MAX];

	uint64_t block_at;
	uint32_t block_bytes;
	uint8_t block[BLOCK_BYTES];
	struct iovec iov[PIECES_MAX];
	uint8_t bytes[COPIES * COPY_BYTES_MAX + (4 << 10)];
};

enum verdict { GOOD, STALE_PLAN, MOVED, IDLE, TOO_DEEP, GONE };

/* ---- frames ---- */

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* Whether a frame may be there; else sums of addresses may wrap. */
static int is_address(uint64_t frame)
{
	return frame >= PAGE && frame < UINT64_C(1) << 56 && !(frame & 7);
}

static void measure_frame(struct vtr_python_reader *r)
{
	const struct vtr_python_layout *at = &r->python->at;
	uint32_t last = larger(at->frame_instruction, larger(at->frame_previous, at->frame_code));

	r->frame_from = at->frame_previous < at->frame_code ? at->frame_previous : at->frame_code;
	if (at->frame_generator != VTR_NO_FIELD)
		last = larger(last, at->frame_generator);
	r->frame_bytes = last + 8 - r->frame_from;
	if (at->frame_owner != VTR_NO_FIELD)
		r->frame_bytes = larger(last + 8, at->frame_owner + 1u) - r->frame_from;
	r->has_cframe = at->cframe_frame != VTR_NO_FIELD;
}

/* `bytes` is what was read from frame_from on. */
static void parse_frame(const struct vtr_python_reader *r, uint64_t frame, const uint8_t *bytes,
	struct raw_frame *out)
{
	const struct vtr_python_layout *at = &r->python->at;
	const uint8_t *start = bytes - r->frame_from;
	int32_t number;

	*out = (struct raw_frame){.at = frame,
		.code = vtr_word(start, at->frame_code),
		.previous = vtr_word(start, at->frame_previous)};
	if (at->instruction == VTR_INSTRUCTION_POINTER) {
		out->instruction = vtr_word(start, at->frame_instruction);
	} else {
		memcpy(&number, start + at->frame_instruction, sizeof(number));
		out->instruction = (uint64_t)(int64_t)number;
	}
	if (at->frame_generator != VTR_NO_FIELD) {
		out->is_generator = vtr_word(start, at->frame_generator) != 0;
		out->is_entry = 1;
		return;
	}
	out->is_generator = start[at->frame_owner] == VTR_OWNER_GENERATOR;
	out->is_c = at->minor >= 12 && start[at->frame_owner] == VTR_OWNER_C;
	out->is_entry =
		at->frame_is_entry != VTR_NO_FIELD ? start[at->frame_is_entry] == 1 : out->is_c;
}

static int32_t offset_in_code(const struct vtr_python_reader *r, const struct raw_frame *f)
{
	const struct vtr_python_layout *at = &r->python->at;

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

/* ---- gathering ---- */

static uint32_t add_piece(struct vtr_python_reader *r, uint32_t *bytes, uint64_t at, uint32_t size)
{
	uint32_t offset = *bytes;

	r->iov[r->pieces].iov_base = (void *)(uintptr_t)at;
	r->iov[r->pieces++].iov_len = size;
	*bytes += size;
	return offset;
}

static void add_anchor(struct vtr_python_reader *r, uint32_t *bytes,
	const struct vtr_python_plan *plan, unsigned round)
{
	const struct vtr_python_layout *at = &r->python->at;

	r->anchor[round] = add_piece(r, bytes, plan->thread.at + at->thread_frame, 8);
	r->anchor_cframe[round] = r->anchor[round];
	if (r->has_cframe)
		r->anchor[round] = add_piece(r, bytes, plan->cframe + at->cframe_frame, 8);
}

static void add_round(struct vtr_python_reader *r, uint32_t *bytes,
	const struct vtr_python_plan *plan, unsigned round)
{
	const struct vtr_python_region *region = plan->regions;
	uint32_t i, n = plan->region_count;

	for (i = 0; i < n; i++)
		r->copy[i][2 * round] = add_piece(r, bytes, region[i].at, region[i].bytes);
	add_anchor(r, bytes, plan, round);
	for (i = n; i-- > 0;)
		r->copy[i][2 * round + 1] = add_piece(r, bytes, region[i].at, region[i].bytes);
}

/* Some more reads, as many as it happens, so that no thread keeps step with the rounds. */
static void add_pause(struct vtr_python_reader *r, uint32_t *bytes, uint64_t any)
{
	unsigned n;

	r->random = r->random * 1664525 + 1013904223;
	for (n = r->random >> 24 & PAUSE_MAX; n; n--)
		add_piece(r, bytes, any, 8);
}

/* As few calls as can be. */
static int copy_pieces(struct vtr_python_reader *r)
{
	size_t done, n, i, bytes;
	uint8_t *out = r->bytes;

	for (done = 0; done < r->pieces; done += n, out += bytes) {
		n = r->pieces - done < VTR_PIECES_MAX ? r->pieces - done : VTR_PIECES_MAX;
		for (bytes = 0, i = 0; i < n; i++)
			bytes += r->iov[done + i].iov_len;
		if (vtr_own_memory_gather(r->m, r->iov + done, n, out, bytes))
			return -1;
	}
	return 0;
}

/* Copies everything, several times. 0, or -1: something is not mapped. */
static int gather(struct vtr_python_reader *r, const struct vtr_python_plan *plan)
{
	uint64_t newest = r->python->runtime + r->python->at.runtime_interpreters;
	uint32_t bytes = 0;
	unsigned round;

	r->pieces = 0;
	r->head[0] = add_piece(r, &bytes, plan->thread.at, r->threads.state_bytes);
	r->newest = add_piece(r, &bytes, newest, 8);
	for (round = 0; round < ROUNDS; round++) {
		add_round(r, &bytes, plan, round);
		add_pause(r, &bytes, newest);
	}
	r->head[1] = add_piece(r, &bytes, plan->thread.at, r->threads.state_bytes);
	return copy_pieces(r);
}

/* ---- walking what was gathered ---- */

static uint64_t anchor_of(const struct vtr_python_reader *r, unsigned i)
{
	return vtr_word(r->bytes, r->anchor[i]);
}

static int region_has(
	const struct vtr_python_reader *r, const struct vtr_python_region *region, uint64_t frame)
{
	uint64_t from = frame + r->frame_from;

	return from >= region->at && from + r->frame_bytes <= region->at + region->bytes;
}

/* The region of a frame, near that of the frame before; -1: it was not copied. */
static int find_region(
	struct vtr_python_reader *r, const struct vtr_python_plan *plan, uint64_t frame)
{
	uint32_t n = plan->region_count, i, k;

	if (!is_address(frame))
		return -1;
	for (k = 0; k < n; k++) {
		i = r->near >= k ? r->near - k : n + r->near - k;
		if (region_has(r, &plan->regions[i], frame)) {
			r->near = i;
			return (int)i;
		}
	}
	return -1;
}

enum sameness { SAME, SAME_FRAME, SAME_CALLER, DIFFERENT };

/* Compares all copies of a frame; *out is the last one. */
static enum sameness compare_copies(struct vtr_python_reader *r, const struct vtr_python_plan *plan,
	uint32_t region, uint64_t frame, struct raw_frame *out)
{
	uint32_t at = (uint32_t)(frame + r->frame_from - plan->regions[region].at), i;
	const uint32_t *copy = r->copy[region];
	enum sameness same = SAME;
	struct raw_frame other;

	parse_frame(r, frame, r->bytes + copy[COPIES - 1] + at, out);
	for (i = 0; i + 1 < COPIES; i++) {
		parse_frame(r, frame, r->bytes + copy[i] + at, &other);
		if (other.previous != out->previous)
			return DIFFERENT;
		if (other.code != out->code || other.is_c != out->is_c ||
			other.is_generator != out->is_generator)
			same = SAME_CALLER;
		else if (other.instruction != out->instruction && same == SAME)
			same = SAME_FRAME;
	}
	return same;
}

/* A stack begins where C calls Python first. A generator that was just left has no caller either. */
static int is_base(const struct raw_frame *f)
{
	return f->is_entry && !f->is_generator;
}

/* Walks from the first anchor to the base. */
static enum verdict walk(struct vtr_python_reader *r, const struct vtr_python_plan *plan)
{
	uint64_t frame = anchor_of(r, 0);
	struct raw_frame *f = NULL;
	enum sameness same;
	int region;

	r->near = plan->region_count ? plan->region_count - 1 : 0;
	r->first = 0;
	for (r->depth = 0; frame; frame = f->previous) {
		if (r->depth == VTR_PYTHON_DEPTH_MAX)
			return TOO_DEEP;
		region = find_region(r, plan, frame);
		if (region < 0)
			return is_address(frame) ? STALE_PLAN : MOVED;
		f = &r->chain[r->depth];
		same = compare_copies(r, plan, (uint32_t)region, frame, f);
		if (same == DIFFERENT)
			return MOVED;
		if (same == SAME_CALLER)
			r->first = r->depth + 1;
		else if (same == SAME_FRAME)
			r->first = r->depth;
		r->depth++;
	}
	if (!f)
		return IDLE;
	return r->first < r->depth && is_base(f) ? GOOD : MOVED;
}

/* Another read of the pointer: the frames that both have in common begin where its walk meets the
 * chain. What is further in was left, or entered, meanwhile. */
static enum verdict meet(
	struct vtr_python_reader *r, const struct vtr_python_plan *plan, uint64_t frame)
{
	struct raw_frame f;
	unsigned steps;
	uint32_t i;
	int region;

	for (steps = 0; frame && steps < MEET_STEPS; steps++) {
		for (i = 0; i < r->depth && r->chain[i].at != frame; i++)
			;
		if (i < r->depth) {
			r->first = larger(r->first, i);
			return GOOD;
		}
		region = find_region(r, plan, frame);
		if (region < 0)
			return is_address(frame) ? STALE_PLAN : MOVED;
		if (compare_copies(r, plan, (uint32_t)region, frame, &f) == DIFFERENT)
			return MOVED;
		frame = f.previous;
	}
	return MOVED;
}

static enum verdict judge(struct vtr_python_reader *r, const struct vtr_python_plan *plan)
{
	const uint8_t *head[2] = {r->bytes + r->head[0], r->bytes + r->head[1]};
	enum verdict v;
	unsigned a;

	if (!vtr_python_thread_is(&r->threads, &plan->thread, head[0]) ||
		!vtr_python_thread_is(&r->threads, &plan->thread, head[1]) ||
		vtr_word(r->bytes, r->newest) != plan->newest)
		return GONE;
	for (a = 0; r->has_cframe && a < ROUNDS; a++)
		if (vtr_word(r->bytes, r->anchor_cframe[a]) != plan->cframe)
			return STALE_PLAN;
	v = walk(r, plan);
	for (a = 1; v == GOOD && a < ROUNDS; a++)
		if (anchor_of(r, a) != anchor_of(r, 0))
			v = meet(r, plan, anchor_of(r, a));
	return v == GOOD && r->first >= r->depth ? MOVED : v;
}

/* ---- discovering ---- */

/* Reads one frame, and what lies before it on its page: other frames of the same stack. */
static int read_frame(struct vtr_python_reader *r, uint64_t frame, struct raw_frame *out)
{
	uint64_t from = frame + r->frame_from, end = from + r->frame_bytes;
	uint64_t page = from & ~(uint64_t)(PAGE - 1);

	if (from < r->block_at || end > r->block_at + r->block_bytes) {
		r->block_at = from;
		if (end <= page + PAGE)
			r->block_at = end - page > BLOCK_BYTES ? end - BLOCK_BYTES : page;
		r->block_bytes = (uint32_t)(end - r->block_at);
		if (vtr_own_memory_read(r->m, r->block_at, r->block, r->block_bytes)) {
			r->block_bytes = 0;
			return -1;
		}
	}
	parse_frame(r, frame, r->block + (from - r->block_at), out);
	return 0;
}

/* A frame from the last gather, if it was copied, or read now. */
static int fetch_frame(struct vtr_python_reader *r, const struct vtr_python_plan *plan,
	uint64_t frame, struct raw_frame *out)
{
	int region = r->gathered ? find_region(r, plan, frame) : -1;

	if (!is_address(frame))
		return -1;
	if (region < 0)
		return read_frame(r, frame, out);
	compare_copies(r, plan, (uint32_t)region, frame, out);
	return 0;
}

/* The frames of the chain become the regions to copy. */
static enum verdict plan_regions(struct vtr_python_reader *r, struct vtr_python_plan *plan)
{
	struct vtr_python_region *region = NULL;
	const struct raw_frame *f;
	uint64_t from, room;
	uint32_t i, bytes = 0;

	plan->region_count = 0;
	for (i = r->depth; i-- > 0;) {
		f = &r->chain[i];
		from = f->at + r->frame_from;
		if (region && from >= region->at + region->bytes &&
			from <= region->at + region->bytes + REGION_GAP_MAX &&
			from + r->frame_bytes <= region->at + REGION_BYTES_MAX) {
			bytes -= region->bytes;
			region->bytes = (uint32_t)(from + r->frame_bytes - region->at);
		} else {
			if (plan->region_count == VTR_PYTHON_REGIONS_MAX)
				return TOO_DEEP;
			region = &plan->regions[plan->region_count++];
			*region = (struct vtr_python_region){from, r->frame_bytes};
		}
		bytes += region->bytes;
	}
	if (bytes > COPY_BYTES_MAX)
		return TOO_DEEP;
	if (region && r->python->at.minor >= 11 && !f->is_generator && !f->is_c) {
		room = -(region->at + region->bytes) & (PAGE - 1);
		region->bytes += (uint32_t)(room < AHEAD_BYTES ? room : AHEAD_BYTES);
	}
	return GOOD;
}

/* Walks the stack frame by frame, to learn where its frames are. What it looks like is decided
 * later. */
static enum verdict discover(struct vtr_python_reader *r, struct vtr_python_plan *plan)
{
	const struct vtr_python_layout *at = &r->python->at;
	uint64_t frame;

	r->block_bytes = 0;
	r->near = 0;
	if (vtr_own_memory_read(r->m, plan->thread.at + at->thread_frame, &frame, sizeof(frame)))
		return GONE;
	plan->cframe = frame;
	if (r->has_cframe && frame &&
		vtr_own_memory_read(r->m, frame + at->cframe_frame, &frame, sizeof(frame)))
		return MOVED;
	if (!frame)
		return IDLE;
	for (r->depth = 0; frame; frame = r->chain[r->depth++].previous) {
		if (r->depth == VTR_PYTHON_DEPTH_MAX)
			return TOO_DEEP;
		if (fetch_frame(r, plan, frame, &r->chain[r->depth]))
			return MOVED;
	}
	r->gathered = 0;
	return plan_regions(r, plan);
}

/* ---- reading ---- */

/* Finds the thread's state, and the stack that it has there. */
static enum verdict find(struct vtr_python_reader *r, struct vtr_python_plan *plan)
{
	const struct vtr_python_layout *at = &r->python->at;
	uint64_t next = 0;

	plan->region_count = 0;
	r->gathered = 0;
	if (vtr_own_memory_read(r->m, r->python->runtime + at->runtime_interpreters, &plan->newest,
		    sizeof(plan->newest)) ||
		vtr_python_thread_find(&r->threads, plan->tid, &plan->thread))
		return IDLE;
	vtr_own_memory_read(
		r->m, plan->thread.interpreter + at->interpreter_next, &next, sizeof(next));
	plan->is_one_of_several = next || plan->newest != plan->thread.interpreter;
	return GOOD;
}

/* Takes the chain from its first frame that stood still on. */
static void take(struct vtr_python_reader *r, struct vtr_python_stack *out)
{
	uint32_t i;

	out->depth = 0;
	for (i = r->first; i < r->depth; i++)
		if (!r->chain[i].is_c)
			out->frames[out->depth++] =
				(struct vtr_python_frame){.code = r->chain[i].code,
					.instruction = offset_in_code(r, &r->chain[i]),
					.is_generator = r->chain[i].is_generator};
}

/* Copies the planned regions, once they are known, and walks them. */
static enum verdict attempt(struct vtr_python_reader *r, struct vtr_python_plan *plan)
{
	enum verdict v = GOOD;

	if (!plan->thread.at)
		v = find(r, plan);
	if (v == GOOD && (!plan->region_count || r->is_stale))
		v = discover(r, plan);
	if (v != GOOD)
		return v;
	r->is_stale = 0;
	if (gather(r, plan))
		return GONE;
	r->gathered = 1;
	return judge(r, plan);
}

enum vtr_python_outcome vtr_python_stack_read(
	struct vtr_python_reader *r, struct vtr_python_plan *plan, struct vtr_python_stack *out)
{
	uint32_t best = UINT32_MAX;
	unsigned tries, deep = 0;

	if (vtr_thread_cpu_ns(plan->tid) == UINT64_MAX)
		return VTR_PYTHON_ENDED;
	if (plan->is_one_of_several)
		plan->thread.at = 0;
	r->gathered = r->is_stale = 0; /* the last gather was another thread's */
	out->depth = 0;
	for (tries = 0; tries < ATTEMPTS; tries++) {
		switch (attempt(r, plan)) {
		case GOOD:
			if (r->depth - r->first > out->depth || best == UINT32_MAX)
				take(r, out);
			if (!r->first)
				return VTR_PYTHON_WHOLE;
			best = r->first;
			break;
		case STALE_PLAN:
			r->is_stale = 1;
			break;
		case MOVED:
			break;
		case IDLE:
			return VTR_PYTHON_NONE;
		case TOO_DEEP: /* or a moving stack that leads round in a circle */
			plan->region_count = 0;
			deep++;
			break;
		case GONE:
			plan->thread.at = 0;
			break;
		}
	}
	if (deep == tries)
		return VTR_PYTHON_DEEP;
	return best == UINT32_MAX ? VTR_PYTHON_TORN : VTR_PYTHON_CUT;
}

struct vtr_python_reader *vtr_python_reader_new(
	struct vtr_own_memory *m, const struct vtr_python *python)
{
	struct vtr_python_reader *r = vpt_calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->m = m;
	r->python = python;
	vtr_python_threads_init(&r->threads, m, python);
	measure_frame(r);
	return r;
}

void vtr_python_reader_free(struct vtr_python_reader *r)
{
	vpt_free(r);
}

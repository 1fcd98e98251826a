/* python_stack.c - discovers a thread's frames, has them copied, and keeps what stood still. */
#include "tracer/python_stacks/python_stack.h"

#include "formats/base/memory.h"
#include "tracer/python_stacks/thread_state.h"

enum {
	ATTEMPTS = 4,
	WHOLE_ROUNDS = 2, /* in which the first frame was the innermost one */
	LINK_STEPS = 16,
	LINK_TRIES = 4,
	BLOCK_BYTES = 2048, /* read at once when a stack is discovered */
	PAGE = 4096
};

struct vtr_python_reader {
	struct vtr_python_copies copies;
	int has_copies; /* of the plan that is read */
	int is_stale;   /* and the stack is another one by now */

	/* the stack: the chain of its frames, and the innermost one that stood still */
	uint32_t depth, first;
	int is_whole;
	uint32_t asked; /* whether this frame is linked to the innermost one */
	int is_linked;
	struct vtr_raw_frame chain[VTR_PYTHON_DEPTH_MAX];

	/* what stood still in the attempt before, outermost frame first */
	uint32_t kept_depth;
	struct vtr_raw_frame kept[VTR_PYTHON_DEPTH_MAX];

	/* for discovery */
	uint64_t block_at;
	uint32_t block_bytes;
	uint8_t block[BLOCK_BYTES];
};

enum verdict { GOOD, STALE, MOVED, IDLE, TOO_DEEP, GONE };

/* ---- judging copies ---- */

/* A stack begins where C calls Python first. A generator that was just left has no caller either. */
static int is_base(const struct vtr_raw_frame *f)
{
	return f->is_entry && !f->is_generator && !f->is_dead && !f->previous;
}

/* Walks from a frame to the base, in one copy. */
static enum verdict walk(struct vtr_python_reader *r, const struct vtr_python_plan *plan,
	unsigned copy, uint64_t frame)
{
	for (r->depth = 0; frame; frame = r->chain[r->depth++].previous) {
		if (r->depth == VTR_PYTHON_DEPTH_MAX)
			return MOVED;
		if (vtr_python_copies_frame(&r->copies, plan, copy, frame, &r->chain[r->depth]))
			return STALE;
	}
	return r->depth && is_base(&r->chain[r->depth - 1]) ? GOOD : MOVED;
}

/* The frames of the plan, as far as they are still linked. */
static void walk_plan(struct vtr_python_reader *r, const struct vtr_python_plan *plan)
{
	uint32_t i;

	for (i = 0; i < plan->depth; i++)
		if (vtr_python_copies_frame(
			    &r->copies, plan, VTR_PYTHON_COPIES - 1, plan->frames[i], &r->chain[i]))
			break;
	r->depth = i;
}

/* Finds the innermost frame that stood still, with all its callers. It may itself have gone on to
 * another instruction, they may not. */
static void trim(struct vtr_python_reader *r, const struct vtr_python_plan *plan)
{
	const struct vtr_raw_frame *f;
	struct vtr_raw_frame other;
	unsigned copy, copies;
	int moved = 0;

	r->first = r->depth;
	while (r->first > 0 && !moved) {
		f = &r->chain[r->first - 1];
		if (f->is_dead || (r->first < r->depth ? f->previous != f[1].at : !is_base(f)))
			return;
		copies = vtr_python_copies_same(&r->copies, plan, f->at) ? 0 : VTR_PYTHON_COPIES;
		for (copy = 0; copy < copies; copy++) {
			if (vtr_python_copies_frame(&r->copies, plan, copy, f->at, &other) ||
				!vtr_raw_frame_same(f, &other))
				return;
			moved |= other.instruction != f->instruction;
		}
		r->first--;
	}
}

/* Reads one frame, and what lies before it on its page: other frames of the same stack. */
static int read_frame(struct vtr_python_reader *r, uint64_t frame, struct vtr_raw_frame *out)
{
	const struct vtr_frame_span *span = &r->copies.span;
	uint64_t from = frame + span->from, end = from + span->bytes;
	uint64_t page = from & ~(uint64_t)(PAGE - 1);

	if (from < r->block_at || end > r->block_at + r->block_bytes) {
		r->block_at = from;
		if (end <= page + PAGE)
			r->block_at = end - page > BLOCK_BYTES ? end - BLOCK_BYTES : page;
		r->block_bytes = (uint32_t)(end - r->block_at);
		if (vtr_own_memory_read(r->copies.m, r->block_at, r->block, r->block_bytes)) {
			r->block_bytes = 0;
			return -1;
		}
	}
	vtr_raw_frame_parse(
		&r->copies.python->at, span, frame, r->block + (from - r->block_at), out);
	return 0;
}

/* Whether the innermost frame leads to this one by its callers now, and this one is what it was. */
static int is_linked(struct vtr_python_reader *r, const struct vtr_python_plan *plan,
	const struct vtr_raw_frame *wanted)
{
	const struct vtr_python_layout *at = &r->copies.python->at;
	struct vtr_own_memory *m = r->copies.m;
	struct vtr_raw_frame f;
	uint64_t frame;
	unsigned steps;

	r->block_bytes = 0;
	if (vtr_own_memory_read(m, plan->thread.at + at->thread_frame, &frame, sizeof(frame)) ||
		(at->cframe_frame != VTR_NO_FIELD && frame &&
			vtr_own_memory_read(m, frame + at->cframe_frame, &frame, sizeof(frame))))
		return 0;
	for (steps = 0; frame && steps < LINK_STEPS; steps++, frame = f.previous) {
		if (!vtr_python_is_address(frame) || read_frame(r, frame, &f))
			return 0;
		if (frame == wanted->at)
			return vtr_raw_frame_same(&f, wanted) &&
			       f.instruction == wanted->instruction;
	}
	return 0;
}

/* The same, remembered, and tried again: the frames on the way come and go too. */
static int is_newest_linked(
	struct vtr_python_reader *r, const struct vtr_python_plan *plan, uint32_t frame)
{
	unsigned tries;

	if (r->asked != frame) {
		r->asked = frame;
		r->is_linked = 0;
		for (tries = 0; tries < LINK_TRIES && !r->is_linked; tries++)
			r->is_linked = is_linked(r, plan, &r->chain[frame]);
	}
	return r->is_linked;
}

/* Leaves out frames that were not on the stack in this round. */
static void drop_unused(
	struct vtr_python_reader *r, const struct vtr_python_plan *plan, unsigned round)
{
	int known;
	uint32_t i, count, first, newest;
	uint64_t top;

	known = !vtr_python_copies_top(&r->copies, plan, round, &top);
	for (i = 0; known && i < r->depth; i++)
		if (r->chain[i].at == top) {
			r->first = i > r->first ? i : r->first;
			return;
		}
	/* Frames that are objects are dead unless they are on a stack; trim() has seen to that. */
	if (r->copies.python->at.frame_live != VTR_NO_FIELD)
		return;
	first = count = r->depth - r->first;
	if ((!known || top) &&
		!vtr_python_copies_tiled(
			&r->copies, round, r->chain + r->first, count, &first, &newest) &&
		newest < count) {
		/* Without it the stack would be true, but name the wrong line. */
		if (!is_newest_linked(r, plan, r->first + newest))
			newest = count;
		first = newest;
		while (first > 0 && first < count && r->chain[r->first + first - 1].is_generator)
			first--;
	}
	r->first += first;
}

/* It is whole if its first frame was the innermost one, more than once. */
static enum verdict judge_chain(struct vtr_python_reader *r, const struct vtr_python_plan *plan)
{
	unsigned round, rounds = 0;
	uint64_t top;

	trim(r, plan);
	r->asked = UINT32_MAX;
	for (round = 0; round < VTR_PYTHON_ROUNDS; round++)
		drop_unused(r, plan, round);
	if (r->first >= r->depth ||
		!vtr_python_copies_is_inner(&r->copies, plan, r->chain[r->first].at))
		return MOVED;
	for (round = 0; round < VTR_PYTHON_ROUNDS; round++)
		rounds += !vtr_python_copies_top(&r->copies, plan, round, &top) &&
			  top == r->chain[r->first].at;
	r->is_whole = rounds >= WHOLE_ROUNDS;
	return GOOD;
}

static enum verdict judge(struct vtr_python_reader *r, const struct vtr_python_plan *plan)
{
	unsigned round, idle = 0, known = 0;
	uint64_t top;
	enum verdict v = STALE;

	if (!vtr_python_copies_is_thread(&r->copies, plan))
		return GONE;
	for (round = 0; round < VTR_PYTHON_ROUNDS; round++) {
		if (vtr_python_copies_top(&r->copies, plan, round, &top))
			continue;
		known++;
		idle += !top;
	}
	if (idle == VTR_PYTHON_ROUNDS)
		return IDLE;
	/* The stack of the middle, if all its frames were copied, else the planned one. */
	if (known && !vtr_python_copies_top(&r->copies, plan, 1, &top) && top)
		v = walk(r, plan, 3, top);
	if (v == GOOD) {
		v = judge_chain(r, plan);
		if (v == GOOD)
			return GOOD;
	}
	walk_plan(r, plan);
	v = r->depth ? judge_chain(r, plan) : MOVED;
	r->is_stale = 1;
	return v;
}

/* ---- discovering ---- */

/* A frame from the last copies, if it is there, or read now. */
static int fetch_frame(struct vtr_python_reader *r, const struct vtr_python_plan *plan,
	uint64_t frame, struct vtr_raw_frame *out)
{
	if (!vtr_python_is_address(frame))
		return -1;
	if (r->has_copies &&
		!vtr_python_copies_frame(&r->copies, plan, VTR_PYTHON_COPIES - 1, frame, out))
		return 0;
	return read_frame(r, frame, out);
}

/* Walks the stack frame by frame, to learn where its frames are. What it looks like is decided
 * later. */
static enum verdict discover(struct vtr_python_reader *r, struct vtr_python_plan *plan)
{
	const struct vtr_python_layout *at = &r->copies.python->at;
	struct vtr_own_memory *m = r->copies.m;
	uint64_t frame;

	r->block_bytes = 0;
	if (vtr_own_memory_read(m, plan->thread.at + at->thread_frame, &frame, sizeof(frame)))
		return GONE;
	plan->cframe = frame;
	if (at->cframe_frame != VTR_NO_FIELD && frame &&
		vtr_own_memory_read(m, frame + at->cframe_frame, &frame, sizeof(frame)))
		return MOVED;
	if (!frame)
		return IDLE;
	for (r->depth = 0; frame; frame = r->chain[r->depth++].previous) {
		if (r->depth == VTR_PYTHON_DEPTH_MAX)
			return TOO_DEEP;
		if (fetch_frame(r, plan, frame, &r->chain[r->depth]))
			return MOVED;
	}
	r->has_copies = 0;
	r->is_stale = 0;
	return vtr_python_copies_plan(&r->copies, plan, r->chain, r->depth) ? TOO_DEEP : GOOD;
}

/* ---- reading ---- */

/* Finds the thread's state. */
static enum verdict find(struct vtr_python_reader *r, struct vtr_python_plan *plan)
{
	const struct vtr_python_layout *at = &r->copies.python->at;
	struct vtr_own_memory *m = r->copies.m;
	uint64_t next = 0;

	plan->region_count = 0;
	r->has_copies = 0;
	if (vtr_own_memory_read(m, r->copies.python->runtime + at->runtime_interpreters,
		    &plan->newest, sizeof(plan->newest)) ||
		vtr_python_thread_find(&r->copies.threads, plan->tid, &plan->thread))
		return IDLE;
	vtr_own_memory_read(
		m, plan->thread.interpreter + at->interpreter_next, &next, sizeof(next));
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
					.instruction = vtr_raw_frame_offset(
						&r->copies.python->at, &r->chain[i]),
					.is_generator = r->chain[i].is_generator};
}

/* A stack of which the innermost frames are not known is weaker evidence. So two attempts must agree:
 * leaves the frames that this one has in common with the one before, and keeps them for the next. */
static int agrees(struct vtr_python_reader *r)
{
	uint32_t common = 0, count = r->depth - r->first, i;
	const struct vtr_raw_frame *now;

	while (common < count && common < r->kept_depth) {
		now = &r->chain[r->depth - 1 - common];
		if (now->at != r->kept[common].at || !vtr_raw_frame_same(now, &r->kept[common]))
			break;
		common++;
		if (now->instruction != r->kept[common - 1].instruction)
			break;
	}
	for (i = 0; i < count; i++)
		r->kept[i] = r->chain[r->depth - 1 - i];
	r->kept_depth = count;
	r->first = r->depth - common;
	return common > 0;
}

/* Copies the planned frames, once they are known, and judges them. */
static enum verdict attempt(struct vtr_python_reader *r, struct vtr_python_plan *plan)
{
	enum verdict v = GOOD;

	if (!plan->thread.at)
		v = find(r, plan);
	if (v == GOOD && (!plan->region_count || r->is_stale))
		v = discover(r, plan);
	if (v != GOOD)
		return v;
	r->has_copies = 0;
	if (vtr_python_copies_make(&r->copies, plan))
		return GONE;
	r->has_copies = 1;
	return judge(r, plan);
}

enum vtr_python_outcome vtr_python_stack_read(
	struct vtr_python_reader *r, struct vtr_python_plan *plan, struct vtr_python_stack *out)
{
	unsigned tries, deep = 0;

	if (plan->is_one_of_several)
		plan->thread.at = 0;
	r->has_copies = r->is_stale = 0; /* the last ones were another thread's */
	r->kept_depth = 0;
	for (tries = 0; tries < ATTEMPTS; tries++) {
		switch (attempt(r, plan)) {
		case GOOD:
			if (!r->is_whole && !agrees(r))
				break;
			take(r, out);
			if (out->depth)
				return r->is_whole ? VTR_PYTHON_WHOLE : VTR_PYTHON_CUT;
			break;
		case STALE:
		case MOVED:
			r->is_stale = 1;
			break;
		case IDLE:
			return vtr_thread_cpu_ns(plan->tid) == UINT64_MAX ? VTR_PYTHON_ENDED
									  : VTR_PYTHON_NONE;
		case TOO_DEEP: /* or a moving stack that leads round in a circle */
			plan->region_count = 0;
			deep++;
			break;
		case GONE:
			plan->thread.at = 0;
			break;
		}
	}
	if (vtr_thread_cpu_ns(plan->tid) == UINT64_MAX)
		return VTR_PYTHON_ENDED;
	return deep == tries ? VTR_PYTHON_DEEP : VTR_PYTHON_TORN;
}

struct vtr_python_reader *vtr_python_reader_new(
	struct vtr_own_memory *m, const struct vtr_python *python)
{
	struct vtr_python_reader *r = vpt_calloc(1, sizeof(*r));

	if (r)
		vtr_python_copies_init(&r->copies, m, python);
	return r;
}

void vtr_python_reader_free(struct vtr_python_reader *r)
{
	vpt_free(r);
}

/* python_stack.h - reads the Python stack of a thread that goes on running meanwhile.
 *
 * The thread is not stopped, and takes part in nothing. Its frames may be pushed, popped and freed
 * while they are copied, so a single walk can join frames that were never on one stack. Therefore
 * all frames are copied six times, in three rounds, before and after the pointer to the innermost
 * frame is read (python_copies.c).
 *
 * A frame that has the same code, caller and instruction in all copies, and was in use whenever that
 * pointer was read, was on the stack; unless the thread left it and came back to the same instruction
 * in between. For a false stack it would have to do so in step with every round. An interruption of
 * our own thread gives it time once, not three times.
 *
 * Where the innermost frames come and go too fast, the outer ones that stood still are a stack that
 * is true and lacks its innermost functions: it is *cut*. That is weaker evidence, so
 * two attempts must agree on it. Anything else is *torn*, and not shown.
 * (Whether the thread used processor time meanwhile would be a simpler proof. But virtual machines
 * do not count all of it.)
 *
 * Which addresses to copy is known from the thread's previous stack. If that has changed, the stack
 * is discovered frame by frame, and then copied as above.
 *
 * One reader for one thread at a time. After vtr_python_reader_new(), no call allocates. */
#ifndef VPTRACE_TRACER_PYTHON_STACKS_PYTHON_STACK_H
#define VPTRACE_TRACER_PYTHON_STACKS_PYTHON_STACK_H

#include "tracer/python_stacks/python_layout.h"
#include "tracer/python_stacks/python_threads.h"

#include <stdint.h>

/* ---- python_frame.c: one frame of a Python stack, as bytes that were read.
 *
 * Nothing here reads memory. A frame's address comes from memory that another thread changes: check
 * it with vtr_python_is_address() before any sum. */

struct vtr_raw_frame {
	uint64_t at, code, previous, instruction;
	uint8_t is_c;         /* marks a call from C */
	uint8_t is_generator; /* or a coroutine's */
	uint8_t is_entry;     /* called from C; a stack begins with one */
	uint8_t is_dead;      /* not on a stack; up to 3.10, else it cannot be told */
};

/* The bytes of a frame that are read: `bytes` from its address + `from` on. */
struct vtr_frame_span {
	uint32_t from, bytes;
};

void vtr_frame_span_of(const struct vtr_python_layout *at, struct vtr_frame_span *out);

/* Whether a frame may be there; else sums of addresses might wrap. */
static inline int vtr_python_is_address(uint64_t frame)
{
	return frame >= 4096 && frame < UINT64_C(1) << 56 && !(frame & 7);
}

void vtr_raw_frame_parse(const struct vtr_python_layout *at, const struct vtr_frame_span *span,
	uint64_t frame, const uint8_t *bytes, struct vtr_raw_frame *out);

/* Whether two reads show the same call; its instruction may differ. */
int vtr_raw_frame_same(const struct vtr_raw_frame *a, const struct vtr_raw_frame *b);

/* The offset of its instruction in its code, bytes. */
int32_t vtr_raw_frame_offset(const struct vtr_python_layout *at, const struct vtr_raw_frame *f);

/* ---- python_copies.c: copies of all frames of a stack, made several times by one system call.
 *
 * In three rounds, each mirrored around an anchor, which is one read of the thread's pointer to its
 * innermost frame:
 *
 *	state | outermost ... innermost, anchor, innermost ... outermost, pause | ... | ... | state
 *
 * The pauses vary, so that no thread keeps step with the rounds. Frames lie in regions, pieces of
 * memory with one or more of them; a plan lists the regions of one thread's stack. Regions without one
 * of the 16 innermost frames are copied only first and last: a thread reaches their frames only by
 * leaving all of those.
 *
 * One thread at a time. */

enum {
	VTR_PYTHON_DEPTH_MAX = 1024,  /* frames on one stack */
	VTR_PYTHON_REGIONS_MAX = 480, /* of one stack; from 3.11 on, many frames are in one */
	VTR_PYTHON_REGION_BYTES = 160 << 10, /* of all of them */
	VTR_PYTHON_ROUNDS = 3,
	VTR_PYTHON_COPIES = 2 * VTR_PYTHON_ROUNDS,
	VTR_PYTHON_PAUSE = 15, /* pieces, at most */
	VTR_PYTHON_PIECES = VTR_PYTHON_COPIES * VTR_PYTHON_REGIONS_MAX +
			    VTR_PYTHON_ROUNDS * (3 + VTR_PYTHON_PAUSE) + 3
};

/* What is kept of a thread between its samples. Zeroed, with only `tid` set, before the first. */
struct vtr_python_plan {
	uint32_t tid;
	struct vtr_python_thread thread; /* .at 0: not found yet */
	int is_one_of_several;           /* interpreters */
	uint64_t newest;                 /* interpreter, when the thread was found */
	uint64_t cframe; /* 3.11, 3.12: the struct with the pointer to the innermost frame */
	/* the stack when it was last discovered: its frames, innermost first, and their regions,
	 * outermost first */
	uint32_t depth, region_count;
	uint32_t first_inner; /* of the regions that every round copies */
	uint64_t frames[VTR_PYTHON_DEPTH_MAX];
	struct vtr_python_region {
		uint64_t at;
		uint32_t bytes;
	} regions[VTR_PYTHON_REGIONS_MAX];
};

struct vtr_python_copies {
	struct vtr_own_memory *m;        /* borrowed */
	const struct vtr_python *python; /* borrowed */
	struct vtr_python_threads threads;
	struct vtr_frame_span span;

	/* positions in `bytes` */
	uint32_t head[2], newest, anchor[VTR_PYTHON_ROUNDS], data_stack[VTR_PYTHON_ROUNDS];
	uint32_t copy[VTR_PYTHON_REGIONS_MAX][VTR_PYTHON_COPIES];
	uint8_t is_same[VTR_PYTHON_REGIONS_MAX]; /* all copies of a region are, byte by byte */
	uint32_t random, near;
	size_t pieces;
	uint8_t sizes[8 * VTR_PYTHON_DEPTH_MAX];
	struct iovec iov[VTR_PYTHON_PIECES];
	uint8_t bytes[VTR_PYTHON_COPIES * VTR_PYTHON_REGION_BYTES + (8 << 10)];
};

/* Borrows both. */
void vtr_python_copies_init(
	struct vtr_python_copies *c, struct vtr_own_memory *m, const struct vtr_python *python);

/* Makes the plan's regions of `depth` frames, innermost first. 0, or -1: too many. */
int vtr_python_copies_plan(struct vtr_python_copies *c, struct vtr_python_plan *plan,
	const struct vtr_raw_frame *frames, uint32_t depth);

/* Copies what the plan lists. 0, or -1: something is not mapped. */
int vtr_python_copies_make(struct vtr_python_copies *c, const struct vtr_python_plan *plan);

/* ---- what was copied ---- */

/* Whether the state is still that of the plan's thread. */
int vtr_python_copies_is_thread(
	const struct vtr_python_copies *c, const struct vtr_python_plan *plan);

/* The innermost frame in a round; 0: the thread ran no Python then. -1: unknown, as the pointer was
 * elsewhere. */
int vtr_python_copies_top(const struct vtr_python_copies *c, const struct vtr_python_plan *plan,
	unsigned round, uint64_t *frame);

/* From 3.11: which of `count` linked frames, innermost first, were on the stack in a round, if it is
 * not known which frame was the innermost. *first becomes the first of them, or `count`.
 *
 * Ordinary frames lie one after the other, in pieces of memory of which the used part is known. Used
 * memory may still show a frame that is gone, inside of a larger one that has its place: so each must
 * begin where the one before it ends. The last frame may be one that is still being made, of which
 * a part is old: so there must be another after it. If there is not, *newest is that frame's index,
 * else `count`. Generators' frames have a
 * caller only while they run.
 *
 * Reads the sizes of frames from their code. 0, or -1: something is not mapped. */
int vtr_python_copies_tiled(struct vtr_python_copies *c, unsigned round,
	const struct vtr_raw_frame *frames, uint32_t count, uint32_t *first, uint32_t *newest);

/* A frame in copy number `copy`; the copies of round N are 2 N and 2 N + 1. 0, or -1: it is in no
 * region. */
int vtr_python_copies_frame(struct vtr_python_copies *c, const struct vtr_python_plan *plan,
	unsigned copy, uint64_t frame, struct vtr_raw_frame *out);

/* Whether a frame is among those that every round copies. */
int vtr_python_copies_is_inner(
	struct vtr_python_copies *c, const struct vtr_python_plan *plan, uint64_t frame);

/* Whether all copies of a frame, which is in a region, are known to be the same. */
int vtr_python_copies_same(
	struct vtr_python_copies *c, const struct vtr_python_plan *plan, uint64_t frame);

enum vtr_python_outcome {
	VTR_PYTHON_WHOLE,
	VTR_PYTHON_CUT,
	VTR_PYTHON_TORN,
	VTR_PYTHON_DEEP, /* more frames, or regions, than python_copies.c allows */
	VTR_PYTHON_NONE, /* the thread runs no Python now */
	VTR_PYTHON_ENDED /* there is no such thread */
};

struct vtr_python_frame {
	uint64_t code;       /* address of its code object */
	int32_t instruction; /* offset in the code, bytes; negative: before the first one */
	uint32_t is_generator;
};

struct vtr_python_stack {
	uint32_t depth;
	struct vtr_python_frame frames[VTR_PYTHON_DEPTH_MAX]; /* innermost first */
};

struct vtr_python_reader;

/* NULL: no memory. Borrows both. */
struct vtr_python_reader *vtr_python_reader_new(
	struct vtr_own_memory *m, const struct vtr_python *python);
void vtr_python_reader_free(struct vtr_python_reader *r); /* accepts NULL */

/* Reads the stack of the thread plan->tid. `out` is filled for WHOLE and CUT. Any state of the
 * thread, or none, is fine; but of one that has ended without returning from its functions, its last
 * stack may be read. */
enum vtr_python_outcome vtr_python_stack_read(
	struct vtr_python_reader *r, struct vtr_python_plan *plan, struct vtr_python_stack *out);

#endif

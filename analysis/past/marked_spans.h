/* marked_spans.h - steps and iterations from one mark to the next, for code that opens no range around
 * them.
 *
 *	transformer_forward  scheduler_step  transformer_forward  scheduler_step  transformer_forward
 *	|------- a step of the denoising --| |------- the next one ------------| |-------
 *
 * A denoising step begins with the first forward pass since the previous step and ends with its
 * scheduler's step; if no forward pass is marked, it begins where the previous one ended. A
 * training iteration runs from the end of one optimizer step to the end of the next, or from one
 * batch of a loader to the next, and belongs to all threads of its process. If a process has
 * several optimizers or loaders, the first one counts.
 *
 * Marked spans of one thread or process do not overlap. A marked span, except its end, is known before any op
 * launched in it is released; a marked span without an end does not count. Marked spans are kept to the end of the
 * trace. */
#ifndef VPA_ANALYSIS_PAST_MARKED_SPANS_H
#define VPA_ANALYSIS_PAST_MARKED_SPANS_H

#include <stddef.h>
#include <stdint.h>

enum vpa_marked_span_kind {
	VPA_MARKED_SPAN_STEP,
	VPA_MARKED_SPAN_OPTIMIZER,
	VPA_MARKED_SPAN_LOADER,
	VPA_MARKED_SPAN_KINDS
};

/* What a marked span of an optimizer is called. */
#define VPA_MARKED_SPAN_OPTIMIZER_NAME "iteration (Optimizer.step)"

/* What a range's name marks. */
enum vpa_marked_span_mark {
	VPA_RANGE_MARK_NONE,
	VPA_RANGE_MARK_FORWARD,   /* a forward pass: begins a step */
	VPA_RANGE_MARK_SCHEDULER, /* ends the step */
	VPA_RANGE_MARK_OPTIMIZER, /* ends an iteration */
	VPA_RANGE_MARK_LOADER     /* begins an iteration */
};

/* The mark of a name shortened to vpa_range_name_len(). */
enum vpa_marked_span_mark vpa_marked_span_mark_of(const char *name, size_t len);

/* A marked span, or a part of one. */
struct vpa_marked_span {
	uint64_t start_ns, end_ns; /* on the host; end ~0 while it is open */
	uint32_t
		scope; /* of a marked span's first part; private to ../folds/blocks/table/blocks_marked_spans.c; 0: none yet */
	/* 1: continues the marked span before it; the time between does not belong to it */
	uint8_t goes_on;
};

struct vpa_marked_span_track {
	struct vpa_marked_span *items;
	size_t count, cap;
	uint32_t name;   /* of the optimizer or loader that counts; 0: none so far */
	int has_forward; /* a forward pass has been seen */
};

struct vpa_marked_spans {
	/* Steps are indexed by thread, the others by process. */
	struct vpa_marked_span_track *tracks[VPA_MARKED_SPAN_KINDS];
	size_t counts[VPA_MARKED_SPAN_KINDS], caps[VPA_MARKED_SPAN_KINDS];
	struct vpa_marked_span_note *fresh; /* in this chunk */
	size_t fresh_count, fresh_cap;
	uint64_t left_out; /* dropped, because there were too many */
};

/* A range that marks something; end ~0: still open, noted again later. `name` tells ranges
 * apart. */
struct vpa_marked_span_note {
	enum vpa_marked_span_mark mark;
	uint32_t thread, process, name;
	uint64_t start_ns, end_ns;
};

/* Takes a mark of this chunk. 0 or VPT_ENOMEM. */
int vpa_marked_spans_note(struct vpa_marked_spans *l, const struct vpa_marked_span_note *note);

/* Makes marked spans from the chunk's marks. 0 or VPT_ENOMEM. */
int vpa_marked_spans_settle(struct vpa_marked_spans *l);

/* The first part of the marked span open at `at_ns` for the thread (steps) or process; NULL: none. Narrows
 * [*from, *until) to where the answer is the same. */
struct vpa_marked_span *vpa_marked_spans_at(const struct vpa_marked_spans *l,
	enum vpa_marked_span_kind kind, uint32_t owner, uint64_t at_ns, uint64_t *from_ns,
	uint64_t *until_ns);

void vpa_marked_spans_free(struct vpa_marked_spans *l);

#endif

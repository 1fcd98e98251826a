/* laps.h - what goes from mark to mark, where nobody opened and closed a range around it.
 *
 *	transformer_forward  scheduler_step  transformer_forward  scheduler_step  transformer_forward
 *	|------- a step of the denoising --| |------- the next one ------------| |-------
 *
 * A step of the denoising begins with the first forward pass since the one before, and ends with its scheduler's; where no
 * forward pass is marked it begins where the one before ended. An iteration of a training loop goes from the end of one
 * optimizer's step to the end of the next, or from one batch of a loader to the next: it is all threads' of its process.
 * Of several optimizers, or loaders, of a process the first one counts.
 *
 * Laps of one thread, or process, follow each other. They are known by the time an op that was launched in them is
 * released, all but for their ends; one without an end is none. They are kept to the end of the trace. */
#ifndef VPA_ANALYSIS_LAPS_H
#define VPA_ANALYSIS_LAPS_H

#include <stddef.h>
#include <stdint.h>

enum vpa_lap_kind { VPA_LAP_STEP, VPA_LAP_OPTIMIZER, VPA_LAP_LOADER, VPA_LAP_KINDS };

/* What a range's name marks. */
enum vpa_lap_mark {
	VPA_MARK_NONE,
	VPA_MARK_FORWARD,   /* a forward pass: begins a step */
	VPA_MARK_SCHEDULER, /* ends it */
	VPA_MARK_OPTIMIZER, /* ends an iteration */
	VPA_MARK_LOADER     /* begins an iteration */
};

/* By its name as vpa_range_name_len() leaves it. */
enum vpa_lap_mark vpa_lap_mark_of(const char *name, size_t len);

/* A lap, or a part of one. */
struct vpa_lap {
	uint64_t start_ns, end_ns; /* on the host; end ~0 while it is open */
	uint32_t scope; /* folds/blocks_laps.c's own, of a lap's first part; 0: nothing yet */
	uint8_t goes_on; /* 1: it is the lap before it that goes on; what lies between is not of it */
};

struct vpa_lap_track {
	struct vpa_lap *items;
	size_t count, cap;
	uint32_t name;   /* of the optimizer or loader that counts; 0: none so far */
	int has_forward; /* a forward pass has been marked */
};

struct vpa_laps {
	/* Steps by thread, the others by process. */
	struct vpa_lap_track *tracks[VPA_LAP_KINDS];
	size_t counts[VPA_LAP_KINDS], caps[VPA_LAP_KINDS];
	struct vpa_lap_note *fresh; /* in this chunk */
	size_t fresh_count, fresh_cap;
	uint64_t left_out; /* there were too many */
};

/* A range that marks something; end ~0: it is open still, and comes again. `name` tells ranges apart. */
struct vpa_lap_note {
	enum vpa_lap_mark mark;
	uint32_t thread, process, name;
	uint64_t start_ns, end_ns;
};

/* Takes a mark of this chunk. 0 or VPT_ENOMEM. */
int vpa_laps_note(struct vpa_laps *l, const struct vpa_lap_note *note);

/* Makes laps of the chunk's marks. 0 or VPT_ENOMEM. */
int vpa_laps_settle(struct vpa_laps *l);

/* The lap's first part that is open at `at_ns` for the thread (steps) or process; NULL: none is. [*from, *until) is
 * narrowed to where the answer is the same. */
struct vpa_lap *vpa_laps_at(const struct vpa_laps *l, enum vpa_lap_kind kind, uint32_t owner,
	uint64_t at_ns, uint64_t *from_ns, uint64_t *until_ns);

void vpa_laps_free(struct vpa_laps *l);

#endif

/* pauses.h - the intervals in which nothing is recorded: between vptrace_pause() and
 * vptrace_resume(), and outside the capture's window.
 *
 * Rows arrive late and out of order, so the newest VTR_PAUSES_MAX pauses are remembered. A pause
 * may be known before it begins. Not thread-safe: the recorder's.
 *
 * The GPU begins work when it can, which may be in a pause: such work belongs to the recording if it
 * was launched outside all pauses. Its record has the id of its launch but not the time. Ids grow in the
 * order of the calls, so each pause keeps the ids of calls around its edges:
 *
 *	call   7    8        9   10   11        12
 *	          before  [ first ... last ]  after
 *	time ---------------from_ns-------to_ns------
 *
 * Calls of several threads at an edge may have their ids in another order than their times. Then
 * before > first, or last > after, and what has an id between the two counts as launched outside. */
#ifndef VPTRACE_TRACER_WINDOW_PAUSES_H
#define VPTRACE_TRACER_WINDOW_PAUSES_H

#include <stddef.h>
#include <stdint.h>

enum { VTR_PAUSES_MAX = 16384 };

struct vtr_pause {
	uint64_t from_ns, to_ns; /* to ~0: its end is not known */
	/* Ids of the calls noted so far; none: 0, ~0, 0, ~0. */
	uint64_t before, first, last, after;
};

struct vtr_pauses {
	struct vtr_pause *items; /* oldest first */
	size_t count, cap;
	int unordered; /* the clock was set back: they overlap, or are not in order */
	int has_calls;
	uint64_t newest; /* the greatest id noted; 0: none was */
	/* the last pause that has ended, or is to end, if it was not taken yet */
	struct vtr_pause due;
	int is_due;
};

/* A pause begins. If the last one has no end and begins later, that one begins earlier now. */
void vtr_pauses_begin(struct vtr_pauses *p, uint64_t from_ns);

/* Ends the last pause. Does nothing if it has an end already, or there is none. Take what is due
 * first. */
void vtr_pauses_end(struct vtr_pauses *p, uint64_t to_ns);

/* The pause that has ended by `now_ns`, once each. 1, or 0: none. */
int vtr_pauses_take(struct vtr_pauses *p, uint64_t now_ns, struct vtr_pause *out);

/* At the end of everything: no pause lasts longer than until `stop_ns` from here on. */
void vtr_pauses_stop(struct vtr_pauses *p, uint64_t stop_ns);

/* The pause that covers a time; NULL: none. Valid until the next call. */
const struct vtr_pause *vtr_pauses_at(const struct vtr_pauses *p, uint64_t time_ns);

/* Notes that calls of ids up to this one were made, as they are known before a pause begins. */
void vtr_pauses_note_id(struct vtr_pauses *p, uint64_t id);

/* Notes a CUDA call near the edges of pauses. Calls may come in any order; those that began well
 * after the last pause may be left out. */
void vtr_pauses_note_call(struct vtr_pauses *p, uint64_t id, uint64_t start_ns);

/* Whether an op was launched in a pause. `start_ns`: when the GPU began it, in a pause; 0: unknown. `id` 0, no
 * calls noted, or pauses in no order: answers whether the op began in a pause. */
int vtr_pauses_hide_op(const struct vtr_pauses *p, uint64_t id, uint64_t start_ns);

/* Whether that is not known yet, since the launch is none of the calls noted so far. */
int vtr_pauses_doubt_op(const struct vtr_pauses *p, uint64_t id, uint64_t start_ns);

/* Whether some pause ends after `time_ns`. */
int vtr_pauses_reach(const struct vtr_pauses *p, uint64_t time_ns);

/* Moves *start_ns out of the pauses that it lies in. 1: it was moved; 0: it was not; -1: so far that
 * nothing is left before `end_ns`. */
int vtr_pauses_cut(const struct vtr_pauses *p, uint64_t *start_ns, uint64_t end_ns);

/* The newest times in no pause: *from_ns <= t < *to_ns, where *to_ns may be ~0. */
void vtr_pauses_clear(const struct vtr_pauses *p, uint64_t *from_ns, uint64_t *to_ns);

void vtr_pauses_free(struct vtr_pauses *p);

#endif

/* pauses.h - the intervals in which nothing is recorded: between vptrace_pause() and
 * vptrace_resume(), and outside the capture's window.
 *
 * Rows arrive late and out of order, so the newest VTR_PAUSES_MAX pauses are remembered. A pause
 * may be known before it begins. Not thread-safe: the recorder's. */
#ifndef VPTRACE_TRACER_PAUSES_H
#define VPTRACE_TRACER_PAUSES_H

#include <stddef.h>
#include <stdint.h>

enum { VTR_PAUSES_MAX = 16384 };

struct vtr_pause {
	uint64_t from_ns, to_ns; /* to ~0: its end is not known */
};

struct vtr_pauses {
	struct vtr_pause *items; /* oldest first */
	size_t count, cap;
	int unordered; /* the clock was set back: they overlap, or are not in order */
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

/* Moves *start_ns out of the pauses that it lies in. 1: it was moved; 0: it was not; -1: so far that
 * nothing is left before `end_ns`. */
int vtr_pauses_cut(const struct vtr_pauses *p, uint64_t *start_ns, uint64_t end_ns);

/* The newest times in no pause: *from_ns <= t < *to_ns, where *to_ns may be ~0. */
void vtr_pauses_clear(const struct vtr_pauses *p, uint64_t *from_ns, uint64_t *to_ns);

void vtr_pauses_free(struct vtr_pauses *p);

#endif

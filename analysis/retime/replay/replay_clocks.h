/* replay_clocks.h - arithmetic on rows of clocks, one clock for each world.
 *
 * Times are relative to the tape's start. A row has `n` clocks, a multiple of VPA_CLOCKS; those beyond the last world's count
 * for nothing. Lengths are at most VPA_CLOCK_LAST; so are clocks, which stop there; so sums of two fit. */
#ifndef VPA_ANALYSIS_RETIME_REPLAY_REPLAY_CLOCKS_H
#define VPA_ANALYSIS_RETIME_REPLAY_REPLAY_CLOCKS_H

#include <stddef.h>
#include <stdint.h>

enum { VPA_CLOCKS = 4 };

#define VPA_CLOCK_LAST (INT64_MAX / 2)
/* No such time: whatever is added, another one is later. */
#define VPA_CLOCK_NEVER (-VPA_CLOCK_LAST - 1)

static inline int64_t vpa_clock_later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline int64_t vpa_clock_plus(int64_t a, int64_t b)
{
	int64_t sum = a + b;

	return sum < VPA_CLOCK_LAST ? sum : VPA_CLOCK_LAST;
}

/* to = from + ns */
void vpa_clocks_add(int64_t *to, const int64_t *from, int64_t ns, size_t n);
/* to = the later of both */
void vpa_clocks_later(int64_t *to, const int64_t *from, size_t n);

/* A call ends: end = start + cost_ns; where `wait` is later than the start, at least wait + back_ns. */
void vpa_clocks_end(int64_t *end, const int64_t *start, int64_t cost_ns, const int64_t *wait,
	int64_t back_ns, size_t n);

/* An op: the rows of what it waits for, with the lengths from there, and those that it fills in. */
struct vpa_clocks_op {
	const int64_t *anchor, *event; /* event: NULL: none */
	int64_t launch_ns, stream_ns, event_ns, duration_ns;
	const int64_t *keeps; /* of the duration: all bits, or none */
	int64_t *tail;        /* of its stream: the end of the op before; then its own */
	int64_t *end;         /* its own too */
	int64_t *line;        /* takes it if it is later */
	int64_t *latest;      /* the same */
	int64_t *earliest;    /* takes the start if it is earlier */
};

void vpa_clocks_op(const struct vpa_clocks_op *o, size_t n);

#endif

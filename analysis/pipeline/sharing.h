/* sharing.h - exclusive time: while k ops of a device run at once, each gets a k-th of the time. The
 * remainder of a division goes to those that end first, so what is given sums to the busy time, to the
 * nanosecond.
 *
 * The caller says where the time goes: with vpa_sharing_give_cells() to numbers, else where its own function puts it. All is
 * inline, since this runs for each op of a trace. */
#ifndef VPA_ANALYSIS_PIPELINE_SHARING_H
#define VPA_ANALYSIS_PIPELINE_SHARING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { VPA_SHARING_MAX = 128 }; /* ops at once; any excess gets no share, no GPU runs as many */

struct vpa_sharer {
	uint64_t end_ns;
	uint32_t cell;
};

/* One device. All zeros is idle. */
struct vpa_sharing {
	uint64_t at_ns;                             /* time is given away up to here */
	struct vpa_sharer running[VPA_SHARING_MAX]; /* by end, rising */
	size_t count;
};

/* Gives the time from s->at_ns to `to_ns`, in which the same ops run, one at least. */
typedef void vpa_sharing_give(void *ctx, const struct vpa_sharing *s, uint64_t to_ns);

static inline __attribute__((always_inline)) void vpa_sharing_give_until(
	struct vpa_sharing *s, uint64_t to_ns, vpa_sharing_give *give, void *ctx)
{
	if (to_ns <= s->at_ns)
		return;
	if (s->count)
		give(ctx, s, to_ns);
	s->at_ns = to_ns;
}

/* Gives away the time up to `to_ns`, and ends the ops that end by then. A time before an earlier one changes nothing. */
static inline __attribute__((always_inline)) void vpa_sharing_advance(
	struct vpa_sharing *s, uint64_t to_ns, vpa_sharing_give *give, void *ctx)
{
	size_t ended;

	while (s->count && s->running[0].end_ns <= to_ns) {
		vpa_sharing_give_until(s, s->running[0].end_ns, give, ctx);
		for (ended = 1; ended < s->count && s->running[ended].end_ns <= s->at_ns; ended++)
			;
		s->count -= ended;
		memmove(s->running, s->running + ended, s->count * sizeof(*s->running));
	}
	vpa_sharing_give_until(s, to_ns, give, ctx);
}

/* Begins an op at s->at_ns. Ops come in order of start; one that has ended by then has no time to give. */
static inline void vpa_sharing_begin(struct vpa_sharing *s, uint64_t end_ns, uint32_t cell)
{
	size_t at;

	if (s->count == VPA_SHARING_MAX || end_ns <= s->at_ns)
		return;
	for (at = s->count++; at && s->running[at - 1].end_ns > end_ns; at--)
		s->running[at] = s->running[at - 1];
	s->running[at] = (struct vpa_sharer){end_ns, cell};
}

/* Adds each op's share to its cell, of an array of uint64_t. */
static inline void vpa_sharing_give_cells(void *cells, const struct vpa_sharing *s, uint64_t to_ns)
{
	uint64_t *cell_ns = cells, ns = to_ns - s->at_ns, part, rest;
	size_t i, count = s->count;

	if (count == 1) {
		cell_ns[s->running[0].cell] += ns;
		return;
	}
	part = ns / count;
	rest = ns % count;
	for (i = 0; i < count; i++)
		cell_ns[s->running[i].cell] += part + (i < rest);
}

#endif

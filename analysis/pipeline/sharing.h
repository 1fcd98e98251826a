/* sharing.h - exclusive time: while k ops of a device run at once, each gets a k-th of the time. The
 * remainder of a division goes to those that end first, so what is given sums to the busy time, to the
 * nanosecond. */
#ifndef VPA_ANALYSIS_PIPELINE_SHARING_H
#define VPA_ANALYSIS_PIPELINE_SHARING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { VPA_SHARING_MAX = 128 }; /* ops at once; any excess gets no share, no GPU runs as many */

/* One device. All zeros is idle. */
struct vpa_sharing {
	uint64_t at_ns; /* time is given away up to here */
	struct vpa_sharer {
		uint64_t end_ns;
		uint32_t cell;
	} running[VPA_SHARING_MAX]; /* by end, rising */
	size_t count;
};

static inline void vpa_sharing_give(struct vpa_sharing *s, uint64_t to_ns, uint64_t *cells)
{
	uint64_t ns = to_ns - s->at_ns, rest;
	size_t i;

	s->at_ns = to_ns;
	if (!s->count || !ns)
		return;
	rest = ns % s->count;
	for (i = 0; i < s->count; i++)
		cells[s->running[i].cell] += ns / s->count + (i < rest);
}

/* Gives away the time up to `to_ns`, which is not before any earlier one. */
static inline void vpa_sharing_advance(struct vpa_sharing *s, uint64_t to_ns, uint64_t *cells)
{
	size_t ended;

	while (s->count && s->running[0].end_ns <= to_ns) {
		vpa_sharing_give(s, s->running[0].end_ns, cells);
		for (ended = 1; ended < s->count && s->running[ended].end_ns == s->at_ns; ended++)
			;
		s->count -= ended;
		memmove(s->running, s->running + ended, s->count * sizeof(*s->running));
	}
	vpa_sharing_give(s, to_ns, cells);
}

/* Begins an op, whose time goes to cells[cell]. Ops come in order of start. */
static inline void vpa_sharing_begin(
	struct vpa_sharing *s, uint64_t start_ns, uint64_t end_ns, uint32_t cell, uint64_t *cells)
{
	size_t at;

	vpa_sharing_advance(s, start_ns, cells);
	if (s->count == VPA_SHARING_MAX)
		return;
	for (at = s->count++; at && s->running[at - 1].end_ns > end_ns; at--)
		s->running[at] = s->running[at - 1];
	s->running[at] = (struct vpa_sharer){end_ns, cell};
}

#endif

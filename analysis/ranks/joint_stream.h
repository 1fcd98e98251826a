/* joint_stream.h - what joint_replay.c puts and joint_run.c runs: events in the order in which the last rank came to each; of each
 * rank, a stream of the terms of its collectives in that order. Of a term
 *
 *	head     a byte that says how the rest is written, see enum head
 *	back     how many collectives it looks back, 4 bytes, where the head does not say it
 *	early    how much earlier than the start it is: 0, 4 or 8 bytes; of a pace 2, in its unit
 *	cuts     4 bytes each, or 8; of a pace only what is asked about, since other changes take all of it
 *
 * The rest follows from the rank's times: nearly all terms are a head and a cut. */
#ifndef VPA_ANALYSIS_RANKS_JOINT_STREAM_H
#define VPA_ANALYSIS_RANKS_JOINT_STREAM_H

#include "analysis/ranks/joint_replay.h"

/* A row of a group, or a collective without a partner. */
struct vpa_event {
	uint32_t group; /* UINT32_MAX: single */
	uint32_t row;   /* or which single one */
};

struct vpa_single {
	uint32_t rank, item;
};

/* Of a term. Without FROM_START and FROM_BACK it is of the collective before. */
enum head {
	LAST = 1,
	FROM_START = 2,
	FROM_BACK = 4,
	EARLY = 8,
	EARLY_WIDE = 16,
	EARLY_UNITS = EARLY | EARLY_WIDE,
	CUTS_WIDE = 32,
	OF_PACE = 64
};

struct vpa_stream {
	const struct vpa_rank *rank;
	const struct vpa_clock *clock;
	const unsigned char *at; /* the next term */
	int64_t *ring;           /* a time for each lane: the rank's start, then ends */
	uint32_t *ring_items;    /* whose end is in each place of the ring; UINT32_MAX: nobody's */
	size_t mask;
	int has[VPA_CUTS]; /* 0: it has no such cut */
	int is_common;     /* it has the common cut only */
	unsigned char *bytes;
	int64_t masks[VPA_CUTS][VPA_LANES]; /* of each cut, all bits of the lanes that have it */
};

struct vpa_replay {
	const struct vpa_job *job;
	const struct vpa_job_rows *rows;
	struct vpa_event *events;
	size_t event_count;
	struct vpa_single *singles;
	size_t single_count, single_cap;
	size_t *first_single;              /* by rank, and one more */
	uint32_t *event_of_row, *event_of; /* by row; by single one */
	struct vpa_stream *streams;        /* by rank */
	unsigned lanes;                    /* in use */
	int64_t common_mask[VPA_LANES];    /* of all streams that have the common cut only */
};

static inline int64_t vpa_event_time(const struct vpa_replay *p, struct vpa_event e)
{
	const struct vpa_single *s;

	if (e.group != UINT32_MAX)
		return p->rows->items[p->rows->firsts[e.group] + e.row].last_ns;
	s = &p->singles[e.row];
	return vpa_clock_time(vpa_job_clock(p->job, s->rank),
		vpa_rank_start_ns(p->job->list.items[s->rank], s->item));
}

#endif

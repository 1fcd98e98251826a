/* replaying.h - a replay that is going on. Private to replay.c, replay_calls.c and replay_ops.c.
 *
 * Clocks stand in rows, see replay_clocks.h. Of what later events may ask for the newest rows are kept: of each thread, each
 * stream, and of the last launches and ops of all. What is older cannot matter any more: far more launches than a queue
 * can hold have begun since. */
#ifndef VPA_ANALYSIS_RETIME_REPLAY_REPLAYING_H
#define VPA_ANALYSIS_RETIME_REPLAY_REPLAYING_H

#include "analysis/retime/replay/replay_clocks.h"
#include "analysis/retime/replay/replay.h"

enum { VPA_LINE = 2 * VPA_QUEUE_LAUNCHES };

/* A launch of the last ones. Worlds are bits. */
struct vpa_launch {
	uint64_t place; /* in the line of its device, where no launch is gone */
	uint32_t call;  /* NONE: none yet */
	uint32_t device;
	uint32_t gone;     /* worlds without it */
	uint32_t ops_gone; /* worlds without its ops */
	uint32_t in_graph; /* worlds in which its ops are those of a new graph */
};

/* A stream: the worlds in which something ran there; in which the last recorded op was run there. */
struct vpa_replayed_stream {
	uint32_t any, has_last;
	uint32_t last; /* the op that began last; NONE */
};

/* The call that a thread is in: worlds that differ, and how. */
struct vpa_open_call {
	uint32_t differs, gone, no_wait;
};

struct vpa_replaying {
	const struct vpa_tape *t;
	const struct vpa_edges *e;
	struct vpa_effects *x;
	struct vpa_walk *walk;
	struct vpa_call_effects effects;
	struct vpa_op_effect op_effects[VPA_WORLDS_MOST];
	size_t worlds;
	size_t n;     /* clocks of a row */
	size_t plain; /* the first worlds, in which no launch is gone */
	size_t own;   /* the others */
	uint32_t all, no_host;
	int64_t keeps[VPA_WORLDS_MOST]; /* of the length of an op: all bits, or none */
	int64_t never[VPA_WORLDS_MOST], zero[VPA_WORLDS_MOST];
	int64_t wait[VPA_WORLDS_MOST], nowhere[VPA_WORLDS_MOST]; /* for a while */
	/* By thread. */
	struct vpa_open_call *open;
	int64_t *starts, *ends; /* rows: of the open call; of the last one */
	uint64_t *costs;        /* rows */
	int64_t *afters;        /* the same: from the end of what it waits for to its own */
	/* By launch. */
	struct vpa_launch *launches;
	int64_t *launch_starts, *launch_ends;
	uint64_t *places; /* in the line, of each world that has its own */
	uint64_t *inside; /* rules, see vpa_call_effects */
	uint32_t *heads;  /* rows, see vpa_call_effects */
	size_t words, launch_mask;
	/* By op. */
	int64_t *op_ends;
	size_t op_mask;
	/* By stream; streams aside follow. */
	struct vpa_replayed_stream *streams;
	int64_t *tails;    /* rows: when the last op there ended */
	int64_t *last_end; /* rows: what `op_ends` had of an op that is still the stream's last */
	/* By device: how many launches came into its line, and by place there when the ops of each ended, as far as known.
	 * Worlds in which launches are gone have lines of their own. */
	uint64_t *counts, *own_counts;
	int64_t *lines, *own_lines;
	const int64_t *host; /* the row of the call that ended last */
	uint64_t error_ns;
	struct vpa_moments *moments;
};

static inline int vpa_is_in(uint32_t worlds, size_t w)
{
	return worlds >> w & 1;
}

/* The worlds of a set, from the first on. */
#define VPA_FOR_WORLDS(w, set)                                                                     \
	for (uint32_t left_ = (set), w; left_ && (w = (uint32_t)__builtin_ctz(left_), 1);          \
		left_ &= left_ - 1)

static inline size_t vpa_launch_slot(const struct vpa_replaying *r, uint32_t call)
{
	return r->t->calls[call].launch & r->launch_mask;
}

/* NULL: it is no longer kept, since many came later. */
static inline const struct vpa_launch *vpa_launch_of(const struct vpa_replaying *r, uint32_t call)
{
	const struct vpa_launch *l = &r->launches[vpa_launch_slot(r, call)];

	return l->call == call ? l : NULL;
}

static inline int64_t *vpa_line_at(const struct vpa_replaying *r, uint32_t device, uint64_t place)
{
	return &r->lines[(device * (size_t)VPA_LINE + place % VPA_LINE) * r->n];
}

/* Of a world with lines of its own. */
static inline uint64_t *vpa_own_count(const struct vpa_replaying *r, uint32_t device, size_t w)
{
	return &r->own_counts[device * r->own + w - r->plain];
}

static inline int64_t *vpa_own_line_at(
	const struct vpa_replaying *r, uint32_t device, size_t w, uint64_t place)
{
	return &r->own_lines[(device * r->own + w - r->plain) * VPA_LINE + place % VPA_LINE];
}

static inline uint64_t *vpa_own_place(const struct vpa_replaying *r, size_t slot, size_t w)
{
	return &r->places[slot * r->own + w - r->plain];
}

static inline void vpa_note_error(struct vpa_replaying *r, int64_t ns, uint64_t recorded_ns)
{
	int64_t recorded = (int64_t)(recorded_ns - r->t->start_ns);
	uint64_t by = ns > recorded ? (uint64_t)ns - (uint64_t)recorded
				    : (uint64_t)recorded - (uint64_t)ns;

	if (by > r->error_ns)
		r->error_ns = by;
}

/* The row of an op's end; `newest`: the first op that has not begun. NULL: it is no longer kept, since many came
 * later. */
static inline const int64_t *vpa_end_of(const struct vpa_replaying *r, uint32_t op, uint32_t newest)
{
	uint32_t stream = r->t->ops[op].stream;

	if (newest - op - 1 <= r->op_mask)
		return &r->op_ends[(op & r->op_mask) * r->n];
	return r->streams[stream].last == op ? &r->last_end[stream * r->n] : NULL;
}

void vpa_replay_start(struct vpa_replaying *r, uint32_t call);
void vpa_replay_end(struct vpa_replaying *r, uint32_t call, uint32_t newest);
void vpa_replay_op(struct vpa_replaying *r, uint32_t op);

#endif

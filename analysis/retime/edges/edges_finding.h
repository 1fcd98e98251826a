/* edges_finding.h - edges that are being found. Private to edges.c, edges_calls.c and edges_ops.c. */
#ifndef VPA_ANALYSIS_RETIME_EDGES_FINDING_H
#define VPA_ANALYSIS_RETIME_EDGES_FINDING_H

#include "analysis/base/index.h"
#include "analysis/retime/edges/edges.h"

struct vpa_edges_finding {
	struct vpa_tape *t;
	struct vpa_edges *e;
	uint32_t *last;    /* by stream: the op launched last; NONE */
	uint32_t *synced;  /* by stream: that op at the last wait for a whole device */
	uint32_t *pending; /* by stream: an op of another stream that its next op waits for */
	uint32_t *prior;   /* by op: the op before it on its stream */
	/* By call: how many calls of its thread until then made a stream wait, no record says which; NULL: one GPU. */
	uint32_t *waits;
	/* By op, of a collective: the work that it was told to wait for, where no record says so; NONE. NULL: records do. */
	uint32_t *followed;
	uint32_t *returns;       /* private to event_waits.c */
	uint64_t *short_cost;    /* by name */
	struct vpa_index events; /* ids of events that were recorded, and the process */
	uint32_t *event_op;      /* by such an id */
	size_t event_cap, next_sync;
	int launches_block; /* see ../../model/blocking_launches.h */
};

/* Lengths of which one is usual. */
struct vpa_lengths {
	int64_t *ns;
	size_t count, cap;
};

/* 0 or VPT_ENOMEM. */
int vpa_lengths_add(struct vpa_lengths *l, int64_t ns);
/* The lower one of two middle lengths; `none` where there is no length. Frees the list. */
int64_t vpa_lengths_middle(struct vpa_lengths *l, int64_t none);

/* `count` row numbers, all NONE. NULL: no memory. */
uint32_t *vpa_new_rows(size_t count);

/* ---- event_waits.c ---- */

/* Whether a call waits long for an event. */
int vpa_waits_for_event(const struct vpa_tape *t, const struct vpa_tape_call *c);
/* Before the next. 0 or VPT_ENOMEM. */
int vpa_event_waits_count(struct vpa_edges_finding *f);
/* The op that such a call most likely waited for; NONE. */
uint32_t vpa_event_wait_op(const struct vpa_edges_finding *f, const struct vpa_tape_call *c);
/* Fills in f->followed: an event was recorded, a stream told to wait, and a collective launched, so it waits for the work that its
 * thread had launched last. That holds where it did not have to wait, too. 0 or VPT_ENOMEM. */
int vpa_collectives_follow(struct vpa_edges_finding *f);

/* The edges of calls, then those of ops. 0 or VPT_ENOMEM. */
int vpa_edges_of_calls(struct vpa_edges_finding *f);
int vpa_edges_of_ops(struct vpa_edges_finding *f);

#endif

/* lines_state.h - what the fold of lines adds up. Private to it. */
#ifndef VPA_ANALYSIS_FOLDS_LINES_LINES_STATE_H
#define VPA_ANALYSIS_FOLDS_LINES_LINES_STATE_H

#include "analysis/base/index.h"
#include "analysis/folds/fold.h"
#include "analysis/folds/lines/lines_scopes.h"

/* Idle time of one (device, cause) in one (place, call), for which stacks were looked up. */
struct line_part {
	uint64_t ns;                 /* without what exact stacks explain */
	uint64_t samples, weight_ns; /* of the samples that belong to ns: count, sum of weights */
	uint64_t exact_ns;
	uint64_t wait_ns; /* of all: waiting for a CPU */
};

/* One stack of a part. */
struct line_share {
	uint64_t samples, weight_ns, exact_ns;
};

/* Causes of a gap that begins after the next op's launch returned: it has the line of that launch. */
#define LINE_QUEUED(X) X(LAUNCH_LATENCY) X(DEPENDENCY) X(GRAPH_START) X(SCHEDULING) X(QUEUED)
enum {
#define LIST(name) LINE_AFTER_##name,
	LINE_QUEUED(LIST)
#undef LIST
		LINE_QUEUED_CAUSES
};

/* Work that one stack launched on a device, and how long the device waited for it. */
struct line_launches {
	uint64_t ops, busy_ns;
	uint64_t queued_ns[LINE_QUEUED_CAUSES];
};

/* Launches of a thread, each near the one before. */
struct line_run {
	uint64_t last_ns;               /* the latest launch */
	uint32_t stack;                 /* of the run's last sample; 0: none yet */
	uint64_t stack_ns;              /* when that was taken */
	uint32_t device;                /* of what is waiting */
	struct line_launches waiting;   /* for the next sample */
	struct vpa_scoped_queue scoped; /* of what is waiting, by scope */
	/* The last sample at or before the launches in [from_ns, until_ns). */
	uint32_t sample; /* its stack; 0: none */
	int is_exact;
	uint64_t from_ns, until_ns;
	uint32_t batch; /* of ops, for which this is so */
};

/* Whose time a part is. `host`: what the host did in time that counts to an earlier call, see struct
 * vpa_cause_piece. Such a part is also in that of the call, so it is only for its line. */
static inline uint64_t line_owner_of(uint32_t device, uint8_t cause, uint8_t host)
{
	return (uint64_t)device << 16 | (uint64_t)host << 8 | cause;
}

static inline uint8_t line_owner_host(uint64_t owner)
{
	return owner >> 8 & 0xff;
}

struct lines_state {
	struct vpa_index parts_index; /* (owner, place << 32 | call) */
	struct line_part *parts;
	size_t part_cap;
	struct vpa_index shares_index; /* (part, stack) */
	struct line_share *shares;
	size_t share_cap;
	/* Samples of a thread before this time are counted in a part: (part, thread). */
	struct vpa_index seen_index;
	uint64_t *seen_ns;
	size_t seen_cap;
	struct vpa_index launches_index; /* (device, stack) */
	struct line_launches *launches;
	size_t launches_cap;
	struct line_run *runs; /* by thread */
	size_t run_cap;
	uint32_t run_count;
	uint32_t batch;                  /* of ops, so far */
	struct vpa_scoped_queue at_once; /* of one op whose stack is known */
	struct vpa_lines_scopes scopes;
};

#endif

/* idle_limit.h - what limits an idle device: the group of causes with the most time, and the largest cause in it.
 *
 * So one large cause does not hide several of one kind: the host's pace is one thing, whether its time is in launches,
 * between them or in code. */
#ifndef VPA_ANALYSIS_PIPELINE_IDLE_LIMIT_H
#define VPA_ANALYSIS_PIPELINE_IDLE_LIMIT_H

#include "analysis/report/rows/causes.h"

#include <stdint.h>

enum vpa_cause_group {
	VPA_GROUP_NONE,      /* head and tail of the window: no limit */
	VPA_GROUP_PACE,      /* the host does not launch in time */
	VPA_GROUP_WAITS,     /* it waits for the GPU or for copies */
	VPA_GROUP_SETUP,     /* it loads code, builds graphs, does things for the first time */
	VPA_GROUP_CALLS,     /* it allocates, or is in another call of CUDA */
	VPA_GROUP_STREAMS,   /* the work waits for other streams or devices */
	VPA_GROUP_STARTS,    /* the GPU begins the next work */
	VPA_GROUP_QUEUED,    /* queued work is late, nothing says why */
	VPA_GROUP_RECORDING, /* the recording itself, or what it lacks */
	VPA_GROUPS
};

/* "the host's pace" ... */
const char *vpa_cause_group_words(enum vpa_cause_group group);
/* The group's causes, a bit each. */
uint32_t vpa_cause_group_causes(enum vpa_cause_group group);

struct vpa_idle_limit {
	enum vpa_cause_group group; /* VPA_GROUP_NONE: there is no such idle time */
	enum vpa_cause cause;       /* the largest of the group */
	uint64_t group_ns, cause_ns;
	int is_largest; /* no other cause is larger */
};

/* cause_ns: VPA_CAUSES of them. Of equal ones the first group, the first cause. */
struct vpa_idle_limit vpa_idle_limit_of(const uint64_t *cause_ns);

#endif

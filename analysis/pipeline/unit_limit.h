/* unit_limit.h - what limits the report's unit: asked by RESULT, the checklist and comparisons. */
#ifndef VPA_ANALYSIS_PIPELINE_UNIT_LIMIT_H
#define VPA_ANALYSIS_PIPELINE_UNIT_LIMIT_H

#include "analysis/pipeline/unit.h"
#include "analysis/report/device_limit.h"
#include "analysis/report/rows/causes.h"

#include <stdint.h>

/* ---- idle_limit.c: what limits an idle device: the group of causes with the most time, and the largest cause in it.
 *
 * So one large cause does not hide several of one kind: the host's pace is one thing, whether its time is in launches,
 * between them or in code. */

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

struct vpa_unit_limit {
	struct vpa_load load;
	enum vpa_device_limit
		bound; /* of what the devices do; VPA_LIMIT_IDLE: of what they wait for */
	struct vpa_idle_limit idle; /* the waiting, also beside a bound */
};

/* Of the unit; where its time is not known by cause, of the window between the first op and the last, of the devices
 * that matter. */
struct vpa_unit_limit vpa_unit_limit_of(const struct vpa_report *r);
/* The window's, whatever the unit is. */
struct vpa_unit_limit vpa_window_limit_of(const struct vpa_report *r);
/* Of a part of the window: its busy time by family and its idle time by cause. */
struct vpa_unit_limit vpa_unit_limit_of_part(const struct vpa_report *r, const uint64_t *family_ns,
	const uint64_t *cause_ns, uint64_t busy_ns, uint64_t idle_ns);

#endif

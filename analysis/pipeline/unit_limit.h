/* unit_limit.h - what limits the report's unit: asked by RESULT, the checklist and comparisons. */
#ifndef VPA_ANALYSIS_PIPELINE_UNIT_LIMIT_H
#define VPA_ANALYSIS_PIPELINE_UNIT_LIMIT_H

#include "analysis/pipeline/unit.h"
#include "analysis/pipeline/idle_limit.h"
#include "analysis/report/limit.h"

struct vpa_unit_limit {
	struct vpa_load load;
	enum vpa_limit bound; /* of what the devices do; VPA_LIMIT_IDLE: of what they wait for */
	struct vpa_idle_limit idle; /* the waiting, also beside a bound */
};

/* Of the unit; where its time is not known by cause, of the window between the first op and the last, of the devices
 * that matter. */
struct vpa_unit_limit vpa_unit_limit_of(const struct vpa_report *r);
/* Of a part of the window: its busy time by family and its idle time by cause. */
struct vpa_unit_limit vpa_unit_limit_of_part(const struct vpa_report *r, const uint64_t *family_ns,
	const uint64_t *cause_ns, uint64_t busy_ns, uint64_t idle_ns);

#endif

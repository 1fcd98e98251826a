/* unit_stages.h - the stages that the mean unit is made of, in the worlds of a replay. */
#ifndef VPA_ANALYSIS_RETIME_UNIT_STAGES_H
#define VPA_ANALYSIS_RETIME_UNIT_STAGES_H

#include "analysis/retime/predictions.h"
#include "analysis/retime/what_if_parts.h"

/* Lists, in the arena, the stages and passes over the context that are in no other one, if the unit is a block or a request
 * and all their instances are inside the units' span; else none. 0 or VPT_ENOMEM. */
int vpa_unit_stages_of(const struct vpa_report *r, const struct vpa_spans *s,
	struct vpa_arena *arena, struct vpa_timed_parts *out);

/* Fills in forecast.stages. The parts' spans begin at `first`; `world` is the one that predicted_ms is of,
 * VPA_WORLD_RECORDED where there is none. The forecast's base and paces must be known. 0 or VPT_ENOMEM. */
int vpa_unit_stages_write(struct vpa_report *r, const struct vpa_spans *s,
	const struct vpa_timed_parts *p, const struct vpa_retiming *t, size_t first, size_t world);

#endif

/* window.h - a window that cannot be: beyond the trace, or of a range that it does not have. What was asked for was wrong,
 * so both are VPT_EINVAL. */
#ifndef VPA_ANALYSIS_WINDOW_H
#define VPA_ANALYSIS_WINDOW_H

#include "analysis/model.h"

#include "formats/error.h"

/* Of a trace that ends `length_ns` after its start, with the time that was asked for. */
int vpa_window_beyond(uint64_t from_ns, uint64_t length_ns, struct vpt_err *err);

/* How often there is a range of each name, by its id in vpa_model.names. All zeros is an empty one. */
struct vpa_range_census {
	uint64_t *counts;
	size_t cap;
};

/* 0 or VPT_ENOMEM. */
int vpa_range_census_add(struct vpa_range_census *c, uint32_t name);

/* Says that no range is called `wanted`, and which ones there are: those that are called alike, then the most frequent. */
int vpa_range_census_fail(const struct vpa_range_census *c, const struct vpa_model *m,
	const char *wanted, struct vpt_err *err);
void vpa_range_census_free(struct vpa_range_census *c);

#endif

/* window_errors.h - errors for an impossible window: beyond the trace, or of a range that the trace does not have.
 *
 * The request was wrong: VPT_EINVAL. But if the trace is incomplete, what it asks for may be what is missing:
 * then it is VPT_EDATA, and the sentence says what is missing. `n` is the reading of the whole trace. */
#ifndef VPA_ANALYSIS_TRUST_WINDOW_ERRORS_H
#define VPA_ANALYSIS_TRUST_WINDOW_ERRORS_H

#include "analysis/model/model.h"
#include "analysis/pipeline/range_choice.h"
#include "analysis/trust/completeness.h"

#include "formats/base/error.h"

/* The trace ends `length_ns` after its start; names the requested time. */
int vpa_window_beyond(const struct vpa_completeness *n, uint64_t from_ns, uint64_t length_ns,
	struct vpt_err *err);

/* The range that is wanted, NULL: the request, has no length. */
int vpa_window_of_nothing(
	const struct vpa_completeness *n, const char *wanted, struct vpt_err *err);

/* The choice has fewer instances than its number. */
int vpa_window_of_too_many(
	const struct vpa_completeness *n, const struct vpa_range_choice *c, struct vpt_err *err);

/* Counts ranges by name, an id in vpa_model.names. All zeros is empty. */
struct vpa_range_census {
	uint64_t *counts;
	size_t cap;
};

/* 0 or VPT_ENOMEM. */
int vpa_range_census_add(struct vpa_range_census *c, uint32_t name);

/* Reports that no range is called `wanted`, and which there are: first those with similar names,
 * then the most frequent. */
int vpa_range_census_fail(const struct vpa_range_census *c, const struct vpa_model *m,
	const struct vpa_completeness *n, const char *wanted, struct vpt_err *err);
void vpa_range_census_free(struct vpa_range_census *c);

#endif

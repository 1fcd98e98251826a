/* first_use.h - what a warm-up before the recording would save, as a finding. folds/first_use.c measures it. */
#ifndef VPA_ANALYSIS_FIRST_USE_H
#define VPA_ANALYSIS_FIRST_USE_H

#include "analysis/finding.h"

/* A device's idle time of the cause that is first use, after the first work. */
uint64_t vpa_first_use_of(const struct vpa_device *d, enum vpa_cause cause);

/* Adds the finding, without evidence. NULL: there is too little of it, or no memory. */
struct vpa_finding *vpa_first_use_add(struct vpa_report *r);

/* What to do about `ns` of cause module load, most of it in `call`, which may be NULL. `warm_up`: what helps if it is
 * first use. */
const char *vpa_load_title(
	struct vpa_report *r, const char *call, uint64_t ns, const char *warm_up);

#endif

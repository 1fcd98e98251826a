/* findings_first_use.h - what a warm-up before the recording would save, as a finding. ../../folds/gaps/first_use_table.c measures it. */
#ifndef VPA_ANALYSIS_ADVICE_FINDINGS_FINDINGS_FIRST_USE_H
#define VPA_ANALYSIS_ADVICE_FINDINGS_FINDINGS_FIRST_USE_H

#include "analysis/advice/finding.h"

/* Adds the finding, without evidence. NULL: there is too little of it, or no memory. */
struct vpa_finding *vpa_first_use_add(struct vpa_report *r);

/* What the finding has of the idle time of a cause, on a device, or on all (NULL); 0: nothing, or there is no such
 * finding. */
uint64_t vpa_first_use_left(
	const struct vpa_report *r, const struct vpa_device *device, enum vpa_cause cause);
/* Host code in gaps of this length and longer is a set-up's, no other is as long: of the gaps that are listed. 0: that is not
 * so, or nothing is set up in a step or an iteration. */
uint64_t vpa_first_use_longer_ns(const struct vpa_report *r);
/* The same of all devices as a note to the cause's own finding; NULL: nothing. */
const char *vpa_first_use_note(struct vpa_report *r, enum vpa_cause cause);

/* What to do about `ns` of cause module load, most of it in `call`, which may be NULL. `warm_up`: what helps if it is
 * first use. */
const char *vpa_load_title(
	struct vpa_report *r, const char *call, uint64_t ns, const char *warm_up);

#endif

/* findings_idle.h - what findings of idle time share. Private to findings_idle.c and findings_waits.c. */
#ifndef VPA_ANALYSIS_ADVICE_FINDINGS_FINDINGS_IDLE_H
#define VPA_ANALYSIS_ADVICE_FINDINGS_FINDINGS_IDLE_H

#include "analysis/advice/findings/idle_sum.h"

/* What to do about a cause. `course`: unavoidable in small amounts; `of_recording`: a problem of
 * the trace, the program would gain nothing. */
struct vpa_advice {
	enum vpa_cause cause;
	int course, of_recording;
	enum vpa_finding_id id;
	const char *title;
};

/* Of a cause. */
const struct vpa_advice *vpa_advice_of(enum vpa_cause cause);

/* Adds a finding. NULL: there are too many. */
struct vpa_finding *vpa_find_cause(
	struct vpa_report *r, const struct vpa_advice *a, const struct vpa_idle_sum *sum);
/* A candidate: it may be worth a line, but for others that would save the same time. Only a replay can tell. */
void vpa_find_candidate(
	struct vpa_report *r, const struct vpa_advice *a, const struct vpa_idle_sum *sum);

/* Whether a gain is larger than `most_ns`, the largest that is listed, by as much as is worth a line. */
int vpa_gain_is_hidden(const struct vpa_report *r, uint64_t gain_ns, uint64_t most_ns);

/* Appends to a finding's note; NULL: nothing. */
void vpa_finding_add_note(struct vpa_report *r, struct vpa_finding *f, const char *more);

/* Findings and candidates of the waits. Returns the largest gain that is listed. */
uint64_t vpa_find_waits(struct vpa_report *r);
/* Which copies they are. NULL: not known, or of several parts. */
const char *vpa_wait_copies(struct vpa_report *r, enum vpa_waits part);

#endif

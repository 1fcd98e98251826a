/* first_work.h - the time before the first work of a window: in words, and what it costs. */
#ifndef VPA_ANALYSIS_ADVICE_FIRST_WORK_H
#define VPA_ANALYSIS_ADVICE_FIRST_WORK_H

#include "analysis/advice/finding.h"

/* Its largest part; NULL: there is none. *all_ns: of all GPUs' parts. */
const struct vpa_idle_part *vpa_first_work_largest(const struct vpa_report *r, uint64_t *all_ns);
/* What the hosts did in it: ": host code 218 ms, module load 12.1 ms"; "" if that is not known. */
const char *vpa_first_work_words(struct vpa_report *r);
/* When it was, and what to do about it, behind "the GPU had no work for 2.98 s". */
const char *vpa_first_work_title(struct vpa_report *r);
/* The title in few words, with the range that has most of it; NULL: none has. */
const char *vpa_first_work_few_words(struct vpa_report *r);
/* Whether it is a gain. */
int vpa_first_work_is_gain(const struct vpa_report *r, const struct vpa_saving *s);
/* Makes it the finding's gain, as far as it is part of the unit that a user counts in: a single step, whose next
 * one would wait as long, or else the only request. `s` is all of it, and changes. */
void vpa_first_work_saves(struct vpa_report *r, struct vpa_finding *f, struct vpa_saving *s);

#endif

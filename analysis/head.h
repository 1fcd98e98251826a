/* head.h - the time before the first work of a window, in words. */
#ifndef VPA_ANALYSIS_HEAD_H
#define VPA_ANALYSIS_HEAD_H

#include "analysis/report.h"

/* What the hosts did in it: ": host code 218 ms, module load 12.1 ms"; "" if that is not known. */
const char *vpa_head_words(struct vpa_report *r);
/* What to do about it. */
const char *vpa_head_title(struct vpa_report *r);

#endif

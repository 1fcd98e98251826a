/* said_label.h - what a range is, for folds that also count ranges without work on a GPU. */
#ifndef VPA_ANALYSIS_FOLDS_SAID_SAID_LABEL_H
#define VPA_ANALYSIS_FOLDS_SAID_SAID_LABEL_H

#include "analysis/folds/fold.h"

/* What an ended range is in its place, for a scope; for an annotated range that launched nothing, what that says. Kind NONE:
 * nothing, or a part of it is missing. 0 or VPT_ENOMEM. */
int vpa_said_label(const struct vpa_fold_context *c, const struct vpa_range *range,
	struct vpa_scope_label *out);

/* From the first op's start to the last one's end, on all devices; 0: it launched nothing that took time. */
uint64_t vpa_said_gpu_ns(const struct vpa_range *range);

#endif

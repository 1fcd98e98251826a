/* compiled.h - what torch.compile did, as far as names of ranges tell. */
#ifndef VPA_ANALYSIS_FOLDS_COMPILED_H
#define VPA_ANALYSIS_FOLDS_COMPILED_H

#include "analysis/report/report.h"

/* Fills the members about torch.compile from all ranges of a trace, a row per name. */
void vpa_compiled_of(const struct vpa_range_row *ranges, size_t count, struct vpa_graphs *out);

#endif

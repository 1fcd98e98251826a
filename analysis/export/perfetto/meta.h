/* meta.h - what an export is about, and the totals to be found again. For this folder alone. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_META_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_META_H

#include "analysis/export/perfetto/out.h"

/* Once the process is identified; before all else but the clocks. */
void vpa_ex_meta_begin(struct vpa_ex_out *x);
/* The last packet, when all is counted. `residual_ns`: how far the clocks have drifted apart since their first row. */
void vpa_ex_meta_end(struct vpa_ex_out *x, uint64_t residual_ns);

#endif

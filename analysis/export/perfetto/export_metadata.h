/* export_metadata.h - metadata of an export, and the totals it must contain. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_EXPORT_METADATA_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_EXPORT_METADATA_H

#include "analysis/export/perfetto/lanes/perfetto_names.h"

/* Call after vpa_ex_identify() and the clocks, before all other packets. */
void vpa_ex_meta_begin(struct vpa_ex_out *x);
/* The last packet, after all counts are final. `residual_ns`: how far the clocks drifted apart since
 * their first row. */
void vpa_ex_meta_end(struct vpa_ex_out *x, uint64_t residual_ns);

#endif

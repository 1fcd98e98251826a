/* place.h - where something stands among stages, blocks and steps. For this folder alone. */
#ifndef VPA_ANALYSIS_EXPORT_ROWS_PLACE_H
#define VPA_ANALYSIS_EXPORT_ROWS_PLACE_H

#include "analysis/export/rows/cells.h"

/* At a moment, in the innermost range of a thread and the innermost of its process; NULL: none. */
struct vpa_rows_place vpa_rows_place_of(struct vpa_rows *x, const struct vpa_range *own,
	const struct vpa_range *wide, uint64_t at_ns);
void vpa_rows_place_free(struct vpa_rows *x);

#endif

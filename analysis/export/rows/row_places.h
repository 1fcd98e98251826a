/* row_places.h - the stage, block and step of an op or a call. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_ROWS_ROW_PLACES_H
#define VPA_ANALYSIS_EXPORT_ROWS_ROW_PLACES_H

#include "analysis/export/rows/table_parts.h"

/* The place at a moment in `own`, the innermost range of the thread, and `wide`, the innermost of its
 * process; NULL: none. */
struct vpa_rows_place vpa_rows_place_of(struct vpa_rows *x, const struct vpa_range *own,
	const struct vpa_range *wide, uint64_t at_ns);
void vpa_rows_place_free(struct vpa_rows *x);

#endif

/* cell_number.h - the number of a cell as people read it. */
#ifndef VPA_ANALYSIS_RENDER_HTML_CELL_NUMBER_H
#define VPA_ANALYSIS_RENDER_HTML_CELL_NUMBER_H

#include "analysis/base/numbers.h"
#include "analysis/render/json/fields.h"

/* Whether each cell has this unit beside its number; otherwise the head of the column has it. */
int vpa_html_is_unit_of_cells(const char *unit);

/* The number of a value of that kind. `unit` is that of the cell; NULL: none. `is_change`: it is a
 * difference, so one above 0 has a sign too. */
struct vpa_num vpa_html_number(const struct vpa_value *v, const char *unit, int is_change);

/* A moment on the trace clock as seconds from `from_ns` on, to the microsecond: "0.780803 s". */
struct vpa_num vpa_html_moment(const struct vpa_value *v, uint64_t from_ns);

#endif

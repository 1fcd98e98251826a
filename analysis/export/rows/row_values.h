/* row_values.h - reads rows of VPA_CAT_VALUES back: what an outlet with types of its own does. */
#ifndef VPA_ANALYSIS_EXPORT_ROWS_ROW_VALUES_H
#define VPA_ANALYSIS_EXPORT_ROWS_ROW_VALUES_H

#include "analysis/export/text_line.h"
#include "formats/base/text.h"

enum vpa_row_value_kind { VPA_ROW_NULL, VPA_ROW_INTEGER, VPA_ROW_NUMBER, VPA_ROW_TEXT };

struct vpa_row_value {
	enum vpa_row_value_kind kind;
	int64_t integer;
	double number; /* NUMBER, and INTEGER too: a whole number above INT64_MAX is a NUMBER */
	struct vpt_text
		text; /* valid UTF-8; borrowed from the rows or from `scratch`, until the next call */
};

/* Reads the value at *at, and moves *at behind the tab or line end after it. The rows are as cell_text.h writes them, and *at is
 * before their end. Sets scratch->failed where there is no memory. */
void vpa_row_value_read(
	const char **at, const char *end, struct vpa_line *scratch, struct vpa_row_value *out);

#endif

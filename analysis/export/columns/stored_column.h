/* stored_column.h - a column of a table in memory, in the layout of Arrow.
 *
 *	INTEGER  int64_t values[rows]    a bit for each value that is known
 *	NUMBER   double values[rows]     likewise
 *	TEXT     int32_t values[rows]    likewise; numbers of texts, which are kept once
 */
#ifndef VPA_ANALYSIS_EXPORT_COLUMNS_STORED_COLUMN_H
#define VPA_ANALYSIS_EXPORT_COLUMNS_STORED_COLUMN_H

#include "analysis/base/arena.h"
#include "analysis/export/rows/row_values.h"
#include "analysis/export/rows/table_columns.h"
#include "formats/chunk/strings.h"

#include <stddef.h>
#include <stdint.h>

/* All zeros has no rows. */
struct vpa_stored_column {
	struct vpa_table_column about; /* texts are the arena's */
	const char *metadata;          /* unit and help, in the form of Arrow */
	union {
		int64_t *integers;
		double *numbers;
		int32_t *ids;
		void *data;
	} values;
	uint8_t *known; /* a bit each, the first in the lowest */
	size_t cap, known_cap;
	uint64_t unknown;         /* values */
	struct vpt_strings texts; /* by id */
	int64_t *text_offsets;    /* of each text and the end of all, in texts.bytes */
};

/* A column without rows, which vpa_stored_column_free() frees. Its texts are copied into the arena; arena->failed tells whether there
 * was no memory. */
void vpa_stored_column_begin(
	struct vpa_stored_column *c, const struct vpa_table_column *about, struct vpa_arena *arena);
int vpa_stored_column_is_text(const struct vpa_stored_column *c); /* values.ids are its values */

/* Sets the value of row `row`, the next one. `raw`: the cell as it is written. 0 or VPT_ENOMEM. */
int vpa_stored_column_put(struct vpa_stored_column *c, uint64_t row, const struct vpa_row_value *v,
	struct vpt_text raw);
/* Reads row `row` of a table from *at, and moves that behind it; `scratch` keeps a value's text. 0 or VPT_ENOMEM. */
int vpa_stored_columns_read(struct vpa_stored_column *columns, size_t count, uint64_t row,
	const char **at, const char *end, struct vpa_line *scratch);
/* Makes text_offsets of a column of texts: Arrow wants them even where there are none. 0 or VPT_ENOMEM. */
int vpa_stored_column_end(struct vpa_stored_column *c);

/* Forgets all rows and texts; the next row is row 0. */
void vpa_stored_column_clear(struct vpa_stored_column *c);
void vpa_stored_column_free(struct vpa_stored_column *c);

#endif

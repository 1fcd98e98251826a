/* cell_text.h - rows of a batch as text: JSON lines or CSV.
 *
 * What does not change from row to row is formatted once: a column's label per run, a section's lane
 * per section, a string or a kernel configuration per chunk. A row is then mostly copying.
 */
#ifndef VPA_ANALYSIS_EXPORT_CELL_TEXT_H
#define VPA_ANALYSIS_EXPORT_CELL_TEXT_H

#include "analysis/export/chunk_names.h"
#include "formats/chunk/batch.h"
#include "formats/chunk/batch_stacks.h"

#include <stddef.h>
#include <stdint.h>

enum { VPA_CAT_LABEL = 32 };

/* How a column is shown. */
struct vpa_cat_column {
	char label[VPA_CAT_LABEL]; /* text before the value: `,"start_ns":` or `,` */
	uint8_t label_len, cell, unit;
};

struct vpa_cat_layout {
	const struct vpt_kind_desc *kind; /* NULL: not a kind */
	struct vpa_cat_column columns[VPT_COLUMNS_MAX];
};

struct vpa_cat {
	/* safe: for spreadsheets; clean: no control characters, for terminals. */
	int csv, safe, clean;
	/* Set after init: the file holds one kind of row, so JSON omits the kind; payloads are shown
	 * as values of their type. */
	int alone;
	struct vpa_cat_layout layouts[VPT_KIND_LIMIT];
	struct vpa_line out; /* the caller empties it */

	const struct vpt_batch *batch;
	const struct vpt_section *configs; /* of the batch; NULL: none */
	struct vpt_stacks stacks;
	struct vpa_chunk_lanes lanes;
	struct vpa_pieces string_pieces, config_pieces;
	struct vpa_line prefix;  /* of the section */
	struct vpa_line scratch; /* the text of a stack */
};

/* Sets up a zeroed `c`. `csv` 1: CSV, for one kind only; 0: JSON lines. */
void vpa_cat_init(struct vpa_cat *c, int csv, int safe, int clean);
void vpa_cat_free(struct vpa_cat *c);

/* The columns of a kind, in the order of its rows. `unit`: enum vpt_unit. */
typedef void vpa_cat_column_fn(void *ctx, const char *name, unsigned unit, const char *help);
void vpa_cat_columns(const struct vpt_kind_desc *kind, vpa_cat_column_fn *column, void *ctx);

/* The line above a CSV file. */
void vpa_cat_header(struct vpa_cat *c, const struct vpt_kind_desc *kind);

/* Select the batch, borrowed until the next one, and then the section of the rows that follow. */
void vpa_cat_batch(struct vpa_cat *c, const struct vpt_batch *batch);
void vpa_cat_section(struct vpa_cat *c, const struct vpt_section *s);
/* Appends one row of the section to c->out. */
void vpa_cat_row(struct vpa_cat *c, const struct vpt_section *s, uint32_t row);

/* The same in two parts, to add columns between them: `,"name":value` in JSON, `,value` in CSV. Pass
 * the result of the first to the second. A row may also begin with an added column: pass the
 * c->out.size before it. */
size_t vpa_cat_row_begin(struct vpa_cat *c, const struct vpt_section *s, uint32_t row);
void vpa_cat_row_end(struct vpa_cat *c, size_t begin);

/* Append a cell: text, or no value. */
void vpa_cat_text_cell(const struct vpa_cat *c, struct vpa_line *l, const char *text, size_t len);
void vpa_cat_null(const struct vpa_cat *c, struct vpa_line *l);

/* VPT_ENOMEM if anything has failed so far, else 0. */
int vpa_cat_error(const struct vpa_cat *c);

#endif

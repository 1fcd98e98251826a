/* cat.h - rows of a batch as text: JSON lines or CSV.
 *
 * What does not change from row to row is made once: a column's label for the whole run, a
 * section's lane, a string and a kernel configuration for the chunk. A row is then mostly copying.
 */
#ifndef VPA_ANALYSIS_EXPORT_CAT_H
#define VPA_ANALYSIS_EXPORT_CAT_H

#include "analysis/export/chunk_names.h"
#include "formats/batch.h"

#include <stddef.h>
#include <stdint.h>

enum { VPA_CAT_LABEL = 32 };

/* How a column is shown. */
struct vpa_cat_column {
	char label[VPA_CAT_LABEL]; /* what stands before the value: `,"start_ns":` or `,` */
	uint8_t label_len, cell, unit;
};

struct vpa_cat_layout {
	const struct vpt_kind_desc *kind; /* NULL: not a kind */
	struct vpa_cat_column columns[VPT_COLUMNS_MAX];
};

struct vpa_cat {
	int csv, safe,
		clean; /* safe: for spreadsheets; clean: no control characters, for terminals */
	int alone; /* set after init: a file holds rows of one kind, so JSON does not say which; payloads are
		    * shown as what they are */
	struct vpa_cat_layout layouts[VPT_KIND_LIMIT];
	struct vpa_line out; /* the caller empties it */

	const struct vpt_batch *batch;
	const struct vpt_section *configs; /* of the batch; NULL: none */
	struct vpa_chunk_lanes lanes;
	struct vpa_pieces string_pieces, config_pieces;
	struct vpa_line prefix; /* of the section */
};

/* All zeros, then this. `csv`: one kind only, else JSON lines. */
void vpa_cat_init(struct vpa_cat *c, int csv, int safe, int clean);
void vpa_cat_free(struct vpa_cat *c);

/* The columns of a kind, in the order of its rows. `unit`: enum vpt_unit. */
typedef void vpa_cat_column_fn(void *ctx, const char *name, unsigned unit, const char *help);
void vpa_cat_columns(const struct vpt_kind_desc *kind, vpa_cat_column_fn *column, void *ctx);

/* The line above a CSV file. */
void vpa_cat_header(struct vpa_cat *c, const struct vpt_kind_desc *kind);

/* What follows is of this batch, borrowed until the next one; then of this section. */
void vpa_cat_batch(struct vpa_cat *c, const struct vpt_batch *batch);
void vpa_cat_section(struct vpa_cat *c, const struct vpt_section *s);
/* Appends one row of the section to c->out. */
void vpa_cat_row(struct vpa_cat *c, const struct vpt_section *s, uint32_t row);

/* The same in two parts, for who adds columns between them: `,"name":value` in JSON, `,value` in CSV. The latter takes
 * what the former returned; a row may also begin with an added column, at c->out.size. */
size_t vpa_cat_row_begin(struct vpa_cat *c, const struct vpt_section *s, uint32_t row);
void vpa_cat_row_end(struct vpa_cat *c, size_t begin);

/* A cell's text: a number, text, or what stands for nothing. */
void vpa_cat_text_cell(const struct vpa_cat *c, struct vpa_line *l, const char *text, size_t len);
void vpa_cat_null(const struct vpa_cat *c, struct vpa_line *l);

/* VPT_ENOMEM if anything failed so far. */
int vpa_cat_error(const struct vpa_cat *c);

#endif

/* cell_text.h - rows of a batch as text: JSON lines, CSV, or values for a reader of ours.
 *
 * What does not change from row to row is formatted once: a column's label per run, a section's lane and the
 * columns in which all its rows agree per section, a string or a kernel configuration per chunk. A row is then
 * mostly copying. */
#ifndef VPA_ANALYSIS_EXPORT_CELL_TEXT_H
#define VPA_ANALYSIS_EXPORT_CELL_TEXT_H

#include "analysis/export/chunk_names.h"
#include "analysis/export/text_line.h"
#include "formats/chunk/batch.h"
#include "formats/chunk/batch_stacks.h"

#include <stddef.h>
#include <stdint.h>

enum { VPA_CAT_LABEL = 32, VPA_CAT_WORDS = 256 };

/* How a row is written. */
enum vpa_cat_form {
	VPA_CAT_JSON,
	VPA_CAT_CSV,
	VPA_CAT_VALUES /* JSON values with a tab between them: no tab or line end is inside one */
};

/* The text before a value: `,"start_ns":` or `,`. */
struct vpa_label {
	char text[VPA_CAT_LABEL];
	uint8_t len;
};

/* How a column is shown. */
struct vpa_cat_column {
	struct vpa_label label;
	uint8_t cell, unit;
};

/* A word of events.def as a cell. */
struct vpa_cat_word {
	uint64_t number;
	uint8_t unit, len; /* len 0: none yet */
	char text[VPA_LINE_SLACK];
};

struct vpa_cat_layout {
	const struct vpt_kind_desc *kind; /* NULL: not a kind */
	struct vpa_cat_column columns[VPT_COLUMNS_MAX];
};

/* Text that all rows of a section have, and the column whose value follows it. */
struct vpa_cat_part {
	size_t begin, len; /* in the section's text */
	unsigned column;   /* VPT_COLUMNS_MAX: none, the row ends here */
};

struct vpa_cat {
	enum vpa_cat_form form;
	/* safe: for spreadsheets; clean: no control characters, for terminals. */
	int csv, safe, clean;
	/* Set after init: the file holds one kind of row, so JSON omits the kind; payloads are shown
	 * as values of their type. */
	int alone;
	struct vpa_cat_layout layouts[VPT_KIND_LIMIT];

	const struct vpt_batch *batch;
	const struct vpt_section *configs; /* of the batch; NULL: none */
	struct vpt_stacks stacks;
	struct vpa_chunk_lanes lanes;
	struct vpa_pieces string_pieces, config_pieces;
	struct vpa_line section; /* its text */
	struct vpa_cat_part parts[VPT_COLUMNS_MAX + 1];
	size_t row_bytes;        /* of the parts and of numbers between them, at most */
	struct vpa_line scratch; /* the text of a stack */
	struct vpa_cat_word words[VPA_CAT_WORDS]; /* the last of each hash */
};

/* Sets up a zeroed `c`. CSV and values are for one kind only. */
void vpa_cat_init(struct vpa_cat *c, enum vpa_cat_form form, int safe, int clean);
void vpa_cat_free(struct vpa_cat *c);

/* The columns that show the lane of a section of this kind, up to one without a name. */
struct vpa_lane_column {
	const char *name; /* NULL ends the list */
	int column;       /* of LANE; -1: the lane as one text */
};
const struct vpa_lane_column *vpa_lane_columns(const struct vpt_kind_desc *kind);

/* The columns of a kind, in the order of its rows. `unit`: enum vpt_unit. */
typedef void vpa_cat_column_fn(void *ctx, const char *name, unsigned unit, const char *help);
void vpa_cat_columns(const struct vpt_kind_desc *kind, vpa_cat_column_fn *column, void *ctx);

/* The line above a CSV file. */
void vpa_cat_header(const struct vpt_kind_desc *kind, struct vpa_line *l);

/* Select the batch, borrowed until the next one, and then the section of the rows that follow. */
void vpa_cat_batch(struct vpa_cat *c, const struct vpt_batch *batch);
void vpa_cat_section(struct vpa_cat *c, const struct vpt_section *s);
/* Appends one row of the section to the line. */
void vpa_cat_row(struct vpa_cat *c, const struct vpt_section *s, uint32_t row, struct vpa_line *l);

/* The same in two parts, to append cells between them. The second also ends a row that has only such
 * cells. */
void vpa_cat_row_begin(
	struct vpa_cat *c, const struct vpt_section *s, uint32_t row, struct vpa_line *l);
void vpa_cat_row_end(const struct vpa_cat *c, struct vpa_line *l);

/* The label of a cell that is appended so. `is_first`: of a row's first cell. */
struct vpa_label vpa_cat_label(const struct vpa_cat *c, const char *name, int is_first);
/* Labels and numbers are short: copying a fixed size and adding the real one takes a third of the time
 * of a copy of unknown length. */
static inline void vpa_cat_put_label(struct vpa_line *l, const struct vpa_label *label)
{
	char *to = vpa_line_room(l, VPA_CAT_LABEL);

	if (!to)
		return;
	memcpy(to, label->text, VPA_CAT_LABEL);
	l->size += label->len;
}

/* Append a cell's value: text, or none. */
void vpa_cat_text_cell(const struct vpa_cat *c, struct vpa_line *l, const char *text, size_t len);
void vpa_cat_null(const struct vpa_cat *c, struct vpa_line *l);

/* VPT_ENOMEM if anything but a caller's line has failed so far, else 0. */
int vpa_cat_error(const struct vpa_cat *c);

/* ---- stack_text.c: stacks and frames of a chunk as text ---- */

/* Appends a frame as "function (file:line)", without what is unknown. */
void vpa_frame_text(struct vpa_line *l, const struct vpt_batch *b, const struct vpt_frame *frame);

/* Appends a stack, outermost frame first: "main (train.py:12);forward (model.py:40)". A text of more
 * than VPT_STRING_MAX bytes has "..." in place of its outer frames. */
void vpa_stack_text(struct vpa_line *l, const struct vpt_stacks *s, uint64_t stack);

#endif

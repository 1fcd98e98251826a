/* cells.h - an export as tables in the making, and what its tables have in common. For this folder alone.
 *
 *	chunk  --> rows.c     rows as they are, by cat.c
 *	ops    --> ops.c      rows of kernels and copies wait here for what launched them
 *	ranges --> place.c    where among stages, blocks and steps an op or a call stands
 *	report --> schema.c   what the columns are
 */
#ifndef VPA_ANALYSIS_EXPORT_ROWS_CELLS_H
#define VPA_ANALYSIS_EXPORT_ROWS_CELLS_H

#include "analysis/export/cat.h"
#include "analysis/export/exporter.h"
#include "analysis/index.h"

/* A column that the analysis adds. */
struct vpa_rows_column {
	const char *name;
	uint8_t unit; /* enum vpt_unit */
	const char *help;
};

/* Tables that are of the analysis alone. */
enum { VPA_ROWS_GAP, VPA_ROWS_PROJECTION, VPA_ROWS_OWN };

/* A table, and the file it goes to. */
struct vpa_rows_table {
	const char *name, *help;
	const struct vpt_kind_desc *kind;      /* its columns come first; NULL: none */
	const struct vpa_rows_column *columns; /* ends with one that has no name; NULL: none */
	struct vpa_line out;
	struct vpa_export_file *file;
	uint64_t rows;
};

enum { VPA_ROWS_TABLES_MAX = VPT_KIND_LIMIT + VPA_ROWS_OWN };

/* Where something stands among ranges. */
struct vpa_rows_place {
	uint32_t range;      /* name of the innermost; 0: none */
	uint32_t stage;      /* 1 + text in vpa_rows.stages; 0: none */
	int64_t block, step; /* -1: none */
};

struct vpa_rows_ops;

struct vpa_rows {
	const struct vpa_export_context *c;
	struct vpa_tap_view view; /* c->view */
	struct vpa_cat cat;
	struct vpa_rows_table tables[VPA_ROWS_TABLES_MAX];
	size_t table_count;
	struct vpa_rows_table *by_kind[VPT_KIND_LIMIT]; /* NULL: has none */
	struct vpa_rows_table *own[VPA_ROWS_OWN];

	struct vpa_index threads, streams; /* the model's, by key */
	struct vpa_rows_ops *ops;

	struct vpt_strings stages;
	struct vpa_rows_asked { /* last, and what it came to */
		const struct vpa_range *own, *wide;
		uint64_t at_ns, until_ns; /* for a launch in [at, until) it is that */
		/* Another range may get its place in memory. */
		uint64_t own_start_ns, wide_start_ns;
		uint32_t own_name, wide_name;
		struct vpa_rows_place place;
	} last;
};

/* A cell that the analysis adds to a line. NULL is nothing, and so is an index below 0. */
void vpa_rows_text(
	struct vpa_rows *x, struct vpa_line *l, const char *name, const char *text, size_t len);
void vpa_rows_name(struct vpa_rows *x, struct vpa_line *l, const char *name, uint32_t id);
void vpa_rows_number(struct vpa_rows *x, struct vpa_line *l, const char *name, uint64_t value);
void vpa_rows_signed(struct vpa_rows *x, struct vpa_line *l, const char *name, int64_t value);
void vpa_rows_index(struct vpa_rows *x, struct vpa_line *l, const char *name, int64_t index);
void vpa_rows_nothing(struct vpa_rows *x, struct vpa_line *l, const char *name);
/* Four cells: range, stage, block, step. */
void vpa_rows_put_place(struct vpa_rows *x, struct vpa_line *l, const struct vpa_rows_place *place);

/* Whether a row touches the window. */
int vpa_rows_in_window(const struct vpa_rows *x, const struct vpt_section *s, uint32_t row);

/* The model's number of a lane; VPA_NONE: unknown. */
uint32_t vpa_rows_stream(struct vpa_rows *x, uint64_t key);
uint32_t vpa_rows_thread(struct vpa_rows *x, uint64_t key);

#endif

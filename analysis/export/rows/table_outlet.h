/* table_outlet.h - where the rows of tables go: files of a folder, a database, columns in memory.
 *
 * The walk over a trace makes rows as text (cell_text.h), in the form that the outlet asks for, and hands them over many at
 * a time. An outlet that wants values reads them back with row_values.h: text is what cells are kept in, since most of a row's cells
 * are those of the row before.
 *
 * To add one: a file with one exported outlet and an exporter that begins the pass with it. */
#ifndef VPA_ANALYSIS_EXPORT_ROWS_TABLE_OUTLET_H
#define VPA_ANALYSIS_EXPORT_ROWS_TABLE_OUTLET_H

#include "analysis/export/rows/table_parts.h"

/* Functions return 0 or an error code; its sentence is in x->c->err, except for VPT_ENOMEM. */
struct vpa_rows_outlet {
	const char *format; /* of schema.json; NULL: it writes none */
	enum vpa_cat_form form;
	int has_report; /* 1: tables of the report are wanted unless left out */
	/* A table whose columns are known; sets t->target. */
	int (*open)(struct vpa_rows *x, struct vpa_rows_table *t);
	/* Takes whole rows. */
	int (*put)(struct vpa_rows *x, struct vpa_rows_table *t, const char *rows, size_t size);
	/* After all rows of all tables. */
	int (*end)(struct vpa_rows *x);
	/* Frees x->outlet_state and the targets; also after a failure. NULL: nothing to free. */
	void (*free)(struct vpa_rows *x);
};

/* The short names of tables, {name, table}: those that people ask for most. "ops" is the kernels and copies together. */
#define VPA_SHORT_NAMES                                                                            \
	{"calls", "call"}, {"ranges", "range"}, {"gaps", "gap"}, {"causes", "idle"},               \
		{"requests", "report_requests"}, {"blocks", "report_requests_blocks_series"},      \
		{"stages", "report_stages"}, {"stacks", "stack"},                                  \
	{                                                                                          \
		"steps", "report_marked_steps_series"                                              \
	}

/* Begins the pass of an exporter whose state is a struct vpa_rows. 0 or an error code. */
int vpa_rows_begin_pass(struct vpa_rows *x, const struct vpa_export_context *c,
	const struct vpa_rows_outlet *outlet);

/* The other functions of such an exporter. */
int vpa_rows_take_chunk(void *state, const struct vpt_batch *b, uint64_t times_from_ns);
int vpa_rows_take_ops(void *state, const struct vpa_ops *ops);
int vpa_rows_take_gap(void *state, const struct vpa_gap *gap);
int vpa_rows_take_range(void *state, const struct vpa_range *range);
int vpa_rows_take_end(void *state);
void vpa_rows_free_state(void *state);

#define VPA_ROWS_PASS                                                                              \
	.state_bytes = sizeof(struct vpa_rows), .chunk = vpa_rows_take_chunk,                      \
	.ops = vpa_rows_take_ops, .instants = vpa_rows_take_ops, .gap = vpa_rows_take_gap,         \
	.range = vpa_rows_take_range, .end = vpa_rows_take_end, .free = vpa_rows_free_state,       \
	.tables = vpa_tables_each

#endif

/* table_parts.h - the state of an export as tables, and what its tables share. Private to exports of rows.
 *
 *	chunk  --> rows_export.c   rows unchanged, by cell_text.c
 *	ops    --> op_rows.c       rows of kernels and copies, held until their launches are known
 *	ranges --> row_places.c    the stage, block and step of an op or a call
 *	report --> report_rows.c   its tables; stack_tables.c those of stacks
 *	rows   --> table_outlet.h  files, a database, columns in memory
 */
#ifndef VPA_ANALYSIS_EXPORT_ROWS_TABLE_PARTS_H
#define VPA_ANALYSIS_EXPORT_ROWS_TABLE_PARTS_H

#include "analysis/base/arena.h"
#include "analysis/base/index.h"
#include "analysis/export/cell_text.h"
#include "analysis/export/exported_rows.h"
#include "analysis/export/rows/table_columns.h"
#include "analysis/render/fields/fields.h"

/* ---- report_tables.c: the tables of a report: one row of all its single values, and each array of its objects.
 *
 *	"devices": [{"device": 0, "causes": [{...}, {...}]}]     report_devices         row 0
 *	                                                         report_devices_causes  rows 0 and 1, of_row 0
 *
 * Names are those of the JSON report, joined by "_": "report_blocks_series" is "blocks.series" there. An object inside a row
 * gives columns in the same way, with "__" where one of that name is there already. What has no place in a row is left out:
 * objects whose keys are data. */

#define VPA_REPORT_TABLE "report" /* of the single values */

enum { VPA_REPORT_TABLES_MAX = 96, VPA_REPORT_TABLE_NAME = 64 };

struct vpa_report_table {
	char name[VPA_REPORT_TABLE_NAME];
	const char *help;
	const struct vpa_fields *fields; /* of its rows */
	int owner;                       /* the table whose rows enclose its rows; -1: none */
};

struct vpa_report_tables {
	struct vpa_report_table at[VPA_REPORT_TABLES_MAX];
	size_t count;
};

void vpa_report_tables_find(struct vpa_report_tables *t);
/* The number of the table of that name; -1: there is none. */
int vpa_report_tables_named(const struct vpa_report_tables *t, const char *name);

/* Appends "_" and the key to a name, in room for `size` bytes; returns the name's former length. An empty name gets the key
 * alone. */
size_t vpa_report_name_put(char *name, size_t size, const char *key);

/* The columns of a table, in the order in which report_rows.c writes its cells; names are in the arena. */
void vpa_report_table_columns(const struct vpa_report_tables *t, size_t number,
	struct vpa_arena *names, struct vpa_table_columns *out);

/* A column that the analysis adds. */
struct vpa_rows_column {
	const char *name;
	uint8_t unit; /* enum vpt_unit */
	const char *help;
};

enum { VPA_ROWS_COLUMNS_MAX = 16 };

/* Tables of analysis results. */
enum {
	VPA_ROWS_GAP,
	VPA_ROWS_IDLE,
	VPA_ROWS_PROJECTION,
	VPA_ROWS_STACK,
	VPA_ROWS_STACK_TIME,
	VPA_ROWS_OWN
};

/* A table, and where it goes. */
struct vpa_rows_table {
	const char *name, *help;
	const struct vpt_kind_desc *kind;              /* its columns come first; NULL: none */
	const struct vpa_rows_column *columns;         /* ends with a NULL name; NULL: none */
	struct vpa_label labels[VPA_ROWS_COLUMNS_MAX]; /* of these columns */
	struct vpa_table_columns all;                  /* all columns */
	struct vpa_line out;
	void *target;     /* of the outlet */
	const char *file; /* in a folder; NULL: the outlet writes none */
	uint64_t rows;
};

enum { VPA_ROWS_TABLES_MAX = VPT_KIND_LIMIT + VPA_ROWS_OWN + VPA_REPORT_TABLES_MAX };

/* The position of an op or a call among ranges. */
struct vpa_rows_place {
	uint32_t range;      /* name of the innermost; 0: none */
	uint32_t stage;      /* 1 + text in vpa_rows.stages; 0: none */
	int64_t block, step; /* -1: none */
};

struct vpa_rows_ops;
struct vpa_rows_outlet;

struct vpa_rows {
	const struct vpa_export_context *c;
	const struct vpa_rows_outlet *outlet;
	void *outlet_state;
	struct vpa_observer_view view; /* c->view */
	struct vpa_cat cat;
	struct vpa_rows_table tables[VPA_ROWS_TABLES_MAX];
	size_t table_count;
	/* NULL: there is none, or it is left out. */
	struct vpa_rows_table *by_kind[VPT_KIND_LIMIT];
	struct vpa_rows_table *own[VPA_ROWS_OWN];
	struct vpa_report_tables report_tables;
	struct vpa_rows_table *of_report[VPA_REPORT_TABLES_MAX]; /* by number of report_tables */

	struct vpa_index threads, streams; /* the model's, by key */
	struct vpa_rows_ops *ops;
	struct vpa_arena texts; /* names and words of columns */
	int failed;             /* no memory */

	/* Cells that are the same in many rows. */
	struct vpa_pieces names;  /* by name of the model, without labels */
	struct vpa_pieces causes; /* by cause, likewise */
	struct vpa_pieces
		roles; /* two cells, by string of the chunk: of ranges without annotation */
	struct vpa_rows_place_text {
		struct vpa_rows_place place;
		struct vpa_line text; /* four cells; empty: none yet */
	} last_place;
	struct vpa_rows_thread_text {
		uint32_t thread, name;
		struct vpa_line text; /* three cells; empty: none yet */
	} last_thread;

	struct vpt_strings stages;
	struct vpa_rows_asked { /* the last question and its answer */
		const struct vpa_range *own, *wide;
		uint64_t at_ns, until_ns; /* the answer holds for launches in [at, until) */
		/* Guard against another range at the same address. */
		uint64_t own_start_ns, wide_start_ns;
		uint32_t own_name, wide_name;
		struct vpa_rows_place place;
	} last;
};

/* A row while the cells that the analysis adds are appended, in the order of their table's columns. */
struct vpa_rows_row {
	struct vpa_rows *x;
	struct vpa_rows_table *table;
	struct vpa_line *l;            /* the table's */
	const struct vpa_label *label; /* of the next cell */
};

/* Begins a row of the table, or goes on with one whose cells of a kind are already there. */
struct vpa_rows_row vpa_rows_begin(struct vpa_rows *x, struct vpa_rows_table *t);
/* Ends it, and hands over what has gathered if that is much. 0 or an error code. */
int vpa_rows_end(struct vpa_rows_row *r);
/* The same for a row whose line end is already there. */
int vpa_rows_ended(struct vpa_rows *x, struct vpa_rows_table *t);
/* Hands the table's rows to the outlet, if they have at least this many bytes. 0 or an error code. */
int vpa_rows_flush(struct vpa_rows *x, struct vpa_rows_table *t, size_t at_least);

/* Append a cell. A NULL text or an index below 0 gives no value. */
void vpa_rows_text(struct vpa_rows_row *r, const char *text, size_t len);
void vpa_rows_words(struct vpa_rows_row *r, const char *words);
void vpa_rows_name(struct vpa_rows_row *r, uint32_t id);
void vpa_rows_cause(struct vpa_rows_row *r, enum vpa_cause cause);
void vpa_rows_number(struct vpa_rows_row *r, uint64_t value);
void vpa_rows_signed(struct vpa_rows_row *r, int64_t value);
void vpa_rows_index(struct vpa_rows_row *r, int64_t index);
void vpa_rows_nothing(struct vpa_rows_row *r, unsigned cells);
/* Three cells: call_pid, call_tid, thread. */
void vpa_rows_put_thread(struct vpa_rows_row *r, uint32_t thread);
/* Four cells: range, stage, block, step. */
void vpa_rows_put_place(struct vpa_rows_row *r, const struct vpa_rows_place *place);

/* A line of Python. */
struct vpa_rows_line {
	struct vpt_text function, file;
	uint64_t number; /* 0: unknown */
	double share;
	int is_known;
};
/* Four cells: function, file, line, line_share. */
void vpa_rows_put_line(struct vpa_rows_row *r, const struct vpa_rows_line *line);
/* The cell "place": a place of struct vpa_cause_piece, as the report writes it. */
void vpa_rows_place_cell(struct vpa_rows_row *r, uint32_t place);

/* The model's number for a lane; VPA_NONE: unknown. */
uint32_t vpa_rows_stream(struct vpa_rows *x, uint64_t key);
uint32_t vpa_rows_thread(struct vpa_rows *x, uint64_t key);

/* ---- rows of kernels and copies, with what the pass finds about them: op_rows.c ---- */

/* The columns that the analysis adds. */
extern const struct vpa_rows_column vpa_rows_kernel_columns[];
extern const struct vpa_rows_column *const vpa_rows_copy_columns;

/* All return 0 or an error code. */
int vpa_rows_ops_new(struct vpa_rows *x);
void vpa_rows_ops_free(struct vpa_rows *x);
int vpa_rows_ops_add(struct vpa_rows *x, const struct vpt_section *s);
int vpa_rows_ops_join(struct vpa_rows *x, const struct vpa_ops *ops);
int vpa_rows_ops_release(struct vpa_rows *x, uint64_t until_ns);

/* ---- tables of Python stacks: stack_tables.c ---- */

extern const struct vpa_rows_column vpa_rows_stack_columns[], vpa_rows_stack_time_columns[];

/* Writes their rows, after all of the trace. 0 or an error code. */
int vpa_rows_put_stacks(struct vpa_rows *x);

/* ---- the tables: rows_export.c, of the report report_rows.c ---- */

/* Calls `each` for every table that an export can have, in order; `is_report` 1: one of the report. Returns VPT_ENOMEM, or
 * the first result that is not 0. */
int vpa_tables_each(int (*each)(void *ctx, const char *name, int is_report), void *ctx);
/* Writes the rows of all tables of the report that are wanted. 0 or an error code. */
int vpa_report_rows(struct vpa_rows *x);

#endif

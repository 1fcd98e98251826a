/* parts.h - the parts of an export as tables. For this folder alone.
 *
 *	chunk  --> rows.c     rows as they are, by cat.c
 *	ops    --> ops.c      rows of kernels and copies wait here for what launched them
 *	ranges --> place.c    where among stages, blocks and steps an op or a call stands
 *	all    --> folder.c   files of the folder, compressed
 *	report --> schema.c   what the columns are
 */
#ifndef VPA_ANALYSIS_EXPORT_ROWS_PARTS_H
#define VPA_ANALYSIS_EXPORT_ROWS_PARTS_H

#include "analysis/export/cat.h"
#include "analysis/export/rows/rows.h"
#include "analysis/index.h"
#include "analysis/stages.h"
#include "analysis/tap.h"

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
	struct vpa_rows_file *file;
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
	const struct vpt_trace *trace;
	const struct vpa_export_options *options;
	enum vpa_rows_format format;
	struct vpa_tap tap;
	struct vpa_tap_view view;
	struct vpt_err err;
	struct vpa_export_totals totals;
	int windowed;
	struct vpa_cat cat;
	struct vpa_rows_folder *folder;
	struct vpa_rows_table tables[VPA_ROWS_TABLES_MAX];
	size_t table_count;
	struct vpa_rows_table *by_kind[VPT_KIND_LIMIT]; /* NULL: has none */
	struct vpa_rows_table *own[VPA_ROWS_OWN];

	struct vpa_index threads, streams; /* the model's, by key */
	struct vpa_rows_ops *ops;

	struct vpt_strings stages;
	struct vpa_rows_known *known; /* what a name says, by name */
	size_t known_cap;
	struct vpa_rows_asked { /* last, and what it came to */
		const struct vpa_range *own, *wide;
		uint64_t at_ns, until_ns; /* for a launch in [at, until) it is that */
		uint64_t own_start_ns,
			wide_start_ns; /* another range may get its place in memory */
		uint32_t own_name, wide_name;
		struct vpa_rows_place place;
	} last;
};

/* ---- rows.c: cells that the analysis adds, to a line ---- */

void vpa_rows_text(struct vpa_rows *x, struct vpa_line *l, const char *name, const char *text,
	size_t len); /* NULL: unknown */
void vpa_rows_name(struct vpa_rows *x, struct vpa_line *l, const char *name, uint32_t id);
void vpa_rows_number(struct vpa_rows *x, struct vpa_line *l, const char *name, uint64_t value);
void vpa_rows_signed(struct vpa_rows *x, struct vpa_line *l, const char *name, int64_t value);
void vpa_rows_nothing(struct vpa_rows *x, struct vpa_line *l, const char *name);
/* range, stage, block, step */
void vpa_rows_put_place(struct vpa_rows *x, struct vpa_line *l, const struct vpa_rows_place *place);
extern const struct vpa_rows_column vpa_rows_kernel_columns[];
extern const struct vpa_rows_column *const vpa_rows_copy_columns;

int vpa_rows_in_window(const struct vpa_rows *x, const struct vpt_section *s, uint32_t row);
/* The model's number of a lane; VPA_NONE: unknown. */
uint32_t vpa_rows_stream(struct vpa_rows *x, uint64_t key);

/* ---- ops.c: all return 0 or why not ---- */

int vpa_rows_ops_new(struct vpa_rows *x);
void vpa_rows_ops_free(struct vpa_rows *x);
int vpa_rows_ops_add(struct vpa_rows *x, const struct vpt_section *s);
int vpa_rows_ops_join(struct vpa_rows *x, const struct vpa_ops *ops);
int vpa_rows_ops_release(struct vpa_rows *x, uint64_t until_ns);

/* ---- place.c ---- */

/* At a moment, in the innermost range of a thread and the innermost of its process; NULL: none. */
struct vpa_rows_place vpa_rows_place_of(struct vpa_rows *x, const struct vpa_range *own,
	const struct vpa_range *wide, uint64_t at_ns);
/* What a range itself is; *name is then its stage's. */
struct vpa_stage_label vpa_rows_label(struct vpa_rows *x, const struct vpa_range *range);
struct vpa_stage_label vpa_rows_label_of(
	struct vpa_rows *x, struct vpt_text name, struct vpt_text payload);
void vpa_rows_place_free(struct vpa_rows *x);

/* ---- folder.c ---- */

/* Makes the folder under a name of its own beside `path`. The caller frees it, which removes all that was not committed. */
int vpa_rows_folder_new(const char *path, int force, enum vpt_container container, int level,
	struct vpa_rows_folder **out, struct vpt_err *err);
void vpa_rows_folder_free(struct vpa_rows_folder *f); /* accepts NULL */

/* A new file; those of a name that is no table's are never compressed. It is the folder's. */
int vpa_rows_file_new(struct vpa_rows_folder *f, const char *name, int packed,
	struct vpa_rows_file **out, struct vpt_err *err);
int vpa_rows_file_put(
	struct vpa_rows_file *file, const void *data, size_t size, struct vpt_err *err);
const char *vpa_rows_file_name(const struct vpa_rows_file *file); /* as in the folder */

/* Ends all files and gives the folder its name. *bytes: what they hold together. */
int vpa_rows_folder_commit(struct vpa_rows_folder *f, uint64_t *bytes, struct vpt_err *err);

/* Whether `path` is free, or holds such an export that may be replaced. */
int vpa_rows_folder_check(const char *path, int force, struct vpt_err *err);

/* ---- schema.c: the whole of schema.json ---- */

int vpa_rows_schema(struct vpa_rows *x, struct vpt_sink *sink, struct vpt_err *err);

#endif

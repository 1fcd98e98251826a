/* op_rows.h - joins rows of kernels and copies with what the pass finds about them. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_ROWS_OP_ROWS_H
#define VPA_ANALYSIS_EXPORT_ROWS_OP_ROWS_H

#include "analysis/export/rows/table_parts.h"

/* The columns that the analysis adds. */
extern const struct vpa_rows_column vpa_rows_kernel_columns[];
extern const struct vpa_rows_column *const vpa_rows_copy_columns;

/* All return 0 or an error code. */
int vpa_rows_ops_new(struct vpa_rows *x);
void vpa_rows_ops_free(struct vpa_rows *x);
int vpa_rows_ops_add(struct vpa_rows *x, const struct vpt_section *s);
int vpa_rows_ops_join(struct vpa_rows *x, const struct vpa_ops *ops);
int vpa_rows_ops_release(struct vpa_rows *x, uint64_t until_ns);

#endif

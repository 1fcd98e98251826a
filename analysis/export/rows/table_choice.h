/* table_choice.h - which tables of an export are wanted: --only and --without. */
#ifndef VPA_ANALYSIS_EXPORT_ROWS_TABLE_CHOICE_H
#define VPA_ANALYSIS_EXPORT_ROWS_TABLE_CHOICE_H

#include "analysis/export/exporter.h"

/* Whether a table is wanted. `usual`: unless one of both lists says otherwise. */
int vpa_table_is_chosen(const struct vpa_export_options *o, const char *name, int usual);

/* VPT_EINVAL, with a sentence, unless every name of the list is that of a table of the exporter; or VPT_ENOMEM. */
int vpa_tables_named(const struct vpa_exporter *e, const char *list, struct vpt_err *err);

/* The same of both lists of the options, which cannot be combined. */
int vpa_tables_check(
	const struct vpa_exporter *e, const struct vpa_export_options *o, struct vpt_err *err);

#endif

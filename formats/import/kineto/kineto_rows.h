/* kineto_rows.h - passes each element of traceEvents to the function that makes its row. */
#ifndef VPT_FORMATS_IMPORT_KINETO_KINETO_ROWS_H
#define VPT_FORMATS_IMPORT_KINETO_KINETO_ROWS_H

#include "formats/import/kineto/kineto_import.h"
#include "formats/import/kineto/text/kineto_value.h"

/* Puts one element of traceEvents, or counts why it did not. */
void vpt_kineto_rows_event(struct vpt_kineto_rows *r, const struct vpt_kineto_value *event);

/* Whether an event of this phase and category would only be counted as skipped. */
int vpt_kineto_rows_needless(
	const struct vpt_kineto_rows *r, struct vpt_text phase, struct vpt_text category);

#endif

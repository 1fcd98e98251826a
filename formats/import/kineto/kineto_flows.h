/* kineto_flows.h - uses the file's arrows as correlation ids for rows that have none. */
#ifndef VPT_FORMATS_IMPORT_KINETO_KINETO_FLOWS_H
#define VPT_FORMATS_IMPORT_KINETO_KINETO_FLOWS_H

#include "formats/import/kineto/event/kineto_event.h"

/* Puts a row of KERNEL, COPY or CALL. A row without a correlation id waits for an arrow. */
void vpt_kineto_put_joined(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e,
	enum vpt_kind kind, uint64_t lane, const void *row);

/* Records one end of an arrow, unless it lacks a needed member. */
void vpt_kineto_flow(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e);

/* Call at the end of the file: puts the waiting rows with the ids that were found. */
void vpt_kineto_flows_end(struct vpt_kineto_rows *r);
void vpt_kineto_flows_free(struct vpt_kineto_flows *f);

#endif

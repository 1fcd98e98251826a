/* kineto_flows.h - arrows that stand for correlation ids where rows have none. */
#ifndef VPT_FORMATS_IMPORT_KINETO_FLOWS_H
#define VPT_FORMATS_IMPORT_KINETO_FLOWS_H

#include "formats/import/kineto_event.h"

/* Puts a row of KERNEL, COPY or CALL; one whose event has no correlation id waits for an arrow. */
void vpt_kineto_put_joined(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e,
	enum vpt_kind kind, uint64_t lane, const void *row);

/* Takes one end of an arrow, unless it lacks what it needs. */
void vpt_kineto_flow(struct vpt_kineto_rows *r, const struct vpt_kineto_event *e);

/* The file is read: puts what waits, with the ids that were found. */
void vpt_kineto_flows_end(struct vpt_kineto_rows *r);
void vpt_kineto_flows_free(struct vpt_kineto_flows *f);

#endif

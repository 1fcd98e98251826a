/* kineto_parts.h - what becomes of a file: its events, and what it says about itself, each in a file of its own. */
#ifndef VPT_FORMATS_IMPORT_KINETO_KINETO_PARTS_H
#define VPT_FORMATS_IMPORT_KINETO_KINETO_PARTS_H

#include "formats/import/kineto/event/kineto_import.h"
#include "formats/import/kineto/text/kineto_value.h"

/* ---- each element of traceEvents, passed to the function that makes its row: kineto_rows.c ---- */

/* Puts one element of traceEvents, or counts why it did not. */
void vpt_kineto_rows_event(struct vpt_kineto_rows *r, const struct vpt_kineto_value *event);

/* Whether an event of this phase and category would only be counted as skipped. */
int vpt_kineto_rows_needless(
	const struct vpt_kineto_rows *r, struct vpt_text phase, struct vpt_text category);

/* ---- members of the document beside its events: kineto_about.c ---- */

/* "traceEvents" and the members that are needed, NULL after the last. */
extern const char *const vpt_kineto_about_names[];

/* Whether a member with this name is needed. Takes its value, borrowed, if it is. */
int vpt_kineto_about_knows(const char *name);
void vpt_kineto_about(
	struct vpt_kineto_rows *r, const char *name, const struct vpt_kineto_value *value);

/* ---- the GPUs that it describes: kineto_devices.c ---- */

/* Puts deviceProperties: an array of objects, one per GPU. Anything else gives no rows. */
void vpt_kineto_devices(struct vpt_kineto_rows *r, const struct vpt_kineto_value *devices);

#endif

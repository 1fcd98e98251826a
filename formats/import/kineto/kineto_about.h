/* kineto_about.h - what a file says about itself, in members of the document beside its events. */
#ifndef VPT_FORMATS_IMPORT_KINETO_KINETO_ABOUT_H
#define VPT_FORMATS_IMPORT_KINETO_KINETO_ABOUT_H

#include "formats/import/kineto/kineto_import.h"

/* "traceEvents" and the members that are needed, NULL after the last. */
extern const char *const vpt_kineto_about_names[];

/* Whether a member with this name is needed. Takes its value, borrowed, if it is. */
int vpt_kineto_about_knows(const char *name);
void vpt_kineto_about(
	struct vpt_kineto_rows *r, const char *name, const struct vpt_kineto_value *value);

#endif

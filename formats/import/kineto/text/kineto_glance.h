/* kineto_glance.h - reads the text of an event where it is, without building a value from it.
 *
 * Only for what the profiler usually writes. Whatever is unusual, such as escapes, arrays or the end
 * of the text, gives "not read", and the parser reads the event. */
#ifndef VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_GLANCE_H
#define VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_GLANCE_H

#include "formats/base/text.h"

#include <stddef.h>
#include <stdint.h>

/* The phase and the category of an event that begins with them, as all of the profiler do. A text of
 * NULL: not read, or there is none. */
void vpt_kineto_glance_head(const unsigned char *p, const unsigned char *end,
	struct vpt_text *phase, struct vpt_text *category);

/* Members of an event, those of its args included. */
enum vpt_kineto_key {
	VPT_KINETO_NAME,
	VPT_KINETO_PID,
	VPT_KINETO_TID,
	VPT_KINETO_TS,
	VPT_KINETO_DUR,
	VPT_KINETO_PYTHON_ID,
	VPT_KINETO_PYTHON_PARENT,
	VPT_KINETO_CALL_FROM,
	VPT_KINETO_KEYS
};

/* The values of these members, borrowed: texts without their quotes, the others decimal numbers.
 * Text NULL: absent, or null. */
struct vpt_kineto_flat {
	struct vpt_text values[VPT_KINETO_KEYS];
};

/* Reads an event that begins at *p and moves *p past it. Returns 0, and changes nothing, if it is not
 * a plain one. */
int vpt_kineto_glance_event(
	const unsigned char **p, const unsigned char *end, struct vpt_kineto_flat *out);

#endif

/* kineto_glance.h - how the text of an event begins, without parsing it: whether it is needed at all. */
#ifndef VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_GLANCE_H
#define VPT_FORMATS_IMPORT_KINETO_TEXT_KINETO_GLANCE_H

#include "formats/base/text.h"

/* The phase and the category of an event that begins with them, as all of the profiler do. A text of
 * NULL: not read, or there is none. The text of the file ends with a NUL. */
void vpt_kineto_glance(const unsigned char *p, struct vpt_text *phase, struct vpt_text *category);

#endif

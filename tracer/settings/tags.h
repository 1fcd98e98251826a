/* tags.h - the text of VPTRACE_TAGS: what somebody calls a run, "model=wan,steps=50". */
#ifndef VPTRACE_TRACER_SETTINGS_TAGS_H
#define VPTRACE_TRACER_SETTINGS_TAGS_H

#include "formats/base/error.h"

enum { VTR_TAGS_TEXT_MAX = 4096, VTR_TAG_KEY_MAX = 64 };

struct vtr_tags {
	char text[VTR_TAGS_TEXT_MAX]; /* "": none */
};

/* Reads KEY=VALUE, or several with commas between. NULL and "" are none. VPT_EINVAL: the error says what is expected and what
 * was found. */
int vtr_tags_read(const char *text, struct vtr_tags *out, struct vpt_err *err);

/* Calls `put` for each tag with its key, after "tag.", and its value. Any thread. */
void vtr_tags_each(const struct vtr_tags *tags,
	void (*put)(void *ctx, const char *key, const char *value), void *ctx);

#endif

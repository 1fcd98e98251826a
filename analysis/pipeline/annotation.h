/* annotation.h - reads annotations: flat JSON objects that ranges and marks carry.
 *
 *	{"kind":"block","index":3,"frames":12}
 *
 * The reader is strict, since all of it is untrusted text: it refuses nested values and anything after the object, and
 * takes texts as they stand between their quotes. It copies nothing. */
#ifndef VPA_ANALYSIS_PIPELINE_ANNOTATION_H
#define VPA_ANALYSIS_PIPELINE_ANNOTATION_H

#include "formats/base/text.h"

#include <stdint.h>

struct vpa_annotation_reader {
	const char *at, *end;
	int begun, failed;
};

struct vpa_annotation_member {
	struct vpt_text key;
	int is_text;
	struct vpt_text text; /* if is_text: as it stands, with its escapes */
	/* Else a whole number of up to 15 digits; 1 for true, -1 for anything else. */
	int64_t number;
};

/* Borrows `text` until the last member is read. */
static inline struct vpa_annotation_reader vpa_annotation_begin(struct vpt_text text)
{
	return (struct vpa_annotation_reader){text.text, text.text + text.len, 0, 0};
}

/* 1 and the next member; 0: there are no more, and r->failed says whether that is because it is no such object. */
int vpa_annotation_next(struct vpa_annotation_reader *r, struct vpa_annotation_member *out);

#endif

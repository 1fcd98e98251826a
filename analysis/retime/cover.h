/* cover.h - which calls, and which host code between them, are inside ranges whose names match a pattern. */
#ifndef VPA_ANALYSIS_RETIME_COVER_H
#define VPA_ANALYSIS_RETIME_COVER_H

#include "analysis/retime/tape.h"

struct vpa_cover {
	/* By call: 1 + the number of the range that began last, of those around its start; 0: none. */
	uint32_t *calls;
	uint32_t *gaps; /* the same for the middle of the host code before it */
};

/* An empty pattern covers everything. The caller calls vpa_cover_free(). 0 or VPT_ENOMEM. */
int vpa_cover_find(const struct vpa_tape *t, const char *pattern, struct vpa_cover *out);
void vpa_cover_free(struct vpa_cover *c);

/* Whether a name matches a pattern as of a shell, or is the same text. */
int vpa_name_matches(const struct vpa_tape *t, uint32_t name, const char *pattern);

#endif

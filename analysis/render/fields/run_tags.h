/* run_tags.h - what somebody called the run: metadata whose keys begin with "tag.". */
#ifndef VPA_ANALYSIS_RENDER_FIELDS_RUN_TAGS_H
#define VPA_ANALYSIS_RENDER_FIELDS_RUN_TAGS_H

#include "analysis/report/report.h"

#include <string.h>

/* The tag that a key of metadata names; NULL: it names none. */
static inline const char *vpa_tag_of(const char *key)
{
	static const char prefix[] = VPT_METADATA_TAG;

	return key && !strncmp(key, prefix, sizeof(prefix) - 1) ? key + sizeof(prefix) - 1 : NULL;
}

/* Steps through the tags of a report: *at is 0 at first, and the number to go on with afterwards. NULL: there are no more. */
static inline const struct vpa_pair *vpa_tag_next(const struct vpa_report *r, size_t *at)
{
	while (*at < r->meta_count) {
		const struct vpa_pair *pair = &r->meta[(*at)++];

		if (vpa_tag_of(pair->key) && pair->value)
			return pair;
	}
	return NULL;
}

#endif

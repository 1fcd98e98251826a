/* range_choice.h - which instance of a range, or which request, a window is of. Ranges come in any order; the instances
 * are counted by their start, from 1. */
#ifndef VPA_ANALYSIS_PIPELINE_RANGE_CHOICE_H
#define VPA_ANALYSIS_PIPELINE_RANGE_CHOICE_H

#include "formats/base/error.h"
#include "formats/chunk/batch.h"

#include <stddef.h>
#include <stdint.h>

struct vpa_range_choice {
	const char
		*text; /* "NAME", or "NAME:2" if no range has that name; NULL: requests. Borrowed */
	size_t name_len; /* of NAME */
	uint64_t number;
	int has_whole; /* a range is called as the whole text: only those count */
	int is_known;  /* whether one is */
	/* So many instances are not added, of which each begins at this time or before; nor is what was launched until then
	 * known. 0: none is left out. */
	uint64_t left, left_ns;
	struct vpa_range_time {
		uint64_t start_ns, end_ns;
	} * items;
	size_t count, cap;
};

/* `text` NULL: the request of that number. */
void vpa_range_choice_init(struct vpa_range_choice *c, const char *text, uint64_t request);

/* How a range with these names is called, as it is shown or as it was recorded. */
enum vpa_range_match { VPA_RANGE_OTHER, VPA_RANGE_NAME, VPA_RANGE_WHOLE };

enum vpa_range_match vpa_range_choice_match(
	const struct vpa_range_choice *c, struct vpt_text shown, struct vpt_text recorded);

/* It is known whether any range of the trace is called as the whole text. */
void vpa_range_choice_know(struct vpa_range_choice *c, int has_whole);

/* Whether such a range may be meant. */
int vpa_range_choice_takes(
	struct vpa_range_choice *c, struct vpt_text shown, struct vpt_text recorded);
/* One that is meant. 0 or VPT_ENOMEM. */
int vpa_range_choice_add(struct vpa_range_choice *c, uint64_t start_ns, uint64_t end_ns);

/* The instance; it stays the choice's. NULL: there are fewer, or it may have begun before what was left. */
const struct vpa_range_time *vpa_range_choice_get(struct vpa_range_choice *c);

/* The same while there may be more that begin at `from_ns` or later. NULL: it may be one of those. */
const struct vpa_range_time *vpa_range_choice_early(struct vpa_range_choice *c, uint64_t from_ns);

void vpa_range_choice_free(struct vpa_range_choice *c);

#endif

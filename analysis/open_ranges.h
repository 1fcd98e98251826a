/* open_ranges.h - ranges that have not ended, found by what tells them apart.
 *
 * Each chunk lists all that are open when it closes, and a file may claim very many, so neither finding nor ending one
 * looks at the others. */
#ifndef VPA_ANALYSIS_OPEN_RANGES_H
#define VPA_ANALYSIS_OPEN_RANGES_H

#include "analysis/model.h"

struct vpa_open_ranges {
	struct vpa_open_range {
		struct vpa_range *range; /* NULL: a free place */
		uint32_t next; /* 1 + the next in its bucket, or the next free place; 0: the last */
	} * items;             /* in order of arrival but for places used again */
	size_t count, cap;
	uint32_t unused, *buckets;       /* 1 + a place; 0: none */
	size_t bucket_count, open_count; /* bucket_count: a power of two, or 0 */
	uint64_t newest_ns;              /* none began later */
};

/* Adds a range, which stays the caller's. 0 or VPT_ENOMEM. */
int vpa_open_add(struct vpa_open_ranges *o, struct vpa_range *range);

/* Whether some range may have this start. Mostly a range that has ended was opened after all those that are open still. */
static inline int vpa_open_may_have(const struct vpa_open_ranges *o, uint64_t start_ns)
{
	return o->open_count && start_ns <= o->newest_ns;
}

/* The range of this start, name and domain; of equals any. NULL: there is none. */
struct vpa_range *vpa_open_find(
	const struct vpa_open_ranges *o, uint64_t start_ns, uint32_t name, uint32_t domain);

/* The same, and takes it out. */
struct vpa_range *vpa_open_take(
	struct vpa_open_ranges *o, uint64_t start_ns, uint32_t name, uint32_t domain);

void vpa_open_clear(struct vpa_open_ranges *o);
void vpa_open_free(struct vpa_open_ranges *o);

#endif

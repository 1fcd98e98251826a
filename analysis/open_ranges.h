/* open_ranges.h - ranges that have not ended, found by their start, name and domain.
 *
 * Each chunk lists all ranges open at its end, and a file may claim very many, so finding or ending
 * one never scans the others. */
#ifndef VPA_ANALYSIS_OPEN_RANGES_H
#define VPA_ANALYSIS_OPEN_RANGES_H

#include "analysis/model.h"

struct vpa_open_ranges {
	struct vpa_open_range {
		struct vpa_range *range; /* NULL: a free slot */
		uint32_t next; /* 1 + the next in its bucket, or the next free slot; 0: the last */
	} * items;             /* in order of arrival, except reused slots */
	size_t count, cap;
	uint32_t unused, *buckets;       /* 1 + a slot; 0: none */
	size_t bucket_count, open_count; /* bucket_count: a power of two, or 0 */
	uint64_t newest_ns;              /* none began later */
};

/* Adds a range; the caller still owns it. 0 or VPT_ENOMEM. */
int vpa_open_add(struct vpa_open_ranges *o, struct vpa_range *range);

/* Whether an open range may have this start. Usually a range that has ended was opened after all
 * that are still open. */
static inline int vpa_open_may_have(const struct vpa_open_ranges *o, uint64_t start_ns)
{
	return o->open_count && start_ns <= o->newest_ns;
}

/* The range with this start, name and domain; any, if there are several. NULL: none. */
struct vpa_range *vpa_open_find(
	const struct vpa_open_ranges *o, uint64_t start_ns, uint32_t name, uint32_t domain);

/* The same, and removes it. */
struct vpa_range *vpa_open_take(
	struct vpa_open_ranges *o, uint64_t start_ns, uint32_t name, uint32_t domain);

void vpa_open_clear(struct vpa_open_ranges *o);
void vpa_open_free(struct vpa_open_ranges *o);

#endif

/* open_ranges.h - ranges that have not ended, found by their start, name and domain.
 *
 * Each chunk lists all ranges open at its end, and a file may claim very many, so finding or ending
 * one never scans the others.
 *
 * The table numbers its ranges from 0. What else is known of them the caller keeps in an array of
 * its own, by these numbers. */
#ifndef VPA_ANALYSIS_PAST_OPEN_RANGES_H
#define VPA_ANALYSIS_PAST_OPEN_RANGES_H

#include <stddef.h>
#include <stdint.h>

#define VPA_OPEN_NONE UINT32_MAX

struct vpa_open_range {
	uint64_t start_ns, end_ns; /* end ~0: still open */
	uint32_t name, domain;     /* numbers of the caller */
	/* 1 + the next in its bucket, while open, or the next free number; 0: the last */
	uint32_t next;
	uint8_t used; /* 0: its number is free */
};

/* All zeros is empty. */
struct vpa_open_ranges {
	struct vpa_open_range *items; /* by number */
	size_t count, cap;
	uint32_t unused, *buckets;       /* 1 + a number; 0: none */
	size_t bucket_count, open_count; /* bucket_count: a power of two, or 0 */
	uint64_t newest_ns;              /* no open range began later */
};

/* Adds an open range. Returns its number, valid until it is dropped; VPA_OPEN_NONE: no memory. */
uint32_t vpa_open_add(struct vpa_open_ranges *o, uint64_t start_ns, uint32_t name, uint32_t domain);

/* Whether an open range may have this start. Usually a range that has ended was opened after all
 * that are still open. */
static inline int vpa_open_may_have(const struct vpa_open_ranges *o, uint64_t start_ns)
{
	return o->open_count && start_ns <= o->newest_ns;
}

/* The number of the open range with this start, name and domain; any, if there are several.
 * VPA_OPEN_NONE: none. */
uint32_t vpa_open_find(
	const struct vpa_open_ranges *o, uint64_t start_ns, uint32_t name, uint32_t domain);

/* Sets the end of an open range: it keeps its number, but vpa_open_find() no longer finds it. */
void vpa_open_end(struct vpa_open_ranges *o, uint32_t at, uint64_t end_ns);

/* Frees the number of a range that has ended: the next one added takes it. */
void vpa_open_drop(struct vpa_open_ranges *o, uint32_t at);

void vpa_open_clear(struct vpa_open_ranges *o); /* empty, memory kept */
void vpa_open_free(struct vpa_open_ranges *o);

#endif

/* open.h - ranges whose end was not known when they were met. For this folder alone. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_OPEN_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_OPEN_H

#include "analysis/export/perfetto/out.h"

/* A range whose end was not known when it was met. */
struct vpa_ex_open_range {
	uint64_t start_ns, end_ns; /* end ~0: still open */
	uint64_t cut_ns;           /* where its slice had to end before that; 0: it did not */
	uint64_t value;            /* as in a span */
	uint32_t name, domain, thread;
	/* Known with its end, and emitted with that if the begin was written without. */
	uint32_t colour, nvtx_category;
	/* 1 + the next in its bucket while its end is not known, or of free places; 0: the last. */
	uint32_t next;
	uint8_t used, written, category, payload; /* written: its slice is over */
};

/* Those of a thread, or of all processes. */
struct vpa_ex_open_ranges {
	struct vpa_ex_open_range *items;
	size_t count, cap;
	uint32_t unused, *buckets;       /* 1 + a place; 0: none */
	size_t bucket_count, open_count; /* a power of two or 0; whose end is not known */
};

/* The place of the range that is still open; EX_NO_INDEX: there is none. Of equals any. */
uint32_t vpa_ex_open_find(
	const struct vpa_ex_open_ranges *o, uint64_t start_ns, uint32_t name, uint32_t domain);
/* Takes in a copy of a range that is open now. Returns its place, which it keeps until it is dropped; EX_NO_INDEX: no memory. */
uint32_t vpa_ex_open_add(struct vpa_ex_open_ranges *o, const struct vpa_ex_open_range *range);
/* The end of an open range is known: it is found no more, but keeps its place. */
void vpa_ex_open_end(struct vpa_ex_open_ranges *o, uint32_t at, uint64_t end_ns);
void vpa_ex_open_drop(struct vpa_ex_open_ranges *o, uint32_t at); /* one that has ended */
void vpa_ex_open_free(struct vpa_ex_open_ranges *o);

#endif

/* open.h - ranges whose end was unknown when they were met. Private to this folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_OPEN_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_OPEN_H

#include "analysis/export/perfetto/out.h"

/* A range whose end was unknown when it was met. */
struct vpa_ex_open_range {
	uint64_t start_ns, end_ns; /* end ~0: still open */
	uint64_t cut_ns;           /* where its slice had to end earlier; 0: it did not */
	uint64_t value;            /* as in a span */
	uint32_t name, domain, thread;
	/* Known with the end; emitted with it if the begin was written without them. */
	uint32_t colour, nvtx_category;
	/* 1 + the next one in its bucket, while open, or in the free list; 0: the last. */
	uint32_t next;
	uint8_t used, written, category, payload; /* written: its slice is over */
};

/* The open ranges of a thread, or of all processes. */
struct vpa_ex_open_ranges {
	struct vpa_ex_open_range *items;
	size_t count, cap;
	uint32_t unused, *buckets;       /* 1 + index of an item; 0: none */
	size_t bucket_count, open_count; /* a power of two or 0; ranges still open */
};

/* The index of a range that is still open, any of equal ones; EX_NO_INDEX: none. */
uint32_t vpa_ex_open_find(
	const struct vpa_ex_open_ranges *o, uint64_t start_ns, uint32_t name, uint32_t domain);
/* Adds a copy of an open range. Returns its index, valid until it is dropped; EX_NO_INDEX: no memory. */
uint32_t vpa_ex_open_add(struct vpa_ex_open_ranges *o, const struct vpa_ex_open_range *range);
/* Sets the end of an open range: it keeps its index, but vpa_ex_open_find() no longer finds it. */
void vpa_ex_open_end(struct vpa_ex_open_ranges *o, uint32_t at, uint64_t end_ns);
void vpa_ex_open_drop(struct vpa_ex_open_ranges *o, uint32_t at); /* one that has ended */
void vpa_ex_open_free(struct vpa_ex_open_ranges *o);

#endif

/* order.h - puts rows in order of time that are almost in order: those of a chunk, after those of the chunks before. */
#ifndef VPA_ANALYSIS_RETIME_ORDER_H
#define VPA_ANALYSIS_RETIME_ORDER_H

#include <stddef.h>
#include <stdint.h>

struct vpa_timed {
	uint64_t ns;
	uint32_t row;
};

/* Rows that begin with their time, a uint64_t. */
struct vpa_ordering {
	size_t size;                                  /* of a row */
	int (*compare)(const void *a, const void *b); /* as of qsort(): by time, then by more */
	size_t ordered;                               /* rows at the beginning that are in order */
	size_t moved;      /* rows of these that had to be put in order again */
	int is_disordered; /* rows reach back so far that only vpa_order_all() puts them in order */
};

/* Rows were added: there are now `count`. 0 or VPT_ENOMEM. */
int vpa_order_more(struct vpa_ordering *o, void *rows, size_t count);
/* No more rows follow. 0 or VPT_ENOMEM. */
int vpa_order_all(struct vpa_ordering *o, void *rows, size_t count);

#endif

/* copy_rows.h - the report's rows of copies, of the reads among them, and of calls that wait. Part of report.h;
 * ../../folds/copies.c defines the figures. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_COPY_ROWS_H
#define VPA_ANALYSIS_REPORT_ROWS_COPY_ROWS_H

#include <stdint.h>

struct vpa_copy_row {
	unsigned kind;           /* VPT_COPYKIND_HTOD ... _MEMSET; one without a name is _UNKNOWN */
	unsigned source, target; /* VPT_MEMKIND_PAGEABLE ...; likewise */
	uint64_t count, bytes, total_ns;
	double gb_per_s; /* 1e9 bytes per second while copying; 0: unknown */
};

/* Copies from a device to pageable memory, those that a call waits for whatever the memory, and all of a few bytes, by
 * place of launch. */
struct vpa_read_row {
	const char *range;     /* innermost range around the launch; NULL: none */
	uint64_t small, large; /* small: at most VPA_SMALL_BYTES, as from .item() */
	uint64_t small_bytes, large_bytes;
	uint64_t pageable, pageable_bytes; /* of the small ones: to pageable memory */
};

struct vpa_sync_row {
	const char *call;
	uint64_t count, total_ns; /* time in the call, on all threads */
	uint64_t gaps, idle_ns;   /* device idle time it caused: its cost */
};

#endif

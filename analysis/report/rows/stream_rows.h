/* stream_rows.h - the report's rows of streams: what runs at once, how long launches wait, and collectives. Part of
 * report.h; ../../folds/overlap.c, queues.c and kernels/collectives_table.c define the figures. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_STREAM_ROWS_H
#define VPA_ANALYSIS_REPORT_ROWS_STREAM_ROWS_H

#include "analysis/base/durations.h"

#include <stdint.h>

/* Time of a device by what runs at once, bits of enum vpa_overlap_kind; they sum to its busy time. */
enum vpa_overlap_kind { VPA_OVERLAP_COMPUTE = 1, VPA_OVERLAP_COMM = 2, VPA_OVERLAP_COPY = 4 };
enum { VPA_OVERLAPS = 8 };

struct vpa_overlap_row {
	int64_t device;
	uint64_t ns[VPA_OVERLAPS]; /* [0] is 0 */
};

struct vpa_stream_row {
	int64_t device, stream, pid;
	uint64_t ops, busy_ns; /* busy: union of its ops */
};

enum { VPA_DELAY_BINS = 5 };

/* A stream's launches, those of its ops in the window. */
struct vpa_queue_row {
	int64_t device, stream, pid;
	uint64_t launches;
	struct vpa_durations delay; /* from the start of the launch call to that of its first op */
	/* Delays below 10 us, 100 us, 1 ms, 10 ms, and others. */
	uint64_t bins[VPA_DELAY_BINS];
	/* Launches made and not begun, over the time from the first launch to the last op's start. */
	double waiting_mean;
	uint64_t waiting_min, waiting_p50, waiting_p95, waiting_max;
};

/* Those of one name, communicator and size on a device, without the ones that the window cuts. */
struct vpa_collective_row {
	int64_t device;
	const char *kind;  /* "all-reduce" ..., see ../../names/collective_kinds.h */
	const char *name;  /* as the program has it, or the kernel's */
	const char *group; /* NULL: not known */
	uint64_t ranks;    /* of the group; 0: not known */
	uint64_t bytes;    /* of a message; 0: not known */
	uint64_t calls, total_ns, shortest_ns;
	double bus_gb_per_s,
		bus_gb_per_s_most; /* of all calls, of the shortest; negative: not known */
};

/* ---- the report's rows of copies, of the reads among them, and of calls that wait. Part of report.h;
 * ../../folds/copies.c defines the figures. ---- */

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

/* Copies to a device of at least 1 MiB, by place of launch and size. */
struct vpa_upload_row {
	const char *range; /* as above */
	uint64_t bytes;    /* of each */
	uint64_t count, total_ns;
};

struct vpa_sync_row {
	const char *call;
	uint64_t count, total_ns; /* time in the call, on all threads */
	uint64_t gaps, idle_ns;   /* device idle time it caused: its cost */
};

#endif

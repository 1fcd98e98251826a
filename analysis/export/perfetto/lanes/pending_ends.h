/* pending_ends.h - what is pending for ranges whose end was unknown when they were met. Private to this
 * folder. */
#ifndef VPA_ANALYSIS_EXPORT_PERFETTO_LANES_PENDING_ENDS_H
#define VPA_ANALYSIS_EXPORT_PERFETTO_LANES_PENDING_ENDS_H

#include "analysis/export/perfetto/lanes/perfetto_names.h"
#include "analysis/past/open_ranges.h"

/* Beside its start, end, name and domain, which are in the table. */
struct vpa_ex_open_range {
	uint64_t cut_ns; /* where its slice had to end earlier; 0: it did not */
	uint64_t value;  /* as in a span */
	uint32_t thread;
	/* Known with the end; emitted with it if the begin was written without them. */
	uint32_t colour, nvtx_category;
	uint8_t written, category, payload; /* written: its slice is over */
};

/* The open ranges of a thread, or of all processes. */
struct vpa_ex_open_ranges {
	struct vpa_open_ranges table;
	struct vpa_ex_open_range *items; /* by number in the table */
	size_t cap;
};

#endif

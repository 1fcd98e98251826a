/* export.h - what all exports share: how a trace is written for others' tools, and what went into it. */
#ifndef VPA_ANALYSIS_EXPORT_EXPORT_H
#define VPA_ANALYSIS_EXPORT_EXPORT_H

#include "analysis/report.h"
#include "formats/container.h"
#include "formats/io.h"
#include "formats/trace.h"

struct vpa_export_options {
	enum vpt_container container;
	int level;           /* of compression; 0: the usual one */
	unsigned jobs;       /* compressing threads; 0: as many as cores, at most 4 */
	int gpu_as_slices;   /* 1: ops are plain slices, for versions of Perfetto before 55 */
	int no_api;          /* 1: leave CUDA calls out */
	int safe;            /* 1: text that a spreadsheet would compute gets a ' */
	uint64_t min_gap_ns; /* shorter gaps are left out */
	/* All GPUs of the machine, as far as they are known, of which the trace's are numbered as part; NULL: only the trace's. */
	const struct vpa_gpu *gpus;
	size_t gpu_count;
	size_t group_bytes;     /* compressed at once; 0: the usual number */
	uint64_t restart_bytes; /* after so many, readers can begin anew; 0: the usual number */
	int (*stop)(void);      /* asked at each chunk; not 0: fail with VPT_EIO. NULL: never */
};

/* What went into an export. */
struct vpa_export_totals {
	uint64_t kernels, copies, calls, ranges, gaps;
	uint64_t packets, raw_bytes, bytes; /* raw: before compression */
	int complete;                       /* the report's verdict */
};

#endif

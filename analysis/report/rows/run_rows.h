/* run_rows.h - the report's rows of the run: its GPUs, its metadata, how many events it has. Part of report.h. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_RUN_ROWS_H
#define VPA_ANALYSIS_REPORT_ROWS_RUN_ROWS_H

#include <stdint.h>

struct vpa_gpu {
	int64_t device;
	const char *name, *uuid, *pci;
	uint32_t compute_major, compute_minor, sm_count;
	uint64_t sm_threads, sm_registers, sm_shared; /* per multiprocessor; 0: not known */
	uint64_t memory_bytes;
	int simulated;
};

struct vpa_pair {
	const char *key, *value;
};

struct vpa_counts {
	uint64_t kernels, memcpy, memset, calls, ranges, cpu_ops;
	uint64_t marks, syncs, counters, samples, other; /* other: of all other kinds */
};

#endif

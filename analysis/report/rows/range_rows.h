/* range_rows.h - the report's rows of NVTX ranges. Part of report.h; ../../folds/range_times.c defines the figures. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_RANGE_ROWS_H
#define VPA_ANALYSIS_REPORT_ROWS_RANGE_ROWS_H

#include "analysis/base/durations.h"

#include <stddef.h>
#include <stdint.h>

enum {
	VPA_INSTANCES_MOST = 256, /* of a range; the first ones */
	VPA_INSTANCES_ALL = 1 << 16,
	/* Ranges with instances, and the least part of the devices' time that they have: 1 / this. */
	VPA_INSTANCES_RANGES = 16,
	VPA_INSTANCES_PART = 10
};

/* An instance of a range on a device that it launched work on. */
struct vpa_range_instance {
	uint64_t first_ns, envelope_ns, idle_ns; /* as of the range */
	uint32_t device;
};

struct vpa_range_row {
	const char *name, *domain; /* domain "" is NVTX's default domain */
	int is_imported;           /* an operator of PyTorch's profiler */
	/* Of struct vpa_report, `series`: of these only the name, the domain, envelope_ns and the instances are known, see
	 * ../../folds/range_series.h. */
	int is_series;
	const char
		*a_name; /* of a series: "a section", "a batch"; NULL: its name is no plain word */
	/* Instances that began inside one of the same name, and are part of it: in no other member. */
	uint64_t nested;
	uint64_t unmatched;
	struct vpa_durations host; /* start to end on the host */
	/* On the GPU, over instances that launched work; per device and instance: envelope = first
	 * start to last end of its ops, without pauses; busy + foreign + idle = envelope. foreign:
	 * time covered only by other ops. */
	uint64_t ops, launches, envelope_ns, busy_ns, foreign_ns, idle_ns;
	/* Idle time within the envelopes and the range's time on the host: of the devices it
	 * launched on, or, if it launched nothing, of those its process has used by its end. */
	uint64_t idle_host_ns;
	struct vpa_durations lag; /* first op's start - range's start */
	struct vpa_durations gpu; /* the envelopes */
	/* By device, then start; if the options request step_parts, of ranges with a good part of the devices' time, not of
	 * operators. What a comparison may pair. */
	const struct vpa_range_instance *instances;
	size_t instance_count;
};

#endif

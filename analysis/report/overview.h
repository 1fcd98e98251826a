/* overview.h - what happened when, at a resolution that does not grow with the trace.
 *
 * The window is cut into buckets of equal length, a power of two of nanoseconds, at most
 * VPA_OVERVIEW_BUCKETS of them. What a bucket says is exact: for each device
 *
 *	exclusive time of each kernel family + idle time by cause + pauses = its length
 *
 * to the nanosecond. Only its place in time is rounded. Part of the report if the options request it, or of it only the
 * lanes; all memory is the report's. */
#ifndef VPA_ANALYSIS_REPORT_OVERVIEW_H
#define VPA_ANALYSIS_REPORT_OVERVIEW_H

#include "analysis/names/families.h"
#include "analysis/report/report.h"
#include "analysis/report/rows/unit_kind.h"

enum {
	VPA_OVERVIEW_BUCKETS = 2048,
	/* Parts of a bucket: kernel families, then causes of idle time. */
	VPA_OVERVIEW_IDLE = VPA_FAMILY_COUNT,
	VPA_OVERVIEW_PARTS = VPA_FAMILY_COUNT + VPA_CAUSES,
	/* Not in buckets: then, of the causes, what the host did in time that counts to an earlier call, by
	 * vpa_instead_number(). */
	VPA_OVERVIEW_ALL = VPA_OVERVIEW_PARTS + VPA_INSTEADS,
	VPA_OVERVIEW_DEVICES = 64, /* those beyond are left out */
	VPA_OVERVIEW_LANES = 48,   /* the same */
	VPA_OVERVIEW_SPANS = 1024,
	VPA_OVERVIEW_SAMPLES = 512
};

struct vpa_overview_bucket {
	uint64_t ns[VPA_OVERVIEW_PARTS];
};

struct vpa_overview_device {
	int64_t device; /* CUDA ordinal */
	struct vpa_overview_bucket *buckets;
};

/* An instance of a stage, from its first op's start to its last one's end; or several adjacent ones,
 * where there are too many: from the first one's start to the last one's end. */
struct vpa_overview_span {
	uint64_t start_ns, end_ns, count;
};

/* Instances of a stage of the pipeline, on all devices. */
struct vpa_overview_lane {
	const char *name;
	enum vpa_scope_kind kind;        /* a stage, step or context pass */
	struct vpa_overview_span *spans; /* by start */
	size_t span_count;
	/* Durations of every stride-th instance, in order of their ends. */
	uint64_t *samples_ns;
	size_t sample_count;
	uint64_t count, stride;
};

struct vpa_overview {
	uint64_t start_ns, bucket_ns;        /* start: of the window */
	size_t bucket_count;                 /* the last one may reach beyond the window's end */
	struct vpa_overview_device *devices; /* by ordinal */
	size_t device_count;
	struct vpa_overview_lane *lanes; /* by first start */
	size_t lane_count;
};

/* "gemm", "sync" ...: the name of a part. */
static inline const char *vpa_overview_part_name(size_t part)
{
	return part < VPA_OVERVIEW_IDLE
		       ? vpa_family_name((enum vpa_family)part)
		       : vpa_cause_text((enum vpa_cause)(part - VPA_OVERVIEW_IDLE));
}

/* ---- what rows are of: struct vpa_block_part ---- */

enum {
	VPA_PART_UNKNOWN, /* in a report of another version */
	VPA_PART_FIRST,   /* + a part of a bucket */
	VPA_PART_PAUSE = VPA_PART_FIRST + VPA_OVERVIEW_PARTS,
	VPA_PART_NUMBERS
};

/* "gemm", "sync", "recording paused"; NULL: no such number. */
static inline const char *vpa_block_part_name(size_t number)
{
	if (number >= VPA_PART_NUMBERS)
		return NULL;
	if (number == VPA_PART_UNKNOWN || number == VPA_PART_PAUSE)
		return number ? "recording paused" : "?";
	return vpa_overview_part_name(number - VPA_PART_FIRST);
}

/* VPA_FAMILY_COUNT: it is none. */
static inline enum vpa_family vpa_part_family(unsigned number)
{
	return number - VPA_PART_FIRST < VPA_OVERVIEW_IDLE
		       ? (enum vpa_family)(number - VPA_PART_FIRST)
		       : VPA_FAMILY_COUNT;
}

/* VPA_CAUSES: it is none. */
static inline enum vpa_cause vpa_part_cause(unsigned number)
{
	unsigned cause = number - VPA_PART_FIRST - VPA_OVERVIEW_IDLE;

	return cause < VPA_CAUSES ? (enum vpa_cause)cause : VPA_CAUSES;
}

#endif

/* counter.h - the report's rows of samples: series, by stage; energy; what limits clocks. Part of
 * report.h; sampled_series.h and ../../folds/over_time/counters_by_stage.c define the figures. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_COUNTER_H
#define VPA_ANALYSIS_REPORT_ROWS_COUNTER_H

#include "analysis/report/rows/unit_kind.h"
#include "formats/series.h"

#include <stddef.h>
#include <stdint.h>

/* What mean and p95 are of. */
enum vpa_mean_of { VPA_MEAN_OF_TIME, VPA_MEAN_OF_SAMPLES };

/* A series while a stage was at work: on the devices for a GPU's series, else on the host. */
struct vpa_counter_part {
	const char *name;
	enum vpa_scope_kind kind;
	uint64_t samples, covered_ns;
	double min, mean, p95, max;
	enum vpa_mean_of mean_of;
	double mean_by_time; /* if covered_ns is not 0 */
	double energy_wh;    /* below 0: no power, or samples do not cover it */
};

struct vpa_block_energy {
	int64_t index; /* within its request; -1: not given */
	double energy_wh;
};

/* Energy of a request of the report; below 0: unavailable, samples do not cover it. */
struct vpa_request_energy {
	uint64_t request; /* row of the requests */
	double energy_wh, per_frame_wh;
	double per_block_wh, per_block_frame_wh; /* in measured blocks */
	struct vpa_block_energy *blocks;         /* of the period of each, by row of the series */
	size_t block_count;
};

/* What NVML gives as the reason for lower clocks, by its bits. */
enum { VPA_CLOCK_POWER_CAP = 0x4, VPA_CLOCK_HARDWARE = 0x8, VPA_CLOCK_POWER_BRAKE = 0x80 };

struct vpa_clock_reason {
	unsigned bit;
	const char *reason;
	uint64_t ns;
};

/* Some adjacent samples. */
struct vpa_counter_point {
	uint64_t time_ns;       /* of the last one */
	double min, max, value; /* value: the last one */
};

struct vpa_counter {
	const char *name, *unit; /* unit "": none */
	enum vpt_series series;  /* that the name is known for */
	int64_t device;          /* -1: of no GPU */
	uint64_t samples, covered_ns;
	double min, mean, p95, max;
	enum vpa_mean_of mean_of;
	double mean_by_time; /* if covered_ns is not 0 */
	double energy_wh;    /* of a power, in W; below 0: of nothing else */
	struct vpa_counter_part *parts;
	size_t part_count;
	struct vpa_request_energy *requests; /* of a power */
	size_t request_count;
	/* Of NVML's reasons for clocks below the maximum: time in which the GPU was not idle, and
	 * part of it in which something limited its clocks; what it was, by time, falling. */
	uint64_t awake_ns, limited_ns;
	struct vpa_clock_reason *reasons;
	size_t reason_count;
	/* SM clock: mean of the limited time, and the highest seen; 0: unknown. */
	double limited_mhz, highest_mhz;
	/* Of VPT_SERIES_DISK_READ: bytes in intervals between samples that lie in the blocks but the first,
	 * else in the steps but the first; and their time. */
	double loop_bytes;
	uint64_t loop_ns;
	/* Of a level with has_loop: at the end of the loop's first marked span, and of its last, see struct vpa_check_loop. */
	double loop_from, loop_to;
	int has_loop;
	struct vpa_counter_point *points; /* all samples, if options.overview is set */
	size_t point_count;
};

/* What lowers its clocks, other than the power limit, for at least half of the limited time; NULL: nothing. */
static inline const struct vpa_clock_reason *vpa_clock_slowdown(const struct vpa_counter *c)
{
	size_t i;

	for (i = 0; i < c->reason_count; i++)
		if (c->reasons[i].bit != VPA_CLOCK_POWER_CAP &&
			c->reasons[i].ns >= c->limited_ns - c->limited_ns / 2)
			return &c->reasons[i];
	return NULL;
}

/* What such a reason means: "heat". */
static inline const char *vpa_clock_culprit(unsigned bit)
{
	return bit == VPA_CLOCK_HARDWARE      ? "heat or the power supply"
	       : bit == VPA_CLOCK_POWER_BRAKE ? "the power supply"
					      : "heat";
}

#endif

/* rank_gauges.h - what is measured of a rank besides its ops: samples of its GPU, what limits the GPU's clock, the rate of its
 * blocks, and its stages. Integers, so that a summary has what the capture has. */
#ifndef VPA_ANALYSIS_RANKS_RANK_RANK_GAUGES_H
#define VPA_ANALYSIS_RANKS_RANK_RANK_GAUGES_H

#include "formats/series.h"

#include <stddef.h>
#include <stdint.h>

struct vpa_rank;
struct vpa_report;

/* Series of samples of a rank's GPU. */
enum vpa_gauge {
	VPA_GAUGE_MEMORY_USED, /* bytes: of the GPU, whoever uses them */
	VPA_GAUGE_ALLOCATED,   /* bytes: by PyTorch's allocator */
	VPA_GAUGE_RESERVED,    /* bytes: the same, with what it keeps for later */
	VPA_GAUGE_POWER,       /* mW */
	VPA_GAUGE_TEMPERATURE, /* thousandths of a degree */
	VPA_GAUGE_SM_CLOCK,    /* kHz */
	VPA_GAUGES
};

/* The series that a gauge is read from, and by how much its numbers are larger than the series'. */
enum vpt_series vpa_gauge_series(enum vpa_gauge gauge);
unsigned vpa_gauge_scale(enum vpa_gauge gauge);

/* All zeros: there are no samples. */
struct vpa_rank_gauge {
	uint64_t samples;
	uint64_t least, mean, most; /* mean: by time, of a single sample that one */
};

/* Of NVML's reasons for clocks below the maximum, see struct vpa_counter; all zeros: not known. */
struct vpa_rank_clock {
	uint64_t awake_ns, limited_ns;
	const char *reason; /* the one with most of it: "power cap"; NULL: none */
};

enum { VPA_RANK_STAGES_MOST = 16 /* those that take longest */ };

/* A stage of the pipeline that lies in no other one, in the order in which they begin. */
struct vpa_rank_stage {
	const char *name;
	int in_blocks; /* 1: figures are of a measured block, of all its instances; 0: of an instance */
	uint64_t count;   /* instances that they are of */
	uint64_t time_ns; /* from its first op to its last */
};

/* Fills in the gauges and the clock of a rank whose device is known. */
void vpa_rank_measure(struct vpa_rank *rank, const struct vpa_report *r);
/* Fills in its rate of blocks, from a report that counts as the rank does. */
void vpa_rank_take_rate(struct vpa_rank *rank, const struct vpa_report *r);
/* Fills in its stages, from a report of which no other rank has a part. 0 or VPT_ENOMEM. */
int vpa_rank_take_stages(struct vpa_rank *rank, const struct vpa_report *r);

#endif

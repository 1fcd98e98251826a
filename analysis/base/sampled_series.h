/* sampled_series.h - a series of samples, and what it was over a set of times.
 *
 * Between two samples a value is what the series' shape says: on the straight line between them (the
 * trapezoid rule, by the samples' own times), what the later one says of the time since the earlier
 * one, or what the earlier one was until it changed. Samples of events count alike, however far apart
 * they are.
 *
 * Memory is bounded: a long series is thinned by halves. Sums over whole stretches between the kept
 * samples, and their extremes, stay exact. */
#ifndef VPA_ANALYSIS_BASE_SAMPLED_SERIES_H
#define VPA_ANALYSIS_BASE_SAMPLED_SERIES_H

#include "analysis/base/intervals.h"

enum { VPA_SAMPLES_MAX = 16384 };

enum vpa_sample_shape {
	VPA_SAMPLE_LINE,  /* power, temperature, clocks */
	VPA_SAMPLE_SINCE, /* a rate, a share: a mean since the sample before */
	VPA_SAMPLE_UNTIL, /* a level: holds until the next sample */
	/* A level that is told at the ends of stages, just before them or just after: of the time since the sample
	 * before, the first one of all the time before it. What is left of a stage after its last sample is not covered, since
	 * the next one is of another. */
	VPA_SAMPLE_AT_END,
	VPA_SAMPLE_EVENT /* a value of each event: a level between them for `mean_by_time` alone */
};

struct vpa_sample {
	uint64_t time_ns;
	double value;
	double area;     /* the integral from the first sample to this one, in value * seconds */
	double min, max; /* of the samples after the kept one before, with this one */
	double sum;      /* of these samples */
	uint64_t count;
};

/* All zeros but the shape is empty. */
struct vpa_samples {
	enum vpa_sample_shape shape;
	struct vpa_sample *items;
	size_t count, cap;
	int is_thinned;
};

struct vpa_measure {
	uint64_t samples;    /* inside: not at the end, unless it is the last */
	uint64_t covered_ns; /* time for which there is a value */
	double area;         /* value * seconds, over that time */
	/* By time; of events, or if no time is covered, of the samples inside (`is_of_samples`). Nearest
	 * rank for p95. Undefined without samples and covered time; events have no time without
	 * samples. */
	double min, mean, p95, max;
	double mean_by_time; /* undefined if no time is covered */
	int is_of_samples;
};

/* Adds a sample; one that is older than the newest, or no finite number, is dropped. 0 or
 * VPT_ENOMEM. */
int vpa_samples_add(struct vpa_samples *s, uint64_t time_ns, double value);

/* Extends a level to `end_ns`. 0 or VPT_ENOMEM. */
int vpa_samples_end(struct vpa_samples *s, uint64_t end_ns);

/* Measures the series over these times. 0 or VPT_ENOMEM. */
int vpa_samples_measure(
	const struct vpa_samples *s, const struct vpa_intervals *times, struct vpa_measure *out);

/* The integral alone, over one interval, in value * seconds. */
double vpa_samples_area(const struct vpa_samples *s, uint64_t start_ns, uint64_t end_ns);

void vpa_samples_free(struct vpa_samples *s);

#endif

/* monitors.h - what is sampled as counters, and how often: the text of VPTRACE_COUNTERS. */
#ifndef VPTRACE_TRACER_SETTINGS_MONITORS_H
#define VPTRACE_TRACER_SETTINGS_MONITORS_H

#include "formats/base/error.h"

#include <stdint.h>

enum vtr_monitor {
	/* Of the GPUs, by NVML. */
	VTR_MONITOR_MEMORY,
	VTR_MONITOR_UTILIZATION,
	VTR_MONITOR_POWER,
	VTR_MONITOR_CLOCKS,
	VTR_MONITOR_TEMPERATURE,
	/* Of the process and its machine. */
	VTR_MONITOR_CPU,
	VTR_MONITOR_RAM,
	VTR_MONITOR_DISK,
	VTR_MONITOR_FAULTS, /* of pages, and context switches */
	VTR_MONITORS
};

enum { VTR_MONITOR_MS = 500, VTR_MONITOR_MS_MIN = 100, VTR_MONITOR_MS_MAX = 60000 };
enum { VTR_MONITORS_TEXT_MAX = 256 };

struct vtr_monitors {
	uint32_t ms[VTR_MONITORS]; /* between samples; 0: none are taken */
	int wanted;                /* 1: a time was given, so also where no GPU is recorded */
	char text[VTR_MONITORS_TEXT_MAX]; /* the list as it was given; "": none was */
};

/* The same for all: every `ms`, 0 by default, negative not at all. */
void vtr_monitors_all(struct vtr_monitors *m, int64_t ms);

/* Reads "500ms", "off", or a list such as "gpu:100ms,cpu:1s,temperature:off": the names are those above, gpu, host and all;
 * a later item overrides, and what no item names is sampled by default. VPT_EINVAL: the error says what is expected and what
 * was found. */
int vtr_monitors_read(const char *text, struct vtr_monitors *out, struct vpt_err *err);

/* Whether any samples are taken. */
int vtr_monitors_any(const struct vtr_monitors *m);

/* The time that is the same for all; 0: it is not. */
uint32_t vtr_monitors_same(const struct vtr_monitors *m);

#endif

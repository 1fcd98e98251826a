/* expert.h - what people who tune a GPU pipeline look up by hand. Part of report.h; DEFINITIONS.md and
 * the file that fills it define every figure. */
#ifndef VPA_ANALYSIS_EXPERT_H
#define VPA_ANALYSIS_EXPERT_H

#include <stddef.h>
#include <stdint.h>

/* ---- the checklist: folds/checks.c measures, checklist.c judges ---- */

/* The loop that a pipeline spends its time in: the measured blocks, else the denoising steps, else the
 * inferred ones. */
struct vpa_check_loop {
	const char *kind; /* "block", "step", "inferred step"; NULL: there is no loop */
	uint64_t count;   /* blocks or steps */
	/* Steps: on the host; blocks and inferred steps: on the device. first_end_ns: when the first
	 * one that counts has ended; of blocks, which have a warm-up, start_ns. */
	uint64_t start_ns, first_end_ns, end_ns;
	uint64_t span_ns;          /* time of the blocks or steps, one after the other */
	uint64_t busy_ns, idle_ns; /* of the devices, in it */
	uint64_t blocking_calls;   /* calls that wait for a device and begin in it */
	const char *ops_of;        /* "step" or "block": what ops_count counts; NULL: not known */
	uint64_t ops, ops_count;
};

enum vpa_check_status { VPA_CHECK_PASS, VPA_CHECK_WARN, VPA_CHECK_FAIL, VPA_CHECK_UNKNOWN };

struct vpa_check {
	const char *id; /* "gpu-busy" ... stable */
	const char *title;
	enum vpa_check_status status;
	double value; /* negative: not known */
	const char *unit;
	const char *shown; /* the value with its unit; NULL: not known */
	double pass_bound, warn_bound;
	int at_least;     /* 1: a value at or above a bound meets it; 0: below it */
	const char *note; /* what it is a figure of, or why it is unknown; NULL: nothing */
};

struct vpa_expert {
	struct vpa_check_loop loop;
	/* From the start of the launch call to the start of its first op, where the device was idle
	 * when the call began. */
	uint64_t launches_while_idle, launch_p50_ns, launch_p95_ns;
	struct vpa_check *checks;
	size_t check_count;
};

#endif

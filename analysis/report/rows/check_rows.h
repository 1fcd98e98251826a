/* check_rows.h - the report's checklist. Part of report.h; ../../folds/gaps/host_checks.c measures, ../../advice/checklist.c
 * judges. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_CHECK_ROWS_H
#define VPA_ANALYSIS_REPORT_ROWS_CHECK_ROWS_H

#include "analysis/report/rows/unit_kind.h"

#include <stddef.h>
#include <stdint.h>

/* The loop that a pipeline spends its time in: the units of ../../pipeline/unit.h. */
struct vpa_check_loop {
	enum vpa_unit_kind kind;
	uint64_t count; /* of steps, those of all requests; 0: there is no loop */
	/* Steps, requests and iterations: on the host; others: on the device. first_end_ns: when the first
	 * one that counts has ended; of blocks, which have a warm-up, start_ns. */
	uint64_t start_ns, first_end_ns, end_ns;
	uint64_t span_ns; /* periods of the blocks or steps, the mean one for those without */
	/* Of the devices: in the units, or from each step to the next. */
	uint64_t busy_ns, idle_ns;
	/* 1: busy and idle time include the time between steps, and its causes are known. 0: they are the
	 * steps' own. */
	int is_whole;
	uint64_t blocking_calls; /* calls that wait for a device and begin in it */
	const char *
		ops_of; /* "step", "block" or "iteration": what ops_count counts; NULL: not known */
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

#endif

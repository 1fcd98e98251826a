/* finding.h - the report's findings: what could be better, with its evidence, and what that would bring. Part of report.h;
 * ../../advice/ writes them. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_FINDING_H
#define VPA_ANALYSIS_REPORT_ROWS_FINDING_H

#include "analysis/report/rows/unit_kind.h"

#include <stddef.h>
#include <stdint.h>

enum vpa_finding_status { VPA_FINDING_INFO, VPA_FINDING_WARN, VPA_FINDING_FAIL };

/* What it is about: VPA_FOUND_SYNC_DRAIN ... */
enum vpa_finding_id {
#define VPA_FINDING_ID(name, text) VPA_FOUND_##name,
#include "analysis/report/rows/finding_ids.def"
	VPA_FOUND_COUNT
};

struct vpa_finding {
	enum vpa_finding_id id;
	/* One line: what is wrong, and mostly ": " and what to do. What the program named stands after the first ": ",
	 * if in the title at all. */
	const char *title;
	const char *measured, *threshold;
	double gain_at_most_ms; /* 0: not about time; assumes nothing else becomes the bottleneck */
	const char **evidence;
	size_t evidence_count;
	enum vpa_finding_status status;
	const char *caveat; /* NULL: none */
	/* Part of gain_at_most_ms that other causes would save too. */
	double gain_shared_ms;
	/* By how much a replay saves more than what the cause is to blame for; part of gain_at_most_ms. */
	double gain_excess_ms;
	/* Part of gain_at_most_ms that no finding before it in the list may save too: no two of these parts are the
	 * same time. instead_of: the finding before it that may save most of the rest; VPA_FOUND_NONE: none. */
	double adds_ms;
	enum vpa_finding_id instead_of;
	/* the bound is a range from here to gain_at_most_ms; 0: it is one number */
	double gain_from_ms;
	/* What the gain is a part of. With several devices the figures are those of the device that would gain
	 * most. */
	enum vpa_base base;
	double base_ms, base_gain_ms, base_gain_from_ms;
	/* What findings are ordered by: of host code, which can hardly go away, what half of it would save in the base;
	 * of a range its middle; of any other gain all of it. */
	double base_likely_ms;
	/* Steady, of a request end to end: now, and at most; 0: unavailable. */
	double fps_from, fps_to;
	/* Steps or iterations per second: now, and at most; 0: the base is no such unit. */
	double steps_per_s_from, steps_per_s_to;
	/* Where most of it is, or how busy the GPU is; NULL: nothing to add. */
	const char *note;
	/* The same in few words: "in self_attn"; NULL: no place has half of it. */
	const char *where;
	int is_mostly;     /* a part that is worth a word is elsewhere */
	int is_half;       /* about half of it is elsewhere */
	const char *words; /* the title in few words; NULL: those of all findings with this id */
	int is_idle; /* it saves idle time, of which all such findings together save all at most */
	int is_code; /* of a wait: most of it is the host's own code after it */
	/* Of the idle time that a wait is to blame for: the host ran its own code, see host_code.h. 0: none. */
	double host_code_ms;
	int touched; /* missing records may change these figures */
	const char
		*change; /* that it asks for, as `what-if --change` takes it; NULL: there is none */
	/* With the change: the base's length, and FPS or steps per second as above; 0: no prediction. */
	double predicted_ms, fps_predicted, steps_per_s_predicted;
	int is_asked;  /* whether it can be done is not in the trace: nothing is predicted */
	int is_unsure; /* the same, but predicted: in the order of findings it counts half */
	int predicted_at_least; /* the change leaves out a part of the repair, so that brings as much or more */
	int is_of_results; /* host code that another thread can run: the next launches need none of it */
	int takes_half; /* the change takes half of host code, of which all can hardly go */
};

/* The id as reports have it: "sync-drain". */
const char *vpa_finding_text(enum vpa_finding_id id);

/* ---- the report's checklist. Part of report.h; ../../folds/gaps/host_checks.c measures, ../../advice/checklist.c
 * judges. ---- */

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

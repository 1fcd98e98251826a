/* verdict_row.h - the report's verdict: what is missing, and whether the figures can be trusted. Part of report.h;
 * ../../trust/verdict_reasons.c defines the figures. */
#ifndef VPA_ANALYSIS_REPORT_ROWS_VERDICT_ROW_H
#define VPA_ANALYSIS_REPORT_ROWS_VERDICT_ROW_H

#include <stddef.h>
#include <stdint.h>

/* Per cent of the window: where the profiling library's own work takes more, it stretches gaps. */
#define VPA_DEGRADED_PERCENT 5

enum vpa_metric_state { VPA_OK, VPA_DEGRADED, VPA_UNAVAILABLE };

/* A stretch of time in which records are missing, or may be. */
struct vpa_loss {
	uint64_t start_ns, end_ns; /* end ~0: unknown */
};

struct vpa_pair; /* report.h */

struct vpa_verdict {
	int complete;         /* 0: loss, damage, ops without launch: exit code 3 */
	const char **reasons; /* one sentence each, most important first */
	size_t reason_count;
	const char **remedies; /* what to do, by reason; NULL: no remedy known */
	/* If not complete: in order, disjoint; one interval over all time if the times are
	 * unknown. */
	struct vpa_loss *losses;
	size_t loss_count;
	struct vpa_pair *reading_meta; /* META rows for a copy of the trace, see completeness.h */
	size_t reading_meta_count;
	uint64_t received, written, dropped; /* events */
	uint64_t ops_without_launch, launches_without_op, late_ops;
	/* Part of ops_without_launch: began before the first call, hence launched before the
	 * capture; or after recording had been paused, hence launched in a pause. */
	uint64_t early_ops;
	uint64_t launches_lost; /* part of launches_without_op: their kernels are missing */
	uint64_t zero_duration, reversed, zero_time; /* ops: end = start, end < start, time 0 */
	uint64_t unmatched_ranges, late_ranges;
	uint64_t deep_ranges; /* in more others than are counted */
	/* Of Python stacks: their gaps had been decided; left out, since a later one of the thread
	 * had come. */
	uint64_t late_samples, unsorted_samples;
	uint64_t damaged_chunks, torn_chunks, unknown_sections;
	int is_refused;       /* GPU work could not be recorded; a reason says why */
	int is_ranges_only;   /* GPU work was not requested */
	uint64_t overhead_ns; /* time of the profiling library's own records inside the window */
	double tracing_cost_share;  /* of the window; negative: unknown */
	enum vpa_metric_state gaps; /* degraded: overhead_ns is above VPA_DEGRADED_PERCENT */
};

/* The word for a verdict in text and on pages. */
static inline const char *vpa_verdict_word(int complete)
{
	return complete ? "COMPLETE" : "INCOMPLETE";
}

#endif

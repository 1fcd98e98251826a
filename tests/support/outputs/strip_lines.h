/* strip_lines.h - takes from a report what Python stacks add to it. */
#ifndef VPT_TESTS_STRIP_LINES_H
#define VPT_TESTS_STRIP_LINES_H

#include "analysis/report/report.h"

#include <string.h>

/* What they say about samples that were left out, and about records of all calls. */
static inline void strip_reasons(struct vpa_verdict *v)
{
	size_t kept = 0, i;

	for (i = 0; i < v->reason_count; i++) {
		if (strstr(v->reasons[i], " of Python stacks ") ||
			strstr(v->reasons[i], " every call of a Python function"))
			continue;
		v->remedies[kept] = v->remedies[i];
		v->reasons[kept++] = v->reasons[i];
	}
	v->reason_count = kept;
	v->late_samples = v->unsorted_samples = 0;
}

/* What is left is the report of the same trace without stacks, apart from the notes of findings. */
static inline void strip_lines(struct vpa_report *r)
{
	size_t d, i;

	strip_reasons(&r->verdict);
	r->counts.samples = 0;
	r->lines = (struct vpa_lines){0};
	for (d = 0; d < r->device_count; d++) {
		r->devices[d].cpu_wait_ns = 0;
		for (i = 0; i < r->devices[d].cause_count; i++)
			r->devices[d].causes[i].top = NULL;
	}
	for (i = 0; i < r->stage_count; i++) {
		r->stages[i].lines = NULL;
		r->stages[i].line_count = 0;
	}
	for (d = 0; d < r->request_count; d++)
		for (i = 0; i < r->requests[d].blocks.count; i++) {
			r->requests[d].blocks.series[i].line = NULL;
			r->requests[d].blocks.series[i].line_samples = 0;
		}
	for (i = 0; i < r->gap_count; i++)
		r->gaps[i].top = NULL;
	for (i = 0; i < r->finding_count; i++)
		r->findings[i].note = NULL; /* may name the place of a line only */
}

#endif

/* run_summary.h - what was recorded, in one line for each file, or of several ranks for each rank. */
#ifndef VPTRACE_TRACER_COMMAND_RUN_SUMMARY_H
#define VPTRACE_TRACER_COMMAND_RUN_SUMMARY_H

#include "tracer/command/processes/process_list.h"

enum vtr_report { VTR_REPORT_NONE, VTR_REPORT_TEXT, VTR_REPORT_HTML };

/* How the command ended. */
struct vtr_ending {
	int status;    /* its exit status */
	int killed_by; /* a signal; 0: none */
};

/* Says it on standard error; the report goes to standard output. Sorts the files by rank. `analyzer` may be "". `simulated`: what
 * to type for the same run with --simulate. Returns 0, or -1: the tracer failed, and nothing was recorded. */
int vtr_summary(struct vtr_list *list, const char *analyzer, enum vtr_report report,
	const struct vtr_ending *ending, const char *simulated);

/* Whether the analyzer can write an HTML page. */
int vtr_summary_knows_html(const char *analyzer);

#endif

/* summary.h - what was recorded, in one line for each file. */
#ifndef VPTRACE_TRACER_COMMAND_SUMMARY_H
#define VPTRACE_TRACER_COMMAND_SUMMARY_H

#include "tracer/command/list.h"

enum vtr_report { VTR_REPORT_NONE, VTR_REPORT_TEXT, VTR_REPORT_HTML };

/* Says it on standard error; the report goes to standard output. `analyzer` may be "". */
void vtr_summary(const struct vtr_list *list, const char *analyzer, enum vtr_report report);

/* Whether the analyzer can write an HTML page. */
int vtr_summary_knows_html(const char *analyzer);

#endif

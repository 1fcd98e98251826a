/* script_report.c - what the analyzer says of a script. */
#include "analysis/analyze.h"
#include "tests/support/traces/script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct vpa_report *vpt_script_report(const char *script, const struct vpa_options *options)
{
	struct vpt_trace *trace = NULL;
	struct vpa_report *report = NULL;
	struct vpt_err err = {0};

	if (vpt_script_trace(script, &trace, &err) ||
		vpa_analyze(trace, "case", options, &report, &err))
		fail_msg("%s\n%s", err.text, script);
	vpt_trace_close(trace);
	return report;
}

/* fuzz_rich.h - reports of captures that have everything, for the targets whose input is something else. */
#ifndef VPT_TESTS_FUZZ_FUZZ_RICH_H
#define VPT_TESTS_FUZZ_FUZZ_RICH_H

#include "analysis/analyze.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/traces/rich_script.h"
#include "tests/support/traces/script.h"

/* The analysis of a form of the capture; the caller frees it. */
static inline struct vpa_report *fuzz_rich_report(
	enum rich_form form, const struct vpa_options *options)
{
	struct vpa_report *report = NULL;
	struct vpt_trace *trace = NULL;
	struct vpt_err err = {0};

	FUZZ_EXPECT(!vpt_script_trace(rich_script(form), &trace, &err));
	if (vpa_analyze(trace, "rich", options, &report, &err))
		FUZZ_EXPECT(err.text[0] && !report);
	vpt_trace_close(trace);
	return report;
}

/* The same, made once and never freed. */
static inline const struct vpa_report *fuzz_rich(enum rich_form form)
{
	static const struct vpa_options options = {
		.jobs = 1, .top = 200, .all_kernels = 1, .step_parts = 1};
	static struct vpa_report *reports[RICH_FORMS];

	if (!reports[form])
		reports[form] = fuzz_rich_report(form, &options);
	FUZZ_EXPECT(reports[form]);
	return reports[form];
}

#endif

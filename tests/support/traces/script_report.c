/* script_report.c - what the analyzer says of a script. */
#include "analysis/analyze.h"
#include "formats/base/text.h"
#include "tests/support/traces/script.h"

#include <math.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* The first screen leaves tables out. What it says to do is the same, in the same order and the same words. */
static void compare_with_screen(struct vpt_trace *trace, const struct vpa_options *options,
	const struct vpa_report *full, const char *script)
{
	struct vpa_options o = options ? *options : (struct vpa_options){0};
	struct vpa_report *screen = NULL;
	struct vpt_err err = {0};
	size_t i;

	if (o.only_screen || o.observer)
		return;
	o.only_screen = 1;
	o.progress = NULL;
	if (vpa_analyze(trace, "case", &o, &screen, &err))
		fail_msg("%s\n%s", err.text, script);
	if (screen->finding_count != full->finding_count)
		fail_msg("the first screen has %zu findings of %zu\n%s", screen->finding_count,
			full->finding_count, script);
	for (i = 0; i < full->finding_count; i++) {
		const struct vpa_finding *f = &full->findings[i], *s = &screen->findings[i];

		if (f->id != s->id || !vpt_same_text(f->title, s->title) ||
			!vpt_same_text(f->words, s->words) || !vpt_same_text(f->note, s->note) ||
			fabs(f->base_gain_ms - s->base_gain_ms) > 1e-9)
			fail_msg("the first screen has \"%s\" (%s; %s), not \"%s\" (%s; %s)\n%s",
				s->title, s->words ? s->words : "-", s->note ? s->note : "-",
				f->title, f->words ? f->words : "-", f->note ? f->note : "-",
				script);
	}
	vpa_report_free(screen);
}

struct vpa_report *vpt_script_report(const char *script, const struct vpa_options *options)
{
	struct vpt_trace *trace = NULL;
	struct vpa_report *report = NULL;
	struct vpt_err err = {0};

	if (vpt_script_trace(script, &trace, &err) ||
		vpa_analyze(trace, "case", options, &report, &err))
		fail_msg("%s\n%s", err.text, script);
	compare_with_screen(trace, options, report, script);
	vpt_trace_close(trace);
	return report;
}

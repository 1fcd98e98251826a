/* text_no_work.c - RESULT of a trace without work on a GPU: why there is none, if known, and what to check. */
#include "analysis/render/text/text_report.h"
#include "formats/base/saturate.h"

#include <string.h>

static int has_host_events(const struct vpa_counts *c)
{
	return c->calls || c->ranges || c->cpu_ops || c->marks || c->syncs || c->counters ||
	       c->samples || c->other;
}

/* What to check where there is no GPU work. */
enum no_work_check { CHECK_NOTHING, CHECK_RECORDER, CHECK_PROGRAM_AND_RECORDER };

/* Why there is no GPU work, if known. */
static const char *no_work_words(const struct vpa_report *r, enum no_work_check *check)
{
	const struct vpa_verdict *v = &r->verdict;

	*check = CHECK_NOTHING;
	if (v->is_refused)
		return "No GPU work in this trace: recording it was refused, see DATA. It has "
		       "host events only.";
	if (r->window_note)
		return "No GPU work in this window: it has no kernel, copy or memset, only "
		       "host events.";
	if (vpa_meta(r, VPT_METADATA_SIMULATE))
		return "Recorded without a GPU (vptrace run --simulate): the marks with the host's "
		       "own "
		       "times. There are no device times, so no FPS.";
	if (v->is_ranges_only)
		return "No GPU work in this trace: VPTRACE_PROFILE=none records ranges only.";
	if (!v->complete && v->reason_count)
		return "No GPU work in what could be read: the trace is incomplete, see DATA.";
	*check = CHECK_RECORDER;
	if (v->launches_without_op)
		return "No GPU work in this trace, although the host launched some: no kernel, "
		       "copy or memset was recorded.";
	*check = CHECK_PROGRAM_AND_RECORDER;
	if (!has_host_events(&r->counts))
		return "No GPU work in this trace: it has no events.";
	return "No GPU work in this trace: it has no kernel, copy or memset, only host events.";
}

/* What must hold so that the recorder records GPU work. */
static const char *recorder_words(const char *format)
{
	static const struct {
		const char *format, *words;
	} recorders[] = {
		{"kineto", "the profiler's activities include ProfilerActivity.CUDA"},
		{"nsight", "nsys traced CUDA (--trace=cuda)"},
		{"vptrace", "the self-test of \"vptrace doctor\" passes on its machine"},
	};
	size_t i;

	for (i = 0; format && i < sizeof(recorders) / sizeof(recorders[0]); i++)
		if (!strcmp(recorders[i].format, format))
			return recorders[i].words;
	return "GPU activities were enabled";
}

void vpa_text_no_work(struct vpa_page *p, const struct vpa_report *r)
{
	uint64_t ops =
		vpt_sat_add(r->counts.kernels, vpt_sat_add(r->counts.memcpy, r->counts.memset));
	static const char *const checks[] = {
		[CHECK_NOTHING] = "",
		[CHECK_RECORDER] = " Check that ",
		[CHECK_PROGRAM_AND_RECORDER] =
			" Check that the program used the GPU while it was recorded, and that ",
	};
	enum no_work_check check;
	const char *words;

	if (ops) {
		vpa_page_words(p, "RESULT", VPA_YELLOW,
			"No GPU work in this trace: none of its %s kernels, copies and memsets has "
			"a duration.",
			vpa_count(ops).text);
		return;
	}
	words = no_work_words(r, &check);
	vpa_page_words(p, "RESULT", VPA_YELLOW, "%s%s%s%s", words, checks[check],
		check ? recorder_words(r->format) : "", check ? "." : "");
}

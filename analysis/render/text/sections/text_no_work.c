/* text_no_work.c - RESULT of a trace without work on a GPU: why there is none, if known, and what to check. */
#include "analysis/render/text/sections/text_sections.h"
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
struct no_work {
	const char *answer; /* a sentence without its point */
	const char *more;   /* other sentences; NULL: none */
	enum no_work_check check;
};

static struct no_work no_work_of(const struct vpa_report *r)
{
	const struct vpa_verdict *v = &r->verdict;

	if (v->is_refused)
		return (struct no_work){
			"No GPU work in this trace: recording it was refused, see DATA",
			"It has host events only.", CHECK_NOTHING};
	if (r->window_note)
		return (struct no_work){"No GPU work in this window: it has no kernel, copy or "
					"memset, only host events",
			NULL, CHECK_NOTHING};
	if (vpa_meta(r, VPT_METADATA_SIMULATE))
		return (struct no_work){"Recorded without a GPU (vptrace run --simulate): the "
					"marks with the host's own times",
			"There are no device times, so no FPS.", CHECK_NOTHING};
	if (v->is_ranges_only)
		return (struct no_work){"No GPU work in this trace: VPTRACE_PROFILE=none records "
					"ranges only",
			NULL, CHECK_NOTHING};
	if (!v->complete && v->reason_count)
		return (struct no_work){
			"No GPU work in what could be read: the trace is incomplete, see DATA",
			NULL, CHECK_NOTHING};
	if (v->launches_without_op)
		return (struct no_work){"No GPU work in this trace, although the host launched "
					"some: no kernel, copy or memset was recorded",
			NULL, CHECK_RECORDER};
	if (!has_host_events(&r->counts))
		return (struct no_work){"No GPU work in this trace: it has no events", NULL,
			CHECK_PROGRAM_AND_RECORDER};
	return (struct no_work){"No GPU work in this trace: it has no kernel, copy or memset, only "
				"host events",
		NULL, CHECK_PROGRAM_AND_RECORDER};
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
		[CHECK_RECORDER] = "Check that",
		[CHECK_PROGRAM_AND_RECORDER] =
			"Check that the program used the GPU while it was recorded, and that",
	};
	struct no_work found = no_work_of(r);
	struct vpa_words w = {.used = 0};

	if (ops)
		vpa_words_add(&w, "",
			"No GPU work in this trace: none of its %s kernels, copies and memsets has "
			"a duration",
			vpa_count(ops).text);
	else
		vpa_words_add(&w, "", "%s", found.answer);
	vpa_words_end(&w);
	if (!ops && found.more)
		vpa_words_add(&w, " ", "%s", found.more);
	if (!ops && found.check)
		vpa_words_add(&w, " ", "%s %s.", checks[found.check], recorder_words(r->format));
	vpa_page_answer(p, "RESULT", VPA_YELLOW, &w);
}

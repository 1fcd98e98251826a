/* fuzz_trace.h - everything that is done with an opened trace, for the targets that open one. */
#ifndef VPT_TESTS_FUZZ_FUZZ_TRACE_H
#define VPT_TESTS_FUZZ_FUZZ_TRACE_H

#include "analysis/analyze.h"
#include "analysis/render/renderer.h"
#include "formats/base/memory.h"
#include "formats/import/any_trace.h"
#include "tests/fuzz/fuzz.h"

static inline void fuzz_render(const struct vpa_report *report, const char *form)
{
	int full;

	/* The text has two forms. */
	for (full = 0; full <= vpa_renderer_find(form)->has_layout; full++) {
		const struct vpa_text layout = {.full = full, .width = 80};
		struct vpt_buffer text;
		struct vpt_sink *sink;
		int rc;

		if (vpt_sink_memory(&text, &sink, NULL))
			return;
		rc = vpa_renderer_find(form)->render(report, &layout, sink, NULL);
		FUZZ_EXPECT(!rc && !sink->finish(sink, 1, NULL) && text.size);
		vpt_free(text.data);
	}
}

/* The report of a capture or another tool's trace; NULL: there is none, with a reason. The caller frees it. */
static inline struct vpa_report *fuzz_report(
	const void *data, size_t size, const struct vpa_options *options)
{
	struct vpa_report *report = NULL;
	struct vpt_source *src;
	struct vpt_err err = {0};
	struct vpt_trace *t;

	if (!data || vpt_source_memory(data, size, &src, NULL))
		return NULL;
	if (vpt_trace_open_source(src, &t, &err)) {
		FUZZ_EXPECT(err.text[0] && !t);
		return NULL;
	}
	if (vpa_analyze(t, "fuzz", options, &report, &err))
		FUZZ_EXPECT(err.text[0] && !report);
	vpt_trace_close(t);
	return report;
}

/* Takes the source. Each chunk is decoded, then the whole is analysed and shown. */
static inline void fuzz_trace(struct vpt_source *src)
{
	struct vpa_options options = {.jobs = 1, .overview = 1};
	struct vpa_report *report = NULL;
	struct vpt_decoder *d;
	struct vpt_err err = {0};
	struct vpt_trace *t;
	struct vpt_batch b;
	size_t i;

	if (vpt_trace_open_source(src, &t, &err)) {
		FUZZ_EXPECT(err.text[0] && !t);
		return;
	}
	vpt_batch_init(&b);
	d = vpt_decoder_new();
	for (i = 0; d && i < vpt_trace_chunks(t); i++) {
		int rc = vpt_trace_chunk(t, d, i, &b, NULL);

		FUZZ_EXPECT(rc == VPT_OK || rc == VPT_EDATA);
	}
	vpt_decoder_free(d);
	vpt_batch_free(&b);
	if (!vpa_analyze(t, "fuzz", &options, &report, &err)) {
		fuzz_render(report, "text");
		fuzz_render(report, "json");
		fuzz_render(report, "md");
		fuzz_render(report, "html");
	}
	vpa_report_free(report);
	vpt_trace_close(t);
}

#endif

/* fuzz_trace.h - everything that is done with an opened trace, for the targets that open one. */
#ifndef VPT_TESTS_FUZZ_FUZZ_TRACE_H
#define VPT_TESTS_FUZZ_FUZZ_TRACE_H

#include "analysis/analyze.h"
#include "analysis/render/renderer.h"
#include "analysis/retime/retime.h"
#include "formats/base/memory.h"
#include "formats/import/any_trace.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

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

/* Replays it: without a change it is as long as it was, and any change can be made or has a reason against it. */
static inline void fuzz_replay(const struct vpt_trace *t)
{
	static const struct vpa_span spans[] = {{0, INT64_MAX}, {1000, 2000}};
	struct vpa_change changes[3];
	struct vpa_change_list lists[] = {{changes, 0}, {changes, 2}, {changes + 1, 2}};
	struct vpa_retiming out;
	struct vpt_err err = {0};
	int rc;

	FUZZ_EXPECT(!vpa_change_read("delete copies", &changes[0], NULL) &&
		    !vpa_change_read("graph *", &changes[1], NULL) &&
		    !vpa_change_read("skip 1/2 *", &changes[2], NULL));
	rc = vpa_retime(t, 1, VPA_REPLAYED_MOST, lists, 3, spans, 2, &out, &err);
	FUZZ_EXPECT(!rc || (rc == VPT_EUNSUPPORTED && strstr(err.text, "the trace has ")));
	if (!rc)
		FUZZ_EXPECT(vpa_retimed_ns(&out, VPA_WORLD_RECORDED, 1) == 1000 &&
			    vpa_retimed_ns(&out, VPA_WORLD_FIRST, 1) == 1000);
	vpa_retiming_free(&out);
}

/* Takes the source. Each chunk is decoded, then the whole is analysed, shown and replayed. */
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
	fuzz_replay(t);
	vpt_trace_close(t);
}

#endif

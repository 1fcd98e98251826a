/* read_back.h - a report as its JSON has it. Include cmocka.h first. */
#ifndef VPT_TESTS_SUPPORT_READ_BACK_H
#define VPT_TESTS_SUPPORT_READ_BACK_H

#include "analysis/compare/baseline.h"
#include "analysis/render/renderer.h"
#include "formats/base/memory.h"

/* Free it with vpa_report_free(). */
static inline struct vpa_report *read_back(const struct vpa_report *r)
{
	struct vpa_report *out = NULL;
	struct vpt_err err = {0};
	struct vpt_buffer json;
	struct vpt_sink *sink;

	assert_int_equal(vpt_sink_memory(&json, &sink, &err), VPT_OK);
	if (vpa_render_json(r, sink, &err) || sink->finish(sink, 1, &err) ||
		vpa_baseline_read(json.data, json.size, "a.json", &out, &err))
		fail_msg("%s", err.text);
	vpt_free(json.data);
	return out;
}

#endif

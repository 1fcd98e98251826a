/* page.h - the text report of a trace as a test reads it. Include cmocka.h first. */
#ifndef VPT_TESTS_SUPPORT_PAGE_H
#define VPT_TESTS_SUPPORT_PAGE_H

#include "analysis/render/renderer.h"
#include "analysis/report/report.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"

#include <string.h>

/* The report, the first screen unless `full`, with every run of spaces and line ends as one space: where lines are broken
 * does not matter. Free it with vpt_free(). */
static inline char *text_of(const struct vpa_report *r, int full)
{
	struct vpt_buffer out;
	struct vpt_sink *sink;
	struct vpt_err err = {0};
	char *from, *to;

	assert_int_equal(vpt_sink_memory(&out, &sink, NULL), VPT_OK);
	if (vpa_render_text(r, &(struct vpa_text){.full = full, .width = 80}, sink, &err) ||
		vpt_sink_write(sink, "", 1, &err) || sink->finish(sink, 1, &err))
		fail_msg("%s", err.text);
	for (from = to = out.data; *from; from++) {
		if (*from == '\n')
			*from = ' ';
		if (*from != ' ' || (to != out.data && to[-1] != ' '))
			*to++ = *from;
	}
	*to = '\0';
	return out.data;
}

static inline char *page_of(const struct vpa_report *r)
{
	return text_of(r, 1);
}

#endif

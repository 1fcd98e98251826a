/* fuzz_compared.h - everything that is done with two reports. */
#ifndef VPT_TESTS_FUZZ_FUZZ_COMPARED_H
#define VPT_TESTS_FUZZ_FUZZ_COMPARED_H

#include "analysis/compare/comparison.h"
#include "analysis/compare/conditions/fail_conditions.h"
#include "formats/io/io.h"
#include "formats/base/memory.h"
#include "tests/fuzz/fuzz.h"

static inline struct vpa_comparison *fuzz_pair(
	const struct vpa_report *a, const struct vpa_report *b)
{
	static const struct vpa_compare_options how = {.margin = 0.005};
	const struct vpa_side sides[] = {{&a, 1}, {&b, 1}};
	struct vpa_comparison *c = NULL;
	struct vpt_err err = {0};
	int rc = vpa_compare(&sides[0], &sides[1], &how, &c, &err);

	FUZZ_EXPECT(rc ? !c && err.text[0] : c != NULL);
	return c;
}

static inline void fuzz_show(const struct vpa_comparison *c)
{
	unsigned form;

	for (form = 0; form < 4; form++) {
		struct vpt_buffer text;
		struct vpt_sink *sink;
		int rc;

		if (vpt_sink_memory(&text, &sink, NULL))
			return;
		rc = form == 0   ? vpa_compare_text(c, 80, 1, 0, sink, NULL)
		     : form == 1 ? vpa_compare_markdown(c, sink, NULL)
		     : form == 2 ? vpa_compare_html(c, "fuzz", sink, NULL)
				 : vpa_compare_json(c, sink, NULL);
		FUZZ_EXPECT(!rc && !sink->finish(sink, 1, NULL) && text.size);
		vpt_free(text.data);
	}
}

/* A condition of each kind, of the comparison and of a report. */
static inline void fuzz_conditions(const struct vpa_comparison *c, const struct vpa_report *r)
{
	static const char *const texts[] = {"fps-2%", "bps<1", "steps/s+1%", "s/it>1s",
		"latents/s<2", "fps-end-to-end-1%", "denoise-rate<2", "period+1%", "period>1ms",
		"busy>1%", "idle+1%", "idle:sync+1%", "busy:gemm>1%"};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct vpa_condition condition;
		struct vpt_err err = {0};
		char what[160];
		int holds;

		FUZZ_EXPECT(!vpa_condition_read(texts[i], 0, &condition, &err));
		vpa_condition_holds(&condition, c, &holds, what, &err);
		if (!vpa_condition_read(texts[i], 1, &condition, &err))
			vpa_condition_holds_of(&condition, r, &holds, what, &err);
	}
}

/* The parts add up, unless a difference does not fit. */
static inline void fuzz_adds_up(const struct vpa_comparison *c)
{
	__int128 parts = 0, rows = 0;
	int fits = 1;
	size_t i;

	for (i = 0; i < c->part_count; i++) {
		int64_t delta = c->parts[i].times.delta_ns;

		parts += delta;
		fits &= delta != INT64_MAX && delta != -INT64_MAX;
	}
	for (i = 0; i < c->row_count; i++) {
		int64_t delta = c->rows[i].times.delta_ns;

		rows += delta;
		fits &= delta != INT64_MAX && delta != -INT64_MAX;
	}
	fits &= c->delta_ns != INT64_MAX && c->delta_ns != -INT64_MAX;
	fits &= c->window_delta_ns != INT64_MAX && c->window_delta_ns != -INT64_MAX;
	FUZZ_EXPECT(!fits || (parts == c->delta_ns && rows == c->window_delta_ns));
}

static inline void fuzz_compared(const struct vpa_report *a, const struct vpa_report *b)
{
	struct vpa_comparison *c = fuzz_pair(a, b);

	if (!c)
		return;
	fuzz_adds_up(c);
	fuzz_show(c);
	fuzz_conditions(c, b);
	vpa_comparison_free(c);
}

/* Two reports of one capture: nothing differs. */
static inline void fuzz_same(const struct vpa_report *a, const struct vpa_report *b)
{
	struct vpa_comparison *c = fuzz_pair(a, b);
	size_t i;

	if (!c)
		return;
	FUZZ_EXPECT(!c->delta_ns && !c->window_delta_ns && !c->lines_delta_ns && !c->fact_count);
	for (i = 0; i < c->part_count; i++)
		FUZZ_EXPECT(!c->parts[i].times.delta_ns);
	for (i = 0; i < c->row_count; i++)
		FUZZ_EXPECT(!c->rows[i].times.delta_ns);
	for (i = 0; i < c->line_count; i++)
		FUZZ_EXPECT(!c->lines[i].times.delta_ns);
	fuzz_show(c);
	vpa_comparison_free(c);
}

#endif
